// SPDX-License-Identifier: GPL-2.0-only
/* Parameters of the module: defaults and bounds. Read when a thing is made, not while it lives. */
#include <linux/module.h>

#include "esp.h"
#include "espgoal.h"
#include "params.h"

#define KPARAM(name, value, text)                            \
	unsigned int kparam_##name = (value);                \
	module_param_named(name, kparam_##name, uint, 0444); \
	MODULE_PARM_DESC(name, text)

KPARAM(ethertype, ESP_ETHERTYPE, "EtherType of the frames (default 0x88b5, local experimental)");
KPARAM(run_max, 256 * 1024, "bytes of all buffers and scratch of a run (default 262144)");
KPARAM(sched_max, 4 * 1024 * 1024, "bytes of a schedule (default 4194304)");
KPARAM(area_max, 16 * 1024 * 1024, "bytes of the area an endpoint maps (default 16777216)");
KPARAM(runs_max, 65536, "run objects of an endpoint (default 65536)");
KPARAM(ranks_max, 65536, "ranks of a group (default 65536)");
KPARAM(user_endpoints, 1024, "endpoints of a user (default 1024)");
KPARAM(user_groups, 1048576, "group members of a user (default 1048576)");
KPARAM(user_ranks, 4194304, "ranks in all different tables of a user (default 4194304)");
KPARAM(user_mbytes, 1024, "MiB of a user's schedules, runs, areas and tables (default 1024)");
KPARAM(flows_max, 16384, "nodes that a user's tables name, a flow for each (default 16384)");
KPARAM(budget_ops, 64, "operations in one entry, before others have their turn (default 64)");
KPARAM(budget_bytes, 65536, "bytes moved in one entry, likewise (default 65536)");
KPARAM(eager_max, ESPGOAL_SURE_EAGER, "bytes of the longest message sent unasked (default 1024)");
KPARAM(rto_min_us, 1000, "least retransmission timeout, microseconds (default 1000)");
KPARAM(death_ms, 5000, "silence after which a peer counts as dead, ms (default 5000)");
KPARAM(linger_ms, 10000, "how long messages outlive their endpoint, ms (default 10000)");
KPARAM(hello_rate, 10000, "answers to unverified frames a second (default 10000)");
KPARAM(payload_crc, 1, "1: ask for checksums over payload, 0: do not (default 1)");

#undef KPARAM

struct bound {
	const char *name;
	const unsigned int *value;
	unsigned int least, most;
};

static const struct bound bounds[] = {
	/* below 0x600 it would be a length, and what belongs to others must stay theirs */
	{ "ethertype", &kparam_ethertype, 0x0801, 0xffff },
	{ "run_max", &kparam_run_max, ESPGOAL_SURE_RUN, 1u << 24 },
	{ "sched_max", &kparam_sched_max, ESPGOAL_SURE_SCHED, 1u << 28 },
	{ "area_max", &kparam_area_max, 65536, 1u << 30 },
	{ "runs_max", &kparam_runs_max, 256, 1u << 20 },
	{ "ranks_max", &kparam_ranks_max, ESPGOAL_SURE_RANKS, 1u << 24 },
	{ "user_endpoints", &kparam_user_endpoints, 1, 1u << 20 },
	{ "user_groups", &kparam_user_groups, 1, ~0u },
	{ "user_ranks", &kparam_user_ranks, 1, ~0u },
	{ "user_mbytes", &kparam_user_mbytes, 1, 1u << 20 },
	{ "flows_max", &kparam_flows_max, 16, 1u << 20 },
	{ "budget_ops", &kparam_budget_ops, 1, 1u << 20 },
	{ "budget_bytes", &kparam_budget_bytes, 1024, 1u << 30 },
	{ "eager_max", &kparam_eager_max, ESPGOAL_SURE_EAGER, ESP_EAGER_MAX },
	{ "rto_min_us", &kparam_rto_min_us, 100, 1000000 },
	{ "death_ms", &kparam_death_ms, 100, 600000 },
	{ "linger_ms", &kparam_linger_ms, 100, 600000 },
	{ "hello_rate", &kparam_hello_rate, 10, 1000000 },
	{ "payload_crc", &kparam_payload_crc, 0, 1 },
};

int kparams_check(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bounds); i++) {
		const struct bound *b = &bounds[i];

		if (*b->value >= b->least && *b->value <= b->most)
			continue;
		pr_err("espgoal: parameter %s is %u and must be %u to %u\n", b->name, *b->value,
		       b->least, b->most);
		return -EINVAL;
	}
	return 0;
}

void kparams_esp(struct esp_params *p)
{
	esp_params_default(p);
	p->eager_max = kparam_eager_max;
	p->rto_min = kparam_rto_min_us * ESP_US;
	p->death = kparam_death_ms * ESP_MS;
	p->idle = 2 * p->death + 2 * ESP_S;
	p->linger = kparam_linger_ms * ESP_MS;
	p->hello_rate = kparam_hello_rate;
	p->features = kparam_payload_crc ? ESP_FEAT_PAYLOAD_CRC : 0;
}
