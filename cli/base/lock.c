/* cli/base/lock.c - locks a folder while its projects change. The folder itself is locked, because a file that is
 * replaced takes its locks with it. */
#define _XOPEN_SOURCE 700

#include "lock.h"

#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

static int open_folder_of(const char *path) {
    char file[PATH_MAX]; /* lack of memory must not leave the folder unlocked */
    if (!realpath(path, file))
        return -1;
    char *slash = strrchr(file, '/');
    slash[slash == file] = '\0';
    return open(file, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Locks an open folder, where `where` "the folder of" the path is. Returns the lock. */
static int lock_open(int folder, const char *where, const char *path, bool quiet) {
    if (folder < 0 || flock(folder, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return folder;
    if (!quiet)
        exi_failed_text("another command is changing a project in %s '%s': waiting for it", where, path);
    while (flock(folder, LOCK_EX) != 0 && errno == EINTR)
        ;
    return folder;
}

int exi_lock_folder_of(const char *path, bool quiet) {
    return lock_open(open_folder_of(path), "the folder of", path, quiet);
}

int exi_lock_folder(const char *folder, bool quiet) {
    return lock_open(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC), "the folder", folder, quiet);
}

bool exi_lock_folder_soon(const char *path, double seconds, int *lock) {
    const double end = exi_clock() + seconds;
    *lock = open_folder_of(path);
    while (*lock >= 0 && flock(*lock, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
        if (exi_clock() > end) {
            close(*lock);
            *lock = -1;
            return false;
        }
        nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
    }
    return true;
}

void exi_lock_release(int lock) {
    if (lock >= 0)
        close(lock);
}
