// SPDX-License-Identifier: BSD-3-Clause
/* The home of the protocol's unit tests: see home.h. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "home.h"
#include "esp_batch.h"
#include "env_run.h"

struct home_frame {
	struct home_frame *next;
	u64 at;
	u32 to, rail;
	struct esp_addr from;
	u32 len;
	u8 bytes[];
};

struct msg {
	struct esp_msg m; /* first */
	struct home_run *run;
	u32 op;
	bool eager, cancelled;
	struct esp_link link; /* home_run.msgs */
	u8 copy[];
};

struct home_late {
	struct home_late *next;
	u64 at;
	struct esp_rx *rx;
	struct home_run *run;
	u32 op, len;
	u64 off;
	bool unpack;
	u8 bytes[];
};

struct home home;

u32 home_random(void)
{
	home.seed ^= home.seed << 13;
	home.seed ^= home.seed >> 7;
	home.seed ^= home.seed << 17;
	return (u32)(home.seed >> 16);
}

static struct home_run *run_of(struct core_run *r)
{
	return (struct home_run *)r;
}

/* Locks only check that never two are held. */
static void lock(const void *what)
{
	assert(!home.locked);
	home.locked = what;
}

static void unlock(const void *what)
{
	assert(home.locked == what);
	home.locked = NULL;
	if (home.between)
		home.between();
}

void env_flow_lock(struct esp_flow *f)
{
	lock(f);
}

void env_flow_unlock(struct esp_flow *f)
{
	unlock(f);
}

void env_node_lock(struct esp_node *n)
{
	lock(n);
}

void env_node_unlock(struct esp_node *n)
{
	unlock(n);
}

u64 env_random(struct esp_node *n)
{
	(void)n;
	return (u64)home_random() << 32 | home_random();
}

const u8 *env_frame_bytes(void *frame, u32 off, u32 len, u8 *buf)
{
	/* Copied, as for a fragmented buffer: the core must not read more than it asked for. */
	memcpy(buf, (const u8 *)frame + off, len);
	return buf;
}

u32 env_frame_crc(void *frame, u32 off, u32 len, u32 crc)
{
	return env_crc32c(crc, (const u8 *)frame + off, len);
}

struct esp_out *env_out_get(struct esp_rail *r)
{
	(void)r;
	return home_alloc(sizeof(struct esp_out));
}

void env_out_put(struct esp_rail *r, struct esp_out *o)
{
	(void)r;
	home_free(o);
}

static void send_at(u64 at, u32 to, u32 rail, const struct esp_addr *from, const u8 *bytes, u32 len)
{
	struct home_frame *fr = home_alloc(sizeof(*fr) + len), **p = &home.wire;

	fr->at = at;
	fr->to = to;
	fr->rail = rail;
	fr->from = *from;
	fr->len = len;
	memcpy(fr->bytes, bytes, len);
	while (*p && (*p)->at <= at)
		p = &(*p)->next;
	fr->next = *p;
	*p = fr;
}

void home_inject(u32 to, u32 rail, const struct esp_addr *from, const u8 *bytes, u32 len)
{
	send_at(home.now, to, rail, from, bytes, len);
}

void env_out(struct esp_rail *r, struct esp_out *o)
{
	struct home_node *hn = node_of(r->node);
	u32 to = o->to.addr[5], len = o->hdr_len, k, crc = 0xffffffff;
	static u8 bytes[ESP_MTU_MAX + 64];
	int fate;
	u64 at;

	for (k = 0; k < o->npiece; k++) {
		const struct msg *m = o->piece[k].ref;

		assert(len + o->piece[k].len <= ESP_MTU_MAX);
		if (!m)
			memset(bytes + len, 0, o->piece[k].len);
		else if (m->eager)
			memcpy(bytes + len, m->copy + o->piece[k].off, o->piece[k].len);
		else
			memcpy(bytes + len,
			       m->run->buf + m->run->sched.op[m->op].src_off + o->piece[k].off,
			       o->piece[k].len);
		crc = env_crc32c(crc, bytes + len, o->piece[k].len);
		len += o->piece[k].len;
	}
	assert(len == o->total_len);
	assert(len <= r->mtu);
	esp_seal(o, crc);
	memcpy(bytes, o->hdr, o->hdr_len);
	home_free(o);

	home.frames++;
	at = home.now > home.rail_free[hn->rank][r->place] ? home.now
							   : home.rail_free[hn->rank][r->place];
	at += len * home.ns_per_byte;
	home.rail_free[hn->rank][r->place] = at;
	at += home.delay;
	if (to >= home.nnodes || (home.mtu_limit && len > home.mtu_limit))
		return;
	fate = home.fate ? home.fate(hn->rank, to, bytes, len) : HOME_PASS;
	if (home.loss && (home_random() & 0xffff) < home.loss)
		fate = HOME_DROP;
	if (fate == HOME_DROP)
		return;
	if (fate == HOME_TWICE)
		send_at(at + 1, to, r->place, &r->addr, bytes, len);
	if (fate == HOME_LATE)
		at += 40 * ESP_US;
	if (fate == HOME_FLIP)
		bytes[home_random() % len] ^= 1 << home_random() % 8;
	send_at(at, to, r->place, &r->addr, bytes, len);
}

