/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What ends a run, in MPI's words, and communicators that are broken for good: a member died, or
 * (Open MPI 5.0 with fault tolerance) the communicator was revoked. Open MPI's base does not
 * interrupt requests of collectives, so we do.
 */
#include "coll_goal.h"

static bool means_death(int status)
{
	return status == -EPIPE || status == -ECONNRESET || status == -EHOSTDOWN ||
	       status == -ESRCH || status == -EOWNERDEAD || status == -EHOSTUNREACH;
}

void coll_goal_spoil(struct coll_goal_module *m, int code)
{
	if (!m->broken)
		m->broken = code;
	m->ready = false;
}

void coll_goal_abandon(struct coll_goal_module *m, int code)
{
	coll_goal_spoil(m, code);
	if (m->kernel)
		goal_group_fail(m->kernel, -ECONNABORTED, m->shape.rank);
}

int coll_goal_error(struct coll_goal_module *m, int status)
{
	if (coll_goal_likely(!status))
		return OMPI_SUCCESS;
	if (m->broken)
		return m->broken;
	if (means_death(status)) {
		coll_goal_spoil(m, COLL_GOAL_ERR_PROC_FAILED);
		return m->broken;
	}
	switch (status) {
	case -EMSGSIZE:
		return MPI_ERR_TRUNCATE;
	case -ECONNABORTED:
		/* A peer's part of the run failed, mostly since it met a dead process before us. */
		return coll_goal_ft() ? COLL_GOAL_ERR_PROC_FAILED : MPI_ERR_OTHER;
	case -ENOMEM:
		return OMPI_ERR_OUT_OF_RESOURCE;
	case -EFAULT:
		return MPI_ERR_BUFFER;
	case -EINVAL:
		return MPI_ERR_ARG;
	case -E2BIG:
		return MPI_ERR_COUNT;
	default:
		return MPI_ERR_OTHER;
	}
}

void coll_goal_break(struct coll_goal_module *m, int code, int64_t peer)
{
	if (m->broken)
		return;
	coll_goal_spoil(m, code);
	opal_output_verbose(1, mca_coll_goal_component.output, "coll:goal: %s is broken: %s",
			    m->comm->c_name,
			    code == COLL_GOAL_ERR_PROC_FAILED ? "a member died" : "revoked");
	if (m->group)
		goal_group_fail(m->group, -EHOSTDOWN, peer < 0 ? GOAL_OP_NONE : (uint32_t)peer);
	if (m->kernel)
		goal_group_fail(m->kernel, -EHOSTDOWN, peer < 0 ? GOAL_OP_NONE : (uint32_t)peer);
	if (m->apart)
		goal_group_fail(m->apart, -EHOSTDOWN, peer < 0 ? GOAL_OP_NONE : (uint32_t)peer);
}

/*
 * Look for communicators that Open MPI has given up. Breaking one ends its runs, whose
 * completions may free communicators: look anew after each.
 */
void coll_goal_ft_check(void)
{
	struct coll_goal_module *m;
	int code = 0;

	do {
		coll_goal_lock();
		for (m = mca_coll_goal_component.modules; m; m = m->next_module) {
			code = m->broken ? 0 : coll_goal_comm_broken(m->comm);
			if (code) {
				OBJ_RETAIN(m->comm);
				break;
			}
		}
		coll_goal_unlock();
		if (m) {
			ompi_communicator_t *comm = m->comm;

			coll_goal_break(m, code, -1);
			OBJ_RELEASE(comm);
		}
	} while (m);
}
