/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The communicator as others know it: who its members are (from their cards), its shape for the
 * builders of graphs, and the group of the engine. Called by module.c when the communicator is
 * made, and by vote.c at its first collective.
 */
#include "coll_goal.h"

/* The group whose ranks are the peers of messages: the remote one of an intercommunicator. */
static ompi_group_t *peers(ompi_communicator_t *comm)
{
	return OMPI_COMM_IS_INTER(comm) ? comm->c_remote_group : comm->c_local_group;
}

/* First rank of @group that we cannot run with, or -1. */
static int stranger_in(ompi_group_t *group)
{
	int n = ompi_group_size(group);

	for (int r = 0; r < n; r++) {
		const struct coll_goal_card *card =
			coll_goal_modex_card(ompi_group_get_proc_name(group, r));

		/* Bytes travel as they are, so all must see them the same way. */
		if (!card || card->arch != coll_goal_modex_mine()->arch)
			return r;
	}
	return -1;
}

int coll_goal_group_stranger(ompi_communicator_t *comm, bool *remote)
{
	int r = stranger_in(comm->c_local_group);

	*remote = false;
	if (r >= 0 || !OMPI_COMM_IS_INTER(comm))
		return r;
	*remote = true;
	return stranger_in(comm->c_remote_group);
}

static bool same_node(const struct coll_goal_card *a, const struct coll_goal_card *b)
{
	return a->node == b->node && !memcmp(a->machine, b->machine, sizeof(a->machine));
}

/* The same among members that all have the kernel engine: as their kernels see it. */
static bool same_kernel(const struct coll_goal_card *a, const struct coll_goal_card *b)
{
	return a->node == b->node && goal_address_near(&a->kernel, &b->kernel);
}

/*
 * Number the nodes by the first rank on each: every member comes to the same numbers. Ranks of
 * a node mostly stand together or in a round, so the node of a rank is usually the one that was
 * met last, or next after it.
 */
static int number_nodes(struct coll_goal_module *m)
{
	bool (*same)(const struct coll_goal_card *a, const struct coll_goal_card *b) = same_node;
	ompi_group_t *group = m->comm->c_local_group;
	uint32_t n = m->shape.size, nodes = 0, last = 0;
	const struct coll_goal_card **first;
	uint32_t *rank_of;

	first = coll_goal_malloc(n * sizeof(*first));
	rank_of = coll_goal_malloc(n * sizeof(*rank_of));
	m->node = coll_goal_malloc(n * sizeof(*m->node));
	if (!first || !rank_of || !m->node) {
		free(first);
		free(rank_of);
		return -ENOMEM;
	}
	if (coll_goal_kernel_all(m)) {
		m->kernel_wanted = coll_goal_kernel_wanted(m);
		same = same_kernel;
	}
	for (uint32_t r = 0; r < n; r++) {
		const struct coll_goal_card *card =
			coll_goal_modex_card(ompi_group_get_proc_name(group, r));
		uint32_t tried;

		for (tried = 0; tried < nodes; tried++) {
			uint32_t i = (last + tried) % nodes;

			if (same(first[i], card)) {
				last = i;
				break;
			}
		}
		if (tried == nodes) {
			first[nodes] = card;
			rank_of[nodes] = r;
			last = nodes++;
		}
		m->node[r] = rank_of[last];
	}
	m->shape.node = nodes > 1 ? m->node : NULL;
	free(first);
	free(rank_of);
	return 0;
}

int coll_goal_group_shape(struct coll_goal_module *m)
{
	if (m->shape.size)
		return 0;
	m->shape.rank = ompi_comm_rank(m->comm);
	m->shape.size = ompi_comm_size(m->comm);
	m->shape.remote_size = OMPI_COMM_IS_INTER(m->comm) ? ompi_comm_remote_size(m->comm) : 0;
	return m->shape.remote_size ? 0 : number_nodes(m);
}

