/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A communicator may go from within the completion of its last run, which is to say from within
 * the engine. What the engine is still busy with then (-EBUSY) is freed later, from the progress
 * callback or when the component closes. The memory to remember it by is set aside beforehand,
 * so that freeing cannot fail.
 */
#include "coll_goal.h"

struct coll_goal_grave {
	struct coll_goal_grave *next;
	struct goal_group *group;
	struct goal_loaded *loaded;
};

struct coll_goal_grave *coll_goal_grave_new(void)
{
	return coll_goal_calloc(1, sizeof(struct coll_goal_grave));
}

/* Free what it can: true when nothing is left. */
static bool try_free(struct coll_goal_grave *grave)
{
	if (grave->group && goal_group_free(grave->group) == -EBUSY)
		return false;
	grave->group = NULL;
	if (grave->loaded && goal_unload(grave->loaded) == -EBUSY)
		return false;
	free(grave);
	return true;
}

void coll_goal_bury(struct coll_goal_grave *grave, struct goal_group *group,
		    struct goal_loaded *loaded)
{
	grave->group = group;
	grave->loaded = loaded;
	if (try_free(grave))
		return;
	coll_goal_progress_need();
	coll_goal_lock();
	grave->next = mca_coll_goal_component.graves;
	mca_coll_goal_component.graves = grave;
	coll_goal_unlock();
	coll_goal_work(1);
}

void coll_goal_reap(void)
{
	struct coll_goal_grave *list, *next, *kept = NULL;

	if (!mca_coll_goal_component.graves)
		return;
	coll_goal_lock();
	list = mca_coll_goal_component.graves;
	mca_coll_goal_component.graves = NULL;
	coll_goal_unlock();
	for (; list; list = next) {
		next = list->next;
		if (try_free(list)) {
			coll_goal_work(-1);
			continue;
		}
		list->next = kept;
		kept = list;
	}
	coll_goal_lock();
	while (kept) {
		next = kept->next;
		kept->next = mca_coll_goal_component.graves;
		mca_coll_goal_component.graves = kept;
		kept = next;
	}
	coll_goal_unlock();
}
