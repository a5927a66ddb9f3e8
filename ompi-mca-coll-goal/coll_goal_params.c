/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the user may set: MCA parameters coll_goal_*, each with its level and unit, and the check
 * of their values. A value that makes no sense is said in one message, and the component steps
 * aside: other components take over, or MPI_Init fails when there are none. Called by
 * coll_goal_component.c; doc/man/coll_goal.7 describes each.
 */
#include "coll_goal.h"

/* What the engine takes for 0. */
#define COLL_GOAL_RING_BYTES 65536u

#define PARAMS (&mca_coll_goal_component.params)

static mca_base_var_enum_value_t engine_names[] = {
	{ COLL_GOAL_ENGINE_AUTO, "auto" },
	{ COLL_GOAL_ENGINE_HOST, "host" },
	{ COLL_GOAL_ENGINE_KERNEL, "kernel" },
	{ 0, NULL },
};

static int register_var(mca_base_component_t *c, const char *name, const char *text,
			mca_base_var_type_t type, mca_base_var_enum_t *values,
			mca_base_var_info_lvl_t level, void *storage)
{
	int rc = mca_base_component_var_register(c, name, text, type, values, 0, 0, level,
						 MCA_BASE_VAR_SCOPE_READONLY, storage);

	return rc < 0 ? OMPI_ERR_BAD_PARAM : OMPI_SUCCESS;
}

static int bad_value(const char *name, const char *value, const char *allowed)
{
	coll_goal_say_first("bad-value", name, value, allowed);
	return OMPI_ERR_BAD_PARAM;
}

/* What was given for @name, as text; NULL: nothing, or not where mpirun puts parameters. */
static const char *given(const char *name)
{
	char variable[128];
	const char *text;

	snprintf(variable, sizeof(variable), "OMPI_MCA_coll_goal_%s", name);
	text = getenv(variable);
	return text && *text ? text : NULL;
}

/*
 * Open MPI itself refuses the value of @name, and says so; but its message is often lost when MPI_Init
 * fails soon after.
 */
static int refused(const char *name, const char *allowed)
{
	const char *text = given(name);

	return bad_value(name, text ? text : "what was given", allowed);
}

/* Open MPI takes any text for a number, mostly for 0. */
static int check_number(const char *name)
{
	const char *text = given(name);
	char *end;

	if (!text)
		return OMPI_SUCCESS;
	(void)strtoll(text, &end, 0);
	if (end != text && *end && strchr("kKmMgG", *end))
		end++;
	return end == text || *end ? bad_value(name, text, "a number") : OMPI_SUCCESS;
}

static int bad_name(const char *name, const mca_base_var_enum_value_t *names)
{
	char allowed[200] = "";
	size_t used = 0;

	for (int i = 0; names[i].string && used < sizeof(allowed); i++)
		used += snprintf(allowed + used, sizeof(allowed) - used, "%s%s", i ? ", " : "",
				 names[i].string);
	return refused(name, allowed);
}

/* An enumerated parameter; takes over the reference to @values. */
static int register_enum(mca_base_component_t *c, const char *name, const char *text,
			 mca_base_var_enum_value_t *names, mca_base_var_info_lvl_t level,
			 int *storage)
{
	mca_base_var_enum_t *values = NULL;
	int rc;

	if (mca_base_var_enum_create(name, names, &values) != OPAL_SUCCESS)
		return OMPI_ERR_OUT_OF_RESOURCE;
	rc = register_var(c, name, text, MCA_BASE_VAR_TYPE_INT, values, level, storage);
	OBJ_RELEASE(values);
	return rc == OMPI_SUCCESS ? rc : bad_name(name, names);
}

static int register_uint(mca_base_component_t *c, const char *name, const char *text,
			 mca_base_var_info_lvl_t level, unsigned int *storage, unsigned int value)
{
	int rc;

	*storage = value;
	rc = register_var(c, name, text, MCA_BASE_VAR_TYPE_UNSIGNED_INT, NULL, level, storage);
	return rc == OMPI_SUCCESS ? check_number(name)
				  : refused(name, "a number from 0 to 4294967295");
}

static int register_int(mca_base_component_t *c, const char *name, const char *text, int *storage,
			int value)
{
	int rc;

	*storage = value;
	rc = register_var(c, name, text, MCA_BASE_VAR_TYPE_INT, NULL, OPAL_INFO_LVL_3, storage);
	return rc == OMPI_SUCCESS ? check_number(name)
				  : refused(name, "a number from -2147483648 to 2147483647");
}

