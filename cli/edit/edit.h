/*
 * cli/edit/edit.h - the server of the editor: the requests of editor/README.md and the HTTP server around them.
 *
 * Request handlers know nothing of HTTP: they take an exi_asked and fill an answer. They run in the server's threads,
 * several at once; shared state is in exi_edit, and each lock's comment says what it guards.
 */
#ifndef EXEMPLAR_CLI_EDIT_H
#define EXEMPLAR_CLI_EDIT_H

#include "cli/base/command.h"
#include "cli/base/emit.h"
#include "common/pool.h"

#include <exemplar/author.h>

#include <pthread.h>
#include <stdatomic.h>

/* ---- the state of the editor ---- */

#define EXI_VERSION_SIZE   40
#define EXI_EDIT_SENT_SIZE 1024

/* An uploaded motion, as a file in a folder made for it. */
typedef struct exi_sent {
    char path[EXI_EDIT_SENT_SIZE];
    atomic_bool is_there;
} exi_sent;

/* The step that a build is at (edit_progress.c). */
typedef struct exi_edit_step {
    const char *kind; /* "mesh", "driver", "subdividing", "example", "trajectories", "solving" or "sending"; NULL: no
                         build runs */
    char layer[256], example[256]; /* cut if longer; "" for none */
    int number, count;             /* of the example in its layer, from 1 */
    double fraction;               /* of the whole build */
} exi_edit_step;

typedef struct exi_edit {
    char *path;       /* path of the project: its folder with links resolved, and the name as given */
    char *folder;     /* folder part of path, ending in '/' */
    const char *name; /* name part of path */
    exi_pool *pool;
    ex_kept_paths *kept_paths; /* of builds and checks; NULL without memory */
    pthread_mutex_t writing;   /* only one file at a time is put into the folder */
    pthread_mutex_t checking;  /* only one check at a time */
    pthread_mutex_t building;  /* only one build, motion or bake at a time; guards the fields below */
    int build_count, motion_count;
    int driver_count; /* vertices of the driver of the last build's rig; 0: it has none */
    char *rig_bytes;  /* file of the last build's rig, or NULL */
    size_t rig_size;
    ex_project *project;              /* project that rig was built from */
    ex_rig *rig;                      /* the rig as a command would load it; NULL until a motion needs it */
    ex_motion *motion;                /* last motion of that rig; NULL: none, or it is of the driver */
    char *driver_cache;               /* path of the last cache of that rig's driver, or NULL */
    char *motion_source;              /* file in the folder that either comes from, or NULL */
    exi_sent sent, cache;             /* the upload being read, and the uploaded cache of the driver */
    char dropped[EXI_EDIT_SENT_SIZE]; /* folder of files for a new project, "" for none; guarded by `writing` */
    pthread_mutex_t progressing;      /* guards step, for a moment only */
    exi_edit_step step;
    atomic_bool starts;        /* true while there is no project yet, not guarded */
    atomic_int build_running;  /* builds that run or wait, not guarded */
    atomic_uint build_cancels; /* times that they were cancelled, not guarded */
    atomic_bool ends;          /* true once the editor stops, not guarded */
} exi_edit;

/* False after printing an error. Call exi_edit_close either way. */
bool exi_edit_open(exi_edit *edit, const ex_call *call, const char *path);
void exi_edit_close(exi_edit *edit);

/* Removes uploaded files of motions and their folders, also if the process ends while one is read. */
void exi_edit_remove_sent(exi_edit *edit);
/* Removes only the upload that was read. */
void exi_edit_remove_read(exi_edit *edit);
/* Removes files that were dropped for a new project. With `writing` locked, or alone. */
void exi_edit_forget_dropped(exi_edit *edit);
/* Forgets the last motion. With `building` locked. */
void exi_edit_forget_motion(exi_edit *edit);
/* Forgets the rig of the last build and everything made from it. With `building` locked. */
void exi_edit_forget_rig(exi_edit *edit);

