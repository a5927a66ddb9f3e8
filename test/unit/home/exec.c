// SPDX-License-Identifier: BSD-3-Clause
/* Executes schedules in the test home: see exec.h. */
#include "exec.h"

u32 messages_alive;

static void *allocate(u64 n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	must(p);
	return p;
}

struct message *message_create(u32 src, u32 dst, const struct goal_op *send, u64 len)
{
	struct message *m = allocate(1, sizeof(*m) + len);

	messages_alive++;
	m->src = src;
	m->dst = dst;
	m->tag = send->tag;
	m->instance = send->instance;
	m->len = len;
	return m;
}

void message_free(struct message *m)
{
	messages_alive--;
	free(m);
}

static struct exec *exec_of(struct home_run *h)
{
	return (struct exec *)h;
}

/* Move @len bytes between @flat and the bound buffer, piece by piece. */
static void transfer(const struct core_binding *b, u64 off, u8 *flat, u64 len, bool to_buffer)
{
	while (len) {
		u64 run;
		u8 *at = core_segment_at(b, off, &run);

		must(at && run);
		run = run < len ? run : len;
		if (to_buffer)
			memcpy(at, flat, run);
		else
			memcpy(flat, at, run);
		off += run;
		flat += run;
		len -= run;
	}
}

static void read_buffer(struct exec *x, u32 buf, u64 off, u8 *flat, u64 len)
{
	transfer(core_buffer(&x->home.core, buf), off, flat, len, false);
}

static void write_buffer(struct exec *x, u32 buf, u64 off, u8 *flat, u64 len)
{
	transfer(core_buffer(&x->home.core, buf), off, flat, len, true);
}

static const struct goal_op *op_of(struct exec *x, u32 i)
{
	return &x->sched.op[i];
}

/* Operation @i starts: not before its time, and once. */
static void note_start(struct exec *x, u32 i)
{
	const u8 *state = x->home.core.state;
	u32 k;

	must(!x->home.locked);
	must(!x->done_calls);
	must(x->started[i] == 0);
	x->started[i]++;
	for (k = x->pred_row[i]; k < x->pred_row[i + 1]; k++) {
		u32 p = x->pred[k];

		must(op_of(x, p)->code == GOAL_OP_NOP ? state[p] == CORE_OP_DONE : x->finished[p]);
	}
	for (k = x->ipred_row[i]; k < x->ipred_row[i + 1]; k++) {
		u32 p = x->ipred[k];

		must(op_of(x, p)->code == GOAL_OP_NOP ? state[p] == CORE_OP_DONE : x->started[p]);
	}
}

static void note_finish(struct exec *x, u32 i)
{
	must(!x->done_calls);
	must(x->started[i] == 1 && x->finished[i] == 0);
	x->finished[i]++;
}

/* inout = 3 in + 5 inout, byte by byte: neither commutative nor associative. */
static void reduce_user(const u8 *in, u8 *inout, u64 bytes)
{
	for (; bytes; bytes--, in++, inout++)
		*inout = (u8)(3 * *in + 5 * *inout);
}

static int reduce(struct exec *x, u32 i)
{
	const struct goal_op *op = op_of(x, i);
	bool user = op->dtype == GOAL_TYPE_USER;
	u64 bytes = op->len * (user ? x->sched.hdr->user_size : core_type_size(op->dtype));
	u8 *in = allocate(bytes, 1), *inout = allocate(bytes, 1);
	int rc = 0;

	read_buffer(x, op->src_buf, op->src_off, in, bytes);
	read_buffer(x, op->dst_buf, op->dst_off, inout, bytes);
	if (user)
		reduce_user(in, inout, bytes);
	else if (op->dtype == GOAL_TYPE_FLOAT || op->dtype == GOAL_TYPE_DOUBLE)
		rc = core_reduce_fp(op->dtype, op->rop, in, inout, op->len);
	else if (core_type_host_only(op->dtype))
		rc = core_reduce_host(op->dtype, op->rop, in, inout, op->len);
	else
		rc = core_reduce_int(op->dtype, op->rop, in, inout, op->len);
	write_buffer(x, op->dst_buf, op->dst_off, inout, bytes);
	free(in);
	free(inout);
	return rc;
}

static int receive(struct exec *x, u32 i, struct message *m)
{
	const struct goal_op *op = op_of(x, i);
	int rc = -EMSGSIZE;

	must(m->src == op->peer && m->tag == op->tag && m->instance == op->instance);
	if (m->len <= op->len) {
		write_buffer(x, op->dst_buf, op->dst_off, m->data, m->len);
		x->home.core.rlen[op->slot] = m->len;
		rc = 0;
	}
	message_free(m);
	return rc;
}

