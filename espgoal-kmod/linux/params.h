/* SPDX-License-Identifier: GPL-2.0-only */
/* The parameters of the module; params.c says what they are, espgoal(4) more. */
#ifndef ESPGOAL_PARAMS_H
#define ESPGOAL_PARAMS_H

#include <linux/types.h>

struct esp_params;

extern unsigned int kparam_run_max;
extern unsigned int kparam_sched_max;
extern unsigned int kparam_area_max;
extern unsigned int kparam_runs_max;
extern unsigned int kparam_ranks_max;
extern unsigned int kparam_user_endpoints;
extern unsigned int kparam_user_groups;
extern unsigned int kparam_user_ranks;
extern unsigned int kparam_user_mbytes;
extern unsigned int kparam_flows_max;
extern unsigned int kparam_ethertype;
extern unsigned int kparam_budget_ops;
extern unsigned int kparam_budget_bytes;
extern unsigned int kparam_eager_max;
extern unsigned int kparam_rto_min_us;
extern unsigned int kparam_death_ms;
extern unsigned int kparam_linger_ms;
extern unsigned int kparam_hello_rate;
extern unsigned int kparam_payload_crc;

int kparams_check(void);
void kparams_esp(struct esp_params *p);

#endif /* ESPGOAL_PARAMS_H */
