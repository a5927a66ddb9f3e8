# SPDX-License-Identifier: BSD-3-Clause
# The core's sources, which libgoal compiles for the host home, the protocol's, and what only Kbuild
# compiles.

core_sources = \
	%D%/core/core.h \
	%D%/core/match.c \
	%D%/core/pump.c \
	%D%/core/reduce.h \
	%D%/core/reduce_fp.c \
	%D%/core/reduce_host.c \
	%D%/core/reduce_int.c \
	%D%/core/run.c \
	%D%/core/segment.c \
	%D%/core/types.c \
	%D%/core/verify.c \
	%D%/uapi/espgoal.h

# The protocol half of the core, which the simulator compiles beside core_sources.
esp_sources = \
	%D%/core/esp.h \
	%D%/core/esp_ack.c \
	%D%/core/esp_batch.h \
	%D%/core/esp_count.c \
	%D%/core/esp_count.h \
	%D%/core/esp_flow.c \
	%D%/core/esp_frame.c \
	%D%/core/esp_group.c \
	%D%/core/esp_hello.c \
	%D%/core/esp_int.h \
	%D%/core/esp_item.c \
	%D%/core/esp_list.h \
	%D%/core/esp_loss.c \
	%D%/core/esp_mid.h \
	%D%/core/esp_pn.h \
	%D%/core/esp_msg.c \
	%D%/core/esp_mtu.c \
	%D%/core/esp_park.c \
	%D%/core/esp_place.c \
	%D%/core/esp_pull.c \
	%D%/core/esp_queue.c \
	%D%/core/esp_rail.c \
	%D%/core/esp_rtt.h \
	%D%/core/esp_rx.c \
	%D%/core/esp_send.c \
	%D%/core/esp_sip.h \
	%D%/core/esp_take.h \
	%D%/core/esp_table.c \
	%D%/core/esp_take.c \
	%D%/core/esp_wait.c \
	%D%/core/pump_close.c \
	%D%/core/pump_esp.c \
	%D%/core/pump_group.c \
	%D%/core/pump_keep.c \
	%D%/core/pump_place.c \
	%D%/core/pump_take.c \
	%D%/core/pump_wait.c \
	%D%/core/pump_watch.c \
	%D%/uapi/esp_wire.h

# The requests of the device, which a process makes: the kernel home's alone, and the fuzzer's.
request_sources = \
	%D%/core/request.c \
	%D%/core/request.h \
	%D%/core/request_group.c \
	%D%/core/request_load.c \
	%D%/core/request_start.h

EXTRA_DIST += \
	$(request_sources) \
	%D%/Kbuild \
	%D%/LOCKING.md \
	%D%/Makefile \
	%D%/dkms.conf \
	%D%/linux/area.c \
	%D%/linux/compat.h \
	%D%/linux/debugfs.c \
	%D%/linux/dev.c \
	%D%/linux/endpoint.c \
	%D%/linux/env.h \
	%D%/linux/env_esp.h \
	%D%/linux/env_inline.h \
	%D%/linux/env_run.h \
	%D%/linux/env_user.h \
	%D%/linux/flow.c \
	%D%/linux/gate.c \
	%D%/linux/group.c \
	%D%/linux/home.h \
	%D%/linux/iface.c \
	%D%/linux/local.c \
	%D%/linux/main.c \
	%D%/linux/member.c \
	%D%/linux/memory.c \
	%D%/linux/mm.c \
	%D%/linux/node.c \
	%D%/linux/params.c \
	%D%/linux/params.h \
	%D%/linux/past.c \
	%D%/linux/payload.c \
	%D%/linux/peer.c \
	%D%/linux/pool.c \
	%D%/linux/query.c \
	%D%/linux/rail.c \
	%D%/linux/run.c \
	%D%/linux/rx.c \
	%D%/linux/sched.c \
	%D%/linux/send.c \
	%D%/linux/start.c \
	%D%/linux/sysctl.c \
	%D%/linux/trace.c \
	%D%/linux/trace.h \
	%D%/linux/tx.c \
	%D%/linux/user.c \
	%D%/linux/wait.c \
	%D%/local.mk \
	%D%/udev/60-espgoal.rules