/* Do what operation @i stands for, at the last possible moment. 0 or -errno. */
static int carry_out(struct exec *x, u32 i, struct message *msg)
{
	const struct goal_op *op = op_of(x, i);
	u64 bytes = op->len;
	struct message *m;
	u8 *flat;
	int rc = 0;

	switch (op->code) {
	case GOAL_OP_SEND:
		bytes = core_op_bytes(&x->home.core, op);
		must(bytes <= op->len);
		m = message_create(x->rank, op->peer, op, bytes);
		read_buffer(x, op->src_buf, op->src_off, m->data, bytes);
		x->sent(x, m);
		break;
	case GOAL_OP_RECV:
		rc = receive(x, i, msg);
		break;
	case GOAL_OP_COPY:
		bytes = core_op_bytes(&x->home.core, op);
		must(bytes <= op->len);
		flat = allocate(bytes, 1);
		read_buffer(x, op->src_buf, op->src_off, flat, bytes);
		write_buffer(x, op->dst_buf, op->dst_off, flat, bytes);
		free(flat);
		break;
	default:
		rc = reduce(x, i);
		break;
	}
	note_finish(x, i);
	return rc;
}

/* Now, or later, or now but with the answer of later. */
static int answer(struct exec *x, u32 i, struct message *msg)
{
	if (random_chance(x->random, x->late)) {
		x->pending[x->npending++] = (struct exec_pending){ i, msg };
		return CORE_PENDING;
	}
	if (random_chance(x->random, x->late / 2)) {
		core_op_done(&x->home.core, i, carry_out(x, i, msg));
		return CORE_PENDING;
	}
	return carry_out(x, i, msg);
}

static int exec_start(struct home_run *h, u32 i)
{
	note_start(exec_of(h), i);
	return answer(exec_of(h), i, NULL);
}

static int exec_post(struct home_run *h, u32 i)
{
	struct exec *x = exec_of(h);
	const struct goal_op *op = op_of(x, i);
	struct message *m = x->parked[op->slot];

	note_start(x, i);
	if (!(x->taken_over >> (op->peer & 31) & 1))
		return CORE_PENDING;
	if (!m) {
		x->taken[op->slot] = true;
		return CORE_BUSY;
	}
	x->parked[op->slot] = NULL;
	switch (random_below(x->random, 3)) {
	case 0: /* late */
		x->pending[x->npending++] = (struct exec_pending){ i, m };
		return CORE_BUSY;
	case 1: /* before the answer */
		core_op_done(&h->core, i, carry_out(x, i, m));
		return CORE_BUSY;
	default:
		return carry_out(x, i, m);
	}
}

static int exec_deliver(struct home_run *h, u32 i, void *msg)
{
	struct exec *x = exec_of(h);

	must(!h->locked);
	if (!x->started[i])
		note_start(x, i);
	return answer(x, i, msg);
}

static void exec_drop(struct home_run *h, void *msg)
{
	must(!h->locked);
	must(!exec_of(h)->done_calls);
	must(h->core.status);
	message_free(msg);
}

static void exec_done(struct home_run *h)
{
	struct exec *x = exec_of(h);

	must(!h->locked);
	must(h->core.over && h->core.busy == 0);
	must(x->npending == 0);
	x->done_calls++;
}

static const struct home_ops exec_ops = {
	.send = exec_start,
	.post = exec_post,
	.deliver = exec_deliver,
	.move = exec_start,
	.reduce = exec_start,
	.drop = exec_drop,
	.done = exec_done,
};

int exec_message(struct exec *x, struct message *m)
{
	struct core_run fresh = { .sched = &x->sched };
	u32 i = core_match(&fresh, m->src, m->tag, m->instance);
	const struct goal_op *op = i == GOAL_OP_NONE ? NULL : op_of(x, i);
	s64 claimed;
	int rc;

	/* What a home takes over is between it and its transport. */
	if (op && x->taken_over >> (op->peer & 31) & 1) {
		if (x->taken[op->slot]) {
			x->taken[op->slot] = false;
			core_op_done(&x->home.core, i, carry_out(x, i, m));
		} else if (x->home.core.dead || x->started[i] || x->parked[op->slot]) {
			message_free(m);
			return x->home.core.dead ? -ECANCELED : -EEXIST;
		} else {
			x->parked[op->slot] = m;
		}
		return 0;
	}

	if (random_chance(x->random, 128)) {
		claimed = core_message_claim(&x->home.core, m->src, m->tag, m->instance);
		if (claimed >= 0) {
			must(claimed == i);
			if (random_chance(x->random, x->late))
				x->pending[x->npending++] = (struct exec_pending){ i, m };
			else
				core_op_done(&x->home.core, i, carry_out(x, i, m));
			return 0;
		}
		if (claimed != -EAGAIN) {
			message_free(m);
			return (int)claimed;
		}
	}
	rc = core_message(&x->home.core, m->src, m->tag, m->instance, m);
	if (rc)
		message_free(m);
	return rc;
}

void exec_finish(struct exec *x, u32 k)
{
	struct exec_pending p = x->pending[k];
	int rc;

	must(k < x->npending);
	x->pending[k] = x->pending[--x->npending];
	rc = carry_out(x, p.op, p.msg);
	if (random_chance(x->random, 64)) {
		core_op_done_quiet(&x->home.core, p.op, rc);
		core_pump(&x->home.core);
	} else {
		core_op_done(&x->home.core, p.op, rc);
	}
}

