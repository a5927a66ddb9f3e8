/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words for what the verifier refused, for schedule_read.c and whoever loads schedules.
 */
#ifndef ENGINE_VERIFIED_H
#define ENGINE_VERIFIED_H

#include <goal/types.h>

#include "core.h"

/* Describe @e in @error (may be NULL); gives back its code. */
int verified_error(struct goal_error *error, const struct core_error *e);

#endif /* ENGINE_VERIFIED_H */
