/*
 * cli/farm/planner.h - a plan in the making: the description of a job, and the tasks, stages and results that a kind of
 * work makes of it. Private to cli/farm.
 *
 * A kind of work adds items to a stage. An item is one command, or a run of frames that may be cut anywhere. The end of
 * the stage cuts and groups the items into tasks of about the same time. Results say which files of which tasks become
 * which output. Nothing is written before the plan is complete.
 */
#ifndef EXEMPLAR_CLI_FARM_PLANNER_H
#define EXEMPLAR_CLI_FARM_PLANNER_H

#include "cli/base/options.h"
#include "farm.h"

typedef struct exi_planner {
    const ex_call *call;
    const exi_farm_program *program;
    const char *job_path;
    char *job_folder; /* absolute: paths of the job are relative to it */
    json_t *job;
    int pieces;            /* of each stage that can be cut; 0: by time */
    double minutes;        /* a piece should take */
    bool sample;           /* measure commands */
    const char *output;    /* folder of the plan */
    bool any_build;        /* fingerprints without the build */
    json_t *inputs;        /* [{"path", …}] */
    json_t *input_numbers; /* {path: index} */
    json_t *stages, *tasks, *results;
    json_t *outputs;      /* {path: true} of results */
    json_t *items, *kept; /* of the present stage, and of stages before */
    json_t *keys;         /* {key: true} of items */
    ex_error *error;
} exi_planner;

/* A kind of work: one file work_NAME.c, and one line in the table of farm_plan.c. */
typedef struct exi_farm_work {
    const char *name;        /* "drive apply": the value of "work" */
    const char *const *keys; /* of the description, ended by NULL */
    ex_result (*plan)(exi_planner *planner);
} exi_farm_work;

extern const exi_farm_work exi_farm_work_apply;
extern const exi_farm_work exi_farm_work_bake;
extern const exi_farm_work exi_farm_work_figures;
extern const exi_farm_work exi_farm_work_learn;
extern const exi_farm_work exi_farm_work_scan;
extern const exi_farm_work exi_farm_work_sheet;
extern const exi_farm_work exi_farm_work_warp;

/* ---- the description (job.c) ---- */

