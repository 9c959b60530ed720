/*
 * cli/drive/drive.h - the parts of `exemplar drive`.
 *
 *   cmd_drive.c     the command with subcommands, and shared functions
 *   drive_learn.c   builds a rig from caches, or from what was gathered from them
 *   drive_gather.c  gathers from a pair of caches what learning needs
 *   drive_meshes.c  meshes, weights and binds for learning and gathering, and words that both have
 *   drive_takes.c   parses ranges of frames, frame rates and units of caches
 *   drive_learned.c  prints what was learned
 *   drive_apply.c   applies a rig to a new animation of its driver
 *   drive_keys.c    lists, adds and removes keys
 *   drive_over.c    garments below the one that is made
 *   drive_report.c  measures a rig, in numbers and as a picture
 *   drive_suggest.c  names frames to simulate next
 */
#ifndef EXEMPLAR_CLI_DRIVE_H
#define EXEMPLAR_CLI_DRIVE_H

#include "cli/base/command.h"
#include "cli/base/report.h"

#include <exemplar/author.h>

extern const ex_command cmd_drive_learn;
extern const ex_command cmd_drive_gather;
extern const ex_command cmd_drive_apply;
extern const ex_command cmd_drive_keys;
extern const ex_command cmd_drive_add;
extern const ex_command cmd_drive_remove;
extern const ex_command cmd_drive_suggest;
extern const ex_command cmd_drive_report;

#define EXI_CACHE_ENDINGS ".pc2, .mdd, .abc or .obj"
#define EXI_DRIVER_SCALE  "driver-scale"
#define EXI_DRIVEN_SCALE  "driven-scale"

/* Reads a length of at least 0, in metres or followed by "mm"; false after printing an error. NULL leaves *metres
 * alone. */
bool exi_drive_length_read(const ex_call *call, const char *option, const char *text, double *metres);

/* Reads the unit of files, a number above 0; false after printing an error. NULL gives 1. */
bool exi_drive_scale_read(const ex_call *call, const char *option, const char *text, double *scale);
/* Reads frames A:B, A: or :B: *first from 0, *count 0 for all that follow; false after printing an error. NULL gives
 * all frames. The second, for --range of 'drive learn', also reads 10-250 and 10-. */
bool exi_drive_frames_read(const ex_call *call, const char *text, int *first, int *count);
bool exi_drive_range_read(const ex_call *call, const char *text, int *first, int *count);
/* Reads frames per second; false after printing an error. NULL gives 0. */
bool exi_drive_rate_read(const ex_call *call, const char *text, double *rate);
/* Gives each pair of caches the word of an option that follows it in the command line: words [pair_count], NULL for a
 * pair without. A single pair takes it from anywhere. False after printing an error. */
bool exi_drive_words_of_pairs(const ex_call *call, const char *option, const ex_word_list *list,
                              const ex_word_list *drivers, const ex_word_list *drivens, const char **words);

/* Read the words of --frames, --frame and --at into options and frames [most], from 0; false after printing an error.
 * NULL leaves them alone. one: the frame `none` also sets the number of moving frames to 1. The group of a frame points
 * into the word. */
bool exi_drive_moving_read(const ex_call *call, const char *text, ex_drive_options *options);
bool exi_drive_frame_read(const ex_call *call, const char *text, bool one, ex_drive_options *options);
bool exi_drive_given_read(const ex_call *call, const char *text, int *frames, int most, int *count);
/* True if both meshes are named, or their caches have faces; false after printing an error. */
bool exi_drive_meshes_named(const ex_call *call, const char *driver_mesh, const char *driven_mesh,
                            const char *driver_cache, const char *driven_cache);

/* The words that say where meshes, weights and binds come from. */
typedef struct exi_drive_mesh_words {
    const char *driver_mesh, *driven_mesh;   /* or NULL: those of the caches */
    const char *driver_cache, *driven_cache; /* NULL with a gathered file */
    const char *weights, *bind;              /* may be NULL */
    double driver_scale, driven_scale;       /* of the meshes */
    const ex_gathered *gathered;             /* optional: its meshes count for binds, and none are read */
} exi_drive_mesh_words;

