/*
 * cli/lock.h - one change of a folder's projects at a time.
 *
 * Two commands that read a project, change it and write it would lose one of the changes, and could give two sculpts
 * one name. Who comes second waits.
 */
#ifndef EXEMPLAR_CLI_LOCK_H
#define EXEMPLAR_CLI_LOCK_H

#include <stdbool.h>

/* Waits until no other exemplar changes a project in the folder of that file, which is said unless `quiet`, and keeps
 * others waiting from then on. Nothing is left in the folder. Where there is no such folder, or its file system has no
 * locks, nobody waits: what is written then is still compared with what was read. Returns what exi_lock_release takes;
 * the end of the process releases it, too. */
int exi_lock_folder_of(const char *path, bool quiet);
/* The same in *lock, for who cannot wait for long: false after that time, and then there is nothing to release. */
bool exi_lock_folder_soon(const char *path, double seconds, int *lock);
void exi_lock_release(int lock);

#endif
