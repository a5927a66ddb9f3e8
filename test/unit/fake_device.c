// SPDX-License-Identifier: BSD-3-Clause
/* See fake_device.h. */
#include "fake_device.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <goal/engine.h>

#include "libgoal/engine/kernel.h"

#define FD_BASE 1000
#define GROUPS  64
#define SCHEDS  64
#define SLOT    (1u << 18) /* of an object's results in the mapping */
#define RUNS    64

int __wrap_kernel_device_open(void);
void __wrap_kernel_device_close(int fd);
int __wrap_kernel_device_request(int fd, unsigned long code, void *arg);
void *__wrap_kernel_device_map(int fd, size_t bytes);
void __wrap_kernel_device_unmap(const void *map, size_t bytes);

struct fake fake;

struct sched {
	bool used;
	uint64_t *data;
	const struct goal_sched_hdr *hdr;
	const struct goal_op *op;
	const uint32_t *deps, *succ;
	uint8_t flags[GOAL_MAX_BUFS];
	uint64_t need[GOAL_MAX_BUFS];
};

struct group {
	bool used;
	struct espgoal_group g;
	int status;
	uint32_t rank;
};

struct object {
	bool used;
	uint32_t sched;
	uint32_t starts;
};

/* One start: the record stays, so that peers find what it sent. */
struct run {
	struct run *next;
	struct endpoint *ep;
	uint32_t object;
	uint64_t nonce;
	uint32_t op_id, start, rank;
	struct sched *s;
	uint32_t *left;
	bool *done;
	uint8_t **sent; /* by operation */
	uint8_t *buf[GOAL_MAX_BUFS + 1];
	uint32_t undone;
	uint64_t *sched_copy;
	bool over;
	int status;
};

struct endpoint {
	bool open, made, closed;
	uint8_t *map;
	struct espgoal_head *head;
	struct espgoal_word *word;
	uint32_t runs;
	size_t area_off, map_bytes;
	uint64_t cookie;
	struct group group[GROUPS];
	struct sched sched[SCHEDS];
	struct object object[RUNS];
};

static struct endpoint ends[FAKE_ENDPOINTS];
static struct run *runs;

static void free_sched(struct sched *s)
{
	free(s->data);
	memset(s, 0, sizeof(*s));
}

void fake_reset(void)
{
	struct run *r;

	while ((r = runs)) {
		runs = r->next;
		for (uint32_t i = 0; i < r->s->hdr->nops; i++)
			free(r->sent[i]);
		for (uint32_t b = 0; b <= GOAL_MAX_BUFS; b++)
			free(r->buf[b]);
		free_sched(r->s);
		free(r->s);
		free(r->sent);
		free(r->left);
		free(r->done);
		free(r);
	}
	for (uint32_t i = 0; i < FAKE_ENDPOINTS; i++) {
		free(ends[i].map);
		for (uint32_t k = 0; k < SCHEDS; k++)
			free_sched(&ends[i].sched[k]);
	}
	memset(ends, 0, sizeof(ends));
	memset(&fake, 0, sizeof(fake));
	fake.objects = RUNS;
	fake.nodes = 2;
	fake.info = (struct espgoal_info){
		.abi = ESPGOAL_ABI,
		.abi_oldest = ESPGOAL_ABI,
		.sched_version = GOAL_SCHED_VERSION,
		.version = "fake",
		.rails = 1,
		.dtypes = 1ull << GOAL_TYPE_INT32 | 1ull << GOAL_TYPE_DOUBLE,
		.rops = 1ull << GOAL_ROP_SUM | 1ull << GOAL_ROP_MAX,
		.run_max = ESPGOAL_SURE_RUN,
		.sched_max = ESPGOAL_SURE_SCHED,
		.area_max = 16 << 20,
		.runs_max = RUNS,
		.ranks_max = ESPGOAL_SURE_RANKS,
		.eager_max = ESPGOAL_SURE_EAGER,
		.segs_max = 20,
	};
}

static struct endpoint *at(int fd)
{
	assert_in_range(fd, FD_BASE, FD_BASE + FAKE_ENDPOINTS - 1);
	assert_true(ends[fd - FD_BASE].open);
	return &ends[fd - FD_BASE];
}

