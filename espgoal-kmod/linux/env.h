/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel home: types and helpers that the core needs. core.h includes it first. */
#ifndef ESPGOAL_ENV_H
#define ESPGOAL_ENV_H

#include <asm/byteorder.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/types.h>

#endif /* ESPGOAL_ENV_H */
