/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * When the kernel engine runs a call: if every member of the communicator has it, of one version, and
 * has added the group to it (vote.c), and what the call is tells all members alike that every
 * kernel takes it. So intercommunicators, the forms whose blocks differ, what is too large and what
 * the kernel does not compute stay on the host engine. Called by component.c, group.c, vote.c and
 * plan.c.
 */
#include "coll_goal.h"

void coll_goal_kernel_open(void)
{
	struct coll_goal_component *c = &mca_coll_goal_component;
	const struct coll_goal_params *p = &c->params;
	struct goal_engine_attr attr = {
		.kind = GOAL_ENGINE_KERNEL,
		.flags = c->threads ? GOAL_ENGINE_THREADS : 0,
		.spin = p->spin,
		.sleep_us = p->sleep_us,
		.runs = p->kernel_runs,
		.area = p->kernel_area,
	};
	struct goal_error error = { .code = 0 };

	c->kernel = NULL;
	c->kernel_told = c->kernel_lost = false;
	c->kernel_why[0] = '\0';
	if (p->engine == COLL_GOAL_ENGINE_HOST || !goal_engine_open(&attr, &c->kernel, &error))
		return;
	snprintf(c->kernel_why, sizeof(c->kernel_why), "%s", error.text);
	opal_output_verbose(1, c->output, "coll:goal: no kernel engine on %s: %s",
			    opal_process_info.nodename, error.text);
}

static const struct goal_address *address(ompi_group_t *group, int rank)
{
	return &coll_goal_modex_card(ompi_group_get_proc_name(group, rank))->kernel;
}

/* The first member whose kernel does not go together with rank 0's; -1: all do. */
static int odd_one(ompi_group_t *group)
{
	int n = ompi_group_size(group);

	for (int r = 0; r < n; r++)
		if (!goal_address_kin(address(group, 0), address(group, r)))
			return r;
	return -1;
}

static bool anybody(ompi_group_t *group)
{
	int n = ompi_group_size(group);

	for (int r = 0; r < n; r++)
		if (goal_address_kin(address(group, r), address(group, r)))
			return true;
	return false;
}

static bool many_nodes(ompi_group_t *group)
{
	int n = ompi_group_size(group);

	for (int r = 1; r < n; r++)
		if (!goal_address_near(address(group, 0), address(group, r)))
			return true;
	return false;
}

void coll_goal_kernel_say(struct coll_goal_module *m, int odd)
{
	struct coll_goal_component *c = &mca_coll_goal_component;
	bool told = c->kernel_told;

	if (c->params.engine == COLL_GOAL_ENGINE_AUTO && !anybody(m->comm->c_local_group))
		return;
	c->kernel_told = true;
	if (told || odd != ompi_comm_rank(m->comm))
		return;
	coll_goal_say_once("no-kernel-engine", opal_process_info.nodename,
			   c->kernel_why[0] ? c->kernel_why
					    : "the module espgoal is of another version than on "
					      "rank 0's node");
}

bool coll_goal_kernel_all(struct coll_goal_module *m)
{
	ompi_group_t *group = m->comm->c_local_group;
	int odd;

	if (OMPI_COMM_IS_INTER(m->comm) ||
	    mca_coll_goal_component.params.engine == COLL_GOAL_ENGINE_HOST)
		return false;
	odd = odd_one(group);
	if (odd >= 0)
		coll_goal_kernel_say(m, odd);
	return odd < 0;
}

bool coll_goal_kernel_wanted(struct coll_goal_module *m)
{
	ompi_group_t *group = m->comm->c_local_group;

	/* Within a node, memory that is shared is faster than the kernel. */
	return ompi_group_size(group) <= ESPGOAL_SURE_RANKS &&
	       (mca_coll_goal_component.params.engine == COLL_GOAL_ENGINE_KERNEL ||
		many_nodes(group));
}

