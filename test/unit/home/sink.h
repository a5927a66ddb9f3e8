/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs one schedule alone, whoever made it: its sends go nowhere, its receives get messages that
 * fit. For the fuzzer, and for what the verifier should not have let pass.
 */
#ifndef HOME_SINK_H
#define HOME_SINK_H

#include "exec.h"

/*
 * Verify @data (8-byte aligned) and run it, when it is valid and not larger than a test can
 * afford; it must end, and end well. False: refused.
 */
bool sink_schedule(const void *data, size_t len, struct random *random);

#endif /* HOME_SINK_H */