void env_kick(struct esp_rail *r)
{
	(void)r;
	assert(!home.locked);
}

/* Runs. */
int env_send(struct core_run *r, u32 op)
{
	struct home_run *hr = run_of(r);
	struct home_node *hn = hr->node;
	const struct goal_op *o = &r->sched->op[op];
	bool eager = o->len <= hn->n.p.eager_max;
	struct msg *m = home_zalloc(sizeof(*m) + (eager ? o->len : 0));
	int rc;

	assert(!home.locked);
	m->run = hr;
	m->op = op;
	m->eager = eager;
	m->m.key.nonce = hn->m.nonce;
	m->m.key.cookie = home.rank[o->peer].cookie;
	m->m.key.opid = hr->erun.opid;
	m->m.key.start = hr->erun.start;
	m->m.key.src = hn->rank;
	m->m.key.tag = o->tag;
	m->m.key.instance = o->instance;
	m->m.ep = &hn->ep;
	m->m.ref = m;
	m->m.len = o->len;
	if (eager)
		memcpy(m->copy, hr->buf + o->src_off, o->len);
	else
		hr->refs++;
	esp_link_init(&m->link);
	if (!eager)
		esp_append(&hr->msgs, &m->link);
	hn->msgs++;
	rc = esp_send(&hn->n, &m->m, &home.peer[o->peer], home.now);
	assert(!rc);
	return eager ? CORE_DONE : CORE_PENDING;
}

void env_sent(struct esp_msg *em, s32 status)
{
	struct msg *m = (struct msg *)em;

	assert(!home.locked);
	m->run->node->msgs--;
	if (!m->eager) {
		esp_unlink(&m->link);
		core_op_done(&m->run->run, m->op, status);
		m->run->refs--;
	}
	home_free(m);
}

int env_post(struct core_run *r, u32 op)
{
	assert(!home.locked);
	esp_run_posted(&run_of(r)->erun, op, home.now);
	return CORE_PENDING;
}

int env_deliver(struct core_run *r, u32 op, void *msg)
{
	assert(!home.locked);
	return esp_deliver(&run_of(r)->erun, op, msg, home.now);
}

void env_msg_drop(struct core_run *r, void *msg)
{
	(void)r;
	esp_drop(msg, home.now);
}

int env_move(struct core_run *r, u32 op)
{
	(void)r;
	(void)op;
	return -EINVAL;
}

int env_reduce(struct core_run *r, u32 op)
{
	(void)r;
	(void)op;
	return -EINVAL;
}

void env_run_done(struct core_run *r)
{
	struct home_run *hr = run_of(r);

	assert(!home.locked && !hr->over);
	hr->over = true;
	if (r->status)
		esp_run_abort(&hr->erun, r->status, r->err_peer, home.now);
}

void env_run_cancel(struct esp_run *r, s32 status, u32 rank)
{
	struct home_run *hr = erun_of(r);
	struct esp_link *l;
	struct msg *m;
	u32 at = 0;

	assert(!home.locked);
	core_cancel(r->run, status, rank);
	do { /* each may end at once */
		for (l = hr->msgs.next; l != &hr->msgs; l = l->next) {
			m = esp_entry(l, struct msg, link);
			if (!m->cancelled)
				break;
		}
		if (l != &hr->msgs) {
			m->cancelled = true;
			esp_send_cancel(&m->m, home.now);
		}
	} while (l != &hr->msgs);
	while (esp_run_cancelled(r, &at, home.now))
		;
}

