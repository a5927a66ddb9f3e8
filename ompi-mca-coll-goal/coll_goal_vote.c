/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the members of a communicator agree on the engines they all have, and on the number (nonce)
 * that names their group on the wire, at the first collective and without blocking anybody. Three
 * waves over a tree, by point-to-point messages of one reserved tag:
 *
 *	down	the nonce, drawn by the root; each member adds the group to its engine
 *	up	what each subtree can do: the AND of engine bits (and of: shared memory with all
 *		near peers), and who failed
 *	down	the result
 *
 * Where that is the kernel engine, and some members have not met on it before, they see whether their
 * frames get through (probe.c), and tell by two more waves:
 *
 *	up	the AND of that
 *	down	the result
 *
 * The tree is binomial from rank 0. On an intercommunicator it goes through the two leaders (the
 * ranks 0): the one with the lower name is the root, the whole other group hangs below it, and
 * the rest of its own group below the other leader; so every edge joins the two groups, as the
 * communicator wants. There it begins when the communicator is made, since not every member need
 * take part in the first collective. Runs that are started meanwhile wait in the module's queue.
 *
 * A blocking uniform neighborhood collective starts no vote where it may pass by members: run.c.
 */
#include "coll_goal.h"

#include <sys/random.h>

/* Bits of ballot.engines. */
#define VOTE_HOST   0x1u
#define VOTE_NEAR   0x2u /* through shared memory with every peer of the node */
#define VOTE_KERNEL 0x4u
#define VOTE_MET    0x8u /* frames get through to all members, as far as is known */

/* What one member lacks, and the others do without. */
#define VOTE_OPTIONS (VOTE_KERNEL | VOTE_MET)

struct ballot {
	uint64_t nonce;
	uint32_t engines;
	int32_t status;  /* -errno of a member that could not add the group */
	int32_t culprit; /* its rank, or that of one without VOTE_NEAR */
	uint32_t degree; /* most neighbors of any member, if it is known; with VOTE_KERNEL */
	int32_t odd;     /* first member without VOTE_KERNEL, that could have it; or -1 */
	int32_t unused;
};

enum wave {
	WAVE_NONCE,  /* waits for the nonce from above */
	WAVE_UP,     /* waits for the ballots from below */
	WAVE_RESULT, /* waits for the result from above */
	WAVE_PROBE,  /* waits for the end of the probe, then goes up again */
	WAVE_SENDS   /* waits until what it sent has left */
};

struct coll_goal_vote {
	struct coll_goal_vote *next, *prev; /* in the component's list */
	struct coll_goal_module *module;
	enum wave wave;
	bool busy; /* a thread is stepping it */
	int32_t tag;
	int parent; /* -1: the root */
	int children;
	int *child; /* ranks */
	/* Each message its own place: the PML may still read one when the next is written. */
	struct ballot nonce, mine[2], result[2]; /* by round */
	int round;                               /* 1: the probe is over */
	struct ballot *below;                    /* by child */
	ompi_request_t *from_parent;
	ompi_request_t **from_child;
	ompi_request_t **sent; /* nonce and results to each child, ballots to the parent */
	int sends;
};

static int isend(struct coll_goal_vote *v, const struct ballot *ballot, int to)
{
	return MCA_PML_CALL(isend(ballot, sizeof(*ballot), &ompi_mpi_byte.dt, to, v->tag,
				  MCA_PML_BASE_SEND_STANDARD, v->module->comm,
				  &v->sent[v->sends++]));
}

static int irecv(struct coll_goal_vote *v, struct ballot *ballot, int from, ompi_request_t **r)
{
	return MCA_PML_CALL(irecv(ballot, sizeof(*ballot), &ompi_mpi_byte.dt, from, v->tag,
				  v->module->comm, r));
}

/* 1: *@r is over and was freed (or never was); 0: not yet; below 0: over, an error. */
static int test(ompi_request_t **r)
{
	int rc;

	if (!*r)
		return 1;
	if (coll_goal_ft())
		coll_goal_pml_check(*r);
	if (!REQUEST_COMPLETE(*r))
		return 0;
	opal_atomic_rmb();
	rc = (*r)->req_status.MPI_ERROR;
	(void)ompi_request_free(r);
	*r = NULL;
	return rc == MPI_SUCCESS ? 1 : -EIO;
}

