/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests: the nonblocking and the persistent form. A request holds what its run needs until
 * the run is over (persistent: until it is freed): plan, communicator, user's operation and
 * datatypes, copies of arrays. Starting never waits and never calls opal_progress, since Open MPI
 * starts collectives from its progress callbacks.
 */
#include "coll_goal_request.h"

static void request_construct(struct coll_goal_request *r)
{
	ompi_request_t *base = &r->super.super;

	memset((char *)r + sizeof(r->super), 0, sizeof(*r) - sizeof(r->super));
	base->req_type = OMPI_REQUEST_COLL;
	base->req_status.MPI_SOURCE = MPI_ANY_SOURCE;
	base->req_status.MPI_TAG = MPI_ANY_TAG;
	base->req_status._ucount = 0;
	base->req_status._cancelled = 0;
	base->req_cancel = NULL;
}

OBJ_CLASS_INSTANCE(coll_goal_request_t, ompi_coll_base_nbc_request_t, request_construct, NULL);

/*
 * Requests are kept for reuse in a list of our own: opal's free list wants 16-byte atomics when
 * there are threads, for which a component would have to be compiled as Open MPI was.
 */
static struct coll_goal_request *request_get(void)
{
	struct coll_goal_component *c = &mca_coll_goal_component;
	struct coll_goal_request *r;

	coll_goal_lock();
	r = c->requests;
	if (coll_goal_likely(r != NULL))
		c->requests = r->next;
	coll_goal_unlock();
	if (coll_goal_likely(r != NULL))
		return r;
	coll_goal_count(&c->stats.allocs);
	return OBJ_NEW(coll_goal_request_t);
}

void coll_goal_requests_fini(void)
{
	struct coll_goal_request *r;

	while ((r = mca_coll_goal_component.requests)) {
		mca_coll_goal_component.requests = r->next;
		OBJ_RELEASE(r);
	}
}

static void drop_run(struct coll_goal_request *r)
{
	if (r->run)
		goal_run_free(r->run);
	r->run = NULL;
}

/* Drop what the call holds: for good, so never between two starts of a persistent request. */
static void drop_call(struct coll_goal_request *r)
{
	drop_run(r);
	(void)coll_goal_call_drop(&r->call, 0);
	if (r->retained) {
		ompi_op_t *op = r->call.reducer.op;

		r->retained = false;
		if (!ompi_op_is_intrinsic(op))
			OBJ_RELEASE(op);
		if (!ompi_datatype_is_predefined(r->call.reducer.type))
			OMPI_DATATYPE_RELEASE_NO_NULLIFY(r->call.reducer.type);
	}
	if (r->plan)
		coll_goal_plan_unref(r->plan);
	r->plan = NULL;
}

/* Back to the list it came from. */
static void recycle(struct coll_goal_request *r)
{
	ompi_request_t *base = &r->super.super;

	OMPI_REQUEST_FINI(base);
	coll_goal_lock();
	r->next = mca_coll_goal_component.requests;
	mca_coll_goal_component.requests = r;
	coll_goal_unlock();
}

static int request_free(ompi_request_t **handle)
{
	struct coll_goal_request *r = (struct coll_goal_request *)*handle;
	ompi_communicator_t *comm = r->super.super.req_mpi_object.comm;

	*handle = MPI_REQUEST_NULL;
	if (r->active) {
		/* MPI forbids it, but the run shall end in memory that is there. */
		r->given_up = true;
		return OMPI_SUCCESS;
	}
	if (r->super.super.req_persistent) {
		drop_call(r);
		recycle(r);
		OBJ_RELEASE(comm);
		return OMPI_SUCCESS;
	}
	recycle(r);
	return OMPI_SUCCESS;
}

/* The run is over: results into the user's memory, and tell who waits. */
static void complete(struct coll_goal_request *r)
{
	ompi_request_t *base = &r->super.super;
	ompi_communicator_t *comm = base->req_mpi_object.comm;
	const bool persistent = base->req_persistent;
	int status = r->status;

	if (coll_goal_unlikely(r->call.side[GOAL_BUF_RECV].packed) && !status)
		status = coll_goal_side_store(&r->call.side[GOAL_BUF_RECV]);
	if (coll_goal_likely(!status))
		base->req_status.MPI_ERROR = MPI_SUCCESS;
	else
		base->req_status.MPI_ERROR = coll_goal_error(r->module, status);
	if (!persistent)
		drop_call(r);
	coll_goal_work(-1);
	r->active = false;
	if (coll_goal_unlikely(r->given_up)) {
		if (persistent) {
			ompi_request_t *handle = base;

			(void)request_free(&handle);
		} else {
			/* The MPI layer gives up its references to operation and types then. */
			(void)ompi_request_complete(base, false);
			recycle(r);
			OBJ_RELEASE(comm);
		}
		return;
	}
	(void)ompi_request_complete(base, true);
	/* The request may be somebody else's by now, and the communicator end here. */
	if (!persistent)
		OBJ_RELEASE(comm);
}