void env_member_failed(struct esp_member *m)
{
	struct esp_run *r = NULL;

	assert(!home.locked);
	while ((r = env_run_next(m, r)) != NULL)
		env_run_cancel(r, m->failed, m->failed_rank);
}

static void write_at(struct esp_rx *rx, struct home_run *hr, u32 op, u64 off, const u8 *from,
		     u32 len)
{
	if (hr)
		memcpy(hr->buf + hr->sched.op[op].dst_off + off, from, len);
	else
		memcpy((u8 *)rx->ref + off, from, len);
}

static void later(struct esp_rx *rx, struct home_run *hr, u32 op, u64 off, const u8 *from, u32 len,
		  bool unpack)
{
	struct home_late *l = home_alloc(sizeof(*l) + len);

	l->at = home.now + home_random() % (100 * ESP_US);
	l->rx = rx;
	l->run = hr;
	l->op = op;
	l->off = off;
	l->len = len;
	l->unpack = unpack;
	memcpy(l->bytes, from, len);
	if (hr)
		hr->refs++;
	l->next = home.lates;
	home.lates = l;
}

int env_place(struct esp_rx *rx, struct esp_run *r, u32 op, u64 off, void *frame, u32 foff, u32 len)
{
	struct home_run *hr = r ? erun_of(r) : NULL;
	struct home_node *hn = hr ? hr->node : node_of(rx->ep->node);

	assert(!home.locked);
	if (hn->late && home_random() % 2) {
		later(rx, hr, op, off, (const u8 *)frame + foff, len, false);
		return CORE_PENDING;
	}
	write_at(rx, hr, op, off, (const u8 *)frame + foff, len);
	return CORE_DONE;
}

int env_unpack(struct esp_rx *rx, struct esp_run *r, u32 op)
{
	struct home_run *hr = erun_of(r);

	if (hr->node->late && home_random() % 2) {
		later(rx, hr, op, 0, rx->ref, (u32)rx->total, true);
		return CORE_PENDING;
	}
	write_at(NULL, hr, op, 0, rx->ref, (u32)rx->total);
	return CORE_DONE;
}

static bool run_late(void)
{
	struct home_late **p, *l;

	for (p = &home.lates; (l = *p) != NULL; p = &l->next) {
		struct esp_run *r = l->run ? &l->run->erun : NULL;

		if (l->at > home.now)
			continue;
		*p = l->next;
		write_at(l->rx, l->run, l->op, l->off, l->bytes, l->len);
		if (l->unpack)
			esp_unpacked(l->rx, r, l->op, 0, home.now);
		else
			esp_placed(l->rx, r, l->op, l->len, 0, home.now);
		if (r)
			env_run_put(r);
		home_free(l);
		return true;
	}
	return false;
}

struct home_run *home_start(struct home_node *hn, u32 number, const struct home_op *op, u32 n)
{
	u32 held = home.hold ? n - home.hold : 0, i, nrecv = 0, rank;
	struct home_run *hr = home_zalloc(sizeof(*hr));
	struct goal_sched_hdr *h;
	struct goal_op *o;
	u32 *match, *deps, *succ;
	u64 len;
	s32 status;