typedef struct exi_drive_meshes {
    ex_mesh *driver, *driven;
    float *weights;
    ex_drive_binds *binds;
} exi_drive_meshes;

/* Reads the files into meshes, and their weights and binds into options. Close it even after a failure. */
ex_result exi_drive_meshes_read(const exi_drive_mesh_words *words, exi_drive_meshes *meshes, ex_drive_options *options,
                                ex_error *error);
void exi_drive_meshes_close(exi_drive_meshes *meshes);

/* Parses "stiffness=5": the name's length and the number; false after printing an error. */
bool exi_drive_database_read(const ex_call *call, const char *text, size_t *name, double *value);
/* Finds the value given with --database for a rig; NAN if none was. Returns the exit code, after printing an error if
 * it is not 0. */
int exi_drive_database_find(const ex_call *call, const ex_rig *rig, const ex_word_list *words, double *value);

/* Options for a part of the driver's animation, its rate and its unit. what: begins the help of --frames. */
#define EXI_DRIVE_TAKE_OPTIONS(what, part, rate, scale)                                                                \
    {.name = "frames",                                                                                                 \
     .argument = "A:B",                                                                                                \
     .help = what " A to B, counting from 1 as numbered files do; A: and :B work too (default: all)",                  \
     .text = &(part)},                                                                                                 \
        {.name = "fps",                                                                                                \
         .argument = "RATE",                                                                                           \
         .help = "frames per second, from the first frame of the driver on (default: its own times)",                  \
         .text = &(rate)},                                                                                             \
    {                                                                                                                  \
        .name = EXI_DRIVER_SCALE, .argument = "FACTOR",                                                                \
        .help = "multiply the driver by this, as for 'drive learn' (default: 1)", .text = &(scale)                     \
    }

/* Options that name garments below, each with its cache and its mesh, innermost first. */
#define EXI_DRIVE_OVER_OPTIONS(caches, meshes)                                                                         \
    {.name = "over",                                                                                                   \
     .argument = "CACHE",                                                                                              \
     .help = "put the mesh over this garment, made for the same animation; may be given again, innermost first",       \
     .words = &(caches)},                                                                                              \
    {                                                                                                                  \
        .name = "over-mesh", .argument = "MESH", .help = "mesh of the garment of --over, for its faces",               \
        .words = &(meshes)                                                                                             \
    }

/* The garments below. */
typedef struct exi_drive_overs {
    ex_apply_over *overs;
    int count;
} exi_drive_overs;

/* Reads their meshes into def. output: file that none of them may be, or NULL. Returns the exit code, after printing an
 * error if it is not 0; close them if it is. */
int exi_drive_overs_open(const ex_call *call, const ex_word_list *caches, const ex_word_list *meshes,
                         const char *output, exi_drive_overs *overs, ex_apply_def *def);
void exi_drive_overs_close(exi_drive_overs *overs);

/* Prints what was learned, and the size of the file that it was written to, as the call wants it. */
void exi_drive_learned_print(const ex_call *call, const ex_learned *learned, const ex_rig *rig, const char *output,
                             double seconds);

/* Loads a rig that follows a driver; NULL after printing an error. */
ex_rig *exi_drive_load(const char *path);

/* Finds at most `most` frames, the worst first, by error or by distance from what the keys can blend; if some are far,
 * only those. Of frames with similar key weights, mostly neighbours, only the worst is listed: a key there serves the
 * others too. Returns their number. */
int exi_drive_worst(const ex_drive_report *report, bool by_error, int most, int *frames);

/* Describes frames that are far from what the keys can blend, naming the worst, as a sentence without a full stop;
 * false if there are none. The second function prints it to stderr. */
#define EXI_DRIVE_FAR_SIZE 320
bool exi_drive_far_text(const ex_drive_report *report, char text[EXI_DRIVE_FAR_SIZE]);
void exi_drive_warn(const ex_drive_report *report);

#endif