/* A name nobody else has: random, and not 0. */
uint64_t coll_goal_nonce(void)
{
	static uint32_t count;
	uint64_t nonce = 0;

	if (getrandom(&nonce, sizeof(nonce), GRND_NONBLOCK) != sizeof(nonce) || !nonce) {
		/* No entropy yet, at boot: our name in the job and how many we drew. */
		nonce = (uint64_t)OPAL_PROC_MY_NAME.jobid << 32 ^
			(uint64_t)OPAL_PROC_MY_NAME.vpid << 12 ^
			(uint64_t)__atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) << 1 ^ 1;
	}
	return nonce;
}

/* Does @a come before @b? Both leaders see the same two names. */
static bool before(opal_process_name_t a, opal_process_name_t b)
{
	return a.jobid != b.jobid ? a.jobid < b.jobid : a.vpid < b.vpid;
}

/* Children are @first, @first + 1, ... for @n of them. */
static void place(struct coll_goal_vote *v, int parent, int first, int n)
{
	v->parent = parent;
	v->children = n;
	for (int i = 0; i < n; i++)
		v->child[i] = first + i;
}

static void place_inter(struct coll_goal_vote *v)
{
	ompi_communicator_t *comm = v->module->comm;
	int rank = ompi_comm_rank(comm), remote = ompi_comm_remote_size(comm);

	v->module->lower = before(ompi_group_get_proc_name(comm->c_local_group, 0),
				  ompi_group_get_proc_name(comm->c_remote_group, 0));
	if (v->module->lower)
		place(v, rank ? 0 : -1, 0, rank ? 0 : remote);
	else
		place(v, 0, 1, rank ? 0 : remote - 1);
}

static void place_intra(struct coll_goal_vote *v)
{
	int rank = ompi_comm_rank(v->module->comm), size = ompi_comm_size(v->module->comm);
	int bit;

	v->parent = -1;
	v->children = 0;
	for (bit = 1; bit < size; bit <<= 1) {
		if (rank & bit) {
			v->parent = rank & ~bit;
			break;
		}
		if (rank + bit < size)
			v->child[v->children++] = rank + bit;
	}
}

static void vote_free(struct coll_goal_vote *v)
{
	free(v->child);
	free(v->below);
	free(v->from_child);
	free(v->sent);
	free(v);
}

static struct coll_goal_vote *vote_new(struct coll_goal_module *m)
{
	struct coll_goal_vote *v = coll_goal_calloc(1, sizeof(*v));
	int most = OMPI_COMM_IS_INTER(m->comm) ? ompi_comm_remote_size(m->comm)
					       : 8 * (int)sizeof(int);

	if (!v)
		return NULL;
	v->child = coll_goal_malloc((size_t)most * sizeof(*v->child));
	v->below = coll_goal_calloc(most, sizeof(*v->below));
	v->from_child = coll_goal_calloc(most, sizeof(*v->from_child));
	v->sent = coll_goal_calloc(3 * (size_t)most + 2, sizeof(*v->sent));
	if (!v->child || !v->below || !v->from_child || !v->sent) {
		vote_free(v);
		return NULL;
	}
	v->module = m;
	if (OMPI_COMM_IS_INTER(m->comm))
		place_inter(v);
	else
		place_intra(v);
	return v;
}

/* Have the kernel engine take part, or say in @mine who cannot. */
static void join_kernel(struct coll_goal_module *m, uint64_t nonce, struct ballot *mine)
{
	int rc = coll_goal_kernel_join(m, nonce);

	if (!rc)
		rc = coll_goal_probe_load(m);
	if (rc) {
		mine->odd = mine->culprit;
		return;
	}
	mine->engines |= VOTE_KERNEL;
	if (coll_goal_probe_known(m))
		mine->engines |= VOTE_MET;
	mine->degree = coll_goal_kernel_degree(m);
}

/* The nonce is known: pass it on, and add the group. */
static int wave_nonce(struct coll_goal_vote *v)
{
	struct ballot *mine = &v->mine[0];
	int rc;

	for (int i = 0; i < v->children; i++) {
		rc = isend(v, &v->nonce, v->child[i]);
		if (rc != OMPI_SUCCESS)
			return -EIO;
	}
	mine->nonce = v->nonce.nonce;
	mine->engines = VOTE_HOST;
	mine->culprit = ompi_comm_rank(v->module->comm);
	mine->odd = -1;
	rc = coll_goal_group_add(v->module, v->nonce.nonce);
	if (rc) {
		mine->engines = 0;
		mine->status = rc;
	} else if (coll_goal_group_near(v->module)) {
		mine->engines |= VOTE_NEAR;
	}
	if (!rc && v->module->kernel_wanted)
		join_kernel(v->module, v->nonce.nonce, mine);
	v->wave = WAVE_UP;
	return 1;
}

