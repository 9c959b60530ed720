/*
 * cli/farm/piece.h - pieces: what a task made, in one file, with what it was made from.
 *
 *   "EXPIECE1"                      8 bytes
 *   the files, one after the other
 *   a record, JSON:                 {"piece", "task", "version", "machine", "commands", "inputs", "seconds", "memory",
 *                                   "host", "notes", "files": [{"name", "size", "hash"}]}
 *   size and hash of the record     8 bytes each, the lowest first
 *   "EXPIECE."                      8 bytes
 *
 * A piece appears under its name when it is complete and on the disk, so a file that is there is complete, unless a
 * disk or a network damaged it later. Reading checks every byte. The record comes last because it has the hashes. Main
 * thread.
 */
#ifndef EXEMPLAR_CLI_FARM_PIECE_H
#define EXEMPLAR_CLI_FARM_PIECE_H

#include <exemplar/author/files.h>

#include <jansson.h>
#include <stdint.h>

typedef struct exi_piece_file {
    const char *name; /* relative to the task's folder; owned by the record */
    uint64_t size, hash, offset;
} exi_piece_file;

/* A piece that is being read. */
typedef struct exi_piece {
    FILE *stream;
    char *path;
    json_t *record;
    int file_count;
    exi_piece_file *files;
} exi_piece;

/* Writes a piece of the files `names` (texts) in a folder. Adds "files" to the record. Results: FILE, MEMORY. */
ex_result exi_piece_write(const char *path, const char *folder, const json_t *names, json_t *record, ex_error *error);

/* Opens a piece and reads its record. fingerprint: of the task that it must be of. Close it after a failure, too.
 * Results: FILE (errno is kept in the sentence), DATA (kind "bad_piece": damaged, or not of this task), MEMORY. */
ex_result exi_piece_open(const char *path, uint64_t fingerprint, exi_piece *piece, ex_error *error);
void exi_piece_close(exi_piece *piece);

/* The file of that name; -1 if the piece has none. */
int exi_piece_find(const exi_piece *piece, const char *name);
/* Writes a file of the piece to a path, all of it or nothing. sync: waits for the disk. Results: DATA (kind
 * "bad_piece": its bytes are not those that were written), FILE, MEMORY. */
ex_result exi_piece_extract(const exi_piece *piece, int file, const char *path, bool sync, ex_error *error);
/* Reads all bytes and checks them. Results as for exi_piece_extract. */
ex_result exi_piece_check(const exi_piece *piece, ex_error *error);

#endif
