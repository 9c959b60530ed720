/*
 * Computes XXH64 as its specification describes it (doc/xxhash_spec.md of the xxHash project), with seed 0: four lanes
 * take eight bytes each of every block of 32; they are merged, and what is left over is added in pieces of eight, four
 * and one bytes.
 */
#define _GNU_SOURCE

#include "hash.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PRIME_1 0x9E3779B185EBCA87u
#define PRIME_2 0xC2B2AE3D27D4EB4Fu
#define PRIME_3 0x165667B19E3779F9u
#define PRIME_4 0x85EBCA77C2B2AE63u
#define PRIME_5 0x27D4EB2F165667C5u

enum { BLOCK = 32, LANES = 4, READ = 1 << 20 };

static uint64_t turn(uint64_t x, int bits) {
    return x << bits | x >> (64 - bits);
}

/* The number of `count` bytes, the lowest first. */
static uint64_t number(const unsigned char *bytes, int count) {
    uint64_t x = 0;
    for (int i = 0; i < count; i++)
        x |= (uint64_t)bytes[i] << (8 * i);
    return x;
}

static uint64_t take(uint64_t lane, uint64_t input) {
    return turn(lane + input * PRIME_2, 31) * PRIME_1;
}

static void take_block(uint64_t lanes[LANES], const unsigned char *block) {
    for (int i = 0; i < LANES; i++)
        lanes[i] = take(lanes[i], number(block + 8 * i, 8));
}

exi_hash exi_hash_start(void) {
    return (exi_hash){.lanes = {PRIME_1 + PRIME_2, PRIME_2, 0, 0 - PRIME_1}};
}

void exi_hash_add(exi_hash *hash, const void *data, size_t size) {
    const unsigned char *bytes = data;
    if (size == 0)
        return;
    hash->size += size;
    if (hash->waiting > 0) {
        const size_t part = size < BLOCK - hash->waiting ? size : BLOCK - hash->waiting;
        memcpy(hash->block + hash->waiting, bytes, part);
        hash->waiting += part;
        bytes += part;
        size -= part;
        if (hash->waiting < BLOCK)
            return;
        take_block(hash->lanes, hash->block);
        hash->waiting = 0;
    }
    for (; size >= BLOCK; bytes += BLOCK, size -= BLOCK)
        take_block(hash->lanes, bytes);
    memcpy(hash->block, bytes, size);
    hash->waiting = size;
}

void exi_hash_add_text(exi_hash *hash, const char *text) {
    exi_hash_add(hash, text, strlen(text) + 1);
}

uint64_t exi_hash_value(const exi_hash *hash) {
    const uint64_t *l = hash->lanes;
    const unsigned char *rest = hash->block, *end = rest + hash->waiting;
    uint64_t x = PRIME_5;
    if (hash->size >= BLOCK) {
        x = turn(l[0], 1) + turn(l[1], 7) + turn(l[2], 12) + turn(l[3], 18);
        for (int i = 0; i < LANES; i++)
            x = (x ^ take(0, l[i])) * PRIME_1 + PRIME_4;
    }
    x += hash->size;
    for (; end - rest >= 8; rest += 8)
        x = turn(x ^ take(0, number(rest, 8)), 27) * PRIME_1 + PRIME_4;
    for (; end - rest >= 4; rest += 4)
        x = turn(x ^ number(rest, 4) * PRIME_1, 23) * PRIME_2 + PRIME_3;
    for (; rest < end; rest++)
        x = turn(x ^ *rest * PRIME_5, 11) * PRIME_1;
    x = (x ^ x >> 33) * PRIME_2;
    x = (x ^ x >> 29) * PRIME_3;
    return x ^ x >> 32;
}

ex_result exi_hash_file(const char *path, uint64_t *value, ex_error *error) {
    unsigned char *bytes = malloc(READ);
    if (!bytes)
        return ex_error_memory(error, "hashing a file", READ);
    errno = 0;
    FILE *file = fopen(path, "rb");
    exi_hash hash = exi_hash_start();
    for (size_t got; file && (got = fread(bytes, 1, READ, file)) > 0;)
        exi_hash_add(&hash, bytes, got);
    const int failed = !file || ferror(file) ? errno ? errno : EIO : 0;
    if (file)
        fclose(file);
    free(bytes);
    *value = exi_hash_value(&hash);
    return failed ? ex_file_error(error, "read", path, failed) : EX_OK;
}

ex_result exi_hash_folder(const char *path, exi_folder_facts *facts, uint64_t *value, ex_error *error) {
    struct dirent **names = NULL;
    const int count = scandir(path, &names, NULL, alphasort);
    ex_result result = count < 0 ? ex_file_error(error, "read", path, errno) : EX_OK;
    exi_hash hash = exi_hash_start();
    *facts = (exi_folder_facts){.size = 0};
    for (int i = 0; i < count; i++) {
        struct stat info;
        char *file = NULL;
        uint64_t one = 0;
        if (result == EX_OK && asprintf(&file, "%s/%s", path, names[i]->d_name) < 0)
            result = ex_error_memory(error, "a path", 64);
        if (result == EX_OK && names[i]->d_name[0] != '.' && stat(file, &info) == 0 && S_ISREG(info.st_mode)) {
            const double time = (double)info.st_mtim.tv_sec + 1e-9 * (double)info.st_mtim.tv_nsec;
            facts->size += (double)info.st_size;
            facts->time = time > facts->time ? time : facts->time;
            facts->count++;
            if (value)
                result = exi_hash_file(file, &one, error);
            exi_hash_add_text(&hash, names[i]->d_name);
            exi_hash_add(&hash, &one, sizeof one);
        }
        free(file);
        free(names[i]);
    }
    free(names);
    if (value)
        *value = exi_hash_value(&hash);
    return result;
}

const char *exi_hash_text(char text[EXI_HASH_DIGITS + 1], uint64_t value) {
    snprintf(text, EXI_HASH_DIGITS + 1, "%016llx", (unsigned long long)value);
    return text;
}

bool exi_hash_parse(const char *text, uint64_t *value) {
    *value = 0;
    for (int i = 0; i < EXI_HASH_DIGITS; i++) {
        static const char digits[] = "0123456789abcdef";
        const char *digit = text[i] ? strchr(digits, text[i]) : NULL;
        if (!digit)
            return false;
        *value = *value << 4 | (uint64_t)(digit - digits);
    }
    return text[EXI_HASH_DIGITS] == 0;
}