/* All ballots are in: count them, and send the sum up, or decide. */
static int wave_up(struct coll_goal_vote *v)
{
	struct ballot *mine = &v->mine[v->round];

	for (int i = 0; i < v->children; i++) {
		int rc = test(&v->from_child[i]);

		if (rc <= 0)
			return rc;
	}
	for (int i = 0; i < v->children; i++) {
		const struct ballot *b = &v->below[i];

		/* The first who failed, else the first who has less than the others. */
		if (!mine->status && (b->status || mine->engines & ~b->engines & ~VOTE_OPTIONS)) {
			mine->status = b->status;
			mine->culprit = b->culprit;
		}
		mine->engines &= b->engines;
		if (b->degree > mine->degree)
			mine->degree = b->degree;
		if (mine->odd < 0)
			mine->odd = b->odd;
	}
	v->wave = WAVE_RESULT;
	if (v->parent < 0) {
		v->result[v->round] = *mine;
		return 1;
	}
	if (isend(v, mine, v->parent) != OMPI_SUCCESS ||
	    irecv(v, &v->result[v->round], v->parent, &v->from_parent) != OMPI_SUCCESS)
		return -EIO;
	return 1;
}

static int wave_result(struct coll_goal_vote *v)
{
	const struct ballot *result = &v->result[v->round];
	int rc = test(&v->from_parent);

	if (rc <= 0)
		return rc;
	for (int i = 0; i < v->children; i++)
		if (isend(v, result, v->child[i]) != OMPI_SUCCESS)
			return -EIO;
	v->wave = v->round || (result->engines & VOTE_OPTIONS) != VOTE_KERNEL ? WAVE_SENDS
									      : WAVE_PROBE;
	return 1;
}

/* Everybody has the group on the kernel engine. */
static int wave_probe(struct coll_goal_vote *v)
{
	struct coll_goal_module *m = v->module;
	struct ballot *mine = &v->mine[1];
	int rc = m->probe ? 0 : coll_goal_probe_start(m);

	if (!rc)
		rc = coll_goal_probe_test(m);
	if (!rc)
		return 0;
	*mine = v->result[0];
	if (rc < 0) {
		mine->engines &= ~VOTE_KERNEL;
		/* Others only hear of it: who got no answer says so. */
		if (rc == -EHOSTUNREACH)
			mine->odd = ompi_comm_rank(m->comm);
	}
	v->round = 1;
	v->wave = WAVE_UP;
	for (int i = 0; i < v->children; i++)
		if (irecv(v, &v->below[i], v->child[i], &v->from_child[i]) != OMPI_SUCCESS)
			return -EIO;
	return 1;
}

static int wave_sends(struct coll_goal_vote *v)
{
	for (int i = 0; i < v->sends; i++) {
		int rc = test(&v->sent[i]);

		if (rc <= 0)
			return rc;
	}
	return 2;
}

/* One step: 0 nothing to do yet, 1 go on, 2 over, below 0 an error. */
static int step(struct coll_goal_vote *v)
{
	int rc;

	switch (v->wave) {
	case WAVE_NONCE:
		rc = test(&v->from_parent);
		return rc <= 0 ? rc : wave_nonce(v);
	case WAVE_UP:
		return wave_up(v);
	case WAVE_RESULT:
		return wave_result(v);
	case WAVE_PROBE:
		return wave_probe(v);
	default:
		return wave_sends(v);
	}
}

/*
 * Keep @v until the component closes: the PML may still read and write its buffers, and forgets
 * a communicator only after our module is gone.
 */
static void leave(struct coll_goal_vote *v)
{
	struct coll_goal_component *c = &mca_coll_goal_component;

	coll_goal_lock();
	v->next = c->votes_left;
	c->votes_left = v;
	coll_goal_unlock();
}

