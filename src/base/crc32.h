/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32 as in IEEE 802.3 and zlib: tells a torn or damaged record. It is no signature. */
#ifndef BASE_CRC32_H
#define BASE_CRC32_H

#include <stddef.h>
#include <stdint.h>

/* Begin with 0; feed what one call returned to the next. */
uint32_t crc32_add(uint32_t crc, const void *bytes, size_t len);

#endif
