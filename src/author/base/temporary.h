/*
 * Temporary files and folders next to the files they become: their names, and removing those that a killed process
 * left behind.
 *
 * FOLDER/NAME is written as FOLDER/.NAME.xxxxxx-hhhh.exemplar: six characters of chance, and four that stand for the
 * host. As long as its process lives, a temporary is locked (flock). So one that can be locked has lost its process. A
 * file system that a host locks only for itself would show another host's temporaries as dead; those are left for a
 * day. If a file system has no locks, nothing is removed. Any thread.
 */
#ifndef EXEMPLAR_AUTHOR_TEMPORARY_H
#define EXEMPLAR_AUTHOR_TEMPORARY_H

#include <stdbool.h>

/* Returns a name for a temporary of the target, different at each call. Release with free; NULL without memory. */
char *exi_temporary_name(const char *target);

/* True if the file is in a temporary folder, as files of a set are (ex_file_set). */
bool exi_temporary_holds(const char *path);

/* Locks a new temporary. False if another process has just taken it for a dead one: make another. */
bool exi_temporary_claim(int descriptor);

/* Removes what killed processes left in the folder of a file, the first time that this process asks for that folder. */
void exi_temporary_clear(const char *path);

/* Brings the names in the folder of a file to the disk. Failure is ignored: not every file system can, and the files
 * themselves are complete. */
void exi_sync_folder_of(const char *path);

#endif
