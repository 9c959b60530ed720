/*
 * cli/project/watch.h - waits until one of the files that a project is made from changes.
 *
 * Polls the files four times a second. A change is reported after one poll without further changes, so that files which
 * are still being written are left alone. A file that is replaced, removed or restored has changed, too.
 */
#ifndef EXEMPLAR_CLI_WATCH_H
#define EXEMPLAR_CLI_WATCH_H

#include <exemplar/author.h>

#include <time.h>

/* Attributes of a file that show a change; all zero if there is no file. */
typedef struct exi_file_stamp {
    bool exists;
    unsigned long long device, number, size;
    struct timespec time;
} exi_file_stamp;

typedef struct exi_watch {
    char **paths; /* [count], the project's own path first */
    exi_file_stamp *stamps;
    int count;
} exi_watch;

/* False if out of memory; call exi_watch_free either way. */
bool exi_watch_start(exi_watch *watch, const char *project);
void exi_watch_free(exi_watch *watch);

/* Notes the files' present state. Call it before they are read, or a change in between could be missed. */
void exi_watch_note(exi_watch *watch);
/* Watches the files that the project names from now on, and notes them; the project's own note stays. False if out of
 * memory. */
bool exi_watch_follow(exi_watch *watch, const ex_project_view *view);
/* Returns once a file differs from its note, and notes all. */
void exi_watch_wait(exi_watch *watch);

/* The watched path that is the same file as `path`, under any name; NULL if there is none. */
const char *exi_watch_find(const exi_watch *watch, const char *path);

#endif