/* For fault tolerance: once, with the first group. */
static void enlist(struct coll_goal_module *m)
{
	struct coll_goal_component *c = &mca_coll_goal_component;

	coll_goal_lock();
	if (!m->listed) {
		m->listed = true;
		m->next_module = c->modules;
		m->prev_module = NULL;
		if (c->modules)
			c->modules->prev_module = m;
		c->modules = m;
	}
	coll_goal_unlock();
}

static void delist(struct coll_goal_module *m)
{
	coll_goal_lock();
	if (m->prev_module)
		m->prev_module->next_module = m->next_module;
	else
		mca_coll_goal_component.modules = m->next_module;
	if (m->next_module)
		m->next_module->prev_module = m->prev_module;
	m->listed = false;
	coll_goal_unlock();
}

/* A group of @m's peers at @addresses, and a grave for it. 0 or -errno. */
static int create(struct coll_goal_module *m, uint64_t nonce, const struct goal_address *addresses,
		  struct goal_group **group, struct coll_goal_grave **grave)
{
	struct coll_goal_component *c = &mca_coll_goal_component;
	struct goal_group_attr attr = {
		.nonce = nonce,
		.rank = m->shape.rank,
		.npeers = ompi_group_size(peers(m->comm)),
		.addresses = addresses,
		.remote = c->deferred ? &coll_goal_deferred_ops : &coll_goal_remote_ops,
		.remote_arg = m,
		.remote_word = coll_goal_word_tag(m, group == &m->apart),
	};
	struct goal_error error = { .code = 0 };
	int rc;

	*grave = coll_goal_grave_new();
	rc = *grave ? goal_group_create(c->engine, &attr, group, &error) : -ENOMEM;
	if (rc) {
		opal_output_verbose(1, c->output, "coll:goal: %s: no group on the engine: %s",
				    m->comm->c_name, error.text[0] ? error.text : strerror(-rc));
		free(*grave);
		*grave = NULL;
		return rc;
	}
	enlist(m);
	return 0;
}

int coll_goal_group_add(struct coll_goal_module *m, uint64_t nonce)
{
	ompi_group_t *group = peers(m->comm);
	uint32_t n = ompi_group_size(group);
	struct goal_address *address = coll_goal_malloc(n * sizeof(*address));
	int rc;

	if (!address)
		return -ENOMEM;
	for (uint32_t r = 0; r < n; r++)
		address[r] = coll_goal_modex_card(ompi_group_get_proc_name(group, r))->address;
	rc = create(m, nonce, address, &m->group, &m->grave);
	free(address);
	return rc;
}

bool coll_goal_group_near(struct coll_goal_module *m)
{
	ompi_group_t *group = peers(m->comm);
	int n = ompi_group_size(group);

	for (int r = 0; r < n; r++) {
		const struct coll_goal_card *card =
			coll_goal_modex_card(ompi_group_get_proc_name(group, r));

		if (same_node(coll_goal_modex_mine(), card) && !goal_group_local(m->group, r))
			return false;
	}
	return true;
}

int coll_goal_group_far(struct coll_goal_module *m)
{
	coll_goal_bury(m->grave, m->group, NULL);
	m->group = NULL;
	m->grave = NULL;
	/* The former name is used up; this one is not seen by others. */
	return create(m, coll_goal_nonce(), NULL, &m->group, &m->grave);
}

int coll_goal_group_apart(struct coll_goal_module *m)
{
	int rc;

	if (m->apart)
		return 0;
	rc = coll_goal_group_shape(m);
	/* Its name is not seen by others: no message of it goes through shared memory. */
	return rc ? rc : create(m, coll_goal_nonce(), NULL, &m->apart, &m->apart_grave);
}

void coll_goal_group_drop(struct coll_goal_module *m)
{
	if (m->listed)
		delist(m);
	if (m->group)
		coll_goal_bury(m->grave, m->group, NULL);
	coll_goal_kernel_leave(m);
	if (m->apart)
		coll_goal_bury(m->apart_grave, m->apart, NULL);
	m->group = m->apart = NULL;
	m->grave = m->apart_grave = NULL;
}