/* Takes what the library tells about its progress as a step. `what` is one of the view's texts or a word. */
void exi_edit_step_take(exi_edit_step *step, const ex_project_view *view, const char *what, double fraction);
void exi_edit_progress_set(exi_edit *edit, const exi_edit_step *step);

/* ---- requests and answers ---- */

typedef struct exi_asked {
    const char *query;    /* part after '?', or NULL */
    const char *if_match; /* the If-Match header, or NULL */
    const char *body;     /* [size], followed by a NUL */
    size_t size;
} exi_asked;

typedef struct exi_answer {
    int status; /* 0: the connection closes without an answer */
    char *json; /* [json_size], caller frees; NULL if out of memory */
    size_t json_size;
    bool framed;       /* true if bytes follow the JSON */
    const void *bytes; /* [size] */
    size_t size;
    void *owned; /* the same bytes if they must be freed, or NULL */
} exi_answer;

/* A JSON object as an answer: it contains what is emitted between start and end. */
typedef struct exi_reply {
    exi_answer *answer;
    FILE *file;
    exi_emitter json;
} exi_reply;

/* False if out of memory: the answer says so, and nothing may be emitted. */
bool exi_reply_start(exi_reply *reply, exi_answer *answer, int status);
void exi_reply_end(exi_reply *reply);
/* Like exi_reply_start without the braces: the answer is what is printed to reply->file. */
bool exi_reply_start_plain(exi_reply *reply, exi_answer *answer, int status);
void exi_reply_end_plain(exi_reply *reply);

/* Answers with a refusal and a sentence. */
void exi_refuse(exi_answer *answer, int status, const char *format, ...) __attribute__((format(printf, 3, 4)));
void exi_refuse_memory(exi_answer *answer);
/* Refuses with the library's sentence, with the place in the project separate and files of the folder by name only.
 * `view`, the project's, locates the file that the sentence names; NULL if there is none. */
void exi_refuse_error(const exi_edit *edit, exi_answer *answer, int status, const ex_error *error,
                      const ex_project_view *view);
/* An error as the page gets it: sentence and place, "" for none. */
typedef struct exi_fault {
    char text[EX_ERROR_SIZE + 128], where[EX_ERROR_SIZE]; /* text, with room for a hint */
} exi_fault;
exi_fault exi_fault_of(const exi_edit *edit, const ex_error *error, const ex_project_view *view);

/* Removes the folder of an uploaded file from every path in the sentence: users do not know that folder. */
void exi_edit_hide_folder(const char *path, ex_error *error);
/* Removes a folder, ending in '/', from every path in the text that begins with it. */
void exi_cut_out(char *text, const char *folder);

/* Decodes the value of a key of the query into the buffer. False if it is missing, too long or contains a zero byte. */
bool exi_asked_text(const exi_asked *asked, const char *key, char *buffer, size_t size);
/* Like exi_asked_text, for a required key; false after a refusal. */
bool exi_asked_needed(const exi_asked *asked, const char *key, char *buffer, size_t size, exi_answer *answer);
/* Like exi_asked_text, for an optional key: if it is missing, the buffer is unchanged. */
bool exi_asked_optional(const exi_asked *asked, const char *key, char *buffer, size_t size, exi_answer *answer);

/* ---- the requests ---- */

typedef void exi_request(exi_edit *edit, const exi_asked *asked, exi_answer *answer);

exi_request exi_edit_get_project, exi_edit_get_version, exi_edit_put_project; /* edit_project.c */
exi_request exi_edit_build, exi_edit_cancel, exi_edit_check;                  /* edit_build.c */
exi_request exi_edit_get_beside;                                              /* edit_beside.c */
exi_request exi_edit_get_progress;                                            /* edit_progress.c */

exi_request exi_edit_post_sculpt, exi_edit_post_start;                   /* edit_start.c */
exi_request exi_edit_post_file;                                          /* edit_files.c */
exi_request exi_edit_post_form, exi_edit_post_mask, exi_edit_post_group; /* edit_forms.c */
exi_request exi_edit_get_targets;                                        /* edit_targets.c */
exi_request exi_edit_post_values;                                        /* edit_values.c */