/* Compressed rows of what operations depend on, from those of their successors. */
static void find_predecessors(const struct core_sched *s, bool started, u32 **pred, u32 **row)
{
	u32 nops = s->hdr->nops, i, k;
	u32 *fill;

	*pred = allocate(s->hdr->nsucc, sizeof(u32));
	*row = allocate(nops + 1, sizeof(u32));
	fill = allocate(nops, sizeof(u32));
	for (i = 0; i < nops; i++) {
		u32 from = s->op[i].succ + (started ? s->op[i].nsucc : 0);
		u32 n = started ? s->op[i].nisucc : s->op[i].nsucc;

		for (k = 0; k < n; k++)
			(*row)[s->succ[from + k] + 1]++;
	}
	for (i = 0; i < nops; i++)
		(*row)[i + 1] += (*row)[i];
	for (i = 0; i < nops; i++) {
		u32 from = s->op[i].succ + (started ? s->op[i].nsucc : 0);
		u32 n = started ? s->op[i].nisucc : s->op[i].nsucc;

		for (k = 0; k < n; k++) {
			u32 t = s->succ[from + k];

			(*pred)[(*row)[t] + fill[t]++] = i;
		}
	}
	free(fill);
}

/* Exactly @bytes of memory, as a binding of some segments, empty ones among them. */
static void bind_memory(struct exec *x, u32 k, u64 bytes, struct core_binding *b)
{
	u32 nseg = bytes ? 1 + random_below(x->random, 5) : random_below(x->random, 2), i;
	u64 at = 0;

	x->mem[k] = allocate(bytes, 1);
	x->bytes[k] = bytes;
	x->seg[k] = allocate(nseg, sizeof(*x->seg[k]));
	for (i = 0; i < nseg; i++) {
		u64 len = i == nseg - 1 ? bytes - at : random_u64(x->random) % (bytes - at + 1);

		x->seg[k][i].base = x->mem[k] + at;
		x->seg[k][i].len = len;
		at += len;
	}
	b->seg = nseg ? x->seg[k] : NULL;
	b->nseg = nseg;
	b->len = bytes;
}

void exec_init(struct exec *x, const struct core_sched *sched, u32 rank, struct random *random)
{
	const struct goal_sched_hdr *h = sched->hdr;
	u32 k;

	memset(x, 0, sizeof(*x));
	x->home.ops = &exec_ops;
	pthread_mutex_init(&x->home.mutex, NULL);
	x->sched = *sched;
	x->random = random;
	x->rank = rank;
	x->arrays = malloc(core_run_bytes(&x->sched));
	must(x->arrays);
	memset(x->arrays, 0xa5, core_run_bytes(&x->sched));
	for (k = 0; k < h->nbufs; k++)
		bind_memory(x, k, sched->need[k], &x->home.core.buf[k]);
	bind_memory(x, GOAL_MAX_BUFS, h->scratch, &x->home.core.scratch);
	x->started = allocate(h->nops, 1);
	x->finished = allocate(h->nops, 1);
	x->pending = allocate(h->nops, sizeof(*x->pending));
	x->parked = allocate(h->nrecv, sizeof(*x->parked));
	x->taken = allocate(h->nrecv, sizeof(*x->taken));
	find_predecessors(&x->sched, false, &x->pred, &x->pred_row);
	find_predecessors(&x->sched, true, &x->ipred, &x->ipred_row);
	core_run_init(&x->home.core, &x->sched, x->arrays);
	must(core_run_check(&x->home.core) == 0);
}

void exec_reset(struct exec *x)
{
	memset(x->started, 0, x->sched.hdr->nops);
	memset(x->finished, 0, x->sched.hdr->nops);
	memset(x->taken, 0, x->sched.hdr->nrecv * sizeof(*x->taken));
	x->done_calls = 0;
	core_run_reset(&x->home.core);
}

void exec_fini(struct exec *x)
{
	u32 k;

	for (k = 0; k < EXEC_BINDINGS; k++) {
		free(x->mem[k]);
		free(x->seg[k]);
	}
	free(x->arrays);
	free(x->started);
	free(x->finished);
	free(x->pending);
	free(x->parked);
	free(x->taken);
	free(x->pred);
	free(x->pred_row);
	free(x->ipred);
	free(x->ipred_row);
	pthread_mutex_destroy(&x->home.mutex);
}

void exec_check_over(struct exec *x)
{
	const struct core_run *r = &x->home.core;
	u32 i;

	must(x->done_calls == 1);
	must(r->over && r->busy == 0 && x->npending == 0);
	for (i = 0; i < x->sched.hdr->nrecv; i++) {
		must(!r->arrived[i]);
		must(!x->taken[i]);
		if (x->parked[i]) {
			must(r->status);
			message_free(x->parked[i]);
			x->parked[i] = NULL;
		}
	}
	if (r->status)
		return;
	must(r->undone == 0 && r->err_peer == GOAL_OP_NONE);
	for (i = 0; i < x->sched.hdr->nops; i++) {
		u8 once = op_of(x, i)->code != GOAL_OP_NOP;

		must(r->state[i] == CORE_OP_DONE);
		must(x->started[i] == once && x->finished[i] == once);
	}
}
