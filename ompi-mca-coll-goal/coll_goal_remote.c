/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages to peers that share no memory with us, over Open MPI's point-to-point: what the engine
 * calls through goal_remote_ops. Tag t of a run is PML tag base - t; both ends reserved it.
 * The engine calls from our progress callback or from a collective call of the user, so from
 * where libnbc would call the PML too.
 */
#include "coll_goal.h"

/* What the PML says, in the engine's words. */
static int error_of(struct coll_goal_module *m, int code)
{
	switch (code) {
	case OMPI_SUCCESS:
		return 0;
	case MPI_ERR_TRUNCATE:
		return -EMSGSIZE;
	case OMPI_ERR_OUT_OF_RESOURCE:
	case OMPI_ERR_TEMP_OUT_OF_RESOURCE:
		return -ENOMEM;
	default:
		break;
	}
	if (coll_goal_ft() && coll_goal_comm_broken(m->comm)) {
		coll_goal_spoil(m, coll_goal_comm_broken(m->comm));
		return -EHOSTDOWN;
	}
	return -EIO;
}

static int remote_isend(void *arg, uint32_t peer, int64_t base, uint32_t tag, const void *buf,
			uint64_t bytes, void **request)
{
	struct coll_goal_module *m = arg;
	ompi_request_t *r = NULL;
	int rc;

	rc = MCA_PML_CALL(isend(buf, bytes, &ompi_mpi_byte.dt, peer, (int)(base - tag),
				MCA_PML_BASE_SEND_STANDARD, m->comm, &r));
	if (rc != OMPI_SUCCESS)
		return error_of(m, rc);
	*request = r;
	return 0;
}

static int remote_irecv(void *arg, uint32_t peer, int64_t base, uint32_t tag, void *buf,
			uint64_t bytes, void **request)
{
	struct coll_goal_module *m = arg;
	ompi_request_t *r = NULL;
	int rc;

	rc = MCA_PML_CALL(
		irecv(buf, bytes, &ompi_mpi_byte.dt, peer, (int)(base - tag), m->comm, &r));
	if (rc != OMPI_SUCCESS)
		return error_of(m, rc);
	*request = r;
	return 0;
}

static int remote_test(void *arg, void *request, uint64_t *got)
{
	struct coll_goal_module *m = arg;
	ompi_request_t *r = request;
	int rc;

	if (coll_goal_ft())
		coll_goal_pml_check(r);
	if (!REQUEST_COMPLETE(r))
		return 0;
	opal_atomic_rmb();
	*got = r->req_status._ucount;
	rc = r->req_status.MPI_ERROR;
	(void)ompi_request_free(&r);
	return rc == MPI_SUCCESS ? 1 : error_of(m, rc);
}

/* Sends cannot be cancelled (ob1), receives only while nothing has matched them. */
static int remote_cancel(void *arg, void *request)
{
	ompi_request_t *r = request;

	(void)arg;
	if (!REQUEST_COMPLETE(r))
		(void)ompi_request_cancel(r);
	if (!REQUEST_COMPLETE(r) || !r->req_status._cancelled)
		return -EBUSY;
	(void)ompi_request_free(&r);
	return 0;
}

/*
 * A receive from anybody that is taken back at once when nothing has come. It must not stay: it
 * would keep the communicator from being freed, and slow down every match there.
 */
static int remote_hear(void *arg, int64_t base, void *word, uint64_t bytes)
{
	struct coll_goal_module *m = arg;
	struct coll_goal_ear *ear = &m->ear[base != coll_goal_word_tag(m, 0)];
	ompi_request_t *r = ear->request;
	bool cancelled;
	int rc;

	if (bytes > sizeof(ear->word))
		return -EINVAL;
	if (!r) {
		rc = MCA_PML_CALL(irecv(ear->word, bytes, &ompi_mpi_byte.dt, MPI_ANY_SOURCE,
					(int)base, m->comm, &r));
		if (rc != OMPI_SUCCESS)
			return error_of(m, rc);
	}
	if (!REQUEST_COMPLETE(r))
		(void)ompi_request_cancel(r);
	ear->request = REQUEST_COMPLETE(r) ? NULL : r;
	if (ear->request)
		return 0;
	opal_atomic_rmb();
	cancelled = r->req_status._cancelled;
	rc = r->req_status.MPI_ERROR;
	(void)ompi_request_free(&r);
	if (cancelled)
		return 0;
	if (rc != MPI_SUCCESS)
		return error_of(m, rc);
	memcpy(word, ear->word, bytes);
	return 1;
}

const struct goal_remote_ops coll_goal_remote_ops = {
	.isend = remote_isend,
	.irecv = remote_irecv,
	.test = remote_test,
	.cancel = remote_cancel,
	.hear = remote_hear,
};
