/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC32C (Castagnoli), reflected, without pre- and postconditioning. */
#ifndef SIM_CRC32C_H
#define SIM_CRC32C_H

#include "env.h"

u32 crc32c(u32 crc, const void *data, size_t len);

#endif /* SIM_CRC32C_H */