/* "JOB.json: SENTENCE" as an error. */
ex_result exi_job_wrong(const exi_planner *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Refuses keys that the work does not know. */
ex_result exi_job_check_keys(const exi_planner *p, const json_t *object, const char *const *keys);
/* The files that a key names: a text or a list of texts, each a path or a pattern such as "caches/\*.pc2"; relative to
 * the folder of the job. *paths: a new list of absolute paths, sorted within a pattern. missing_is_fine: gives an empty
 * list if there is no such key. */
ex_result exi_job_paths(const exi_planner *p, const char *key, bool missing_is_fine, json_t **paths);
/* Adds the option --frames of the job, and finds its first frame and their number among `there`. */
ex_result exi_job_frames(const exi_planner *p, int there, const char *path, int *offset, int *count);
/* One path, which need not exist; caller frees. */
ex_result exi_job_path(const exi_planner *p, const char *key, char **path);
/* Fills {names} of a text from an object of texts. Caller frees. */
ex_result exi_job_fill(const exi_planner *p, const char *text, const json_t *names, char **filled);
/* "shirt" for "/a/b/shirt.pc2". A new text. */
json_t *exi_job_stem(const char *path);
/*
 * Adds the options of the job ("options": {"fps": 30, "untangle": true, "mute": ["a", "b"]}) to words, after checking
 * them against the command's. Values are filled with names, and those that are files become absolute and inputs of the
 * item. taken: options that the plan sets itself, ended by NULL.
 */
ex_result exi_job_options(exi_planner *p, const char *command, const char *const *taken, const json_t *names,
                          json_t *words, json_t *inputs);
/* The value that words have of an option, "--fps", with names filled in, whatever type it has in the job; NULL if there
 * is none. */
const char *exi_job_value(const json_t *words, const char *option);
/* The number that a text is; 0 if it is none, or NULL. */
double exi_job_parse(const char *text);

/* ---- items, stages, results (planner.c) ---- */

/* Notes a file that items read, and returns its index; -1 after an error. Its bytes are hashed once. */
int exi_planner_input(exi_planner *p, const char *path);
/* Adds the index of a file to a list of inputs; of a cache, which may be several files. */
ex_result exi_planner_add_input(exi_planner *p, json_t *inputs, const char *path);
/* Adds all files of a folder as one input. */
ex_result exi_planner_add_folder(exi_planner *p, json_t *inputs, const char *path);
ex_result exi_planner_add_cache(exi_planner *p, json_t *inputs, const char *path);

/* Bytes of a name at most; longer ones are cut. */
#define EXI_FARM_NAME 200

/* The cost of an item; 0: not known. */
typedef struct exi_farm_cost {
    double start, each; /* seconds: once, and for a frame */
    double memory;      /* bytes */
    double disk;        /* bytes of a frame */
} exi_farm_cost;

/* An item of the present stage. Texts and lists are copied. */
typedef struct exi_farm_item {
    const char *name;    /* for people: "shirt x walk" */
    const json_t *words; /* of the command, or a list of commands that run one after the other; files in the private
                            folder begin with "@/" */
    const json_t *inputs, *needs; /* indices of inputs and of tasks; may be NULL */
    const char *session;          /* folder that is seen as @/session; may be NULL */
    const json_t *links;          /* what of it */
    const json_t *folders;        /* folders to make first */
    const char *file;             /* the output, which is added to the words as "-o @/FOLDER/FILE"; NULL: none */
    int frames;                   /* 0: it has none. Else their number: "--frames A:B" is added to the words */
    int offset;                   /* frames before the first one */
    const char *range;            /* the option that takes A:B; NULL: "--frames" */
    int grain;                    /* cuts after a multiple of this many frames are free; 0: all are */
    bool whole;                   /* true: not to be cut, and without --frames */
    exi_farm_cost cost;
} exi_farm_item;

/* Adds an item and returns it, owned by the planner: results refer to it. NULL without memory. */
json_t *exi_planner_add(exi_planner *p, const exi_farm_item *item);
/* Cuts and groups the items of the stage into tasks. name: for people, "apply". */
ex_result exi_planner_end_stage(exi_planner *p, const char *name);
/* Tasks of an item, after its stage has ended: a list of indices, borrowed. */
const json_t *exi_planner_tasks_of(const json_t *item);
/*
 * Adds a result: kind "cache" (the frames of an item become one cache), "file" (the one file of an item) or "files"
 * (all files of some tasks below their folder "session", into a folder). tasks and parts: those of the item. more:
 * further keys, taken over; may be NULL. Two results of one name are refused.
 */
ex_result exi_planner_result(exi_planner *p, const char *kind, const char *output, const json_t *tasks,
                             const json_t *parts, json_t *more);
/* The same for one item. */
ex_result exi_planner_item_result(exi_planner *p, const char *kind, const char *output, const json_t *item,
                                  json_t *more);

/* Runs a command and takes the number after a word in the last line that it says. words may have files "@/…". */
ex_result exi_planner_ask(exi_planner *p, const json_t *words, const char *word, int *number);
/* Measures a command on a few frames (sample.c). words as for an item, without --frames and -o. */
ex_result exi_planner_sample(exi_planner *p, const json_t *words, const char *file, int frames, exi_farm_cost *cost);

/* ---- the end of planning (plan_write.c) ---- */

/* Hashes all inputs; gives all tasks their fingerprints; and writes plan.json and tasks.jsonl. Results: FILE, MEMORY.
 */
ex_result exi_planner_hash(exi_planner *p);
void exi_planner_sign(exi_planner *p);
ex_result exi_planner_write(exi_planner *p);
/* Writes stage-1.txt and so on: one command a line. */
ex_result exi_farm_write_lists(const exi_farm *farm, ex_error *error);

/* Prints what a plan will cost (plan_print.c). done: pieces that are there already. */
void exi_farm_print_plan(const exi_farm *farm, const char *output, int done);
void exi_farm_print_plan_json(const exi_farm *farm, int done);

#endif