	for (i = 0; i < n; i++)
		nrecv += op[i].code == GOAL_OP_RECV;
	len = sizeof(*h) + n * (sizeof(*o) + 4) + 4 * held + 4 * nrecv;
	hr->bytes = home_zalloc(len);
	h = hr->bytes;
	o = (struct goal_op *)(h + 1);
	h->nops = n;
	h->nindep = n - held;
	h->nsucc = held;
	h->nrecv = nrecv;
	h->npeers = home.nnodes;
	h->nbufs = 1;
	deps = (u32 *)(o + n);
	succ = deps + n;
	match = succ + held;
	hr->sched.hdr = h;
	hr->sched.op = o;
	hr->sched.deps = deps;
	hr->sched.succ = succ;
	hr->sched.match = match;
	nrecv = 0;
	for (i = 0; i < n; i++) {
		o[i].code = op[i].code;
		o[i].peer = op[i].peer;
		o[i].tag = op[i].tag;
		o[i].len_from = GOAL_OP_NONE;
		o[i].src_off = op[i].off;
		o[i].dst_off = op[i].off;
		o[i].len = op[i].len;
		o[i].succ = i ? held : 0;
		if (i >= n - held) {
			deps[i] = 1;
			succ[o[0].nsucc++] = i;
		}
		if (op[i].code == GOAL_OP_RECV) {
			o[i].slot = nrecv;
			match[nrecv++] = i; /* the test gives them in order */
		}
	}
	hr->buf = home_alloc(home.buf);
	hr->arrays = home_alloc(core_run_bytes(&hr->sched));
	core_run_init(&hr->run, &hr->sched, hr->arrays);
	hr->seg.base = hr->buf;
	hr->seg.len = home.buf;
	hr->run.buf[0].seg = &hr->seg;
	hr->run.buf[0].nseg = 1;
	hr->run.buf[0].len = home.buf;
	hr->node = hn;
	esp_link_init(&hr->msgs);
	hr->erun.run = &hr->run;
	hr->erun.m = &hn->m;
	hr->erun.opid = home.starts ? 1 : number;
	hr->erun.start = home.starts ? number : 1;
	for (i = 0; i < home.buf; i += 4) {
		u32 v = (i * 2654435761u) ^ hn->rank << 24 ^ number;

		memcpy(hr->buf + i, &v, 4);
	}
	if (home.fill)
		home.fill(hr);
	core_run_reset(&hr->run);
	status = esp_run_doomed(&hn->m, hr->erun.opid, hr->erun.start, &rank);
	hr->next = hn->runs;
	hn->runs = hr;
	esp_batch_enter(&hn->n);
	if (status)
		core_cancel(&hr->run, status, rank);
	esp_run_started(&hr->erun, home.now);
	core_start(&hr->run);
	esp_batch_leave(&hn->n, home.now);
	return hr;
}

static void link_address(struct esp_addr *a, u32 rank, u32 rail)
{
	memset(a, 0, sizeof(*a));
	a->carrier = ESP_CARRIER_ETHER;
	a->addr[0] = 2;
	a->addr[4] = rail;
	a->addr[5] = rank;
}

struct home_node *home_boot(u32 rank, u32 rails, const struct esp_params *p)
{
	struct home_node *hn = home_zalloc(sizeof(*hn));
	u32 i;

	for (i = 0; i < 16; i++)
		home.peer[rank].node[i] = home_random();
	home.rank[rank].cookie = env_random(NULL);
	home.rank[rank].peer = rank;
	memset(home.peer[rank].addr, 0, sizeof(home.peer[rank].addr));
	for (i = 0; i < rails; i++)
		link_address(&home.peer[rank].addr[i], rank, i);
	esp_node_init(&hn->n, home.peer[rank].node, p);
	hn->rank = rank;
	hn->alive = true;
	for (i = 0; i < ESP_POOLS; i++)
		hn->pool_max[i] = 4096;
	hn->rooms_max = 64;
	hn->ep.node = &hn->n;
	hn->ep.cookie = home.rank[rank].cookie;
	home.node[rank] = hn;
	for (i = 0; i < rails; i++) {
		hn->rail[i].node = &hn->n;
		hn->rail[i].addr = home.peer[rank].addr[i];
		hn->rail[i].speed = 1250000000;
		esp_rail_up(&hn->rail[i], i, 1500, home.now);
	}
	return hn;
}

void home_join(struct home_node *hn)
{
	hn->m.ep = &hn->ep;
	hn->m.table = &home.table;
	hn->m.nonce = 0xabcdef0123456789ull;
	hn->m.rank = hn->rank;
	hn->has_member = true;
	esp_member_added(&hn->m, home.now);
}

void home_open(u32 nodes, u32 rails, const struct esp_params *p)
{
	u32 i;

	memset(&home, 0, sizeof(home));
	home.seed = 88172645463325252ull;
	home.now = ESP_S;
	home.buf = HOME_BUF;
	home.nnodes = nodes;
	home.delay = 10 * ESP_US;
	home.ns_per_byte = 1;
	memset(home.rail_free, 0, sizeof(home.rail_free));
	home.table.nranks = nodes;
	home.table.npeers = nodes;
	home.table.rank = home.rank;
	home.table.peer = home.peer;
	for (i = 0; i < nodes; i++)
		home_boot(i, rails, p);
	for (i = 0; i < nodes; i++)
		home_join(home.node[i]);
}

void env_look(struct esp_node *n)
{
	node_of(n)->to_look = true;
}

static void look(struct home_node *hn)
{
	struct esp_look l;

	if (!hn->to_look)
		return;
	hn->to_look = false;
	memset(&l, 0, sizeof(l));
	while (esp_look(&hn->n, &l, home.now))
		;
}

