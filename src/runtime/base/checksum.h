/*
 * A 64-bit checksum for stored tables. Every step is a bijection of the state and of the word that enters it, so a
 * change within one aligned group of eight bytes is always detected; any other change is missed once in 2^64. Not
 * cryptographic.
 */
#ifndef EXI_CHECKSUM_H
#define EXI_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t exi_checksum(const void *bytes, size_t size) {
    const unsigned char *p = bytes;
    uint64_t state = 0x9E3779B97F4A7C15u ^ (uint64_t)size;
    for (size_t i = 0; i < size; i += 8) {
        uint64_t word = 0;
        memcpy(&word, p + i, size - i < 8 ? size - i : 8);
        state = (state ^ word) * 0xD6E8FEB86659FD93u;
        state ^= state >> 32;
    }
    return state;
}

#endif
