/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libgoal holds the interpreter twice: in the host engine's home and in the simulated one. Here it
 * has other names. A function of core.h that is missing here shows when libgoal is linked.
 */
#ifndef SIM_NAMES_H
#define SIM_NAMES_H

#define core_buffer         sim_core_buffer
#define core_cancel         sim_core_cancel
#define core_match          sim_core_match
#define core_message        sim_core_message
#define core_message_claim  sim_core_message_claim
#define core_message_empty  sim_core_message_empty
#define core_op_bytes       sim_core_op_bytes
#define core_op_done        sim_core_op_done
#define core_op_done_quiet  sim_core_op_done_quiet
#define core_cancel_quiet   sim_core_cancel_quiet
#define core_op_take        sim_core_op_take
#define core_pump           sim_core_pump
#define core_reduce_fp      sim_core_reduce_fp
#define core_reduce_host    sim_core_reduce_host
#define core_reduce_int     sim_core_reduce_int
#define core_reduce_valid   sim_core_reduce_valid
#define core_resume         sim_core_resume
#define core_rule_text      sim_core_rule_text
#define core_run_bytes      sim_core_run_bytes
#define core_run_check      sim_core_run_check
#define core_run_init       sim_core_run_init
#define core_run_reset      sim_core_run_reset
#define core_segment_at     sim_core_segment_at
#define core_start          sim_core_start
#define core_type_host_only sim_core_type_host_only
#define core_type_size      sim_core_type_size
#define core_verify         sim_core_verify
#define core_verify_tmp     sim_core_verify_tmp

#endif /* SIM_NAMES_H */
