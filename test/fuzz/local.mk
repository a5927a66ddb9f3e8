# SPDX-License-Identifier: BSD-3-Clause
# Fuzz targets: `make fuzz` builds test/fuzz/<name> from test/fuzz/<name>.c and all of libgoal, with
# clang's libFuzzer. test/check runs each for a few seconds from test/fuzz/corpus/<name>/.

fuzz_targets =

FUZZ_CFLAGS = -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all
fuzz_compile = $(FUZZ_CC) $(DEFS) -I. $(libgoal_cppflags) -I$(top_srcdir) -std=gnu11 -pthread \
	$(GOAL_CORE_CFLAGS) $(FUZZ_CFLAGS)
fuzz_objects = $(patsubst %.c,%D%/obj/%.o,$(filter %.c,$(libgoal_sources)))

fuzz: $(fuzz_targets)

%D%/obj/%.o: $(top_srcdir)/%.c
	$(AM_V_CC)$(MKDIR_P) $(@D) && \
		$(fuzz_compile) -fsanitize=fuzzer-no-link -MMD -MP -c -o $@ $<

$(fuzz_targets): %D%/%: $(top_srcdir)/%D%/%.c $(fuzz_objects)
	$(AM_V_CCLD)$(fuzz_compile) -fsanitize=fuzzer -o $@ $< $(fuzz_objects) $(libgoal_libs)

-include $(fuzz_objects:.o=.d)

clean-local: clean-fuzz
clean-fuzz:
	rm -rf %D%/obj $(fuzz_targets)

print-fuzz-targets:
if GOAL_FUZZ
	@echo $(fuzz_targets)
endif

.PHONY: fuzz clean-fuzz print-fuzz-targets

EXTRA_DIST += \
	%D%/local.mk