/* Note @bit: true for the one who comes second. */
static bool second(struct coll_goal_request *r, uint8_t bit)
{
	uint8_t old;

	if (coll_goal_likely(!mca_coll_goal_component.threads)) {
		old = r->state;
		r->state |= bit;
	} else {
		old = __atomic_fetch_or(&r->state, bit, __ATOMIC_ACQ_REL);
	}
	return old;
}

/* Complete @r, or leave it to the progress callback when this is the progress thread. */
static void finish(struct coll_goal_request *r)
{
	struct coll_goal_component *c = &mca_coll_goal_component;

	if (coll_goal_likely(!c->deferred)) {
		complete(r);
		return;
	}
	coll_goal_lock();
	r->next = c->finished;
	c->finished = r;
	coll_goal_unlock();
}

int coll_goal_finished(void)
{
	struct coll_goal_component *c = &mca_coll_goal_component;
	struct coll_goal_request *list, *next;
	int n = 0;

	coll_goal_lock();
	list = c->finished;
	c->finished = NULL;
	coll_goal_unlock();
	for (; list; list = next, n++) {
		next = list->next;
		complete(list);
	}
	return n;
}

/* From the engine: the run is over. */
static void run_done(void *arg, int status)
{
	struct coll_goal_request *r = arg;

	r->status = status;
	if (second(r, COLL_GOAL_OVER))
		finish(r);
}

static void start(struct coll_goal_request *r)
{
	struct coll_goal_module *m = r->module;
	struct goal_run_attr attr;
	int load = 0, rc = -EBUSY;

	if (coll_goal_unlikely(r->call.side[0].packed || r->call.side[1].packed)) {
		load = coll_goal_side_load(&r->call.side[GOAL_BUF_SEND]);
		if (!load)
			load = coll_goal_side_load(&r->call.side[GOAL_BUF_RECV]);
	}
	/* A persistent request's run stays, with all that is bound. */
	if (r->run && coll_goal_likely(!load))
		rc = goal_restart(r->run, r->ident.start);
	if (rc == -EBUSY) {
		drop_run(r);
		coll_goal_attr(&attr, &r->binding, &r->call, &r->ident);
		attr.done = run_done;
		attr.done_arg = r;
		if (coll_goal_unlikely(load))
			attr.nbufs = 0; /* it cannot start without, but lets the others know */
		rc = coll_goal_unlikely(!r->plan->group) ? coll_goal_plan_settle(m, r->plan) : 0;
		if (coll_goal_unlikely(rc))
			coll_goal_abandon(m, coll_goal_error(m, rc));
		else
			rc = goal_start(r->plan->group, r->plan->loaded, &attr, &r->run);
	}
	if (coll_goal_unlikely(rc)) {
		coll_goal_linger(m);
		drop_run(r);
		r->status = load ? load : rc;
		r->state |= COLL_GOAL_OVER;
	}
	if (second(r, COLL_GOAL_STARTED))
		finish(r);
}

/* Nothing will ever run on this communicator. */
static void refuse(struct coll_goal_request *r)
{
	r->status = -EIO;
	r->state = COLL_GOAL_STARTED | COLL_GOAL_OVER;
	finish(r);
}

static void launch(struct coll_goal_request *r)
{
	struct coll_goal_module *m = r->module;

	r->state = 0;
	r->status = 0;
	r->active = true;
	coll_goal_progress_need();
	coll_goal_work(1);
	if (coll_goal_likely(m->ready)) {
		start(r);
		return;
	}
	coll_goal_lock();
	if (!m->ready && !m->broken) {
		r->next = NULL;
		if (m->queue)
			m->queue_end->next = r;
		else
			m->queue = r;
		m->queue_end = r;
		coll_goal_unlock();
		return;
	}
	coll_goal_unlock();
	if (m->ready)
		start(r);
	else
		refuse(r);
}

void coll_goal_queue_start(struct coll_goal_module *m, bool agreed)
{
	struct coll_goal_request *r;

	for (;;) {
		coll_goal_lock();
		r = m->queue;
		if (!r)
			break;
		m->queue = r->next;
		coll_goal_unlock();
		if (agreed)
			start(r);
		else
			refuse(r);
	}
	m->ready = !m->broken;
	coll_goal_unlock();
}