exi_request exi_edit_get_motions, exi_edit_post_motion; /* edit_motion.c */
exi_request exi_edit_post_bake;                         /* edit_bake.c */

/* Caches of a driver's forms (edit_driver.c): the first is true for the name of a possible cache, the second for two
 * names of one cache (numbered .obj files). */
bool exi_edit_is_cache_name(const char *name);
bool exi_edit_is_same_cache(const char *name, const char *other);
/* True if the file is a motion of a driver with vertex_count vertices. */
bool exi_edit_is_driver_motion(const char *path, int vertex_count);
/* Answers with the complete motion; false after a refusal, which uses its name. */
bool exi_edit_reply_driver(const exi_edit *edit, const char *path, const char *name, exi_answer *answer);

/* Emits names of joints and dials, for a motion file that names its joints: "names" of the rig that it moves, "unmoved"
 * joints of the rig, and "unused" joints of the file. (edit_matched.c) */
void exi_edit_emit_matched(exi_emitter *json, const ex_rig *rig, const char *path, const ex_joint_map *map);

/* The project on disk and the version of its file; NULL if it cannot be read. (edit_project.c) */
ex_project *exi_edit_stored(const exi_edit *edit, char version[EXI_VERSION_SIZE]);

/* Parses an uploaded project; NULL after an error, EX_ERROR_FILE if it names a file that it may not. It may name files
 * in the folder, and others only if the file on disk names them. */
ex_project *exi_edit_parse(const exi_edit *edit, const exi_asked *asked, ex_error *error);
/* True if a project may name that file; false after an error EX_ERROR_FILE. */
bool exi_edit_may_read(const exi_edit *edit, const char *relative, ex_error *error);

/* Sizes of the names of new files: as given in the query, and with the ending and suffix that make them unique. */
#define EXI_EDIT_NAME_MOST 200
#define EXI_EDIT_NAME_SIZE (EXI_EDIT_NAME_MOST + 56) /* slightly longer names are read, and refused with a sentence */
#define EXI_EDIT_PATH_SIZE 1024

/* True if a file of the folder may have that name; false after a refusal. */
bool exi_edit_check_name(const char *name, exi_answer *answer);
/* Reads and checks the name under that key of the query; false after a refusal. */
bool exi_edit_asked_name(const exi_asked *asked, const char *key, char name[EXI_EDIT_NAME_SIZE], exi_answer *answer);
/* Puts a new file into the project's folder, under the first free name of STEM.ending, STEM-2.ending, …, and answers
 * with its path. */
void exi_edit_add_file(exi_edit *edit, const char *stem, const char *ending, const char *bytes, size_t size,
                       exi_answer *answer);

/* Loads edit->rig if the request's build is the last one; false after a refusal. With `building` locked. */
bool exi_edit_open_rig(exi_edit *edit, const exi_asked *asked, exi_answer *answer);

/* ---- the server ---- */

/* True if the other end of a connection within this machine belongs to this user or to root; false if that cannot be
 * told. (edit_peer.c) */
bool exi_peer_is_user(int connection);
/* True if the system tells users apart. */
bool exi_peer_can_tell(void);

typedef struct exi_server exi_server;

/* Serves on 127.0.0.1, at a free port if `port` is 0. NULL after printing an error. */
exi_server *exi_server_start(exi_edit *edit, int port);
/* Waits for requests in progress. NULL is fine. */
void exi_server_stop(exi_server *server);
/* "http://127.0.0.1:41234/TOKEN/" */
const char *exi_server_address(const exi_server *server);
/* An address without the token, for the arguments of a program, which other users of the machine can read. It leads
 * this user to the page, once, and others nowhere. NULL if this system does not tell users apart. */
const char *exi_server_ticket(const exi_server *server);
int exi_server_port(const exi_server *server);

#endif
