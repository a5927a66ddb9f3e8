/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The remote transport when a progress thread runs the engine in a process whose MPI is not
 * thread-safe (below MPI_THREAD_MULTIPLE): the thread only leaves orders; the PML is called for
 * them when the application is in an MPI call, from the progress callback. Local peers are
 * served by the thread at any time.
 */
#include "coll_goal.h"

struct coll_goal_order {
	struct coll_goal_order *next;
	struct coll_goal_module *module;
	void *buf;
	uint64_t bytes, got;
	uint32_t peer;
	int32_t tag;
	enum {
		SEND,
		RECEIVE,
		HEAR
	} kind;
	void *request;                   /* the PML's, once it was called; NULL before */
	char word[COLL_GOAL_WORD_BYTES]; /* heard */
	int done; /* what test answers: 0 not yet; set last, with release order */
};

/* Orders that are not done. Pushed by any thread, taken and kept by the progress callback. */
static struct coll_goal_order *fresh;
static struct coll_goal_order *under_way;

static int give(struct coll_goal_module *m, int kind, uint32_t peer, int64_t tag, void *buf,
		uint64_t bytes, void **request)
{
	struct coll_goal_order *o = coll_goal_calloc(1, sizeof(*o));

	if (!o)
		return -ENOMEM;
	o->module = m;
	o->buf = buf;
	o->bytes = bytes;
	o->peer = peer;
	o->tag = (int32_t)tag;
	o->kind = kind;
	*request = o;
	coll_goal_lock();
	o->next = fresh;
	fresh = o;
	coll_goal_unlock();
	coll_goal_work(1);
	return 0;
}

static int deferred_isend(void *arg, uint32_t peer, int64_t base, uint32_t tag, const void *buf,
			  uint64_t bytes, void **request)
{
	return give(arg, SEND, peer, base - tag, (void *)buf, bytes, request);
}

static int deferred_irecv(void *arg, uint32_t peer, int64_t base, uint32_t tag, void *buf,
			  uint64_t bytes, void **request)
{
	return give(arg, RECEIVE, peer, base - tag, buf, bytes, request);
}

static int deferred_test(void *arg, void *request, uint64_t *got)
{
	struct coll_goal_order *o = request;
	int done = __atomic_load_n(&o->done, __ATOMIC_ACQUIRE);

	(void)arg;
	if (!done)
		return 0;
	*got = o->got;
	free(o);
	return done;
}

/* The PML may not be called here, so nothing can be taken back. */
static int deferred_cancel(void *arg, void *request)
{
	(void)arg;
	(void)request;
	return -EBUSY;
}

/* Listening takes two calls: one leaves the order, a later one finds what came of it. */
static int deferred_hear(void *arg, int64_t base, void *word, uint64_t bytes)
{
	struct coll_goal_module *m = arg;
	struct coll_goal_ear *ear = &m->ear[base != coll_goal_word_tag(m, 0)];
	struct coll_goal_order *o = ear->order;
	int done;

	if (!o) {
		void *request;
		int rc = give(m, HEAR, 0, base, NULL, bytes, &request);

		if (!rc)
			ear->order = request;
		return rc;
	}
	done = __atomic_load_n(&o->done, __ATOMIC_ACQUIRE);
	if (!done)
		return 0;
	ear->order = NULL;
	if (done == 1)
		memcpy(word, o->word, bytes);
	free(o);
	return done == -EAGAIN ? 0 : done;
}

void coll_goal_deferred_forget(const struct coll_goal_module *m)
{
	for (int i = 0; i < 2; i++) {
		struct coll_goal_order *o = m->ear[i].order;

		if (!o)
			continue;
		if (__atomic_load_n(&o->done, __ATOMIC_ACQUIRE))
			free(o);
		else
			o->module = NULL; /* carry_out() frees it */
	}
}

const struct goal_remote_ops coll_goal_deferred_ops = {
	.isend = deferred_isend,
	.irecv = deferred_irecv,
	.test = deferred_test,
	.cancel = deferred_cancel,
	.hear = deferred_hear,
};

/*
 * The run of a message keeps the communicator. For words we look also when none does, and it may go
 * while the PML makes progress in here.
 */
static void listen_for(struct coll_goal_order *o)
{
	struct coll_goal_module *m = o->module;
	int rc = 0;

	if (m) {
		ompi_communicator_t *comm = m->comm;

		OBJ_RETAIN(comm);
		rc = coll_goal_remote_ops.hear(m, o->tag, o->word, o->bytes);
		OBJ_RELEASE(comm);
	}
	if (o->module)
		__atomic_store_n(&o->done, rc ? rc : -EAGAIN, __ATOMIC_RELEASE);
	else
		free(o);
}

/* Hand @o to the PML; what that or its end says goes to done. True: over. */
static bool carry_out(struct coll_goal_order *o)
{
	const struct goal_remote_ops *pml = &coll_goal_remote_ops;
	int rc = 0;

	if (o->kind == HEAR) {
		listen_for(o);
		return true;
	}
	if (!o->request)
		rc = o->kind == SEND ? pml->isend(o->module, o->peer, o->tag, 0, o->buf, o->bytes,
						  &o->request)
				     : pml->irecv(o->module, o->peer, o->tag, 0, o->buf, o->bytes,
						  &o->request);
	if (!rc)
		rc = pml->test(o->module, o->request, &o->got);
	if (!rc)
		return false;
	__atomic_store_n(&o->done, rc, __ATOMIC_RELEASE);
	return true;
}

int coll_goal_deferred_progress(void)
{
	struct coll_goal_order *list, *next, *turned = NULL, **at = &under_way;
	int events = 0;

	coll_goal_lock();
	list = fresh;
	fresh = NULL;
	coll_goal_unlock();
	/* The last order came first: equal tags match in the order in which they were given. */
	for (; list; list = next) {
		next = list->next;
		list->next = turned;
		turned = list;
	}
	while (*at)
		at = &(*at)->next;
	*at = turned;
	for (at = &under_way; *at;) {
		struct coll_goal_order *o = *at;

		next = o->next;
		if (carry_out(o)) { /* its owner may have freed it by now */
			*at = next;
			events++;
			coll_goal_work(-1);
		} else {
			at = &o->next;
		}
	}
	return events;
}
