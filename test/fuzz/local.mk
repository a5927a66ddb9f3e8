# SPDX-License-Identifier: BSD-3-Clause
# Fuzz targets: `make fuzz` builds test/fuzz/<name> from test/fuzz/<name>.c and all of libgoal, with
# clang's libFuzzer. test/check runs each for a few seconds from test/fuzz/corpus/<name>/.

fuzz_targets = \
	%D%/text

# The core alone, in the unit tests' home, which answers as the fuzzer's input likes.
fuzz_core_targets = \
	%D%/verify

# The protocol, in its own home.
fuzz_esp_targets = \
	%D%/frame

# The requests of the kernel module, in the protocol's home and with a process of the input's.
fuzz_request_targets = \
	%D%/ioctl

FUZZ_CFLAGS = -g -O2 -fsanitize=address,undefined -fno-sanitize-recover=all
fuzz_compile = $(FUZZ_CC) $(DEFS) -I. $(libgoal_cppflags) -I$(top_srcdir) -std=gnu11 -pthread \
	$(GOAL_CORE_CFLAGS) $(FUZZ_CFLAGS)
fuzz_objects = $(patsubst %.c,%D%/obj/%.o,$(filter %.c,$(libgoal_sources)))

fuzz_core_compile = $(FUZZ_CC) $(DEFS) $(core_cppflags) -std=gnu11 -pthread $(GOAL_CORE_CFLAGS) \
	$(FUZZ_CFLAGS)
fuzz_core_objects = $(patsubst %.c,%D%/core/%.o,$(filter %.c,$(core_sources) $(home_sources)))

fuzz_esp_compile = $(FUZZ_CC) $(DEFS) $(esp_cppflags) -std=gnu11 $(GOAL_CORE_CFLAGS) $(FUZZ_CFLAGS)
fuzz_esp_objects = $(patsubst %.c,%D%/esp/%.o,$(filter %.c,$(core_sources) $(esp_sources)))
# Its home, whose coverage nobody wants, with a memory of its own.
fuzz_home_objects = $(patsubst %.c,%D%/home/%.o,\
	$(filter-out %/memory.c,$(filter %.c,$(esp_home_sources))) %D%/arena.c)

fuzz_request_compile = $(FUZZ_CC) $(DEFS) -I$(top_srcdir)/%D% $(esp_cppflags) -std=gnu11 \
	$(GOAL_CORE_CFLAGS) $(FUZZ_CFLAGS)
fuzz_request_objects = $(patsubst %.c,%D%/request/%.o,$(filter %.c,$(request_sources)))
# What they are compared with, whose coverage nobody wants.
fuzz_naive_objects = $(patsubst %.c,%D%/naive/%.o,\
	%D%/ioctl_input.c %D%/ioctl_naive.c %D%/ioctl_user.c)
fuzz_ioctl_objects = $(fuzz_request_objects) $(fuzz_naive_objects) $(fuzz_esp_objects) \
	$(fuzz_home_objects)

fuzz_all_targets = $(fuzz_targets) $(fuzz_core_targets) $(fuzz_esp_targets) $(fuzz_request_targets)

fuzz: $(fuzz_all_targets)

%D%/obj/%.o: $(top_srcdir)/%.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && \
		$(fuzz_compile) -fsanitize=fuzzer-no-link -MMD -MP -c -o $@ $<

$(fuzz_targets): %D%/%: $(top_srcdir)/%D%/%.c $(fuzz_objects)
	$(AM_V_CCLD)$(fuzz_compile) -fsanitize=fuzzer -o $@ $< $(fuzz_objects) $(libgoal_libs)

%D%/core/%.o: $(top_srcdir)/%.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && \
		$(fuzz_core_compile) -fsanitize=fuzzer-no-link -MMD -MP -c -o $@ $<

$(fuzz_core_targets): %D%/%: $(top_srcdir)/%D%/%.c $(fuzz_core_objects)
	$(AM_V_CCLD)$(fuzz_core_compile) -fsanitize=fuzzer -o $@ $< $(fuzz_core_objects)

# Without the tracing of comparisons, which costs a third of the executions: the inputs' steps put
# right what nobody could guess.
%D%/esp/%.o: $(top_srcdir)/%.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && \
		$(fuzz_esp_compile) -fsanitize-coverage=inline-8bit-counters,pc-table \
			-MMD -MP -c -o $@ $<

%D%/home/%.o: $(top_srcdir)/%.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && \
		$(fuzz_esp_compile) -MMD -MP -c -o $@ $<

$(fuzz_esp_targets): %D%/%: $(top_srcdir)/%D%/%.c $(fuzz_esp_objects) $(fuzz_home_objects)
	$(AM_V_CCLD)$(fuzz_esp_compile) -fsanitize=fuzzer -o $@ $< $(fuzz_esp_objects) \
		$(fuzz_home_objects) -lm

%D%/request/%.o: $(top_srcdir)/%.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && \
		$(fuzz_request_compile) -fsanitize=fuzzer-no-link -MMD -MP -c -o $@ $<

