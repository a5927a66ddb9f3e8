/* SPDX-License-Identifier: BSD-3-Clause */
/* CRC32C (Castagnoli), reflected, without pre- and postconditioning. */
#ifndef SIM_CRC32C_H
#define SIM_CRC32C_H

#include <stddef.h>
#include <stdint.h>

uint32_t crc32c(uint32_t crc, const void *data, size_t len);

#endif /* SIM_CRC32C_H */