/* The vote is over, with what its last result says, or with @error: let the queue go. */
static void conclude(struct coll_goal_vote *v, int error)
{
	const struct ballot *result = &v->result[v->round];
	struct coll_goal_module *m = v->module;
	ompi_communicator_t *comm = m->comm;
	bool agreed = !error && result->engines & VOTE_HOST;

	/*
	 * Who of two opens the other's memory, and who does not, is seen by one of them alone: so
	 * either all members use it, or none does.
	 */
	if (agreed && !(result->engines & VOTE_NEAR)) {
		error = coll_goal_group_far(m);
		agreed = !error;
		if (agreed)
			coll_goal_say_member(comm, "no-shared-memory", result->culprit,
					     comm->c_name);
	}
	if (agreed && result->engines & VOTE_KERNEL)
		m->degree = result->degree;
	else
		coll_goal_kernel_leave(m);
	coll_goal_probe_drop(m);
	if (agreed && result->odd >= 0)
		coll_goal_kernel_say(m, result->odd);
	if (agreed) {
		error = coll_goal_cache_settle(m);
		agreed = !error;
	}
	coll_goal_lock();
	if (v->prev)
		v->prev->next = v->next;
	else
		mca_coll_goal_component.votes = v->next;
	if (v->next)
		v->next->prev = v->prev;
	mca_coll_goal_component.stats.votes += agreed;
	coll_goal_unlock();
	if (!agreed) {
		int status = error ? error : result->status ? result->status : -EIO;

		/* Of an error of its own only this member knows. */
		coll_goal_say_once("no-vote", comm->c_name,
				   error ? ompi_comm_rank(comm) : result->culprit,
				   strerror(-status));
		coll_goal_abandon(m, coll_goal_error(m, status));
	} else {
		opal_output_verbose(1, mca_coll_goal_component.output,
				    "coll:goal: %s runs on the %s, group %016llx", comm->c_name,
				    m->kernel ? "kernel and host engines" : "host engine",
				    (unsigned long long)result->nonce);
	}
	if (error)
		leave(v);
	else
		vote_free(v);
	coll_goal_queue_start(m, agreed);
	coll_goal_work(-1);
	OBJ_RELEASE(comm);
}

enum progress {
	NOTHING,
	MOVED,
	CONCLUDED
};

/* As far as @v gets now; it is gone when that is to the end. */
static enum progress advance(struct coll_goal_vote *v)
{
	bool moved = false;
	int rc;

	while ((rc = step(v)) == 1)
		moved = true;
	if (!rc)
		return moved ? MOVED : NOTHING;
	conclude(v, rc < 0 ? rc : 0);
	return CONCLUDED;
}

int coll_goal_votes_progress(void)
{
	struct coll_goal_vote *v;
	int events = 0;

	coll_goal_lock();
	for (v = mca_coll_goal_component.votes; v;) {
		enum progress how;

		if (!v->busy) {
			v->busy = true;
			coll_goal_unlock();
			how = advance(v);
			coll_goal_lock();
			/* Others may be gone with it: the rest at the next call. */
			if (how == CONCLUDED) {
				events++;
				break;
			}
			v->busy = false;
			events += how == MOVED;
		}
		v = v->next;
	}
	coll_goal_unlock();
	return events;
}

static int vote_start(struct coll_goal_module *m)
{
	struct coll_goal_component *c = &mca_coll_goal_component;
	struct coll_goal_vote *v;
	int rc;

	m->voted = true;
	rc = coll_goal_group_shape(m);
	v = rc ? NULL : vote_new(m);
	if (!v) {
		coll_goal_spoil(m, OMPI_ERR_OUT_OF_RESOURCE);
		return m->broken;
	}
	v->tag = coll_goal_tags(m, 1);
	for (int i = 0; i < v->children; i++)
		if (irecv(v, &v->below[i], v->child[i], &v->from_child[i]) != OMPI_SUCCESS)
			goto give_up;
	if (v->parent < 0)
		v->nonce.nonce = coll_goal_nonce();
	else if (irecv(v, &v->nonce, v->parent, &v->from_parent) != OMPI_SUCCESS)
		goto give_up;
	OBJ_RETAIN(m->comm);
	coll_goal_progress_need();
	coll_goal_work(1);
	coll_goal_lock();
	v->busy = true;
	v->next = c->votes;
	if (v->next)
		v->next->prev = v;
	c->votes = v;
	coll_goal_unlock();
	/* Of one process, it is over at once. */
	if (!v->children && v->parent < 0)
		(void)advance(v);
	else
		__atomic_store_n(&v->busy, false, __ATOMIC_RELEASE);
	return OMPI_SUCCESS;

give_up:
	/* The PML does not even take receives: nothing will ever run here. */
	leave(v);
	coll_goal_spoil(m, MPI_ERR_OTHER);
	return m->broken;
}

int coll_goal_begin(struct coll_goal_module *m)
{
	if (m->broken)
		return m->broken;
	return m->voted ? OMPI_SUCCESS : vote_start(m);
}

int coll_goal_vote_wait(struct coll_goal_module *m)
{
	while (!*(volatile bool *)&m->ready && !*(volatile int *)&m->broken)
		opal_progress();
	return m->broken;
}

void coll_goal_votes_fini(void)
{
	struct coll_goal_component *c = &mca_coll_goal_component;
	struct coll_goal_vote *v;

	while ((v = c->votes_left)) {
		c->votes_left = v->next;
		vote_free(v);
	}
}
