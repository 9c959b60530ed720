/*
 * cli/edit.h - the server of the editor: what the requests of editor/README.md do, and what serves them.
 *
 * What a request does knows nothing of HTTP: it gets what was asked and fills an answer. Requests run in the server's
 * threads, several at once; what they share is in exi_edit, and each lock says what it guards.
 */
#ifndef EXEMPLAR_CLI_EDIT_H
#define EXEMPLAR_CLI_EDIT_H

#include "cli/base/command.h"
#include "cli/base/emit.h"
#include "cli/base/pool.h"

#include <exemplar/author.h>

#include <pthread.h>
#include <stdatomic.h>

/* ---- what is edited ---- */

#define EXI_VERSION_SIZE   40
#define EXI_EDIT_SENT_SIZE 1024

/* A motion that was sent, as a file in a folder of its own. */
typedef struct exi_sent {
    char path[EXI_EDIT_SENT_SIZE];
    atomic_bool is_there;
} exi_sent;

typedef struct exi_edit {
    char *path;       /* of the project: its folder with links followed, and the name as it was given */
    char *folder;     /* the first part of that, with a '/' at the end */
    const char *name; /* the rest of it */
    exi_pool *pool;
    pthread_mutex_t writing;  /* one file is put into the folder at a time */
    pthread_mutex_t checking; /* one check at a time */
    pthread_mutex_t building; /* one build, motion or bake at a time; guards what follows */
    int build_count, motion_count;
    int driver_count; /* vertices of the driver of the last build's rig; 0: it follows none */
    char *rig_bytes;  /* the file of the last build's rig, or NULL */
    size_t rig_size;
    ex_project *project;  /* what that was built from */
    ex_rig *rig;          /* that, as a command would load it; NULL until a motion asks for it */
    ex_motion *motion;    /* the last one, of that rig; NULL: none, or it is of the driver */
    char *driver_cache;   /* the last one, of that rig's driver: where its cache is; or NULL */
    char *motion_source;  /* the file in the folder that either is from, or NULL */
    exi_sent sent, cache; /* what is being read, and the cache of the driver that was sent */
} exi_edit;

/* False after a sentence. exi_edit_close either way. */
bool exi_edit_open(exi_edit *edit, const ex_call *call, const char *path);
void exi_edit_close(exi_edit *edit);

/* The files of motions that were sent, and their folders: removed, also where the process ends while one is read. */
void exi_edit_remove_sent(exi_edit *edit);
/* That alone which was read. */
void exi_edit_remove_read(exi_edit *edit);
/* The last motion. With `building` locked. */
void exi_edit_forget_motion(exi_edit *edit);
/* The rig of the last build, and what was made of it. With `building` locked. */
void exi_edit_forget_rig(exi_edit *edit);

/* ---- what is asked and answered ---- */

typedef struct exi_asked {
    const char *query;    /* what follows '?', or NULL */
    const char *if_match; /* that header, or NULL */
    const char *body;     /* [size], and a NUL behind it */
    size_t size;
} exi_asked;

typedef struct exi_answer {
    int status;
    char *json; /* [json_size], to be freed; NULL without memory */
    size_t json_size;
    bool framed;       /* the JSON is followed by bytes */
    const void *bytes; /* [size] */
    size_t size;
    void *owned; /* the same where they are to be freed, or NULL */
} exi_answer;

/* A JSON object as an answer: what is emitted between the two is in it. */
typedef struct exi_reply {
    exi_answer *answer;
    FILE *file;
    exi_emitter json;
} exi_reply;

/* False without memory: the answer says so, and nothing may be emitted. */
bool exi_reply_start(exi_reply *reply, exi_answer *answer, int status);
void exi_reply_end(exi_reply *reply);
/* The same without the braces: what is printed to reply->file is the answer. */
bool exi_reply_start_plain(exi_reply *reply, exi_answer *answer, int status);
void exi_reply_end_plain(exi_reply *reply);

/* A refusal with a sentence. */
void exi_refuse(exi_answer *answer, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));
void exi_refuse_memory(exi_answer *answer);
/* The library's sentence, with the place in the project apart, and files of the folder by their names alone. The view
 * of the project that it is about tells where a file is named; NULL where there is none. */
void exi_refuse_error(const exi_edit *edit, exi_answer *answer, int status, const ex_error *error,
                      const ex_project_view *view);
/* What that says: the sentence, and the place, "" for none. */
typedef struct exi_fault {
    char text[EX_ERROR_SIZE + 128], where[EX_ERROR_SIZE]; /* the text with room for a hint */
} exi_fault;
exi_fault exi_fault_of(const exi_edit *edit, const ex_error *error, const ex_project_view *view);

