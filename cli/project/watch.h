/*
 * cli/watch.h - the files that a project is made from, and waiting until one of them changes.
 *
 * Files are looked at four times a second; a change is told once nothing has changed for a look, so that files which
 * are still being written are left alone. A file that is replaced, removed or comes back has changed, too.
 */
#ifndef EXEMPLAR_CLI_WATCH_H
#define EXEMPLAR_CLI_WATCH_H

#include <exemplar/author.h>

#include <time.h>

/* What a file looks like from outside; all zero where there is none. */
typedef struct exi_file_stamp {
    bool exists;
    unsigned long long device, number, size;
    struct timespec time;
} exi_file_stamp;

typedef struct exi_watch {
    char **paths; /* [count], the project's own first */
    exi_file_stamp *stamps;
    int count;
} exi_watch;

/* False without memory; exi_watch_free either way. */
bool exi_watch_start(exi_watch *watch, const char *project);
void exi_watch_free(exi_watch *watch);

/* Notes how the files are now: to be called before they are read, lest a change in between be missed. */
void exi_watch_note(exi_watch *watch);
/* From now on the files that the project names, which are noted; the project's own note stays. False without memory. */
bool exi_watch_follow(exi_watch *watch, const ex_project_view *view);
/* Returns when a file is not as it was noted, and notes all. */
void exi_watch_wait(exi_watch *watch);

/* The one of the files that path is, by whatever name; NULL for none. */
const char *exi_watch_find(const exi_watch *watch, const char *path);

#endif