int __wrap_kernel_device_open(void)
{
	if (fake.open_rc)
		return fake.open_rc;
	for (int i = 0; i < FAKE_ENDPOINTS; i++) {
		if (ends[i].open || ends[i].made)
			continue;
		ends[i].open = true;
		fake.open++;
		return FD_BASE + i;
	}
	fail_msg("more than %d endpoints", FAKE_ENDPOINTS);
	return -1;
}

void __wrap_kernel_device_close(int fd)
{
	struct endpoint *e = at(fd);

	e->open = false;
	fake.open--;
	if (e->made && !e->closed)
		fake.endpoints--;
}

void *__wrap_kernel_device_map(int fd, size_t bytes)
{
	struct endpoint *e = at(fd);

	if (fake.map_fails) {
		errno = EAGAIN;
		return NULL;
	}
	assert_int_equal(bytes, e->map_bytes);
	fake.mapped++;
	return e->map;
}

void __wrap_kernel_device_unmap(const void *map, size_t bytes)
{
	assert_non_null(map);
	assert_true(bytes > 0);
	fake.mapped--;
}

static void node_name(uint32_t i, uint8_t node[16])
{
	memset(node, 0, 16);
	node[0] = (uint8_t)(1 + i % fake.nodes);
}

static int do_open(struct endpoint *e, struct espgoal_open *o)
{
	uint32_t i = (uint32_t)(e - ends);

	assert_false(e->made);
	if (!o->runs || o->runs > RUNS)
		return -E2BIG;
	e->runs = o->runs;
	e->area_off = sizeof(*e->head) + e->runs * sizeof(*e->word);
	e->area_off = (e->area_off + 63) / 64 * 64;
	e->map_bytes = e->area_off + (size_t)e->runs * SLOT;
	e->map = calloc(1, e->map_bytes);
	assert_non_null(e->map);
	e->head = (struct espgoal_head *)e->map;
	e->word = (struct espgoal_word *)(e->head + 1);
	e->made = true;
	e->cookie = 77 + i;
	o->map_bytes = e->map_bytes;
	o->area_off = e->area_off;
	o->cookie = e->cookie;
	node_name(i, o->node);
	o->link[0].bytes[0] = (uint8_t)(1 + i);
	fake.endpoints++;
	return 0;
}

static int do_group(struct endpoint *e, struct espgoal_group *g)
{
	const struct espgoal_rank *rank = (const void *)(uintptr_t)g->ranks;
	const struct espgoal_peer *peer = (const void *)(uintptr_t)g->peers;
	uint8_t node[16];
	uint32_t id;

	node_name((uint32_t)(e - ends), node);
	assert_int_equal(g->id | g->flags | g->reserved, 0);
	assert_true(g->nonce && g->npeers && g->npeers <= g->nranks && g->rank < g->nranks);
	assert_int_equal(rank[g->rank].cookie, e->cookie);
	assert_memory_equal(peer[rank[g->rank].peer].node, node, 16);
	for (uint32_t i = 0; i < g->npeers; i++)
		for (uint32_t k = 0; k < i; k++)
			assert_memory_not_equal(peer[i].node, peer[k].node, 16);
	for (uint32_t i = 0; i < g->nranks; i++) {
		node_name((uint32_t)(rank[i].cookie - 77), node);
		assert_memory_equal(peer[rank[i].peer].node, node, 16);
	}
	for (id = 0; e->group[id].used; id++)
		assert_true(id + 1 < GROUPS);
	e->group[id] = (struct group){ .used = true, .g = *g, .rank = g->rank };
	g->id = id;
	fake.groups++;
	return 0;
}

static void extent(struct sched *s, uint32_t buf, uint64_t end)
{
	if (buf < GOAL_MAX_BUFS && end > s->need[buf])
		s->need[buf] = end;
}

static uint64_t bytes_of(const struct goal_op *o)
{
	return o->code == GOAL_OP_REDUCE ? o->len * core_type_size(o->dtype) : o->len;
}

