// SPDX-License-Identifier: BSD-3-Clause
/* Runs one schedule alone: see sink.h. */
#include "sink.h"
#include "build.h"

#define SINK_OPS   (1u << 16) /* operations, successors: what is run at most */
#define SINK_BYTES (1u << 20) /* of all buffers together, and moved in all */

/* Bytes that are bound, and moved, by the run. */
static bool affordable(const struct core_sched *s)
{
	u64 sum = s->hdr->scratch, bytes;
	u32 k;

	if (s->hdr->nops > SINK_OPS || s->hdr->nsucc > SINK_OPS || sum > SINK_BYTES)
		return false;
	for (k = 0; k < s->hdr->nbufs; k++) {
		if (s->need[k] > SINK_BYTES)
			return false;
		sum += s->need[k];
	}
	/* Each range lies in a buffer, so these are bounded now. */
	for (k = 0; k < s->hdr->nops; k++) {
		const struct goal_op *op = &s->op[k];

		bytes = op->len;
		if (op->code == GOAL_OP_REDUCE)
			bytes *= op->dtype == GOAL_TYPE_USER ? s->hdr->user_size
							     : core_type_size(op->dtype);
		sum += bytes;
	}
	return sum <= SINK_BYTES;
}

static void swallow(struct exec *x, struct message *m)
{
	must(m->dst < x->sched.hdr->npeers && m->tag < x->sched.hdr->ntags);
	message_free(m);
}

/* A message for the receive of @slot, as long as it likes. */
static struct message *message_for(struct exec *x, u32 slot)
{
	const struct goal_op *op = &x->sched.op[x->sched.match[slot]];

	return message_create(op->peer, x->rank, op, random_u64(x->random) % (op->len + 1));
}

static void run(const struct core_sched *s, struct random *random)
{
	struct exec *x = malloc(sizeof(*x));
	u32 slot = 0, nrecv = s->hdr->nrecv;
	bool started = false;

	must(x);
	exec_init(x, s, s->hdr->rank, random);
	x->sent = swallow;
	x->late = random_below(random, 3) * 100;
	x->taken_over = (u32)random_u64(random) & (u32)random_u64(random);
	exec_reset(x);
	while (!started || slot < nrecv || x->npending) {
		switch (random_below(random, 3)) {
		case 0:
			if (!started)
				core_start(&x->home.core);
			started = true;
			break;
		case 1:
			if (slot < nrecv)
				must(exec_message(x, message_for(x, slot++)) == 0);
			break;
		default:
			if (x->npending)
				exec_finish(x, random_below(random, x->npending));
			break;
		}
	}
	must(x->home.core.status == 0);
	exec_check_over(x);
	exec_fini(x);
	free(x);
	must(messages_alive == 0);
}

bool sink_schedule(const void *data, size_t len, struct random *random)
{
	struct core_sched s;
	struct core_error e;

	if (build_verify(data, len, &s, &e)) {
		must(e.code == -EINVAL || e.code == -E2BIG);
		must(e.rule > CORE_RULE_OK && e.rule < CORE_RULES);
		return false;
	}
	if (affordable(&s))
		run(&s, random);
	return true;
}
