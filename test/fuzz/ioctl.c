// SPDX-License-Identifier: BSD-3-Clause
/*
 * libFuzzer on the requests of /dev/espgoal, as far as the kernel module decodes them (core/request.c
 * and its neighbours): any argument, and any memory behind its pointers. What is taken is within
 * every limit and says what a naive reading says (ioctl_naive.c); what is refused is so for a reason that the
 * man page has; nothing is read twice, nothing written elsewhere, and the same question asked twice
 * has the same answer.
 *
 * What an input is: ioctl_input.h. The corpus: ioctl_corpus.c.
 */
#include "ioctl_input.h"
#include "ioctl_naive.h"
#include "ioctl_user.h"
#include "request_start.h"

/* Of a module with its defaults, more or less; of a small one; and one whose objects are huge. */
static const struct request_limits all_limits[] = {
	{ .runs_max = 65536,
	  .area_max = 1u << 24,
	  .ranks_max = 4096,
	  .sched_max = 65536,
	  .run_max = 65536,
	  .eager_max = 1024,
	  .page = 4096,
	  .run_head = 940,
	  .msg_head = 168,
	  .node_counters = 90,
	  .ep_counters = 14,
	  .flow_counters = 80,
	  .fp = true },
	{ .runs_max = 255,
	  .area_max = 65535,
	  .ranks_max = 4,
	  .sched_max = 600,
	  .run_max = 256,
	  .eager_max = 64,
	  .page = 65536,
	  .run_head = 8,
	  .msg_head = 8,
	  .node_counters = 3,
	  .ep_counters = 2,
	  .flow_counters = 1 },
	{ .runs_max = 1u << 20,
	  .area_max = 1u << 30,
	  .ranks_max = 64,
	  .sched_max = 4096,
	  .run_max = 1u << 24,
	  .eager_max = 16384,
	  .page = 4096,
	  .run_head = 1001,
	  .msg_head = 42u << 20,
	  .node_counters = 90,
	  .ep_counters = 14,
	  .flow_counters = 80 },
};

#define LIMITS     (sizeof(all_limits) / sizeof(all_limits[0]))
#define OBJECT_MAX (1u << 17) /* larger runs are laid out, and not started */

/* A schedule that was loaded, and a run of it. */
struct loaded {
	u8 *data;
	u32 *words;
	struct core_sched s;
	struct request_layout lay;
	u8 *object, *area; /* NULL: too large */
	struct core_run run;
	struct core_segment seg[GOAL_MAX_BUFS + 1];
};

static struct input_world w;
static struct loaded *now;

static void *memory(size_t bytes, int fill)
{
	void *p = malloc(bytes + !bytes);

	demand(p, "no memory");
	return memset(p, fill, bytes);
}

static void answer(u32 cmd, u32 says, s64 rc, const char *what)
{
	demand(naive_says(says, rc), "%s answers %d, and not one of %#x", what, (int)rc, says);
	demand(!rc || naive_says(naive_documented(cmd), rc), "%s: %d is not in the man page", what,
	       (int)rc);
}

static void group(const struct espgoal_group *g)
{
	u64 bytes =
		g->nranks * sizeof(struct espgoal_rank) + g->npeers * sizeof(struct espgoal_peer);
	u32 says = naive_table(g, &w.self), k;

	for (k = 0; k < 2; k++) {
		void *mem = memory(request_table_bytes(g), k ? 0xff : 0);
		struct request_here here;
		struct esp_table t;
		int rc;

		user.copied = 0;
		rc = request_table(g, &w.self, mem, &t, &here);
		answer(ESPGOAL_GROUP, says, rc, "the table");
		demand(user.copied <= bytes, "GROUP reads twice");
		if (!rc) {
			naive_same_table(g, &w.self, &t, &here);
			demand(user.copied == bytes, "GROUP does not read everything");
			w.rank = g->rank;
			w.ranks = g->nranks;
		}
		free(mem);
	}
}

static void unload(struct loaded *o)
{
	if (!o)
		return;
	free(o->object);
	free(o->area);
	free(o->words);
	free(o->data);
	free(o);
}

static void bind(struct loaded *o)
{
	const struct request_layout *lay = &o->lay;
	u32 i;

	if (lay->run_bytes > OBJECT_MAX || lay->area_bytes > OBJECT_MAX)
		return;
	o->object = memory(lay->run_bytes, 0x5a);
	o->area = memory(lay->area_bytes, 0xa5);
	core_run_init(&o->run, &o->s, o->object + lay->arrays_at);
	request_bind(&o->run, &o->s, lay, o->object, o->area, o->seg);
	for (i = 0; i <= o->s.hdr->nbufs; i++) {
		u32 b = i < o->s.hdr->nbufs ? i : GOAL_BUF_SCRATCH;
		u64 need = b == i ? o->s.need[i] : o->s.hdr->scratch;
		const struct core_binding *buf = core_buffer(&o->run, b);
		u8 *at = b == i && lay->buf[i] & ESPGOAL_BUF_OUT ? o->area
								 : o->object + lay->mem_at;

		at += lay->buf_at[b == i ? i : GOAL_MAX_BUFS];
		demand(buf->nseg == 1 && buf->len == need && buf->seg->base == at &&
			       buf->seg->len == need,
		       "buffer %u is bound elsewhere", b);
	}
	demand(!core_run_check(&o->run), "a buffer is too short");
}