static void copy_sched(struct sched *s, const void *data, size_t bytes)
{
	s->data = malloc(bytes);
	assert_non_null(s->data);
	memcpy(s->data, data, bytes);
	s->hdr = (const struct goal_sched_hdr *)s->data;
	s->op = (const struct goal_op *)(s->hdr + 1);
	s->deps = (const uint32_t *)(s->op + s->hdr->nops);
	s->succ = s->deps + s->hdr->nops;
	memset(s->need, 0, sizeof(s->need));
	for (uint32_t i = 0; i < s->hdr->nops; i++) {
		const struct goal_op *o = &s->op[i];

		if (o->code == GOAL_OP_SEND || o->code == GOAL_OP_COPY || o->code == GOAL_OP_REDUCE)
			extent(s, o->src_buf, o->src_off + bytes_of(o));
		if (o->code == GOAL_OP_RECV || o->code == GOAL_OP_COPY || o->code == GOAL_OP_REDUCE)
			extent(s, o->dst_buf, o->dst_off + bytes_of(o));
	}
}

static int do_load(struct endpoint *e, struct espgoal_load *l)
{
	uint64_t all = 0;
	struct sched *s;
	uint32_t id;

	assert_int_equal(l->id | l->flags | l->rule | l->reserved | l->where, 0);
	for (id = 0; e->sched[id].used; id++)
		assert_true(id + 1 < SCHEDS);
	s = &e->sched[id];
	copy_sched(s, (const void *)(uintptr_t)l->data, l->bytes);
	memcpy(s->flags, l->buf, sizeof(s->flags));
	for (uint32_t b = 0; b < GOAL_MAX_BUFS; b++) {
		all += s->need[b];
		assert_true(b < s->hdr->nbufs || !l->buf[b]);
	}
	if (all + s->hdr->scratch > fake.info.run_max) {
		free_sched(s);
		return -E2BIG;
	}
	for (uint32_t i = 0; i < s->hdr->nops; i++)
		if (s->op[i].code == GOAL_OP_REDUCE && s->op[i].dtype == GOAL_TYPE_USER) {
			free_sched(s);
			return -EOPNOTSUPP;
		}
	s->used = true;
	memcpy(l->need, s->need, sizeof(l->need));
	l->id = id;
	fake.scheds++;
	return 0;
}

static size_t result_at(const struct endpoint *e, uint32_t id, const struct sched *s, uint32_t buf)
{
	size_t off = e->area_off + (size_t)id * SLOT;

	for (uint32_t b = 0; b < buf; b++)
		if (s->flags[b] & ESPGOAL_BUF_OUT)
			off += (s->need[b] + 63) / 64 * 64;
	return off;
}

static int do_run(struct endpoint *e, struct espgoal_run *r)
{
	struct sched *s = &e->sched[r->sched];
	uint32_t id, n = 0;

	assert_true(r->sched < SCHEDS && s->used && !r->id);
	for (id = 0; id < e->runs; id++)
		n += e->object[id].used;
	for (id = 0; id < e->runs && e->object[id].used; id++)
		;
	if (n >= fake.objects || id == e->runs)
		return -ENOSPC;
	e->object[id] = (struct object){ .used = true, .sched = r->sched };
	memset(&e->word[id], 0, sizeof(e->word[id]));
	r->id = id;
	for (uint32_t b = 0; b < s->hdr->nbufs; b++)
		if (s->flags[b] & ESPGOAL_BUF_OUT)
			r->off[b] = result_at(e, id, s, b);
	fake.made++;
	return 0;
}

static int fill(struct run *r, const struct espgoal_start *a)
{
	const struct espgoal_seg *seg = a->nsegs <= 2 ? a->seg : (const void *)(uintptr_t)a->segs;
	uint64_t off = 0;
	uint32_t i = 0;

	for (uint32_t b = 0; b < r->s->hdr->nbufs; b++) {
		uint64_t left = r->s->need[b];
		uint8_t *to = r->buf[b];

		if (!(r->s->flags[b] & ESPGOAL_BUF_IN)) {
			memset(to, 0x5a, left);
			continue;
		}
		while (left) {
			uint64_t n;

			assert_true(i < a->nsegs);
			n = seg[i].len - off < left ? seg[i].len - off : left;
			memcpy(to, (const uint8_t *)(uintptr_t)seg[i].addr + off, n);
			to += n;
			left -= n;
			off += n;
			if (off == seg[i].len) {
				i++;
				off = 0;
			}
		}
	}
	assert_int_equal(i, a->nsegs);
	return 0;
}