/* Takes the folder of a file out of every path in the sentence: of a file that was sent, nobody knows it. */
void exi_edit_hide_folder(const char *path, ex_error *error);
/* Takes a folder, with a '/' at the end, out of every path in the text that begins with it. */
void exi_cut_out(char *text, const char *folder);

/* The value of a key of the query, decoded, in the buffer. False where there is none, or it is longer, or has a zero
 * byte in it. */
bool exi_asked_text(const exi_asked *asked, const char *key, char *buffer, size_t size);
/* Likewise; false after a refusal. */
bool exi_asked_needed(const exi_asked *asked, const char *key, char *buffer, size_t size, exi_answer *answer);
/* Likewise; where there is none, the buffer stays as it is. */
bool exi_asked_optional(const exi_asked *asked, const char *key, char *buffer, size_t size, exi_answer *answer);

/* ---- the requests ---- */

typedef void exi_request(exi_edit *edit, const exi_asked *asked, exi_answer *answer);

exi_request exi_edit_get_project, exi_edit_get_version, exi_edit_put_project; /* edit_project.c */
exi_request exi_edit_build, exi_edit_check;                                   /* edit_build.c */

exi_request exi_edit_post_file;                                          /* edit_files.c */
exi_request exi_edit_post_form, exi_edit_post_mask, exi_edit_post_group; /* edit_forms.c */
exi_request exi_edit_post_values;                                        /* edit_values.c */

exi_request exi_edit_get_motions, exi_edit_post_motion; /* edit_motion.c */
exi_request exi_edit_post_bake;                         /* edit_bake.c */

/* Caches of a driver's forms (edit_driver.c): what a file is called that may be one, and that of which several are one.
 */
bool exi_edit_is_cache_name(const char *name);
bool exi_edit_is_same_cache(const char *name, const char *other);
/* Whether a file is a motion of a driver of so many vertices. */
bool exi_edit_is_driver_motion(const char *path, int vertex_count);
/* All of it as an answer; false after a refusal, which calls it by its name. */
bool exi_edit_reply_driver(const exi_edit *edit, const char *path, const char *name, exi_answer *answer);

/* A project's text that was sent, parsed; NULL after an error: one of result EX_ERROR_FILE where it names files that it
 * may not. It may name files of the folder, and others only where the file on disk names them. */
ex_project *exi_edit_parse(const exi_edit *edit, const exi_asked *asked, ex_error *error);
/* Whether a project may name that file; false after an error, of result EX_ERROR_FILE. */
bool exi_edit_may_read(const exi_edit *edit, const char *relative, ex_error *error);

/* Names of new files: of the query, and with an ending and what makes them free. */
#define EXI_EDIT_NAME_MOST 200
#define EXI_EDIT_NAME_SIZE                                                                                             \
    (EXI_EDIT_NAME_MOST + 56) /* what is a little too long is read, and refused with a sentence */
#define EXI_EDIT_PATH_SIZE 1024

/* Writes a new hidden file into an open folder, as far as the disk; mode below 0: as new files are. False with errno
 * set: nothing is there then. */
#define EXI_EDIT_TEMPORARY_SIZE 40
bool exi_edit_write_temporary(int folder, const char *bytes, size_t size, int mode, char name[EXI_EDIT_TEMPORARY_SIZE]);
/* Removes those of the project's folder that an editor left which was killed: they are older than an hour. */
void exi_edit_remove_stale(const exi_edit *edit);
/* Whether a file of the folder may be called so; false after a refusal. */
bool exi_edit_check_name(const char *name, exi_answer *answer);
/* The name under that key of the query, checked; false after a refusal. */
bool exi_edit_asked_name(const exi_asked *asked, const char *key, char name[EXI_EDIT_NAME_SIZE], exi_answer *answer);
/* Puts a new file into the project's folder, under the first free one of STEM.ending, STEM-2.ending, …, and answers
 * with its path. */
void exi_edit_add_file(exi_edit *edit, const char *stem, const char *ending, const char *bytes, size_t size,
                       exi_answer *answer);

/* Has edit->rig ready where the request's build is the last; false after a refusal. With `building` locked. */
bool exi_edit_open_rig(exi_edit *edit, const exi_asked *asked, exi_answer *answer);

/* ---- the server ---- */

typedef struct exi_server exi_server;

/* Serves on 127.0.0.1, at a free port where that is 0. NULL after a sentence. */
exi_server *exi_server_start(exi_edit *edit, int port);
/* Waits for the requests that are being answered. NULL is fine. */
void exi_server_stop(exi_server *server);
/* "http://127.0.0.1:41234/TOKEN/" */
const char *exi_server_address(const exi_server *server);
int exi_server_port(const exi_server *server);

#endif
