/*
 * cli/farm/farm.h - the parts of `exemplar farm`: work that is cut into tasks, run by any engine, and joined.
 *
 *   cmd_farm.c       the command with subcommands
 *   hash.c           tells whether a file is still the same
 *   piece.c          what a task made, in one file
 *   plan.c           the folder of a plan: reads and writes it
 *   state.c          which tasks are done, running, failed
 *   job.c            JOB.json: lists of files, names of results, options of commands
 *   planner.c        tasks, stages and results of a plan in the making
 *   sample.c         measures a command on a few frames
 *   work_*.c         one kind of work each: which commands, in which stages, give which results
 *   farm_plan.c      `farm plan`
 *   plan_write.c     hashes, fingerprints, and the files of a plan
 *   plan_print.c     says what a plan will cost
 *   farm_do.c        `farm do`: one task, on whatever machine it runs
 *   room.c           the private folder of a task
 *   spawn.c          runs a command of the tool, and keeps what it says
 *   farm_submit.c    `farm submit` and `farm retry`
 *   engine_*.c       the engines that tasks are submitted to
 *   farm_status.c    `farm status`
 *   farm_merge.c     `farm merge`
 *   join.c           one cache of the caches in pieces
 *
 * The folder of a plan:
 *
 *   plan.json        stages, inputs, results, and the program that made it
 *   tasks.jsonl      one task a line
 *   stage-1.txt …    one command a line, for any engine
 *   pieces/          what tasks made; the name is the fingerprint of the task
 *   running/ failed/ logs/    what is going on, by fingerprint
 *   scratch/         private folders of tasks that run, unless TMPDIR is set
 *   submitted/       lists of commands given to an engine
 *
 * Nothing but these files tells what is done, so any number of machines may work on them at once, in any order, and
 * may die at any moment. A task's fingerprint covers its commands, the hashes of its inputs, the program and the
 * fingerprints of the tasks it needs; so a piece that is there and has the right name need not be made again.
 */
#ifndef EXEMPLAR_CLI_FARM_H
#define EXEMPLAR_CLI_FARM_H

#include "cli/base/command.h"
#include "cli/base/report.h"

#include <exemplar/author/files.h>

#include <jansson.h>
#include <stdint.h>

extern const ex_command cmd_farm_plan;
extern const ex_command cmd_farm_do;
extern const ex_command cmd_farm_submit;
extern const ex_command cmd_farm_retry;
extern const ex_command cmd_farm_status;
extern const ex_command cmd_farm_merge;

/* ---- the program ---- */

/* Everything that decides the bytes of a result besides its inputs: version, build, kind of processor, instruction
 * set. */
typedef struct exi_farm_program {
    char *path; /* of this program, absolute */
    char version[64];
    char machine[64]; /* "aarch64" */
    char simd[32];
    uint64_t build; /* hash of the program's file; 0: unknown */
} exi_farm_program;

/* Results: FILE, MEMORY. Release with exi_farm_program_free. */
ex_result exi_farm_program_find(const char *called_by, exi_farm_program *program, ex_error *error);
void exi_farm_program_free(exi_farm_program *program);

/* ---- plans ---- */

typedef struct exi_farm_task {
    json_t *json; /* {"stage", "name", "piece", "commands": [[word]], "inputs": [index], "needs": [task], "session",
                     "links": [name], "seconds", "memory", "disk"} */
    int stage;    /* from 0 */
    const char *name;
    const char *piece; /* the fingerprint as text */
    uint64_t fingerprint;
    double seconds; /* expected; 0: not known */
} exi_farm_task;

typedef struct exi_farm {
    char *folder; /* absolute */
    json_t *plan; /* {"version", "machine", "simd", "build", "program", "job", "work", "threads", "stages": [{"name",
                     "tasks", "seconds", "memory", "disk"}], "inputs": [{"path", "size", "time", "hash"}], "results":
                     [{"kind", "output", "parts": [[task, file]], …}]} */
    int task_count;
    exi_farm_task *tasks;
    int stage_count;
} exi_farm;

/* Reads a plan; close it after a failure, too. Results: FILE, DATA, MEMORY. */
ex_result exi_farm_open(const char *folder, exi_farm *farm, ex_error *error);
/* The same for one task, by number or fingerprint: of others but those that it needs, only the fingerprint is read. */
ex_result exi_farm_open_task(const char *folder, const char *word, exi_farm *farm, ex_error *error);
void exi_farm_close(exi_farm *farm);
/* Opens the plan of a command's first argument, and of one task if there is a second; false after printing an error. */
bool exi_farm_open_argument(const ex_call *call, exi_farm *farm);

/* FOLDER/ROOM/NAME with an ending. Caller frees; NULL if out of memory. */
char *exi_farm_path(const exi_farm *farm, const char *room, const char *name, const char *ending);
char *exi_farm_piece_path(const exi_farm *farm, int task);
/* Index of the task with this number, from 1, or this fingerprint; -1 if there is none. */
int exi_farm_find(const exi_farm *farm, const char *word);
/* A text, or a number, of the plan; "" and 0 if it is missing. */
const char *exi_farm_text(const json_t *object, const char *key);
double exi_farm_number(const json_t *object, const char *key);