static void over(struct run *r, int status, uint32_t peer)
{
	struct endpoint *e = r->ep;
	struct espgoal_word *w = &e->word[r->object];

	r->over = true;
	r->status = status;
	if (e->closed || !e->map)
		return;
	for (uint32_t b = 0; b < r->s->hdr->nbufs; b++)
		if (r->s->flags[b] & ESPGOAL_BUF_OUT)
			memcpy(e->map + result_at(e, r->object, r->s, b), r->buf[b], r->s->need[b]);
	w->status = status;
	w->peer = peer;
	if (!fake.keeps)
		w->free = e->object[r->object].starts;
	__atomic_store_n(&w->over, e->object[r->object].starts, __ATOMIC_RELEASE);
	__atomic_store_n(&e->head->over, e->head->over + 1, __ATOMIC_RELEASE);
}

static struct run *member_run(const struct run *r, uint32_t rank)
{
	for (struct run *p = runs; p; p = p->next)
		if (p->nonce == r->nonce && p->op_id == r->op_id && p->start == r->start &&
		    p->rank == rank)
			return p;
	return NULL;
}

static uint8_t *place(struct run *r, uint32_t buf, uint64_t off)
{
	return r->buf[buf == GOAL_BUF_SCRATCH ? GOAL_MAX_BUFS : buf] + off;
}

static bool receive(struct run *r, const struct goal_op *o)
{
	struct run *p = member_run(r, o->peer);

	for (uint32_t i = 0; p && i < p->s->hdr->nops; i++) {
		const struct goal_op *q = &p->s->op[i];

		if (q->code != GOAL_OP_SEND || q->peer != r->rank || q->tag != o->tag ||
		    q->instance != o->instance)
			continue;
		if (!p->done[i])
			return false;
		if (q->len > o->len) {
			over(r, -EMSGSIZE, o->peer);
			return false;
		}
		memcpy(place(r, o->dst_buf, o->dst_off), p->sent[i], q->len);
		return true;
	}
	return false;
}

static bool carry_out(struct run *r, uint32_t i)
{
	const struct goal_op *o = &r->s->op[i];

	switch (o->code) {
	case GOAL_OP_SEND:
		r->sent[i] = malloc(o->len + 1);
		assert_non_null(r->sent[i]);
		memcpy(r->sent[i], place(r, o->src_buf, o->src_off), o->len);
		return true;
	case GOAL_OP_RECV:
		return receive(r, o);
	case GOAL_OP_COPY:
		memcpy(place(r, o->dst_buf, o->dst_off), place(r, o->src_buf, o->src_off), o->len);
		return true;
	case GOAL_OP_REDUCE:
		assert_int_equal(goal_reduce_local(o->dtype, o->rop,
						   place(r, o->src_buf, o->src_off),
						   place(r, o->dst_buf, o->dst_off), o->len),
				 0);
		return true;
	default:
		return true;
	}
}

static bool advance(struct run *r)
{
	bool moved = false;

	for (uint32_t i = 0; i < r->s->hdr->nops && !r->over; i++) {
		const struct goal_op *o = &r->s->op[i];

		if (r->done[i] || r->left[i] || !carry_out(r, i))
			continue;
		r->done[i] = true;
		r->undone--;
		moved = true;
		for (uint32_t k = 0; k < o->nsucc + o->nisucc; k++)
			r->left[r->s->succ[o->succ + k]]--;
	}
	if (!r->over && !r->undone)
		over(r, 0, ESPGOAL_NONE);
	return moved;
}

/* A member's run has failed: those that wait for it fail, too. */
static void spread(void)
{
	for (struct run *r = runs; r; r = r->next)
		for (uint32_t i = 0; !r->over && i < r->s->hdr->nops; i++) {
			const struct goal_op *o = &r->s->op[i];
			struct run *p = NULL;

			if (o->code == GOAL_OP_RECV && !r->done[i])
				p = member_run(r, o->peer);
			if (p && p->over && p->status)
				over(r, -ECONNABORTED, o->peer);
		}
}