/* <collective>_algorithm: the names that exist for it, on either kind of communicator. */
static int register_algorithm(mca_base_component_t *c, enum goal_coll coll)
{
	mca_base_var_enum_value_t names[GOAL_ALGS + 1];
	char name[64], text[200];
	int n = 0;

	for (int a = 0; a < GOAL_ALGS; a++) {
		if (a != GOAL_ALG_AUTO && !goal_algorithm_valid(coll, a, false) &&
		    !goal_algorithm_valid(coll, a, true))
			continue;
		names[n].value = a;
		names[n++].string = goal_algorithm_name(a);
	}
	names[n].value = 0;
	names[n].string = NULL;
	snprintf(name, sizeof(name), "%s_algorithm", goal_coll_name(coll));
	snprintf(text, sizeof(text),
		 "Algorithm of %s, %s; auto chooses by communicator and bytes, and stands in "
		 "where the named one does not exist for intercommunicators",
		 goal_coll_name(coll), "blocking, nonblocking and persistent");
	PARAMS->algorithm[coll] = GOAL_ALG_AUTO;
	return register_enum(c, name, text, names, OPAL_INFO_LVL_5, &PARAMS->algorithm[coll]);
}

/* How waiting goes, and how much memory messages may take. */
static int register_tuning(mca_base_component_t *c)
{
	int rc;

	rc = register_uint(c, "eager",
			   "Largest message sent to a process of the node before it asked for "
			   "it, in bytes (0: the engine's default)",
			   OPAL_INFO_LVL_5, &PARAMS->eager, 0);
	if (rc == OMPI_SUCCESS)
		rc = register_uint(c, "ring_slots",
				   "64-byte slots of one mailbox between two processes of a node, "
				   "a power of two (0: the engine's default)",
				   OPAL_INFO_LVL_9, &PARAMS->ring_slots, 0);
	if (rc == OMPI_SUCCESS)
		rc = register_uint(c, "ring_bytes",
				   "Data bytes of one mailbox, a power of two (0: the engine's "
				   "default)",
				   OPAL_INFO_LVL_9, &PARAMS->ring_bytes, 0);
	if (rc == OMPI_SUCCESS)
		rc = register_uint(c, "spin",
				   "Polls of a blocking wait before it yields, where each process "
				   "has a core (0: the engine's default)",
				   OPAL_INFO_LVL_5, &PARAMS->spin, 0);
	if (rc == OMPI_SUCCESS)
		rc = register_uint(c, "yields",
				   "Fruitless yields of a blocking wait before it sleeps (0: the "
				   "engine's default)",
				   OPAL_INFO_LVL_9, &PARAMS->yields, 0);
	if (rc == OMPI_SUCCESS)
		rc = register_uint(c, "sleep_us",
				   "Longest sleep of a blocking wait, in microseconds (0: the "
				   "engine's default)",
				   OPAL_INFO_LVL_9, &PARAMS->sleep_us, 0);
	if (rc == OMPI_SUCCESS)
		rc = register_uint(c, "kernel_bytes",
				   "Bytes of buffers and scratch of a call that the kernel engine "
				   "runs, at most",
				   OPAL_INFO_LVL_5, &PARAMS->kernel_bytes, ESPGOAL_SURE_RUN);
	if (rc == OMPI_SUCCESS)
		rc = register_uint(c, "kernel_runs",
				   "Runs of a process that the kernel engine has active or ready "
				   "at a time (0: the engine's default)",
				   OPAL_INFO_LVL_9, &PARAMS->kernel_runs, 0);
	if (rc == OMPI_SUCCESS)
		rc = register_uint(c, "kernel_area",
				   "Bytes of the kernel engine for the results of a process's runs "
				   "(0: the engine's default)",
				   OPAL_INFO_LVL_9, &PARAMS->kernel_area, 0);
	if (rc == OMPI_SUCCESS) {
		PARAMS->progress_thread = false;
		rc = register_var(c, "progress_thread",
				  "Run a thread that moves collectives on while the application "
				  "computes",
				  MCA_BASE_VAR_TYPE_BOOL, NULL, OPAL_INFO_LVL_5,
				  &PARAMS->progress_thread);
		if (rc != OMPI_SUCCESS)
			rc = refused("progress_thread", "true or false");
	}
	return rc;
}

