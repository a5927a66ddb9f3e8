/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The slots of a module: ours are installed when Open MPI asks for one, those that stand in the
 * communicator already are remembered when it enables us, with a reference to their modules,
 * which is given back when our module goes. Any of them may be missing. Called by module.c.
 */
#include "coll_goal_entries.h"

void coll_goal_slots_install(struct coll_goal_module *m, bool inter)
{
	mca_coll_base_module_t *s = &m->super;

#define INSTALL(name, code)                  \
	s->coll_##name = coll_goal_##name;   \
	s->coll_i##name = coll_goal_i##name; \
	s->coll_##name##_init = coll_goal_##name##_init;
	COLL_GOAL_EACH_COMMON(INSTALL)
	if (!inter) {
		COLL_GOAL_EACH_INTRA(INSTALL)
	}
#undef INSTALL
	s->coll_reduce_local = coll_goal_reduce_local;
}

void coll_goal_slots_save(struct coll_goal_module *m)
{
	mca_coll_base_comm_coll_t *now = m->comm->c_coll, *prev = &m->prev;

#define SAVE_ONE(slot)                                                  \
	if (now->coll_##slot && now->coll_##slot##_module) {            \
		prev->coll_##slot = now->coll_##slot;                   \
		prev->coll_##slot##_module = now->coll_##slot##_module; \
		OBJ_RETAIN(prev->coll_##slot##_module);                 \
	}
#define SAVE(name, code) SAVE_ONE(name) SAVE_ONE(i##name) SAVE_ONE(name##_init)
	COLL_GOAL_EACH(SAVE)
	SAVE_ONE(reduce_local)
#if COLL_GOAL_HAVE_AGREE
	SAVE_ONE(agree)
	SAVE_ONE(iagree)
	/* Agreement is another component's business; ours only says so where there is none. */
	if (!prev->coll_agree)
		m->super.coll_agree = coll_goal_agree;
	if (!prev->coll_iagree)
		m->super.coll_iagree = coll_goal_iagree;
#endif
#undef SAVE
#undef SAVE_ONE
}

void coll_goal_slots_drop(struct coll_goal_module *m)
{
	mca_coll_base_comm_coll_t *prev = &m->prev;

#define DROP_ONE(slot)                                   \
	if (prev->coll_##slot##_module) {                \
		OBJ_RELEASE(prev->coll_##slot##_module); \
		prev->coll_##slot##_module = NULL;       \
		prev->coll_##slot = NULL;                \
	}
#define DROP(name, code) DROP_ONE(name) DROP_ONE(i##name) DROP_ONE(name##_init)
	COLL_GOAL_EACH(DROP)
	DROP_ONE(reduce_local)
#if COLL_GOAL_HAVE_AGREE
	DROP_ONE(agree)
	DROP_ONE(iagree)
#endif
#undef DROP
#undef DROP_ONE
}

bool coll_goal_slots_complete(const struct coll_goal_module *m, enum goal_coll coll)
{
	const mca_coll_base_comm_coll_t *prev = &m->prev;

	switch (coll) {
#define COMPLETE(name, code) \
	case code:           \
		return prev->coll_##name && prev->coll_i##name && prev->coll_##name##_init;
		COLL_GOAL_EACH(COMPLETE)
#undef COMPLETE
	default:
		return false;
	}
}
