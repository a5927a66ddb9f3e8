// SPDX-License-Identifier: BSD-3-Clause
/* Jobs: which rank starts which run when. */
#include <stdlib.h>

#include "inside.h"

/* The rank may start its next run, after having thought a little. */
void sim_seat_ask(struct sim_seat *seat)
{
	struct sim_job *j = seat->job;
	struct sim *s = j->g->s;

	if (seat->asked || seat->next >= j->plan.runs || seat->active >= j->plan.overlap)
		return;
	seat->asked = true;
	sim_at(s, s->now + (j->plan.think ? sim_below(&s->random, j->plan.think) : 0), SIM_EV_RANK,
	       seat);
}

static void round_over(struct sim_job *j)
{
	struct sim *s = j->g->s;
	u32 i;

	if (j->plan.ended)
		j->plan.ended(j->plan.arg, j->round, s->now - j->round_began);
	j->round++;
	j->in_round = 0;
	j->round_began = s->now + j->plan.gap;
	if (j->round >= j->plan.runs)
		return;
	for (i = 0; i < j->g->ranks; i++) {
		if (j->seat[i].gone)
			continue;
		j->in_round++;
		j->seat[i].asked = true;
		sim_at(s, j->round_began, SIM_EV_RANK, &j->seat[i]);
	}
}

/* Its rank starts nothing any more. */
void sim_seat_gone(struct sim_seat *seat)
{
	struct sim_job *j = seat->job;

	if (seat->gone)
		return;
	seat->gone = true;
	if (j->plan.lockstep && seat->asked && --j->in_round == 0)
		round_over(j);
}

/* Its member has left: nothing more is to come. */
void sim_seat_left(struct sim_seat *seat)
{
	struct sim_job *j = seat->job;
	u32 rest = j->plan.runs - seat->next;

	seat->next = j->plan.runs;
	j->left -= rest;
	j->g->s->jobs_left -= rest;
	sim_seat_gone(seat);
}

void sim_seat_over(struct sim_seat *seat, u32 number, u64 ns)
{
	struct sim_job *j = seat->job;
	struct sim *s = j->g->s;

	seat->active--;
	j->left--;
	s->jobs_left--;
	if (j->plan.within && ns > j->plan.within && !s->ending)
		sim_fail(s, "rank %u, run %u took %llu ms", seat->m->m.rank, number,
			 (unsigned long long)(ns / ESP_MS));
	if (j->plan.lockstep) {
		if (--j->in_round == 0)
			round_over(j);
	} else {
		sim_seat_ask(seat);
	}
	if (seat->next >= j->plan.runs && !seat->active && j->plan.leave)
		sim_at(s, s->now, SIM_EV_LEAVE, seat->m);
}

/* The user's memory for the one program of the job. */
static int lend(struct sim_job *j, const struct sim_plan *plan)
{
	struct sim_program *p = plan->program[0];
	u64 pieces = 0;
	u32 i, b, k;

	for (i = 0; i < p->ranks; i++)
		for (b = 0; b < plan->nbufs; b++)
			pieces += plan->bufs[i][b].nseg;
	j->lent = calloc((size_t)p->ranks * GOAL_MAX_BUFS, sizeof(*j->lent));
	j->pieces = calloc(pieces + 1, sizeof(*j->pieces));
	if (!j->lent || !j->pieces)
		return -ENOMEM;
	pieces = 0;
	for (i = 0; i < p->ranks; i++) {
		const struct core_sched *sched = &p->part[i].sched;

		for (b = 0; b < sched->hdr->nbufs; b++) {
			struct core_binding *lent = &j->lent[i * GOAL_MAX_BUFS + b];

			lent->seg = &j->pieces[pieces];
			if (b < plan->nbufs)
				lent->nseg = plan->bufs[i][b].nseg;
			for (k = 0; k < lent->nseg; k++) {
				const struct goal_segment *from = &plan->bufs[i][b].seg[k];

				j->pieces[pieces++] =
					(struct core_segment){ from->base, from->len };
				lent->len += from->len;
			}
			if (lent->len < sched->need[b])
				return -EFAULT;
		}
	}
	sim_program_lend(p);
	return 0;
}

int sim_job(struct sim_group *g, const struct sim_plan *plan, struct sim_job **job)
{
	struct sim *s = g->s;
	struct sim_job *j = calloc(1, sizeof(*j));
	u32 i;
	int rc;

	if (!j)
		return -ENOMEM;
	j->program = calloc(plan->programs, sizeof(*j->program));
	j->seat = calloc(g->ranks, sizeof(*j->seat));
	if (!j->program || !j->seat) {
		rc = -ENOMEM;
		goto free_job;
	}
	j->g = g;
	j->plan = *plan;
	if (plan->lockstep || !j->plan.overlap)
		j->plan.overlap = 1;
	for (i = 0; i < plan->programs; i++) {
		j->program[i] = plan->program[i];
		rc = plan->unchecked ? 0 : sim_reference(plan->program[i]);
		if (rc)
			goto free_job;
	}
	if (plan->bufs) {
		rc = lend(j, plan);
		if (rc)
			goto free_job;
	}
	j->plan.program = NULL;
	j->plan.bufs = NULL;
	j->left = (u64)g->ranks * plan->runs;
	s->jobs_left += j->left;
	j->in_round = g->ranks;
	j->round_began = s->now;
	j->next = s->jobs;
	s->jobs = j;
	for (i = 0; i < g->ranks; i++) {
		j->seat[i].job = j;
		j->seat[i].m = g->member[i];
		g->member[i]->seat = &j->seat[i];
		if (plan->lockstep) {
			j->seat[i].asked = true;
			sim_at(s, s->now, SIM_EV_RANK, &j->seat[i]);
		} else if (g->member[i]->known) {
			sim_seat_ask(&j->seat[i]);
		}
		/* Another entry may have come between and killed it. */
		if (g->member[i]->left)
			sim_seat_left(&j->seat[i]);
	}
	*job = j;
	return 0;

free_job:
	sim_job_free(j);
	return rc;
}

void sim_job_free(struct sim_job *j)
{
	free(j->program);
	free(j->seat);
	free(j->lent);
	free(j->pieces);
	free(j);
}