/* Finds whether an input still has the bytes that were planned. patience: seconds to wait for a file that is not there:
 * network file systems show it late. Results: DATA (it has changed), FILE. */
ex_result exi_farm_check_input(const json_t *input, double patience, ex_error *error);
void exi_farm_pause_ms(long ms);

/* A command to run a task anywhere, as a line for a shell. program: NULL for the one of the plan. */
char *exi_farm_line(const exi_farm *farm, int task, const char *program);

/* ---- state ---- */

typedef enum exi_farm_state {
    EXI_FARM_LEFT,
    EXI_FARM_DONE,
    EXI_FARM_RUNNING,
    EXI_FARM_FAILED,
    EXI_FARM_LOST, /* it began, and nothing was heard of it for a while */
    EXI_FARM_STATE_COUNT
} exi_farm_state;

/* Seconds between signs of life of a running task, and without one until it counts as lost. */
#define EXI_FARM_BEAT   10
#define EXI_FARM_SILENT 60

/* States [task_count] from three listings of folders; no piece is opened. Results: FILE, MEMORY. */
ex_result exi_farm_states(const exi_farm *farm, exi_farm_state *states, ex_error *error);
/* True if the piece of a task is there and fits. */
bool exi_farm_has_piece(const exi_farm *farm, int task);
/* The folder's mark of this process on a task: NAME.host.pid. Caller frees. */
char *exi_farm_mark_name(const exi_farm *farm, int task);
/* Makes the mark, or renews it as a sign of life; and removes it. Failures do not matter: the task goes on. */
void exi_farm_mark(const char *mark);
void exi_farm_unmark(const char *mark);
/* Writes a failure with the last lines [count] that the task said; and forgets failures and dead marks of a task. */
void exi_farm_fail(const exi_farm *farm, int task, const char *how, const json_t *lines);
void exi_farm_forget(const exi_farm *farm, int task);
/* Writes a record that exi_farm_failure gave, after exi_farm_forget. */
void exi_farm_fail_again(const exi_farm *farm, int task, const json_t *record);
/* Looks at every byte of a task's piece. If it is damaged, it is put aside and the task counts as failed, so that 'farm
 * retry' makes it again. False if it is fine, or not there. */
bool exi_farm_reject(const exi_farm *farm, int task, const char *why);
/* The record of a failure: {"how", "host", "time", "lines": […]}; NULL if there is nothing. Release with
 * json_decref. */
json_t *exi_farm_failure(const exi_farm *farm, int task);
/* Removes private folders and marks of tasks that no longer run. */
void exi_farm_sweep(const exi_farm *farm);
/* Removes a folder with everything in it; links are removed, not followed. */
void exi_farm_remove_tree(const char *path);

/* ---- running commands ---- */

typedef struct exi_farm_run {
    int code;     /* exit code; 128 + signal if one ended it */
    bool stopped; /* true if this process was asked to stop meanwhile */
    double seconds;
    double memory; /* bytes at its peak */
    json_t *lines; /* the last lines that it said */
    json_t *notes; /* messages on stderr other than progress */
} exi_farm_run;

/* Runs the program with words (texts). folder: replaces "@" of words that begin with "@/". log: takes what it says; may
 * be NULL. Release lines and notes. Results: FILE, MEMORY if it could not be
 * started. */
ex_result exi_farm_spawn(const char *program, const json_t *words, const char *folder, FILE *log, exi_farm_run *run,
                         ex_error *error);

/* ---- rooms of tasks ---- */

/* Makes the private folder of a task: links to the session that it works on, and files of the pieces that it needs.
 * Returns its path (caller frees) or NULL with an error. before: receives the names of files that are there already. */
char *exi_farm_room_open(const exi_farm *farm, int task, json_t *before, ex_error *error);
/* Lists the files that are new or changed since, sorted. NULL without memory. */
json_t *exi_farm_room_made(const char *room, const json_t *before);

/* ---- engines ---- */

typedef struct exi_farm_order {
    const ex_call *call;
    const exi_farm *farm;
    const exi_farm_program *program;
    const char *command;   /* the program as the engine calls it; NULL: by its path */
    unsigned char *wanted; /* [task_count] */
    int jobs;              /* local: processes at once */
    const char *partition, *time, *memory, *account, *output;
    const ex_word_list *extra; /* Slurm: further options */
} exi_farm_order;

/* Each returns the exit code of the tool. */
int exi_farm_to_local(const exi_farm_order *order);
int exi_farm_to_slurm(const exi_farm_order *order);
int exi_farm_to_list(const exi_farm_order *order);

/* ---- joining ---- */

/* Joins the caches in the pieces of a result into one. Results: DATA (a piece is damaged: kind "bad_piece"), FILE,
 * MEMORY. bad: index of the task whose piece is damaged. */
ex_result exi_farm_join_cache(const exi_farm *farm, const json_t *result, int *frames, int *bad, ex_error *error);

#endif