void home_look(void)
{
	u32 i;

	for (i = 0; i < home.nnodes; i++)
		if (home.node[i])
			look(home.node[i]);
}

void home_ep_close(struct home_node *hn, bool clean)
{
	struct esp_close c = { .flow = NULL };

	if (!clean && hn->has_member)
		esp_member_fail(&hn->m, -ECONNRESET, hn->rank, home.now);
	while (esp_ep_close(&hn->ep, &c, clean, home.now))
		;
}

static void step_to(u64 limit)
{
	u64 at = limit;
	struct home_flow *hf, *next = NULL;
	struct home_late *l;
	u32 i;

	home_look();
	if (home.wire && home.wire->at < at)
		at = home.wire->at;
	for (l = home.lates; l; l = l->next)
		if (l->at < at)
			at = l->at;
	for (i = 0; i < home.nnodes; i++)
		for (hf = home.node[i] && home.node[i]->alive ? home.node[i]->flows : NULL; hf;
		     hf = hf->next)
			if (hf->timer <= at) {
				at = hf->timer;
				next = hf;
			}
	if (at > home.now)
		home.now = at;
	if (run_late())
		return;
	if (home.wire && home.wire->at <= home.now) {
		struct home_frame *fr = home.wire;
		struct home_node *hn = home.node[fr->to];

		home.wire = fr->next;
		if (hn && hn->alive) {
			u8 *exact =
				home_alloc(fr->len); /* the sanitizer sees what lies behind it */

			memcpy(exact, fr->bytes, fr->len);
			esp_frame_in(&hn->rail[fr->rail], &fr->from, exact, fr->len, home.now);
			home_free(exact);
		}
		home_free(fr);
		return;
	}
	if (next && next->timer <= home.now) {
		next->refs++;
		next->timer = ESP_NEVER;
		esp_timer(&next->f, home.now);
		env_flow_put(&next->f);
	}
}

void home_watch(struct home_node *hn)
{
	struct esp_run *r = NULL;

	esp_member_timer(&hn->m, home.now);
	do {
		r = esp_member_watch(&hn->m, r, home.now);
	} while (r);
}

bool home_pass(u64 ns, bool (*done)(void))
{
	u64 end = home.now + ns, watch = home.now + ESP_S;

	while (home.now < end && (!home.events_max || home.events < home.events_max)) {
		home.events++;
		if (done && done())
			return true;
		step_to(end < watch ? end : watch);
		if (home.now >= watch) {
			u32 i;

			watch = home.now + ESP_S;
			for (i = 0; i < home.nnodes; i++)
				if (home.node[i] && home.node[i]->alive && home.node[i]->has_member)
					home_watch(home.node[i]);
		}
	}
	return done ? done() : true;
}

/* Every run is over. */
bool home_idle(void)
{
	struct home_run *r;
	u32 i;

	for (i = 0; i < home.nnodes; i++)
		for (r = home.node[i]->runs; r; r = r->next)
			if (!r->over)
				return false;
	return true;
}

void home_kill(struct home_node *hn)
{
	hn->alive = false;
}

void home_remove(struct home_node *hn)
{
	u32 i;

	home_look();
	home.node[hn->rank] = NULL;
	while (hn->flows) {
		struct home_flow *f = hn->flows;

		f->refs++;
		esp_flow_kill(&f->f, home.now);
		look(hn); /* what is left in it */
		env_flow_put(&f->f);
	}
	while (home.lates) {
		home.lates->at = home.now;
		run_late();
	}
	while (hn->runs) {
		struct home_run *r = hn->runs;

		if (!r->over)
			env_run_cancel(&r->erun, -ESHUTDOWN, 0);
		assert(r->over);
		assert(r->refs == 0);
		hn->runs = r->next;
		home_free(r->bytes);
		home_free(r->arrays);
		home_free(r->buf);
		home_free(r);
	}
	while (hn->flows) { /* opened to tell of the end */
		struct home_flow *f = hn->flows;

		f->refs++;
		esp_flow_kill(&f->f, home.now);
		look(hn); /* what is left in it */
		env_flow_put(&f->f);
	}
	if (hn->m.ep)
		esp_member_removed(&hn->m, home.now);
	assert(hn->msgs == 0 && hn->rooms == 0 && hn->endings == 0);
	assert(hn->n.pull.out == 0 && hn->n.pull.nactive == 0 && !hn->n.pull.heap);
	for (i = 0; i < ESP_POOLS; i++)
		if (hn->pool_used[i]) {
			fprintf(stderr, "pool %u: %d left\n", i, hn->pool_used[i]);
			abort();
		}
	home_free(hn);
}

