/*
 * cli/base/lock.h - a lock that lets one process at a time change the projects and rigs of a folder.
 *
 * Without it, two commands that read, change and write the same file could lose one of the changes, give two sculpts
 * the same name, or mix two sets of files. The second one waits. Used by 'example', 'drive add' and 'drive remove',
 * the steps of 'scan', and 'init', 'unpack' and 'demo', which replace whole projects; and by the editor.
 */
#ifndef EXEMPLAR_CLI_LOCK_H
#define EXEMPLAR_CLI_LOCK_H

#include <stdbool.h>

/* Locks the folder of that file. Waits until no other exemplar changes a project there, and says so unless `quiet`.
 * Leaves nothing in the folder. If the folder does not exist or its file system has no locks, nobody waits: the write
 * is still compared with what was read. Returns the lock for exi_lock_release; the end of the process releases it,
 * too. */
int exi_lock_folder_of(const char *path, bool quiet);
/* The same for a folder by its own name. */
int exi_lock_folder(const char *folder, bool quiet);
/* Like exi_lock_folder_of with a time limit; the lock is in *lock. Returns false after that time; then there is nothing
 * to release. */
bool exi_lock_folder_soon(const char *path, double seconds, int *lock);
void exi_lock_release(int lock);

#endif
