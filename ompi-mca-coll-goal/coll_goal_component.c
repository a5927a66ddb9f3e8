/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The component as Open MPI's coll framework sees it: registration, open, close. Open publishes
 * this process's address, so it runs before the exchange of addresses in MPI_Init; everything
 * that belongs to a communicator is in module.c.
 */
#include "coll_goal.h"

#include <dlfcn.h>

static int component_register(void);
static int component_open(void);
static int component_close(void);

struct coll_goal_component mca_coll_goal_component = {
	.super = {
		.collm_version = {
			COLL_GOAL_BASE_VERSION,
			.mca_component_name = "goal",
			MCA_BASE_MAKE_VERSION(component, 0, 1, 0),
			.mca_open_component = component_open,
			.mca_close_component = component_close,
			.mca_register_component_params = component_register,
		},
		.collm_data = {
			MCA_BASE_METADATA_PARAM_NONE
		},
		.collm_init_query = coll_goal_init_query,
		.collm_comm_query = coll_goal_comm_query,
	},
};

/* Our messages are where we were installed to, or beside us when we were not installed. */
static void find_help(void)
{
	char folder[4096];
	Dl_info info;
	char *slash;

	(void)opal_show_help_add_dir(COLL_GOAL_HELPDIR);
	if (!dladdr(&mca_coll_goal_component, &info) || !info.dli_fname)
		return;
	snprintf(folder, sizeof(folder), "%s", info.dli_fname);
	slash = strrchr(folder, '/');
	if (!slash)
		return;
	*slash = '\0';
	(void)opal_show_help_add_dir(folder);
}

static int component_register(void)
{
	mca_base_component_t *version = &mca_coll_goal_component.super.collm_version;
	int rc;

	find_help();
	rc = coll_goal_params_register(version);
	if (rc == OMPI_SUCCESS)
		rc = coll_goal_params_check();
	mca_coll_goal_component.refused = rc != OMPI_SUCCESS;
	return coll_goal_pvars_register(version);
}

/* The engine as the parameters want it. */
static int engine_open(void)
{
	const struct coll_goal_params *p = &mca_coll_goal_component.params;
	struct goal_engine_attr attr = {
		.flags = (ompi_mpi_thread_multiple ? GOAL_ENGINE_THREADS : 0) |
			 (p->progress_thread ? GOAL_ENGINE_PROGRESS : 0),
		.node = p->node_ranks ? 1 + OPAL_PROC_MY_NAME.vpid / p->node_ranks : 0,
		.ring_slots = p->ring_slots,
		.ring_bytes = p->ring_bytes,
		.eager = p->eager,
		.spin = p->spin,
		.yields = p->yields,
		.sleep_us = p->sleep_us,
	};
	struct goal_error error = { .code = 0 };
	int rc;

	rc = goal_engine_open(&attr, &mca_coll_goal_component.engine, &error);
	if (rc == 0)
		return OMPI_SUCCESS;
	coll_goal_say_once("no-engine", opal_process_info.nodename,
			   error.text[0] ? error.text : strerror(-rc));
	return OMPI_ERR_NOT_AVAILABLE;
}

/* 0 or -errno. */
static int engines_close(void)
{
	struct coll_goal_component *c = &mca_coll_goal_component;
	int rc = c->engine ? goal_engine_close(c->engine) : 0;
	int kernel = c->kernel ? goal_engine_close(c->kernel) : 0;

	c->engine = NULL;
	c->kernel = NULL;
	return rc ? rc : kernel;
}

/*
 * A component that fails to register, open or initialise makes Open MPI 4.1 print garbage, or crash,
 * when it was asked for by name. So after telling the user it stays, without an engine, and declines
 * every communicator.
 */
static int component_open(void)
{
	struct coll_goal_component *c = &mca_coll_goal_component;

	c->output = opal_output_open(NULL);
	opal_output_set_verbosity(c->output, c->params.verbose);
	c->threads = ompi_mpi_thread_multiple || c->params.progress_thread;
	c->deferred = c->params.progress_thread && !ompi_mpi_thread_multiple;
	c->registered = false;
	c->wait_known = false;
	c->work = 0;
	c->votes = NULL;
	c->votes_left = NULL;
	c->graves = NULL;
	c->requests = NULL;
	c->finished = NULL;
	c->modules = NULL;
	OBJ_CONSTRUCT(&c->lock, opal_mutex_t);
	c->kernel = NULL;
	if (c->refused || engine_open() != OMPI_SUCCESS) {
		c->engine = NULL;
		return OMPI_SUCCESS;
	}
	coll_goal_kernel_open();
	if (coll_goal_modex_publish() != OMPI_SUCCESS)
		(void)engines_close();
	return OMPI_SUCCESS;
}

/* Communicators, PML, operations and datatypes are gone already: only what is ours is touched. */
static int component_close(void)
{
	struct coll_goal_component *c = &mca_coll_goal_component;
	int rc;

	if (c->registered)
		opal_progress_unregister(coll_goal_progress);
	c->registered = false;
	coll_goal_reap();
	rc = engines_close();
	if (rc)
		opal_output_verbose(1, c->output, "coll:goal: closing the engines: %s",
				    strerror(-rc));
	coll_goal_modex_forget();
	coll_goal_requests_fini();
	coll_goal_votes_fini();
	OBJ_DESTRUCT(&c->lock);
	opal_output_close(c->output);
	return OMPI_SUCCESS;
}
