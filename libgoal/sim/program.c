// SPDX-License-Identifier: BSD-3-Clause
/* Programs: the compiled schedules of all ranks, and what their buffers hold in the beginning. */
#include <stdio.h>
#include <stdlib.h>

#include "inside.h"

/* Each receive writes behind the one before. */
static void spread(void *bytes)
{
	const struct goal_sched_hdr *h = bytes;
	struct goal_op *op = (struct goal_op *)((u8 *)bytes + sizeof(*h));
	u64 at[GOAL_MAX_BUFS] = { 0 };
	u32 i;

	for (i = 0; i < h->nops; i++)
		if (op[i].code == GOAL_OP_RECV && op[i].dst_buf < GOAL_MAX_BUFS) {
			op[i].dst_off = at[op[i].dst_buf];
			at[op[i].dst_buf] += op[i].len;
		}
}

static int load_part(struct sim_part *part, const struct goal_schedule *schedule, bool apart,
		     struct goal_error *e)
{
	struct core_error why;
	const void *data;
	size_t bytes;
	u32 *tmp, b;
	int rc;

	data = goal_schedule_data(schedule, &bytes);
	part->bytes = malloc(bytes);
	tmp = malloc((((const struct goal_sched_hdr *)data)->nops + 1) * sizeof(*tmp));
	rc = -ENOMEM;
	if (!part->bytes || !tmp)
		goto free_tmp;
	memcpy(part->bytes, data, bytes);
	if (apart)
		spread(part->bytes);
	rc = core_verify(part->bytes, bytes, tmp, &part->sched, &why);
	if (rc) {
		if (e)
			snprintf(e->text, sizeof(e->text), "The verifier refuses the schedule: %s",
				 core_rule_text(why.rule));
		goto free_tmp;
	}
	for (b = 0; b < part->sched.hdr->nbufs; b++) {
		part->off[b] = part->mem;
		part->mem += (part->sched.need[b] + 7) & ~7ull;
	}
	part->off[GOAL_MAX_BUFS] = part->mem;
	part->all = part->mem + ((part->sched.hdr->scratch + 7) & ~7ull);
free_tmp:
	free(tmp);
	return rc;
}

static struct sim_program *new_program(struct sim *s, u32 ranks)
{
	struct sim_program *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->s = s;
	p->seed = sim_mix(s->c.seed + 77);
	p->ranks = ranks;
	p->part = calloc(ranks, sizeof(*p->part));
	if (!p->part) {
		free(p);
		return NULL;
	}
	return p;
}

static void keep(struct sim_program *p)
{
	p->next = p->s->programs;
	p->s->programs = p;
}

int sim_load(struct sim *s, const struct goal_program *gp, bool apart, struct sim_program **sp,
	     struct goal_error *e)
{
	struct sim_program *p = new_program(s, goal_program_ranks(gp));
	struct goal_schedule *schedule;
	u32 i;
	int rc;

	if (!p)
		return -ENOMEM;
	for (i = 0; i < p->ranks; i++) {
		rc = goal_compile(goal_program_graph(gp, i), &schedule, e);
		if (rc)
			goto free_program;
		rc = load_part(&p->part[i], schedule, apart, e);
		goal_schedule_free(schedule);
		if (rc)
			goto free_program;
	}
	keep(p);
	*sp = p;
	return 0;

free_program:
	sim_program_free(p);
	return rc;
}

int sim_load_schedules(struct sim *s, const struct goal_schedule *const *schedule, u32 ranks,
		       bool apart, struct sim_program **sp, struct goal_error *e)
{
	struct sim_program *p = new_program(s, ranks);
	u32 i;
	int rc;

	if (!p)
		return -ENOMEM;
	for (i = 0; i < ranks; i++) {
		rc = load_part(&p->part[i], schedule[i], apart, e);
		if (rc) {
			sim_program_free(p);
			return rc;
		}
	}
	keep(p);
	*sp = p;
	return 0;
}

void sim_program_lend(struct sim_program *p)
{
	u32 i;

	for (i = 0; i < p->ranks; i++) {
		struct sim_part *part = &p->part[i];

		free(part->ref);
		part->ref = NULL;
		part->all -= part->mem;
		part->mem = 0;
		part->off[GOAL_MAX_BUFS] = 0;
	}
	p->lent = true;
}

void sim_program_free(struct sim_program *p)
{
	u32 i;

	for (i = 0; p->part && i < p->ranks; i++) {
		free(p->part[i].bytes);
		free(p->part[i].ref);
	}
	free(p->part);
	free(p);
}

void sim_fill(const struct sim_program *p, u32 rank, u8 *mem)
{
	struct sim_random r = { p->seed + ((u64)rank << 32) };
	u64 i, v, all = p->part[rank].mem;

	for (i = 0; i < all; i += 8) {
		v = sim_u64(&r);
		memcpy(mem + i, &v, 8);
	}
}