%D%/naive/%.o: $(top_srcdir)/%.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && \
		$(fuzz_request_compile) -MMD -MP -c -o $@ $<

$(fuzz_request_targets): %D%/%: $(top_srcdir)/%D%/%.c $(fuzz_ioctl_objects)
	$(AM_V_CCLD)$(fuzz_request_compile) -fsanitize=fuzzer -o $@ $< $(fuzz_ioctl_objects) -lm

# Writes the corpora of verify, frame and ioctl anew, for when a format changes.
fuzz-corpus: $(fuzz_core_objects) $(fuzz_ioctl_objects)
	$(fuzz_core_compile) -DFUZZ_CORPUS -o %D%/core/corpus $(top_srcdir)/%D%/verify.c \
		$(fuzz_core_objects)
	%D%/core/corpus $(top_srcdir)/%D%/corpus/verify
	$(fuzz_esp_compile) -DFUZZ_CORPUS -o %D%/esp/corpus $(top_srcdir)/%D%/frame.c \
		$(fuzz_esp_objects) $(fuzz_home_objects) -lm
	%D%/esp/corpus $(top_srcdir)/%D%/corpus/frame
	$(fuzz_request_compile) -o %D%/request/corpus $(top_srcdir)/%D%/ioctl_corpus.c \
		$(fuzz_ioctl_objects) -lm
	%D%/request/corpus $(top_srcdir)/%D%/corpus/ioctl

-include $(fuzz_objects:.o=.d) $(fuzz_core_objects:.o=.d) $(fuzz_ioctl_objects:.o=.d)

clean-local: clean-fuzz
clean-fuzz:
	rm -rf %D%/obj %D%/core %D%/esp %D%/home %D%/request %D%/naive $(fuzz_all_targets)

print-fuzz-targets:
if GOAL_FUZZ
	@echo $(fuzz_all_targets)
endif

.PHONY: fuzz fuzz-corpus clean-fuzz print-fuzz-targets

EXTRA_DIST += \
	%D%/arena.c \
	%D%/arena.h \
	%D%/corpus/frame/abort \
	%D%/corpus/frame/anew \
	%D%/corpus/frame/asked \
	%D%/corpus/frame/early \
	%D%/corpus/frame/gone \
	%D%/corpus/frame/leave \
	%D%/corpus/frame/lossy \
	%D%/corpus/frame/opened \
	%D%/corpus/frame/plain \
	%D%/corpus/frame/rails \
	%D%/corpus/frame/refused \
	%D%/corpus/ioctl/edge \
	%D%/corpus/ioctl/edge-above \
	%D%/corpus/ioctl/edge-below \
	%D%/corpus/ioctl/exclusions \
	%D%/corpus/ioctl/fail \
	%D%/corpus/ioctl/group \
	%D%/corpus/ioctl/group-astray \
	%D%/corpus/ioctl/group-cookies \
	%D%/corpus/ioctl/group-first \
	%D%/corpus/ioctl/group-nobody \
	%D%/corpus/ioctl/group-nodes \
	%D%/corpus/ioctl/group-nowhere \
	%D%/corpus/ioctl/group-stranger \
	%D%/corpus/ioctl/group-udp4 \
	%D%/corpus/ioctl/group-udp6 \
	%D%/corpus/ioctl/group-unreached \
	%D%/corpus/ioctl/messages \
	%D%/corpus/ioctl/misfits \
	%D%/corpus/ioctl/object \
	%D%/corpus/ioctl/query \
	%D%/corpus/ioctl/start \
	%D%/corpus/ioctl/start-huge \
	%D%/corpus/ioctl/start-small \
	%D%/corpus/ioctl/types \
	%D%/corpus/ioctl/unknown \
	%D%/corpus/text/allreduce \
	%D%/corpus/text/barrier \
	%D%/corpus/text/crlf \
	%D%/corpus/text/cycle \
	%D%/corpus/text/gather \
	%D%/corpus/text/open \
	%D%/corpus/text/sample \
	%D%/corpus/verify/random-0-0 \
	%D%/corpus/verify/random-1-0 \
	%D%/corpus/verify/random-2-0 \
	%D%/corpus/verify/random-3-0 \
	%D%/corpus/verify/random-3-1 \
	%D%/corpus/verify/random-4-0 \
	%D%/corpus/verify/random-4-1 \
	%D%/corpus/verify/random-5-0 \
	%D%/corpus/verify/random-5-1 \
	%D%/corpus/verify/random-6-0 \
	%D%/corpus/verify/random-6-1 \
	%D%/corpus/verify/random-7-0 \
	%D%/corpus/verify/random-7-1 \
	%D%/env_user.h \
	%D%/frame.c \
	%D%/ioctl.c \
	%D%/ioctl_corpus.c \
	%D%/ioctl_input.c \
	%D%/ioctl_input.h \
	%D%/ioctl_naive.c \
	%D%/ioctl_naive.h \
	%D%/ioctl_user.c \
	%D%/ioctl_user.h \
	%D%/local.mk \
	%D%/text.c \
	%D%/verify.c