/* As the module does it: the schedule; or NULL, and -errno in *@rc. */
static struct loaded *take_in(struct espgoal_load *a, int fill, s64 *rc)
{
	struct loaded *o = memory(sizeof(*o), 0);

	o->data = memory(a->bytes, fill);
	*rc = request_load_read(a, o->data);
	if (*rc >= 0) {
		o->words = memory((size_t)*rc, fill);
		*rc = request_load(a, o->data, o->words, w.l, &o->s, &o->lay);
	}
	if (!*rc)
		return o;
	unload(o);
	return NULL;
}

/* What the verifier alone says of it: that is another target's concern. */
static int verified(const struct espgoal_load *a, u8 **data, struct core_sched *s,
		    struct core_error *e)
{
	u32 *tmp;
	s64 bytes;
	int rc;

	*data = memory(a->bytes, 0);
	memcpy(*data, user_at(a->data), a->bytes);
	bytes = core_verify_tmp(*data, a->bytes, e);
	if (bytes < 0)
		return (int)bytes;
	tmp = memory((size_t)bytes, 0);
	rc = core_verify(*data, a->bytes, tmp, s, e);
	free(tmp);
	return rc;
}

static void load(const struct espgoal_load *a)
{
	struct core_error e = { 0 };
	struct core_sched s;
	u32 says = SAYS_FAULT, k;
	u8 *data = NULL;
	int refused = 0;
	s64 rc[2];

	if (user_has(a->data, a->bytes)) {
		refused = verified(a, &data, &s, &e);
		says = refused == -E2BIG ? SAYS_2BIG
		       : refused         ? SAYS_INVAL
					 : naive_load(a, &s, w.l);
	}
	for (k = 0; k < 2; k++) {
		struct espgoal_load copy = *a;
		struct loaded *o;

		user.copied = user.calls = 0;
		o = take_in(&copy, k ? 0xff : 0, &rc[k]);
		answer(ESPGOAL_LOAD, says, rc[k], "LOAD");
		demand(user.calls == 1 && (!data || user.copied == a->bytes), "LOAD reads twice");
		demand(copy.rule == (refused ? e.rule : 0) && copy.where == (refused ? e.where : 0),
		       "another rule was broken");
		if (!o)
			continue;
		naive_good_layout(&copy, &o->s, w.l, &o->lay);
		unload(now);
		now = o;
	}
	demand(rc[0] == rc[1], "LOAD answers otherwise the second time");
	if (!rc[0])
		bind(now);
	free(data);
}

/* The bytes of @o's buffers as they have to be: @payload in those that are copied in. */
static void expect(const struct loaded *o, const u8 *payload, u8 *object, u8 *area)
{
	u32 i;

	for (i = 0; i < o->s.hdr->nbufs; i++) {
		u8 *at = o->lay.buf[i] & ESPGOAL_BUF_OUT ? area : object + o->lay.mem_at;

		if (!(o->lay.buf[i] & ESPGOAL_BUF_IN))
			continue;
		memcpy(at + o->lay.buf_at[i], payload, o->s.need[i]);
		payload += o->s.need[i];
	}
}

/* What is in them. */
static void contents(const struct loaded *o, u8 *payload)
{
	u32 i;

	for (i = 0; i < o->s.hdr->nbufs; i++)
		if (o->lay.buf[i] & ESPGOAL_BUF_IN) {
			memcpy(payload, o->seg[i].base, o->s.need[i]);
			payload += o->s.need[i];
		}
}

static int copy_in(const struct espgoal_start *a, const struct loaded *o)
{
	struct espgoal_seg *seg;
	int rc;

	if (!request_start_far(a))
		return request_start_read(a->seg, a->nsegs, &o->s, &o->lay, o->seg);
	seg = memory(a->nsegs * sizeof(*seg), 0);
	rc = request_start_segs(a, seg);
	if (!rc)
		rc = request_start_read(seg, a->nsegs, &o->s, &o->lay, o->seg);
	free(seg);
	return rc;
}

