/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * What a node counts: each reason to drop a frame or a part of it, each transition of a state
 * machine, and how often each thing happened. Included by esp.h; names: esp_count_name().
 */
#ifndef ESP_COUNT_H
#define ESP_COUNT_H

/* clang-format off */
#define ESP_COUNTS(X) \
	X(none)               /* 0, so that a function may answer 0 or the reason */ \
	/* frames dropped before their flow is known */ \
	X(drop_short)         /* shorter than a header, or than it says */ \
	X(drop_version) \
	X(drop_type)          /* unknown, or multicast */ \
	X(drop_hdr_len) \
	X(drop_total_len) \
	X(drop_hdr_crc) \
	X(drop_reserved)      /* a reserved bit or field is not zero */ \
	X(drop_cid)           /* no such connection id */ \
	X(drop_rail_down)     /* came in on a rail that is down */ \
	X(drop_source)        /* from an address that is no single interface's */ \
	/* hello */ \
	X(drop_hello_fields) \
	X(drop_hello_self)    /* our own address or node id */ \
	X(drop_hello_rate)    /* too many unverified frames */ \
	X(drop_hello_order)   /* byte order or word size differs: rejected */ \
	X(drop_token)         /* not one of ours, or too old */ \
	X(drop_hello_state)   /* TOKEN, ACCEPT, REJECT nobody waits for */ \
	X(drop_hello_echo)    /* ... or for another attempt */ \
	X(drop_hello_simultaneous) /* both opened: the other one's attempt stays */ \
	X(drop_hello_stale)   /* an OPEN of an incarnation that is over */ \
	X(drop_hello_elsewhere) /* an OPEN from where the peer is not, and it lives */ \
	X(drop_reset)         /* of another connection id than the peer's */ \
	X(drop_flow_memory)   /* no memory for a flow */ \
	X(drop_nobody)        /* who opens a flow finds no endpoint here */ \
	/* frames of a flow, dropped whole */ \
	X(drop_state)         /* the flow is not open (yet) */ \
	X(drop_path)          /* no such path */ \
	X(drop_pn_duplicate) \
	X(drop_pn_old)        /* below the receive window */ \
	X(drop_pn_ahead) \
	X(drop_back)          /* more numbers open than allowed */ \
	X(drop_chunk_kind) \
	X(drop_chunk_len) \
	X(drop_chunk_fields)  /* values that contradict one another */ \
	X(drop_unnumbered)    /* more than ACK in a frame without number */ \
	X(drop_payload_len)   /* chunks and total length differ */ \
	X(drop_payload_crc) \
	X(drop_ack_future)    /* acknowledges what was never sent */ \
	X(drop_mid_ahead)     /* message id beyond the window */ \
	X(drop_busy)          /* the same message is being taken in on another CPU */ \
	/* parts of a frame that have no effect */ \
	X(skip_mid_seen)      /* message is here already */ \
	X(skip_bytes_seen)    /* fragment of it is here already */ \
	X(skip_pulled_unknown)/* fragment of a message that is over or was never asked for */ \
	X(skip_grant_unknown) /* grant for a message that is over */ \
	X(skip_grant_old)     /* grant below an earlier one */ \
	X(skip_refused_unknown) \
	X(skip_ready_unknown) /* READY for which nothing waits */ \
	X(skip_pong_unknown)  /* PONG of no PING of the path's, or of an earlier state */ \
	X(skip_abort_unknown) /* ABORT known already */ \
	X(skip_over_unknown)  /* STOP or CANCEL of a message that is over */ \
	X(skip_unmatched)     /* no receive of that name in the run: the run fails */ \
	X(skip_matched)       /* that receive has its message: protocol error of the peer */ \
	X(skip_late)          /* the run has failed */ \
	X(skip_too_long)      /* longer than its receive: the run fails */ \
	X(skip_granted)       /* beyond what was granted */ \
	/* not acknowledged, so that the peer repeats it */ \
	X(lost_memory)        /* no record for it */ \
	X(lost_ranges)        /* too many pieces */ \
	/* flow */ \
	X(flow_idle_hello) \
	X(flow_hello_open) \
	X(flow_open_up) \
	X(flow_accept_up)     /* responder */ \
	X(flow_yield)         /* simultaneous: our attempt gives way */ \
	X(flow_renew)         /* the peer forgot it: begun anew */ \
	X(flow_reset)         /* RESET believed */ \
	X(flow_replaced)      /* by a newer incarnation the peer opened */ \
	X(flow_disowned)      /* opened from where no rank table has the peer: begun anew there */ \
	X(flow_elsewhere)     /* not open yet, and a second table has the peer at other addresses */ \
	X(flow_guessed)       /* opened from elsewhere, where no table's addresses have answered */ \
	X(flow_dead) \
	X(flow_forgotten) \
	X(hello_retry) \
	X(hello_rejected) \
	/* paths */ \
	X(path_probing) \
	X(path_up) \
	X(path_dead) \
	X(path_back) \
	X(path_none) \
	/* messages out */ \
	X(msg_queued) \
	X(msg_flight) \
	X(msg_parked) \
	X(msg_held)           /* behind one that was refused */ \
	X(msg_scout)          /* one of those, sent to see */ \
	X(msg_held_long)      /* ... because others wait for too long */ \
	X(msg_paused) \
	X(msg_ready)          /* parked -> queued */ \
	X(msg_again)          /* paused -> queued */ \
	X(msg_accepted) \
	X(msg_stopped)        /* the receiver wanted no more */ \
	X(msg_cancelled) \
	X(msg_failed)         /* the peer died */ \
	X(msg_lingered_out) \
	X(msg_renewed)        /* sent again in a new incarnation */ \
	/* messages in */ \
	X(rx_direct)          /* one frame, into its receive */ \
	X(rx_unexpected)      /* one frame, its receive was not posted */ \
	X(rx_arriving) \
	X(rx_arrived) \
	X(rx_kept)            /* ... and ahead of their run */ \
	X(rx_kept_run)        /* which has come */ \
	X(rx_kept_dropped)    /* which will not come */ \
	X(rx_waiting)         /* long, its receive was not posted */ \
	X(rx_bound) \
	X(rx_delivered)       /* waited -> receive */ \
	X(rx_done) \
	X(rx_orphan) \
	X(rx_adopted) \
	X(rx_dropped) \
	X(rx_stopped)         /* long, and nobody here wants it */ \
	X(refused_group)      /* no such endpoint or group here yet */ \
	X(refused_run)        /* run not started here yet */ \
	X(refused_room) \
	X(refused_busy)       /* ... and no record for READY */ \
	X(ready_sent) \
	/* groups */ \
	X(abort_run) \
	X(abort_group) \
	X(abort_heard) \
	X(abort_early)        /* before its group or run */ \
	X(abort_told) \
	X(watch_flow) \
	X(ask_said) \
	X(gone_said) \
	X(gone_heard) \
	/* reliability */ \
	X(frames_in) \
	X(frames_out) \
	X(bytes_out)          /* total_len of all frames */ \
	X(payload_out) \
	X(data_out)           /* numbered frames with payload of messages */ \
	X(control_out)        /* numbered frames without */ \
	X(acks_out)           /* frames with nothing but acknowledgements */ \
	X(hellos_out) \
	X(resets_out) \
	X(grants_out) \
	X(pings_out) \
	X(lost_frames) \
	X(lost_late)          /* declared lost, by time */ \
	X(repeated_bytes) \
	X(tail_probes) \
	X(timeouts) \
	X(window_cut) \
	X(mtu_probe) \
	X(mtu_raised) \
	X(mtu_black_hole) \
	X(mtu_failed) \
	X(pull_grant) \
	X(pull_stalled) \
	X(no_out)             /* the home had no frame to fill */ \
	X(no_record)          /* the pool had no record for a frame */
/* clang-format on */

#define ESP_COUNT_ENUM(name) ESP_C_##name,
enum esp_count {
	ESP_COUNTS(ESP_COUNT_ENUM) ESP_COUNTERS
};

#endif /* ESP_COUNT_H */
