/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A kernel home in declarations only, to compile the protocol half of the core with Kbuild and
 * sparse: test/kbuild/run. Nothing of it is linked.
 */
#ifndef ENV_H
#define ENV_H

#include <asm/byteorder.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/types.h>

#endif /* ENV_H */
