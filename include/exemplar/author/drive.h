/*
 * exemplar/author/drive.h - databases of a driver and what it drives: a body and its clothes (DrivenShape).
 *
 * A driven rig holds pairs of keys: a form of the driver, and what the driven mesh looked like on it. Learning chooses
 * them from a reference animation, which is not needed afterwards; applying makes the clothes of a new animation of the
 * driver, frame by frame. Caches are read and written one frame at a time, so they may be larger than memory. How the
 * rig follows its driver at run time is in exemplar/rig.h and exemplar/settle.h.
 */
#ifndef EXEMPLAR_AUTHOR_DRIVE_H
#define EXEMPLAR_AUTHOR_DRIVE_H

#include <exemplar/author/base.h>
#include <exemplar/author/cache.h>
#include <exemplar/author/mesh.h>
#include <exemplar/rig_inspect.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- how a rig follows its driver ---- */

/* The moving frame of the whole driver, with the names that project files use. */
#define EX_WHOLE_FRAME_LIST(X)                                                                                         \
    X(EX_WHOLE_FRAME_FIT, "fit")     /* fitted to all vertices, or to those of a group */                              \
    X(EX_WHOLE_FRAME_NONE, "none")   /* none: forms stay where they are */                                             \
    X(EX_WHOLE_FRAME_JOINT, "joint") /* a joint's */

typedef enum ex_whole_frame {
#define EX_WHOLE_FRAME_ENUM(name, text) name,
    EX_WHOLE_FRAME_LIST(EX_WHOLE_FRAME_ENUM)
#undef EX_WHOLE_FRAME_ENUM
        EX_WHOLE_FRAME_COUNT
} ex_whole_frame;

EX_API const char *ex_whole_frame_name(ex_whole_frame frame);

/* A region made by hand: which vertices of the driver it looks at, and which driven vertices it weighs. */
typedef struct ex_drive_region {
    const float *look; /* [driver vertex_count], not negative, not all 0 */
    const float *mask; /* [driven vertex_count], not negative; over the regions they are scaled to sum to 1 */
} ex_drive_region;

/* All lengths in metres. */
typedef struct ex_drive_options {
    ex_whole_frame frame;    /* fit */
    const char *frame_group; /* fit: the group of the driver's faces that it is fitted to; NULL: all */
    int frame_joint;         /* joint: of the rig's skeleton */
    /*
     * Moving frames of parts: 0 or 1: none but that of the whole, as in the paper; more: so many are spread evenly over
     * the part of the driver that the driven mesh lies on, each fitted to what is near; driven vertices go with the few
     * nearest, and each is a region that weighs the keys by what it sees. Fewer where there is no room for more. -1: as
     * many as are best (learning tries 1, 8, 16 and 32; elsewhere 16; with `paths`, and with the frame `none`, 0).
     */
    int frames;      /* -1 */
    double fit;      /* how far a frame looks for its motion: the width of a bell, in distances from a frame to its
                        neighbours; 0.75 */
    double look;     /* and for its weights; 1.2 */
    double whole;    /* how much the rest of the driver counts there; 0.02 */
    int influences;  /* frames that move a vertex; 4 */
    bool one_region; /* weigh by the whole driver, whatever the frames; false */

    const float *driver_weights; /* [driver vertex_count], not negative, not all 0, or NULL: what vertices of the driver
                                    count for when keys are weighed, on top of their area; 0 leaves them out */
    int region_count;            /* regions made by hand, in place of those of the frames; 0 */
    const ex_drive_region *regions;

    double ridge; /* of the weigher; 0: its default */
    bool paths;   /* blend along trajectories, driver and driven alike; false. Asks for one region */

    ex_residual residual; /* EX_RESIDUAL_COUNT, the default: `keys` with one frame; else as learning finds best, and
                             elsewhere `none` */
    bool push;            /* true */
    double thickness;     /* 0.002 */
    int bind_count;       /* groups of driven vertices that see only some faces of the driver: ex_drive_read_binds */
    const ex_bind *binds;
    const uint16_t *vertex_binds;
} ex_drive_options;

