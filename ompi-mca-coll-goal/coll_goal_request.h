/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The request of a nonblocking or persistent collective. It derives from Open MPI's request of
 * nonblocking collectives, since the MPI layer keeps operations and datatypes in that. Used by
 * request.c alone.
 */
#ifndef COLL_GOAL_REQUEST_H
#define COLL_GOAL_REQUEST_H

#include "coll_goal_run.h"

struct coll_goal_request {
	ompi_coll_base_nbc_request_t super;
	struct coll_goal_request *next; /* in the module's queue, or the component's finished */
	struct coll_goal_module *module;
	struct coll_goal_plan *plan; /* a reference of ours */
	struct coll_goal_call call;
	struct goal_run *run; /* of the start under way; persistent: of the last one */
	struct coll_goal_ident ident;
	struct coll_goal_binding binding;
	int status;    /* -errno of the run */
	uint8_t state; /* bits COLL_GOAL_STARTED, COLL_GOAL_OVER */
	bool active;   /* started, and not complete */
	bool given_up; /* freed by the user while active */
	bool retained; /* reducer's op and type */
};
typedef struct coll_goal_request coll_goal_request_t;
OBJ_CLASS_DECLARATION(coll_goal_request_t);

/* The run is in our hands, and ended: the second of the two completes the request. */
#define COLL_GOAL_STARTED 1
#define COLL_GOAL_OVER    2

#endif /* COLL_GOAL_REQUEST_H */