static int request_start(size_t count, ompi_request_t **requests)
{
	for (size_t i = 0; i < count; i++) {
		struct coll_goal_request *r = (struct coll_goal_request *)requests[i];
		ompi_request_t *base = requests[i];

		base->req_status.MPI_ERROR = MPI_SUCCESS;
		base->req_status._cancelled = 0;
		base->req_state = OMPI_REQUEST_ACTIVE;
		base->req_complete = REQUEST_PENDING;
		r->ident.start++;
		launch(r);
	}
	return OMPI_SUCCESS;
}

/* References to what the user may free before the run is over. */
static void retain(struct coll_goal_request *r)
{
	struct coll_goal_reducer *reducer = &r->call.reducer;

	coll_goal_side_retain(&r->call.side[GOAL_BUF_SEND]);
	coll_goal_side_retain(&r->call.side[GOAL_BUF_RECV]);
	if (!reducer->op)
		return;
	if (!ompi_op_is_intrinsic(reducer->op))
		OBJ_RETAIN(reducer->op);
	if (!ompi_datatype_is_predefined(reducer->type))
		OBJ_RETAIN(reducer->type);
	r->retained = true;
}

/*
 * @c comes at the same place among the user's calls everywhere: Open MPI itself makes no such call
 * while it creates a communicator in the background (MPI_Comm_idup).
 */
static bool in_order(const struct coll_goal_call *c, bool persistent)
{
	switch (coll_goal_key_coll(&c->key)) {
	case GOAL_ALLREDUCE:
	case GOAL_BCAST:
	case GOAL_REDUCE:
		return persistent;
	default:
		return true;
	}
}

/* A request for @c, which it takes over, with its operation id and tags. */
static int request_new(struct coll_goal_module *m, struct coll_goal_call *c, bool persistent,
		       struct coll_goal_request **request)
{
	struct coll_goal_request *r;
	struct coll_goal_ident ident;
	struct coll_goal_plan *plan;
	ompi_request_t *base;
	int rc;

	if (c->stream == COLL_GOAL_NEAR)
		c->stream = COLL_GOAL_PLAIN; /* these forms reach us at every member */
	if (coll_goal_unlikely(!m->settled))
		m->settled = in_order(c, persistent);
	coll_goal_calls_lock(m);
	rc = coll_goal_plan_last(m, c, &plan);
	if (coll_goal_likely(!rc))
		rc = coll_goal_ident(m, c, plan->ntags, persistent, &ident);
	if (coll_goal_likely(!rc))
		coll_goal_plan_ref(plan);
	coll_goal_calls_unlock(m);
	if (coll_goal_unlikely(rc)) {
		coll_goal_abandon(m, rc);
		return coll_goal_call_drop(c, rc);
	}
	r = request_get();
	if (coll_goal_unlikely(!r)) {
		coll_goal_plan_unref(plan);
		return coll_goal_call_drop(c, OMPI_ERR_OUT_OF_RESOURCE);
	}
	base = &r->super.super;
	OMPI_REQUEST_INIT(base, persistent);
	base->req_mpi_object.comm = m->comm;
	base->req_free = request_free;
	base->req_start = request_start;
	base->req_status.MPI_ERROR = MPI_SUCCESS;
	base->req_status._cancelled = 0;
	r->module = m;
	r->plan = plan;
	r->call = *c;
	r->call.key.vec = NULL; /* it stands in the module's scratch */
	r->ident = ident;
	r->given_up = false;
	r->retained = false;
	if (coll_goal_unlikely(c->side[0].packed || c->side[1].packed || c->reducer.op))
		retain(r);
	OBJ_RETAIN(m->comm);
	*request = r;
	return OMPI_SUCCESS;
}

int coll_goal_nonblocking(struct coll_goal_module *m, struct coll_goal_call *c,
			  ompi_request_t **request)
{
	struct coll_goal_request *r;
	int rc;

	rc = request_new(m, c, false, &r);
	if (coll_goal_unlikely(rc))
		return rc;
	r->super.super.req_state = OMPI_REQUEST_ACTIVE;
	launch(r);
	if (REQUEST_COMPLETE(&r->super.super) &&
	    r->super.super.req_status.MPI_ERROR == MPI_SUCCESS) {
		recycle(r);
		*request = &ompi_request_empty;
		return OMPI_SUCCESS;
	}
	*request = &r->super.super;
	return OMPI_SUCCESS;
}

int coll_goal_persistent(struct coll_goal_module *m, struct coll_goal_call *c,
			 ompi_request_t **request)
{
	struct coll_goal_request *r;
	int rc;

	rc = request_new(m, c, true, &r);
	if (rc == OMPI_SUCCESS)
		*request = &r->super.super;
	return rc;
}