EX_API ex_drive_options ex_drive_options_default(void);

/* ---- keys to a rig ---- */

typedef struct ex_drive_key {
    const char *name;
    const float *driver; /* [driver vertex_count][3] */
    const float *driven; /* [driven vertex_count][3] */
    double database;     /* where it stands on the axis of databases */
} ex_drive_key;

typedef struct ex_drive_def {
    const ex_mesh *driver;     /* its positions are the reference of the moving frames */
    const ex_mesh *driven;     /* the rig's mesh */
    const char *driver_name;   /* of the input: "body" */
    const char *database_axis; /* a name, where the keys are of several databases (stiffness, …); or NULL */
    int key_count;
    const ex_drive_key *keys;
    ex_drive_options options;
} ex_drive_def;

/* A rig of one layer, "driven". Results: ARGUMENT, DATA (two keys alike, a frame that is not determined, …: named),
 * LIMIT, MEMORY. */
EX_API ex_result ex_drive_build(const ex_drive_def *def, ex_rig **rig, ex_error *error);

/* What a driven rig was built from; belongs to the set. Files say what `ex_drive_options` cannot tell from a rig's
 * tables in a note of the rig. */
typedef struct ex_drive_set ex_drive_set;
EX_API ex_result ex_drive_open(const ex_rig *rig, ex_drive_set **set, ex_error *error);
EX_API const ex_drive_def *ex_drive_get_def(const ex_drive_set *set);
EX_API void ex_drive_close(ex_drive_set *set);

/* A file of binds (docs/drive.md): {"binds": [{"driven": GROUPS, "driver": GROUPS}, …]}, groups of faces by name, or
 * {"colour": "r"}: vertices with more of that colour than of the others. Vertices that no entry names see everything.
 * release *binds with ex_drive_free_binds. */
typedef struct ex_drive_binds {
    int bind_count;
    ex_bind *binds;
    uint16_t *vertex_binds;
} ex_drive_binds;
EX_API ex_result ex_drive_read_binds(const char *path, const ex_mesh *driver, const ex_mesh *driven,
                                     ex_drive_binds **binds, ex_error *error);
EX_API void ex_drive_free_binds(ex_drive_binds *binds);

/* How far a key is from others: roots of mean squares over the driver's surface, in metres, in the moving frame of the
 * whole, as learning measures it. */
typedef struct ex_key_distance {
    double from_mesh; /* from the driver's mesh */
    int nearest;      /* the nearest other key of the same database; -1: none */
    double distance;  /* from it */
} ex_key_distance;

/* distances [key_count]. Cost: key_count^2 forms compared. Results: DATA, MEMORY. */
EX_API ex_result ex_key_distances(const ex_drive_def *def, ex_key_distance *distances, ex_error *error);

/* The moving frame of the whole driver that the options ask for, as a driver of one frame: ex_driver_place gives its
 * motion. Release with ex_driver_destroy. Results: DATA (no such group), MEMORY. */
EX_API ex_result ex_drive_whole(const ex_mesh *driver, const ex_drive_options *options, ex_driver **whole,
                                ex_error *error);

/* ---- learning ---- */

/* Opens a cache of forms of a mesh, as learning and applying do; what: "driver" or "driven", for errors; mesh: whose
 * faces numbered OBJ files must have, or NULL. Results: DATA (another number of vertices, other faces), FILE, MEMORY.
 */
EX_API ex_result ex_drive_open_cache(const char *path, const char *what, int vertex_count, const ex_mesh *mesh,
                                     ex_cache_reader **reader, ex_error *error);
/* One frame of it; what is farther away than distances are measured is refused, as no number is. */
EX_API ex_result ex_drive_read_frame(ex_cache_reader *reader, const char *path, int frame, float *positions,
                                     ex_error *error);

/* How keys are chosen, with the names that the tool uses. */
#define EX_KEY_CHOICE_LIST(X)                                                                                          \
    X(EX_KEY_CHOICE_FARTHEST, "farthest") /* the frame whose driver is farthest from its nearest key (2.1) */          \
    X(EX_KEY_CHOICE_WORST, "worst")       /* the frame whose driven form the keys explain worst */