void home_close(void)
{
	u32 i;

	for (i = 0; i < home.nnodes; i++)
		if (home.node[i])
			home_remove(home.node[i]);
	while (home.wire) {
		struct home_frame *fr = home.wire;

		home.wire = fr->next;
		home_free(fr);
	}
}

static void dump_queue(const struct esp_queue *q)
{
	struct esp_link *l;

	for (l = q->msgs.next; l != &q->msgs; l = l->next) {
		struct esp_row *row = esp_entry(l, struct esp_row, link);
		struct esp_msg *m = esp_entry(row, struct esp_msg, all);

		if (row->mark)
			continue;
		fprintf(stderr,
			"  msg mid %u len %llu next %llu granted %llu acked %llu state %u lost %d "
			"items %d again %llu-%llu head %d\n",
			m->mid, (unsigned long long)m->len, (unsigned long long)m->next,
			(unsigned long long)m->granted, (unsigned long long)m->acked, m->state,
			esp_linked(&m->lost), esp_linked(&m->items),
			(unsigned long long)m->again.from, (unsigned long long)m->again.to,
			m->head);
	}
}

static void dump_queues(struct esp_flow *f)
{
	struct esp_link *l;
	u32 i;

	for (i = 0; i < ESP_QUEUE_HASH; i++)
		for (l = f->allq[i].next; l != &f->allq[i]; l = l->next)
			dump_queue(esp_entry(l, struct esp_queue, all));
	dump_queue(&f->common);
}

/* For a failed test: where everybody stands. */
void home_dump(void)
{
	struct home_flow *hf;
	struct home_run *r;
	u32 i, k;

	fprintf(stderr, "time %llu\n", (unsigned long long)home.now);
	for (i = 0; i < home.nnodes; i++) {
		struct home_node *hn = home.node[i];

		for (hf = hn ? hn->flows : NULL; hf; hf = hf->next) {
			struct esp_flow *f = &hf->f;

			fprintf(stderr,
				"node %u flow state %u msgs %u queues %d rx %u refused "
				"%u waits %u timer %lld pause %lld spare %d\n",
				i, f->state, f->nmsgs, esp_linked(&f->queues), f->nrx, f->nrefused,
				f->nwaits, (long long)(hf->timer - home.now),
				(long long)(f->pause_at - home.now), f->spare_used);
			dump_queues(f);
			for (struct esp_link *l = f->rx.next; l != &f->rx; l = l->next) {
				struct esp_row *row = esp_entry(l, struct esp_row, link);
				struct esp_rx *x = esp_entry(row, struct esp_rx, of_flow);

				if (row->mark)
					continue;

				fprintf(stderr,
					"  rx mid %u total %llu here %llu granted %llu state %u "
					"busy %u ranges %u p_state %u p_granted %llu p_here %llu "
					"stalled %d\n",
					x->mid, (unsigned long long)x->total,
					(unsigned long long)x->here, (unsigned long long)x->granted,
					x->state, x->busy, x->nrange, x->p_state,
					(unsigned long long)x->p_granted,
					(unsigned long long)x->p_here, x->p_stalled);
			}
			for (k = 0; k < HOME_RAILS; k++)
				fprintf(stderr,
					"  path %u state %u sent %u inflight %u window %u mtu %u "
					"backoff %u srtt %llu\n",
					k, f->path[k].state, f->path[k].nsent, f->path[k].inflight,
					f->path[k].window, f->path[k].mtu, f->path[k].backoff,
					(unsigned long long)f->path[k].srtt);
		}
		for (r = hn ? hn->runs : NULL; r; r = r->next)
			if (!r->over)
				fprintf(stderr, "  run %u undone %u busy %u refs %d\n",
					r->erun.opid, r->run.undone, r->run.busy, r->refs);
		for (k = 0; k < ESP_COUNTERS; k++)
			if (hn && hn->count[k])
				fprintf(stderr, " %s=%llu", esp_count_name(k),
					(unsigned long long)hn->count[k]);
		fprintf(stderr, "\n");
	}
}