void fake_move(void)
{
	bool moved = true;

	while (moved) {
		moved = false;
		for (struct run *r = runs; r; r = r->next)
			if (!r->over)
				moved |= advance(r);
		spread();
	}
}

static uint32_t actives(const struct endpoint *e, uint64_t nonce)
{
	uint32_t n = 0;

	for (const struct run *r = runs; r; r = r->next)
		n += r->ep == e && r->nonce == nonce && !r->over;
	return n;
}

static int do_start(struct endpoint *e, const struct espgoal_start *a)
{
	struct object *o = &e->object[a->run];
	struct group *g = &e->group[a->group];
	struct espgoal_word *w = &e->word[a->run];
	struct run *r;

	assert_true(a->run < e->runs && o->used && a->group < GROUPS && g->used);
	if (w->free != o->starts)
		return -EBUSY;
	if (fake.actives && actives(e, g->g.nonce) >= fake.actives) {
		fake.crowded++;
		if (fake.starting)
			fake.starting();
		return -EAGAIN;
	}
	r = calloc(1, sizeof(*r));
	assert_non_null(r);
	r->ep = e;
	r->object = a->run;
	r->nonce = g->g.nonce;
	r->op_id = a->op_id;
	r->start = a->start;
	r->rank = g->rank;
	if (e->sched[o->sched].hdr->rank != g->rank ||
	    e->sched[o->sched].hdr->npeers != g->g.nranks) {
		free(r);
		return -EINVAL;
	}
	if (member_run(r, r->rank)) {
		free(r);
		return -EEXIST;
	}
	r->s = calloc(1, sizeof(*r->s));
	assert_non_null(r->s);
	copy_sched(r->s, e->sched[o->sched].data, e->sched[o->sched].hdr->total);
	memcpy(r->s->flags, e->sched[o->sched].flags, sizeof(r->s->flags));
	r->undone = r->s->hdr->nops;
	r->left = calloc(r->undone + 1, sizeof(*r->left));
	r->done = calloc(r->undone + 1, sizeof(*r->done));
	r->sent = calloc(r->undone + 1, sizeof(*r->sent));
	assert_true(r->left && r->done && r->sent);
	memcpy(r->left, r->s->deps, r->undone * sizeof(*r->left));
	for (uint32_t b = 0; b < GOAL_MAX_BUFS; b++)
		r->buf[b] = malloc(r->s->need[b] + 1);
	r->buf[GOAL_MAX_BUFS] = malloc(r->s->hdr->scratch + 1);
	if (fake.starting)
		fake.starting();
	r->next = runs;
	runs = r;
	o->starts++;
	if (a->flags & ESPGOAL_START_FAILED) {
		assert_int_equal(a->nsegs, 0);
		fake.failed_starts++;
		over(r, -ECANCELED, r->rank);
		spread();
		return 0;
	}
	fill(r, a);
	if (g->status)
		over(r, g->status, ESPGOAL_NONE);
	if (!fake.waits)
		fake_move();
	return 0;
}

static int do_wait(struct endpoint *e, const struct espgoal_wait *w)
{
	assert_int_equal(w->run, ESPGOAL_NONE);
	assert_int_equal(w->flags | w->reserved, 0);
	if (e->head->over == w->seen && fake.sleeping)
		fake.sleeping();
	if (e->head->ended)
		return (int)e->head->ended;
	return e->head->over == w->seen ? -ETIMEDOUT : 0;
}

static struct run *active(const struct endpoint *e, uint32_t object)
{
	for (struct run *r = runs; r; r = r->next)
		if (r->ep == e && r->object == object && !r->over)
			return r;
	return NULL;
}