typedef enum ex_key_choice {
#define EX_KEY_CHOICE_ENUM(name, text) name,
    EX_KEY_CHOICE_LIST(EX_KEY_CHOICE_ENUM)
#undef EX_KEY_CHOICE_ENUM
        EX_KEY_CHOICE_COUNT
} ex_key_choice;

EX_API const char *ex_key_choice_name(ex_key_choice choice);

/* One reference animation. */
typedef struct ex_drive_reference {
    const char *driver, *driven; /* caches, of as many frames */
    double database;
} ex_drive_reference;

typedef struct ex_learn_def {
    const ex_mesh *driver, *driven;
    const char *driver_name;   /* "body" */
    const char *database_axis; /* or NULL */
    int reference_count;
    const ex_drive_reference *references;
    ex_key_choice choice;
    int key_count;    /* of each database; at least 1 */
    double until;     /* metres: stop as soon as the mean error over the references is below this; 0: at key_count */
    int given_count;  /* frames chosen by hand, first of all */
    const int *given; /* [given_count], counted over all references one after the other */
    ex_drive_options options;
    const ex_progress *progress; /* or NULL; false stops */
    const ex_tasks *tasks;
} ex_learn_def;

typedef struct ex_learned {
    int key_count;
    int *frames;        /* [key_count] in the order in which they were chosen */
    double *mean_error; /* [key_count]: over the references after that many keys; -1 where it was not measured */
    int frame_count;    /* moving frames that were taken */
    ex_residual residual;
    double error;   /* mean over the references, of the rig that came out, metres */
    double nearest; /* the same of the nearest key alone */
} ex_learned;

EX_API ex_result ex_drive_learn(const ex_learn_def *def, ex_rig **rig, ex_learned **learned, ex_error *error);
EX_API void ex_learned_free(ex_learned *learned);

/* ---- applying, measuring ---- */

typedef struct ex_apply_def {
    const ex_rig *rig;
    const char *driver; /* cache */
    const char *output; /* cache */
    const char *group;  /* of the rig's faces: only its vertices are written, in their order; or NULL */
    double database;    /* value of the axis of databases; NAN: rest */
    const char *truth;  /* cache to compare with, or NULL */
    bool unsettled;
    bool brief; /* the report is to cost next to nothing: no nearest keys, no deepest_after, no jumps (-1, 0) */
    const ex_progress *progress; /* or NULL; false stops */
    const ex_tasks *tasks;
} ex_apply_def;

/* A frame of a report. Distances in metres. */
typedef struct ex_drive_frame {
    double time;
    double hull_distance;            /* ex_driven */
    double mean, p95, worst;         /* error against the truth; -1 without */
    double nearest_mean, blend_mean; /* of the nearest key, and of the blend before settling */
    int worst_vertex;
    int penetrating, left;                /* before and after settling */
    double deepest_before, deepest_after; /* least signed distance, 0 where none is inside */
    double driver_jump, driven_jump;      /* largest motion of a vertex since the last frame, relative to the moving
                                             frame that carries it */
} ex_drive_frame;

typedef struct ex_drive_report {
    int frame_count, key_count, vertex_count;
    ex_drive_frame *frames;
    double *weights;       /* [frame_count][key_count] */
    double *vertex_errors; /* [vertex_count] means over frames; NULL without truth */
    double mean, p95, nearest_mean, nearest_p95, blend_mean, blend_p95; /* over all frames and vertices; -1 */
    double key_spread; /* how far keys are from each other, as hull_distance measures: the mean to the nearest of the
                          same database; 0 where no database has two */
    int far_count;     /* frames whose hull distance exceeds it: keys are missing there (figure 8) */
} ex_drive_report;

/* Writes output where it is given (whole or not at all), and measures where report is given. Results: DATA (another
 * connectivity, a frame that is not finite: frame and vertex named), FILE, MEMORY. */
EX_API ex_result ex_drive_apply(const ex_apply_def *def, ex_drive_report **report, ex_error *error);
EX_API void ex_drive_report_free(ex_drive_report *report);

#ifdef __cplusplus
}
#endif
#endif