int coll_goal_params_register(mca_base_component_t *c)
{
	int rc;

	rc = register_int(c, "priority",
			  "Priority of the goal component, 0 to 100; below 0: not used",
			  &PARAMS->priority, 45);
	if (rc == OMPI_SUCCESS)
		rc = register_int(c, "verbose",
				  "What to say on the standard error: 0 nothing, 1 decisions about "
				  "communicators, 2 schedules built, 3 calls handed on",
				  &PARAMS->verbose, 0);
	if (rc != OMPI_SUCCESS)
		return rc;
	PARAMS->engine = COLL_GOAL_ENGINE_AUTO;
	rc = register_enum(
		c, "engine",
		"What runs the schedules: host (this process), kernel (/dev/espgoal), or "
		"auto (between nodes the kernel, where all processes have it)",
		engine_names, OPAL_INFO_LVL_3, &PARAMS->engine);
	if (rc != OMPI_SUCCESS)
		return rc;
	rc = register_uint(c, "node_ranks",
			   "Treat each so many ranks of the job as a node of their own, for tests "
			   "(0: real nodes)",
			   OPAL_INFO_LVL_9, &PARAMS->node_ranks, 0);
	if (rc != OMPI_SUCCESS)
		return rc;
	rc = register_uint(c, "cache_size", "Schedules kept per communicator, 1 to 1048576",
			   OPAL_INFO_LVL_5, &PARAMS->cache_size, 64);
	if (rc != OMPI_SUCCESS)
		return rc;
	PARAMS->disable = NULL;
	rc = register_var(c, "disable",
			  "Collectives left to other components, names separated by commas, as in "
			  "bcast,reduce_scatter_block",
			  MCA_BASE_VAR_TYPE_STRING, NULL, OPAL_INFO_LVL_5, &PARAMS->disable);
	if (rc != OMPI_SUCCESS)
		return rc;
	rc = register_tuning(c);
	for (int i = 0; rc == OMPI_SUCCESS && i < GOAL_COLLS; i++)
		rc = register_algorithm(c, i);
	return rc;
}

static int bad_number(const char *name, long long value, const char *allowed)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", value);
	return bad_value(name, text, allowed);
}

/* coll_goal_disable as bits. */
static int parse_disable(void)
{
	const char *at = PARAMS->disable;

	PARAMS->disabled = 0;
	while (at && *at) {
		size_t len = strcspn(at, ",");
		int coll;

		for (coll = 0; coll < GOAL_COLLS; coll++)
			if (strlen(goal_coll_name(coll)) == len &&
			    !strncmp(goal_coll_name(coll), at, len))
				break;
		if (coll == GOAL_COLLS && len)
			return bad_value("disable", PARAMS->disable,
					 "names of collectives separated by commas, without "
					 "MPI_, i or _init, as in bcast,neighbor_alltoallv");
		if (len)
			PARAMS->disabled |= 1u << coll;
		at += len + (at[len] == ',');
	}
	return OMPI_SUCCESS;
}

static bool power_of_two_in(unsigned int n, unsigned int least, unsigned int most)
{
	return n >= least && n <= most && !(n & (n - 1));
}

int coll_goal_params_check(void)
{
	const struct coll_goal_params *p = PARAMS;
	unsigned int ring = p->ring_bytes ? p->ring_bytes : COLL_GOAL_RING_BYTES;

	if (p->priority > 100)
		return bad_number("priority", p->priority, "0 to 100, or below 0");
	if (p->cache_size < 1 || p->cache_size > 1048576)
		return bad_number("cache_size", p->cache_size, "1 to 1048576 schedules");
	if (p->ring_slots && !power_of_two_in(p->ring_slots, 4, 1u << 16))
		return bad_number("ring_slots", p->ring_slots,
				  "a power of two from 4 to 65536 slots, or 0");
	if (p->ring_bytes && !power_of_two_in(p->ring_bytes, 1024, 1u << 28))
		return bad_number("ring_bytes", p->ring_bytes,
				  "a power of two from 1024 to 268435456 bytes, or 0");
	if (p->eager > ring / 2 || p->eager > 65535)
		return bad_number(
			"eager", p->eager,
			"at most 65535 and half of coll_goal_ring_bytes (65536 unless given)");
	if (p->sleep_us > 1000000)
		return bad_number("sleep_us", p->sleep_us, "at most 1000000 microseconds");
	if (p->kernel_bytes > ESPGOAL_SURE_RUN)
		return bad_number("kernel_bytes", p->kernel_bytes, "at most 65536 bytes");
	return parse_disable();
}