int coll_goal_kernel_join(struct coll_goal_module *m, uint64_t nonce)
{
	struct coll_goal_component *c = &mca_coll_goal_component;
	ompi_group_t *group = m->comm->c_local_group;
	uint32_t n = ompi_group_size(group);
	struct goal_group_attr attr = { .nonce = nonce, .rank = m->shape.rank, .npeers = n };
	struct goal_address *all = coll_goal_malloc(n * sizeof(*all));
	struct goal_error error = { .code = 0 };
	int rc = -ENOMEM;

	if (c->kernel_lost) {
		free(all);
		return -EHOSTUNREACH;
	}
	m->kernel_grave = coll_goal_grave_new();
	if (!all || !m->kernel_grave)
		goto free_grave;
	for (uint32_t r = 0; r < n; r++)
		all[r] = *address(group, (int)r);
	attr.addresses = all;
	rc = goal_group_create(c->kernel, &attr, &m->kernel, &error);
	if (!rc)
		goto free_addresses; /* what else may fail is kernel_leave()'s to take back */
	snprintf(c->kernel_why, sizeof(c->kernel_why), "%s", error.text);

free_grave:
	free(m->kernel_grave);
	m->kernel_grave = NULL;
free_addresses:
	free(all);
	return rc;
}

void coll_goal_kernel_leave(struct coll_goal_module *m)
{
	coll_goal_probe_drop(m);
	if (m->kernel)
		coll_goal_bury(m->kernel_grave, m->kernel, NULL);
	m->kernel = NULL;
	m->kernel_grave = NULL;
}

uint32_t coll_goal_kernel_degree(struct coll_goal_module *m)
{
	if (!OMPI_COMM_IS_CART(m->comm) && !OMPI_COMM_IS_GRAPH(m->comm) &&
	    !OMPI_COMM_IS_DIST_GRAPH(m->comm))
		return 0;
	if (!m->near_known && coll_goal_topo_read(m) != OMPI_SUCCESS)
		return UINT32_MAX;
	return m->near.indegree > m->near.outdegree ? m->near.indegree : m->near.outdegree;
}

/* Bytes of the longest part that @key gives a rank; all members know it alike. */
static uint64_t longest(const struct coll_goal_key *key, uint32_t ranks)
{
	uint64_t element = key->code >> 32, most = 0;

	switch (coll_goal_key_coll(key)) {
	case GOAL_GATHER:
		return key->send;
	case GOAL_BCAST:
	case GOAL_SCATTER:
	case GOAL_ALLGATHER:
	case GOAL_ALLTOALL:
		return key->recv;
	case GOAL_REDUCE_SCATTER:
		for (uint32_t r = 0; r < ranks; r++)
			if (key->vec[r] > most)
				most = key->vec[r];
		return most * element;
	case GOAL_ALLREDUCE:
	case GOAL_REDUCE:
	case GOAL_SCAN:
	case GOAL_EXSCAN:
	case GOAL_REDUCE_SCATTER_BLOCK:
		return key->send * element;
	default:
		return 0;
	}
}

/* Neighbors agree about the bytes of a block; those who have none on a side may say anything there. */
static uint64_t near_bytes(const struct coll_goal_module *m, const struct coll_goal_key *key)
{
	uint64_t send = m->near.outdegree ? key->send : 0;
	uint64_t recv = m->near.indegree ? key->recv : 0;
	uint64_t block = send > recv ? send : recv, degree = m->degree;

	if (degree > ESPGOAL_SURE_RANKS || block > UINT32_MAX)
		return UINT64_MAX;
	return 2 * degree * block;
}

bool coll_goal_kernel_eligible(const struct coll_goal_key *key)
{
	enum goal_coll coll = coll_goal_key_coll(key);

	if ((key->code >> 24 & 0xff) == GOAL_TYPE_USER)
		return false;
	return coll == GOAL_NEIGHBOR_ALLGATHER || coll == GOAL_NEIGHBOR_ALLTOALL ||
	       goal_footprint(coll, 1, 0) != UINT64_MAX;
}

bool coll_goal_kernel_takes(const struct coll_goal_module *m, const struct coll_goal_key *key)
{
	const uint32_t dtype = key->code >> 24 & 0xff, rop = key->code >> 16 & 0xff;
	enum goal_coll coll = coll_goal_key_coll(key);
	uint64_t bytes;

	if (!m->kernel || !coll_goal_kernel_eligible(key))
		return false;
	if (dtype && !goal_group_computes(m->kernel, dtype, rop))
		return false;
	bytes = coll == GOAL_NEIGHBOR_ALLGATHER || coll == GOAL_NEIGHBOR_ALLTOALL
			? near_bytes(m, key)
			: goal_footprint(coll, m->shape.size, longest(key, m->shape.size));
	return bytes <= mca_coll_goal_component.params.kernel_bytes;
}
