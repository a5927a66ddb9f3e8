// SPDX-License-Identifier: BSD-3-Clause
/* The loop: the next event, until there is nothing left to wait for. */
#include "inside.h"

#define STANDSTILL 2000000 /* events at one moment; the largest floods have some thousands */

static void leave(struct sim_member *m)
{
	sim_ep_kill(m->ep, true);
}

void sim_dispatch(struct sim *s, enum sim_event kind, void *object)
{
	switch (kind) {
	case SIM_EV_HOP:
		sim_net_hop(object);
		break;
	case SIM_EV_FRAME:
		sim_net_arrive(object);
		break;
	case SIM_EV_FLOW:
		sim_flow_event(object, s->queue.last);
		break;
	case SIM_EV_LATE:
		sim_late_end(object);
		break;
	case SIM_EV_LOCAL:
		sim_local_arrive(object);
		break;
	case SIM_EV_MEMBER:
		sim_member_timer(object);
		break;
	case SIM_EV_RANK: {
		struct sim_seat *seat = object;

		seat->asked = false;
		if (!seat->m->known || seat->next >= seat->job->plan.runs)
			break;
		sim_seat_go(seat);
		if (!seat->job->plan.lockstep)
			sim_seat_ask(seat);
		break;
	}
	case SIM_EV_JOIN:
		sim_member_join(object);
		break;
	case SIM_EV_LEAVE:
		leave(object);
		break;
	case SIM_EV_FAULT:
		sim_fault(object);
		break;
	case SIM_EV_RESUME:
	case SIM_EV_PUMP:
		sim_run_again(object, kind == SIM_EV_PUMP);
		break;
	case SIM_EV_LOOK:
		sim_node_look(object);
		break;
	default:
		break;
	}
}

bool sim_idle(const struct sim *s)
{
	return !s->jobs_left;
}

void sim_run(struct sim *s, uint64_t ns, uint64_t frames)
{
	u64 end = s->now + ns, most = frames ? s->t.frames + frames : ~0ull;
	bool had_jobs = s->jobs_left;
	u64 since = s->now, events = s->t.events;

	while (!s->failed && s->queue.n && s->t.frames < most && (!had_jobs || s->jobs_left)) {
		u32 kind;
		void *object;
		u64 at;

		if (sim_queue_peek(&s->queue) > end) {
			s->now = end;
			break;
		}
		at = sim_queue_time(&s->queue);
		if (at > s->now)
			s->now = at;
		object = sim_queue_pop(&s->queue, &kind);
		s->t.events++;
		s->fnv = (s->fnv ^ at ^ kind) * 0x100000001b3ull;
		sim_dispatch(s, kind, object);
		if (unlikely(s->touched != NULL))
			sim_check_touched(s);
		if (s->now != since) {
			since = s->now;
			events = s->t.events;
		} else if (s->t.events - events > STANDSTILL) {
			sim_fail(s, "time stands still: the last event was of kind %u", kind);
		}
	}
	if (s->queue.failed)
		sim_fail(s, "there is not enough memory for the events");
	if (!s->failed && had_jobs && s->jobs_left && !s->queue.n)
		sim_fail(s, "nothing will happen any more, and %llu runs are not over",
			 (unsigned long long)s->jobs_left);
	if (!had_jobs && !s->failed && s->now < end)
		s->now = end;
}
