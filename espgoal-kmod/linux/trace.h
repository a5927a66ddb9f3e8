/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints: a run starts, a frame comes in, an operation is done, a frame goes out, a run is
 * over. No cookie, nonce or connection id is in them: who may trace must not learn what lets others
 * send.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM espgoal

#if !defined(ESPGOAL_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define ESPGOAL_TRACE_H

#include <linux/tracepoint.h>

#include "home.h"

/* clang-format off */
DECLARE_EVENT_CLASS(espgoal_run,
	TP_PROTO(struct krun *r, int status),
	TP_ARGS(r, status),
	TP_STRUCT__entry(
		__field(u32, run)
		__field(u32, group)
		__field(u32, rank)
		__field(u32, op_id)
		__field(u32, start)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->run = r->id;
		__entry->group = r->m->id;
		__entry->rank = r->m->m.rank;
		__entry->op_id = r->e.opid;
		__entry->start = r->e.start;
		__entry->status = status;
	),
	TP_printk("run=%u group=%u rank=%u op_id=%u start=%u status=%d", __entry->run,
		  __entry->group, __entry->rank, __entry->op_id, __entry->start, __entry->status)
);

DEFINE_EVENT(espgoal_run, espgoal_start,
	TP_PROTO(struct krun *r, int status),
	TP_ARGS(r, status)
);

DEFINE_EVENT(espgoal_run, espgoal_run_done,
	TP_PROTO(struct krun *r, int status),
	TP_ARGS(r, status)
);

TRACE_EVENT(espgoal_op_done,
	TP_PROTO(struct krun *r, u32 op),
	TP_ARGS(r, op),
	TP_STRUCT__entry(
		__field(u32, run)
		__field(u32, rank)
		__field(u32, op)
		__field(u8, code)
		__field(u32, peer)
		__field(u64, len)
	),
	TP_fast_assign(
		__entry->run = r->id;
		__entry->rank = r->m->m.rank;
		__entry->op = op;
		__entry->code = r->core.sched->op[op].code;
		__entry->peer = r->core.sched->op[op].peer;
		__entry->len = r->core.sched->op[op].len;
	),
	TP_printk("run=%u rank=%u op=%u code=%u peer=%u len=%llu", __entry->run, __entry->rank,
		  __entry->op, __entry->code, __entry->peer, __entry->len)
);

DECLARE_EVENT_CLASS(espgoal_frame,
	TP_PROTO(const struct net_device *dev, u32 len),
	TP_ARGS(dev, len),
	TP_STRUCT__entry(
		__field(int, ifindex)
		__field(u32, len)
	),
	TP_fast_assign(
		__entry->ifindex = dev->ifindex;
		__entry->len = len;
	),
	TP_printk("ifindex=%d len=%u", __entry->ifindex, __entry->len)
);

DEFINE_EVENT(espgoal_frame, espgoal_frame_in,
	TP_PROTO(const struct net_device *dev, u32 len),
	TP_ARGS(dev, len)
);

DEFINE_EVENT(espgoal_frame, espgoal_frame_out,
	TP_PROTO(const struct net_device *dev, u32 len),
	TP_ARGS(dev, len)
);
/* clang-format on */

#endif /* ESPGOAL_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
