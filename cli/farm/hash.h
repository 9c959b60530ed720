/*
 * cli/farm/hash.h - a 64-bit hash of bytes that arrive in parts, to tell whether a file is still the same: XXH64 of
 * Yann Collet's xxHash. As fast as memory; not safe against someone who looks for collisions. Any thread.
 */
#ifndef EXEMPLAR_CLI_FARM_HASH_H
#define EXEMPLAR_CLI_FARM_HASH_H

#include <exemplar/author/files.h>

#include <stddef.h>
#include <stdint.h>

typedef struct exi_hash {
    uint64_t lanes[4];
    unsigned char block[32]; /* bytes that do not fill a block yet */
    size_t waiting;
    uint64_t size;
} exi_hash;

/* The hash of no bytes, to begin with. */
exi_hash exi_hash_start(void);
void exi_hash_add(exi_hash *hash, const void *bytes, size_t size);
/* Also adds the NUL, so that "ab", "c" differs from "a", "bc". */
void exi_hash_add_text(exi_hash *hash, const char *text);
/* The hash of all bytes so far; more may be added afterwards. */
uint64_t exi_hash_value(const exi_hash *hash);

/* Hashes a whole file. Results: FILE, MEMORY. */
ex_result exi_hash_file(const char *path, uint64_t *value, ex_error *error);

/* The files of a folder, without folders inside it: their bytes in all, the time of the last change, and, unless value
 * is NULL, a hash of their names and bytes. Results: FILE, MEMORY. */
typedef struct exi_folder_facts {
    double size, time;
    int count;
} exi_folder_facts;
ex_result exi_hash_folder(const char *path, exi_folder_facts *facts, uint64_t *value, ex_error *error);

#define EXI_HASH_DIGITS 16
/* Writes a hash as 16 hexadecimal digits, and reads them; false if they are none. */
const char *exi_hash_text(char text[EXI_HASH_DIGITS + 1], uint64_t value);
bool exi_hash_parse(const char *text, uint64_t *value);

#endif
