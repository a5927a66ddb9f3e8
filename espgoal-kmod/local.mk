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
	%D%/core/esp_mid.c \
	%D%/core/esp_msg.c \
	%D%/core/esp_mtu.c \
	%D%/core/esp_pull.c \
	%D%/core/esp_rail.c \
	%D%/core/esp_rtt.c \
	%D%/core/esp_rx.c \
	%D%/core/esp_send.c \
	%D%/core/esp_sip.h \
	%D%/core/esp_take.c \
	%D%/core/esp_wait.c \
	%D%/core/pump_esp.c \
	%D%/core/pump_group.c \
	%D%/core/pump_take.c \
	%D%/uapi/esp_wire.h

EXTRA_DIST += \
	%D%/Kbuild \
	%D%/Makefile \
	%D%/linux/env.h \
	%D%/linux/env_run.h \
	%D%/linux/main.c \
	%D%/local.mk
