/*
 * disk_shim.c - preloaded into the tool by disk.py: records the calls that bring files to the disk and to their names,
 * and makes one of them go wrong.
 *
 * EX_SHIM_LOG names the file for the record, one line per call: "fsync PATH", "rename FROM TO", "link FROM TO". EX_SHIM
 * is CALL:NUMBER:ACTION, or several with spaces between them. The call of that number, counting from 1, fails as on a
 * full disk (fail), or the process is killed (kill) or stopped (stop) before it. The number 0 means every call.
 */
#define _GNU_SOURCE

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void record(const char *call, const char *from, const char *to) {
    const char *path = getenv("EX_SHIM_LOG");
    const int log = path ? open(path, O_WRONLY | O_APPEND | O_CREAT, 0666) : -1;
    if (log >= 0) {
        dprintf(log, "%s %s%s%s\n", call, from, to ? " " : "", to ? to : "");
        close(log);
    }
}

/* True if this call has to fail. */
static int goes_wrong(const char *call, int *count) {
    char name[32], action[8];
    int number, used = 0;
    ++*count;
    for (const char *wish = getenv("EX_SHIM");
         wish && sscanf(wish, " %31[a-z]:%d:%7[a-z]%n", name, &number, action, &used) == 3; wish += used) {
        if (strcmp(name, call) != 0 || (number != 0 && number != *count))
            continue;
        if (strcmp(action, "kill") == 0)
            kill(getpid(), SIGKILL);
        if (strcmp(action, "stop") == 0)
            kill(getpid(), SIGSTOP);
        errno = ENOSPC;
        return strcmp(action, "fail") == 0;
    }
    return 0;
}

/* The function that this library hides. */
static void *hidden(const char *name) {
    return dlsym(RTLD_NEXT, name);
}

int rename(const char *from, const char *to) {
    static int count;
    if (goes_wrong("rename", &count))
        return -1;
    record("rename", from, to);
    return ((int (*)(const char *, const char *))hidden("rename"))(from, to);
}

int link(const char *from, const char *to) {
    static int count;
    if (goes_wrong("link", &count))
        return -1;
    record("link", from, to);
    return ((int (*)(const char *, const char *))hidden("link"))(from, to);
}

int fsync(int descriptor) {
    static int count;
    char name[64], path[4096];
    snprintf(name, sizeof name, "/proc/self/fd/%d", descriptor);
    const ssize_t size = readlink(name, path, sizeof path - 1);
    path[size > 0 ? size : 0] = '\0';
    if (goes_wrong("fsync", &count))
        return -1;
    record("fsync", path, NULL);
    return 0; /* the test needs no disk */
}

/* Closing a file writes the last of it. Only files that were open for writing count. */
int fclose(FILE *file) {
    static int count;
    const int descriptor = fileno(file);
    const int writing = descriptor > 2 && (fcntl(descriptor, F_GETFL) & O_ACCMODE) != O_RDONLY;
    const int wrong = writing && goes_wrong("fclose", &count);
    const int result = ((int (*)(FILE *))hidden("fclose"))(file);
    if (wrong)
        errno = ENOSPC;
    return wrong ? EOF : result;
}