static int give_back(struct endpoint *e, unsigned int number, uint32_t id)
{
	if (number == 9) {
		assert_true(id < e->runs && e->object[id].used);
		if (active(e, id))
			return -EBUSY;
		e->object[id].used = false;
		fake.made--;
	} else if (number == 10) {
		assert_true(id < SCHEDS && e->sched[id].used);
		for (uint32_t i = 0; i < e->runs; i++) {
			if (!e->object[i].used || e->object[i].sched != id)
				continue;
			assert_null(active(e, i));
			e->object[i].used = false;
			fake.made--;
		}
		free_sched(&e->sched[id]);
		fake.scheds--;
	} else {
		assert_true(id < GROUPS && e->group[id].used);
		e->group[id].used = false;
		fake.groups--;
	}
	return 0;
}

static void do_fail(struct endpoint *e, const struct espgoal_fail *f)
{
	struct group *g = &e->group[f->group];

	assert_true(f->status == -ECONNRESET || f->status == -ECONNABORTED ||
		    f->status == -EHOSTUNREACH || f->status == -ECANCELED);
	assert_true(f->rank == ESPGOAL_NONE || f->rank < g->g.nranks);
	/* The other members hear of it, too. */
	for (uint32_t i = 0; i < FAKE_ENDPOINTS; i++)
		for (uint32_t k = 0; ends[i].map && k < GROUPS; k++)
			if (ends[i].group[k].used && !ends[i].group[k].status &&
			    ends[i].group[k].g.nonce == g->g.nonce)
				ends[i].group[k].status = &ends[i] == e ? f->status : -ECONNABORTED;
	for (struct run *r = runs; r; r = r->next)
		if (r->nonce == g->g.nonce && !r->over)
			over(r, r->ep == e ? f->status : -ECONNABORTED, f->rank);
	spread();
}

void fake_release(void)
{
	for (uint32_t i = 0; i < FAKE_ENDPOINTS; i++)
		for (uint32_t k = 0; ends[i].map && k < ends[i].runs; k++)
			ends[i].word[k].free = ends[i].word[k].over;
}

void fake_release_one(void)
{
	for (uint32_t i = 0; i < FAKE_ENDPOINTS; i++)
		for (uint32_t k = 0; ends[i].map && k < ends[i].runs; k++)
			if (ends[i].word[k].free != ends[i].word[k].over) {
				ends[i].word[k].free = ends[i].word[k].over;
				return;
			}
}

void fake_end(void)
{
	for (uint32_t i = 0; i < FAKE_ENDPOINTS; i++)
		if (ends[i].map)
			ends[i].head->ended = (uint32_t)-ESHUTDOWN;
}

int __wrap_kernel_device_request(int fd, unsigned long code, void *arg)
{
	struct endpoint *e = at(fd);
	unsigned int number = code & 0xff;
	struct run *r;
	int rc;

	assert_in_range(number, 1, FAKE_CODES - 1);
	fake.calls[number]++;
	rc = fake.rc[number];
	fake.rc[number] = 0;
	if (rc)
		return rc;
	if (e->head && e->head->ended)
		return (int)e->head->ended;
	switch (code) {
	case ESPGOAL_INFO:
		*(struct espgoal_info *)arg = fake.info;
		return 0;
	case ESPGOAL_OPEN:
		return do_open(e, arg);
	case ESPGOAL_GROUP:
		return do_group(e, arg);
	case ESPGOAL_LOAD:
		return do_load(e, arg);
	case ESPGOAL_RUN:
		return do_run(e, arg);
	case ESPGOAL_START:
		return do_start(e, arg);
	case ESPGOAL_WAIT:
		return do_wait(e, arg);
	case ESPGOAL_CANCEL:
		r = active(e, ((struct espgoal_id *)arg)->id);
		if (r)
			over(r, -ECANCELED, r->rank);
		spread();
		return 0;
	case ESPGOAL_RUN_FREE:
	case ESPGOAL_UNLOAD:
	case ESPGOAL_GROUP_FREE:
		return give_back(e, number, ((struct espgoal_id *)arg)->id);
	case ESPGOAL_FAIL:
		do_fail(e, arg);
		return 0;
	case ESPGOAL_CLOSE:
		e->closed = true;
		fake.endpoints--;
		return 0;
	default:
		fail_msg("request %u is not for the engine", number);
		return -ENOTTY;
	}
}