static void start(const struct espgoal_start *a)
{
	struct loaded *o = now;
	u64 far = a->nsegs > 2 ? a->nsegs * sizeof(struct espgoal_seg) : 0;
	u8 *payload, *object, *area;
	bool fits, reads;
	u32 says, k;

	if (!o)
		return;
	fits = !memcmp(o->data + offsetof(struct goal_sched_hdr, rank), &w.rank, 4) &&
	       !memcmp(o->data + offsetof(struct goal_sched_hdr, npeers), &w.ranks, 4);
	demand(request_start_fits(&o->s, w.rank, w.ranks) == fits, "a place in another group");
	reads = a->flags < ESPGOAL_START_FAILED && (a->nsegs || o->lay.in_bytes);
	demand(request_start_reads(a, &o->lay) == reads, "START has something to read, or not");
	if (!fits || !reads || !o->object)
		return;
	payload = memory(o->lay.in_bytes, 0);
	object = memory(o->lay.run_bytes, 0);
	area = memory(o->lay.area_bytes, 0);
	says = naive_segments(a, o->lay.in_bytes, payload);
	for (k = 0; k < 2; k++) {
		int rc;

		memcpy(object, o->object, o->lay.run_bytes);
		memcpy(area, o->area, o->lay.area_bytes);
		user.copied = 0;
		rc = copy_in(a, o);
		answer(ESPGOAL_START, says, rc, "START");
		demand(user.copied <= o->lay.in_bytes + far, "START reads twice");
		demand(rc || user.copied == o->lay.in_bytes + far,
		       "START does not read everything");
		if (rc == -EFAULT)
			contents(o, payload); /* that they may be anything is documented */
		if (rc != -EINVAL)
			expect(o, payload, object, area);
		demand(!memcmp(object, o->object, o->lay.run_bytes) &&
			       !memcmp(area, o->area, o->lay.area_bytes),
		       "START writes something else");
	}
	free(area);
	free(object);
	free(payload);
}

/* A request that was taken so far. */
static void carry_out(u32 cmd, const union request *asked, const union request *a)
{
	u64 area = asked->open.area ? asked->open.area : 262144;
	u32 runs = asked->open.runs ? asked->open.runs : 256, n;

	switch (cmd) {
	case ESPGOAL_OPEN:
		demand(a->open.runs == runs && runs <= w.l->runs_max, "runs are %u", a->open.runs);
		demand(a->open.area >= area && a->open.area - area < w.l->page &&
			       a->open.area % w.l->page == 0 && area <= w.l->area_max,
		       "the area is %llu", (unsigned long long)a->open.area);
		break;
	case ESPGOAL_GROUP:
		group(&a->group);
		break;
	case ESPGOAL_LOAD:
		load(&a->load);
		break;
	case ESPGOAL_FAIL:
		n = a->fail.rank;
		demand(request_fail_fits(&a->fail, w.ranks) == (n == ESPGOAL_NONE || n < w.ranks),
		       "FAIL of rank %u", n);
		break;
	default:
		break;
	}
}

static void request(u32 cmd, const union request *asked)
{
	union request a = *asked, again = *asked;
	u32 says = naive_check(cmd, asked, w.l);
	int rc;

	demand(request_known(cmd) == (naive_known(cmd) && cmd != ESPGOAL_START),
	       "request %#x is known", cmd);
	rc = request_check(cmd, &a, w.l);
	answer(cmd, says, rc, "the argument");
	demand(rc == request_check(cmd, &again, w.l) && !memcmp(&a, &again, sizeof(a)),
	       "request %#x is answered otherwise the second time", cmd);
	demand(cmd == ESPGOAL_OPEN || !memcmp(&a, asked, sizeof(a)), "request %#x is changed", cmd);
	if (!rc)
		carry_out(cmd, asked, &a);
}

static void start_checked(const struct espgoal_start *a)
{
	u32 says = naive_check(ESPGOAL_START, a, w.l);
	int rc = request_start_check(a);

	answer(ESPGOAL_START, says, rc, "the argument of START");
	if (!rc)
		start(a);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);
int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	static struct input in[INPUT_REQUESTS];
	u32 n, i;

	_Static_assert(sizeof(struct espgoal_start) <= sizeof(union request), "START has room too");
	if (size < 2)
		return 0;
	w = (struct input_world){ .l = &all_limits[(data[0] & ~INPUT_RAILS) % LIMITS],
				  .self = { .cookie = INPUT_COOKIE,
					    .rails = data[0] & INPUT_RAILS },
				  .ranks = 1 };
	memset(w.self.node, INPUT_NODE, sizeof(w.self.node));
	n = data[1] % (INPUT_REQUESTS + 1);
	data += 2;
	size -= 2;
	for (i = 0; i < n && size; i++) {
		size_t bytes = input_request(data, size, &in[i]);

		data += bytes;
		size -= bytes;
	}
	n = i;
	user_open(data, size, n * INPUT_SCHEDULE);
	for (i = 0; i < n; i++) {
		w.in_bytes = now ? now->lay.in_bytes : 0;
		input_fix(&in[i], &w);
		if (in[i].cmd == ESPGOAL_START)
			start_checked((struct espgoal_start *)&in[i].arg);
		else
			request(in[i].cmd, &in[i].arg);
	}
	unload(now);
	now = NULL;
	user_close();
	return 0;
}
