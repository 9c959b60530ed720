/*
 * exemplar/author/drive.h - databases of a driver and its driven mesh: a body and its clothes (DrivenShape).
 *
 * A driven rig holds pairs of keys: a form of the driver, and the form of the driven mesh on it. Learning chooses the
 * keys from a reference animation, which is not needed afterwards. Applying makes the clothes for a new animation of
 * the driver, frame by frame. Caches are read and written one frame at a time, so they may be larger than memory.
 * exemplar/rig.h and exemplar/settle.h describe how the rig follows its driver at run time.
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

/* ---- options: following a driver ---- */

/* The moving frame of the whole driver, with the names that project files use. */
#define EX_WHOLE_FRAME_LIST(X)                                                                                         \
    X(EX_WHOLE_FRAME_FIT, "fit")     /* fitted to all vertices, or to those of a group */                              \
    X(EX_WHOLE_FRAME_NONE, "none")   /* none: forms stay in place */                                                   \
    X(EX_WHOLE_FRAME_JOINT, "joint") /* a joint's frame */

typedef enum ex_whole_frame {
#define EX_WHOLE_FRAME_ENUM(name, text) name,
    EX_WHOLE_FRAME_LIST(EX_WHOLE_FRAME_ENUM)
#undef EX_WHOLE_FRAME_ENUM
        EX_WHOLE_FRAME_COUNT
} ex_whole_frame;

/* Returns the name of a kind of frame. */
EX_API const char *ex_whole_frame_name(ex_whole_frame frame);

/* A region made by hand: the driver vertices that it looks at, and the driven vertices that it weighs. */
typedef struct ex_drive_region {
    const float *look; /* [driver vertex_count], not negative, not all 0 */
    const float *mask; /* [driven vertex_count], not negative; scaled to sum to 1 over the regions */
} ex_drive_region;

/* Options of a driven rig. All lengths are in metres. Defaults are given in the comments. */
typedef struct ex_drive_options {
    ex_whole_frame frame;    /* default: fit */
    const char *frame_group; /* for fit: the group of driver faces that it is fitted to; NULL: all */
    int frame_joint;         /* for joint: a joint of the rig's skeleton */
    /*
     * Number of moving frames of parts. 0 or 1: only the frame of the whole, as in the paper. More: that many are
     * spread evenly over the part of the driver under the driven mesh, each fitted to its surroundings; driven vertices
     * follow the nearest few, and each frame is a region that weighs the keys by what it sees. Fewer if there is no
     * room for more. -1: the best number (learning tries 1, 8, 16 and 32; elsewhere 16; with `paths`, and with the
     * frame `none`, 0).
     */
    int frames;      /* default: -1 */
    double fit;      /* width of the bell that a frame's motion is fitted over, in distances between neighbouring
                        frames; default 0.75 */
    double look;     /* the same for a frame's weights; default 1.2 */
    double whole;    /* influence of the rest of the driver on a frame's weights; default 0.02 */
    int influences;  /* number of frames that move a vertex; default 4 */
    bool one_region; /* true: weigh by the whole driver, whatever the frames; default false */

    const float *driver_weights; /* [driver vertex_count], optional, not negative, not all 0: influence of each driver
                                    vertex when keys are weighed, multiplied by its area; 0 leaves a vertex out */
    int region_count;            /* number of regions made by hand, which replace those of the frames; default 0 */
    const ex_drive_region *regions;

    double ridge; /* ridge of the weigher; 0: its default */
    bool paths;   /* true: blend driver and driven along trajectories; default false. Requires one region */

    ex_residual residual; /* default EX_RESIDUAL_COUNT: `keys` with one frame; else the best that learning finds, and
                             elsewhere `none` */
    bool push;            /* default: true */
    double thickness;     /* default: 0.002 */
    int bind_count;       /* number of groups of driven vertices that see only some faces of the driver:
                             ex_drive_read_binds */
    const ex_bind *binds;
    const uint16_t *vertex_binds;
} ex_drive_options;

/* Returns the defaults. */
EX_API ex_drive_options ex_drive_options_default(void);

/* ---- building a rig from keys ---- */

/* A key: a form of the driver, and the form of the driven mesh on it. */
typedef struct ex_drive_key {
    const char *name;
    const float *driver; /* [driver vertex_count][3] */
    const float *driven; /* [driven vertex_count][3] */
    double database;     /* value on the axis of databases */
} ex_drive_key;

/* Definition of a driven rig: two meshes, keys and options. */
typedef struct ex_drive_def {
    const ex_mesh *driver;     /* its positions are the reference of the moving frames */
    const ex_mesh *driven;     /* the rig's mesh */
    const char *driver_name;   /* name of the input: "body" */
    const char *database_axis; /* name of the axis if the keys come from several databases (stiffness, …); or NULL */
    int key_count;
    const ex_drive_key *keys;
    ex_drive_options options;
} ex_drive_def;

/* Builds a rig of one layer, "driven". Results: ARGUMENT, DATA (two keys alike, an undetermined frame, …: named),
 * LIMIT, MEMORY. */
EX_API ex_result ex_drive_build(const ex_drive_def *def, ex_rig **rig, ex_error *error);

/* The definition that a driven rig was built from; owned by the set. Options that cannot be recovered from a rig's
 * tables are stored in a note of the rig. */
typedef struct ex_drive_set ex_drive_set;
/* Open a driven rig, get its definition, and release both. */
EX_API ex_result ex_drive_open(const ex_rig *rig, ex_drive_set **set, ex_error *error);
EX_API const ex_drive_def *ex_drive_get_def(const ex_drive_set *set);
EX_API void ex_drive_close(ex_drive_set *set);

/* Binds, read from a file (docs/guides/drive.md): {"binds": [{"driven": GROUPS, "driver": GROUPS}, …]}. Groups of faces
 * are given by name, or as {"colour": "r"}: vertices with more of that colour than of the others. Vertices that no
 * entry names see everything. Release *binds with ex_drive_free_binds. */
typedef struct ex_drive_binds {
    int bind_count;
    ex_bind *binds;
    uint16_t *vertex_binds;
} ex_drive_binds;
/* Read a file of binds, and release it. */
EX_API ex_result ex_drive_read_binds(const char *path, const ex_mesh *driver, const ex_mesh *driven,
                                     ex_drive_binds **binds, ex_error *error);
EX_API void ex_drive_free_binds(ex_drive_binds *binds);

/* Files of a predictor, which a project names beside its layer that follows motion. Write one; and read one, or the
 * bytes of one, with a check of all its numbers. path: for errors. Release *predictor with ex_predictor_destroy.
 * Results: FORMAT (no predictor, another version), DATA (damaged), FILE, MEMORY. */
EX_API ex_result ex_predictor_write(const char *path, const ex_predictor *predictor, ex_error *error);
EX_API ex_result ex_predictor_read(const char *path, ex_predictor **predictor, ex_error *error);
EX_API ex_result ex_predictor_parse(const void *bytes, size_t size, const char *path, ex_predictor **predictor,
                                    ex_error *error);

/* Distance of a key from others: root mean square over the driver's surface, in metres, in the moving frame of the
 * whole, as learning measures it. */
typedef struct ex_key_distance {
    double from_mesh; /* from the driver's mesh */
    int nearest;      /* the nearest other key of the same database; -1: none */
    double distance;  /* distance to that key */
} ex_key_distance;

/* Computes the distances [key_count] of all keys. Cost: key_count^2 comparisons of forms. Results: DATA, MEMORY. */
EX_API ex_result ex_key_distances(const ex_drive_def *def, ex_key_distance *distances, ex_error *error);

/* Makes the moving frame of the whole driver chosen by the options, as a driver of one frame: ex_driver_place gives its
 * motion. Release with ex_driver_destroy. Results: DATA (no such group), MEMORY. */
EX_API ex_result ex_drive_whole(const ex_mesh *driver, const ex_drive_options *options, ex_driver **whole,
                                ex_error *error);

/* ---- learning ---- */

/* Opens a cache of forms of a mesh, as learning and applying do. what: "driver" or "driven", for errors. mesh: the mesh
 * whose faces numbered OBJ files must have; may be NULL. Results: DATA (another number of vertices, other faces), FILE,
 * MEMORY. */
EX_API ex_result ex_drive_open_cache(const char *path, const char *what, int vertex_count, const ex_mesh *mesh,
                                     ex_cache_reader **reader, ex_error *error);
/* Checks that two caches of numbered OBJ files have the same numbers: frames are paired in their order. Caches without
 * numbers pass. Results: DATA, with the first number that only one has. */
EX_API ex_result ex_drive_check_pair(const ex_cache_reader *driver, const char *driver_path,
                                     const ex_cache_reader *driven, const char *driven_path, ex_error *error);
/* Reads one frame of a cache. Positions beyond the range in which distances are measured are refused, as non-finite
 * ones are. */
EX_API ex_result ex_drive_read_frame(ex_cache_reader *reader, const char *path, int frame, float *positions,
                                     ex_error *error);

/* Checks that a pair of forms can become a key of a rig: both in its units, the driven form on the driver, as learning
 * checks references. paths: for errors. Results: DATA (kind "form_unit" for a form of another size than the rig's mesh,
 * "driven_unit" and "driven_far" as for ex_drive_learn), MEMORY. */
EX_API ex_result ex_drive_check_fit(const ex_drive_def *def, const ex_drive_key *key, const char *driver_path,
                                    const char *driven_path, ex_error *error);

/* Ways to choose keys, with the names that the tool uses. */
#define EX_KEY_CHOICE_LIST(X)                                                                                          \
    X(EX_KEY_CHOICE_FARTHEST, "farthest") /* the frame whose driver is farthest from its nearest key (2.1) */          \
    X(EX_KEY_CHOICE_WORST, "worst")       /* the frame whose driven form the keys explain worst */

typedef enum ex_key_choice {
#define EX_KEY_CHOICE_ENUM(name, text) name,
    EX_KEY_CHOICE_LIST(EX_KEY_CHOICE_ENUM)
#undef EX_KEY_CHOICE_ENUM
        EX_KEY_CHOICE_COUNT
} ex_key_choice;

/* Returns the name of a way to choose keys. */
EX_API const char *ex_key_choice_name(ex_key_choice choice);

/* Ways to learn, with the names that the tool uses. */
#define EX_LEARN_LIST(X)                                                                                               \
    X(EX_LEARN_KEYS, "keys")     /* keys: a blend of frames with like poses (DrivenShape) */                           \
    X(EX_LEARN_MOTION, "motion") /* principal forms of all frames, weighed by how the driver moves                     \
                                    (exemplar/predict.h): clothes that swing */

typedef enum ex_learn_method {
#define EX_LEARN_ENUM(name, text) name,
    EX_LEARN_LIST(EX_LEARN_ENUM)
#undef EX_LEARN_ENUM
        EX_LEARN_METHOD_COUNT
} ex_learn_method;

/* Returns the name of a way to learn. */
EX_API const char *ex_learn_method_name(ex_learn_method method);

/* One reference animation: a take. Frames are numbered over all caches of all references one after the other, from 0,
 * with those that no range uses: a range changes no number. */
typedef struct ex_drive_reference {
    const char *driver, *driven; /* caches with the same number of frames, unless `count` says which are used; OBJ files
                                    with the same numbers */
    double database;
    int first;   /* first frame of both caches that is used, from 0 */
    int count;   /* number of frames used from there; 0: all that follow */
    double rate; /* frames per second; 0: the times of the driver's cache */
} ex_drive_reference;

/* A function that learning calls at most once, on the calling thread, when it has timed its first steps: about how many
 * seconds the rest will take. */
typedef struct ex_learn_estimate {
    void (*tell)(void *user, double seconds);
    void *user;
} ex_learn_estimate;

/* Definition of learning: meshes, reference animations, how to choose keys. */
typedef struct ex_learn_def {
    const ex_mesh *driver, *driven;
    const char *driver_name;   /* "body" */
    const char *database_axis; /* may be NULL */
    int reference_count;
    const ex_drive_reference *references;
    ex_learn_method method;
    ex_key_choice choice;
    int key_count;    /* keys per database; at least 1 */
    double until;     /* metres: stop once the mean error over the references is below this; 0: stop at key_count */
    int given_count;  /* number of frames chosen by hand, which come first */
    const int *given; /* [given_count], numbered over all references in sequence */
    /* Motion: number of forms, at least 1 (40 is usual); of states that the regression is built around (1000 is usual);
     * and the direction against gravity, of any length; 0: found from the driver's motion, y in doubt. */
    int form_count, landmark_count;
    double up[3];
    /* Units of the caches: their positions are multiplied by these, those of the meshes are not. 0 means 1. */
    double driver_scale, driven_scale;
    bool any_fit; /* true: accept driven forms that are of another unit than the driver, or far from it */
    ex_drive_options options;
    const ex_learn_estimate *estimate; /* optional */
    const ex_progress *progress;       /* optional; returning false stops */
    const ex_tasks *tasks;
    /*
     * Files of ex_drive_gather to learn from, in the order of the references, instead of references. Meshes, scales,
     * the axis of databases and the options that gathering used (ex_gather_def) then come from the files; those of this
     * struct must be NULL or 0, or are not looked at. The method must be that of the files.
     */
    int gathered_count;
    const char *const *gathered; /* [gathered_count] paths */
} ex_learn_def;

/* Report on learning. */
typedef struct ex_learned {
    int key_count;
    int *frames;        /* [key_count] in the order chosen, numbered as in ex_drive_reference */
    double *mean_error; /* [key_count]: mean error over the references after that many keys; -1 if not measured */
    int frame_count;    /* number of moving frames used */
    ex_residual residual;
    double error;   /* mean over the references for the resulting rig, metres; motion: before settling */
    double nearest; /* the same for the nearest key alone; -1: there are no keys */

    /* Motion. */
    int form_count, landmark_count;
    int learned_count;   /* number of frames learned from */
    double form_error;   /* root mean square over vertices of what the forms cannot hold, metres */
    double left_out;     /* root mean square over vertices, metres, on takes that were left out (cross-validation) */
    double width, ridge; /* of the kernel, 0 for a linear regression; of the regression */
    double motion;       /* how much motion counts beside the pose; 0: not at all */
    double sizes;        /* the same for sizes of the driver's parts */
    double up[3];        /* the direction against gravity */
} ex_learned;

/*
 * Learns a driven rig from reference animations, in two stages: what learning needs of each reference is gathered, and
 * the rig is learned from that alone. So it has the same bytes if ex_drive_gather did the first stage, in any order and
 * on any machine of the same kind. Errors are means over at most 512 evenly spread frames of each reference. Release
 * the report with ex_learned_free. Results: ARGUMENT, DATA (what is wrong with the references: kind "driven_unit" for
 * driven forms in another unit than the driver, "driven_far" for forms that are nowhere near it, "mesh_unit" for a mesh
 * in another unit than its cache; gathered files that do not go together), FORMAT (no gathered file, or one of another
 * version), FILE, LIMIT, MEMORY.
 */
EX_API ex_result ex_drive_learn(const ex_learn_def *def, ex_rig **rig, ex_learned **learned, ex_error *error);
EX_API void ex_learned_free(ex_learned *learned);

/* ---- gathering: the first stage of learning ---- */

/*
 * Definition of gathering: one reference animation, reduced to what learning needs of it. Fields that ex_learn_def has
 * too mean the same. Options that count: the frame of the whole and driver_weights; for motion also frames, fit,
 * influences and binds. The others are given when learning.
 */
typedef struct ex_gather_def {
    const ex_mesh *driver, *driven;
    ex_drive_reference reference;
    const char *database_axis; /* name of the axis that reference.database is on, or NULL */
    ex_learn_method method;
    int key_count;    /* keys: the number that will be learned, or more; 0: 64, which is also the least used */
    int given_count;  /* keys: number of frames that can be given by hand when learning */
    const int *given; /* [given_count] frames of the caches, from 0 */
    int form_count;   /* motion: the number of forms that will be learned, or more; at least 1 */
    double driver_scale, driven_scale;
    bool any_fit;
    ex_drive_options options;
    const ex_progress *progress; /* optional; returning false stops */
    const ex_tasks *tasks;
} ex_gather_def;

/*
 * Gathers one reference into a file, which is written completely or not at all. The caches are read at most twice, and
 * frame by frame. The file holds both meshes; and for keys up to 512 evenly spread frames and those that are farthest
 * from each other; for motion the moving frames of the driver in every frame, and the forms of up to 512 frames, or
 * principal forms and coefficients if there are more. Results: as ex_drive_learn.
 */
EX_API ex_result ex_drive_gather(const ex_gather_def *def, const char *path, ex_error *error);

/* A file of ex_drive_gather, opened and checked. */
typedef struct ex_gathered ex_gathered;

/* The content of such a file; what it points to belongs to the ex_gathered. */
typedef struct ex_gathered_info {
    ex_learn_method method;
    const char *driver_path, *driven_path; /* the caches, as they were named */
    int64_t driver_bytes, driven_bytes;    /* sizes of those files; 0 if they were several or none */
    const ex_mesh *driver, *driven;
    int cache_frame_count;     /* frames of the driver's cache */
    int first, count;          /* frames that were used */
    double rate;               /* as it was given; 0: the times of the cache */
    double database;           /* value on the axis */
    const char *database_axis; /* or NULL */
    int kept_count;            /* keys: frames kept with their forms; motion: frames with a form or coefficients */
    int form_count;            /* motion: principal forms; 0: all forms are kept as they are */
    double left;               /* motion: root mean square over vertices of what principal forms do not hold, metres */
    const ex_drive_options *options;
} ex_gathered_info;

/* Open a gathered file, tell its content, and release it. Everything in the file is checked. Results: FORMAT (no
 * gathered file, or another version), DATA (damaged or cut short), FILE, MEMORY. */
EX_API ex_result ex_gathered_open(const char *path, ex_gathered **gathered, ex_error *error);
EX_API const ex_gathered_info *ex_gathered_get_info(const ex_gathered *gathered);
EX_API void ex_gathered_close(ex_gathered *gathered);

/* ---- what to simulate next ---- */

/* Definition of a search for frames of an animation that are far from what a driven rig knows. */
typedef struct ex_suggest_def {
    const ex_rig *rig;
    const char *driver; /* cache */
    int first, count;   /* frames that are looked at, as in ex_drive_reference */
    double rate;        /* as in ex_apply_def */
    double driver_scale;
    int most;                    /* frames to name, at least 1 */
    const ex_progress *progress; /* optional; returning false stops */
} ex_suggest_def;

/* A frame to simulate. */
typedef struct ex_suggestion {
    int frame; /* of the cache, from 0 */
    double time;
    double distance; /* from what is known, frames named before it included: for a rig of keys, root mean square over
                        the driver's surface in metres, in the moving frame of the whole; for one that follows motion,
                        as ex_driven.unfamiliar */
} ex_suggestion;

/* Frames to simulate. */
typedef struct ex_suggestions {
    int count;
    ex_suggestion *frames; /* [count], the farthest first */
    double left;           /* distance of the farthest frame from what would then be known */
    double enough;         /* frames nearer than this are known well: the mean distance of keys; 1 for motion */
    bool by_motion;
} ex_suggestions;

/* Names the frames that are farthest from what is known, one after the other, each counted as known afterwards
 * (DrivenShape, 2.1, for a new animation). Stops at `most`, or when all are nearer than `enough`. Release with
 * ex_suggestions_free. Results: those of ex_drive_apply. */
EX_API ex_result ex_drive_suggest(const ex_suggest_def *def, ex_suggestions **suggestions, ex_error *error);
EX_API void ex_suggestions_free(ex_suggestions *suggestions);

/* ---- applying, measuring ---- */

/* A garment below the one that is made, for the same animation. */
typedef struct ex_apply_over {
    const char *cache;   /* its frames, as many as the driver's; in the unit of driven caches */
    const ex_mesh *mesh; /* its faces; of any direction, but each connected part facing one way */
} ex_apply_over;

/* Definition of applying a driven rig to an animation. */
typedef struct ex_apply_def {
    const ex_rig *rig;
    const char *driver; /* cache */
    const char *output; /* cache */
    const char *group;  /* optional group of the rig's faces: only its vertices are written, in their order */
    double database;    /* value of the axis of databases; NAN: rest */
    const char *truth;  /* cache to compare with, optional */
    int first, count;   /* frames of driver and truth that are used, as in ex_drive_reference */
    double rate; /* frames per second, from time 0 of the cache's first frame; 0: the times of the driver's cache */
    /* Units of the caches, as in ex_learn_def: driver and truth are multiplied by them, and the output is divided by
     * driven_scale. */
    double driver_scale, driven_scale;
    bool unsettled;
    bool untangle; /* true to remove crossings of the mesh with itself after settling (ex_untangle) */
    int over_count;
    const ex_apply_over *overs;  /* [over_count], innermost first: the mesh is put over them, outside by the rig's
                                   thickness (2 mm without one), where it is inside by less than 5 cm */
    bool brief;                  /* true: keep the report cheap: no nearest keys, no deepest_after, no jumps (-1, 0) */
    const ex_progress *progress; /* optional; returning false stops */
    const ex_tasks *tasks;
} ex_apply_def;

/* One frame of a report. Distances in metres. */
typedef struct ex_drive_frame {
    double time;
    double hull_distance;            /* see ex_driven; 0 for a rig that follows motion */
    double unfamiliar;               /* see ex_driven; 0 for a rig of keys */
    double mean, p95, worst;         /* error against the truth; -1 without it */
    double nearest_mean, blend_mean; /* of the nearest key, and of the blend before settling */
    int worst_vertex;
    int penetrating, left;                /* number of vertices inside, before and after settling */
    double deepest_before, deepest_after; /* least signed distance; 0 if none is inside */
    double driver_jump, driven_jump;      /* largest motion of a vertex since the last frame, relative to the moving
                                             frame that carries it */
    int crossings_before, crossings; /* pairs of crossing triangles that share no vertex, before and after untangling;
                                        -1 if not counted: brief, and not untangled */
    int truth_crossings;             /* of the truth; -1 without it, or brief */
    int covered_before, covered;     /* vertices inside garments below, at any depth, before and after; -1 without
                                        them */
} ex_drive_frame;

/* Report on applying a driven rig: frame by frame, and over all frames. */
typedef struct ex_drive_report {
    int frame_count, key_count, vertex_count;
    int first;      /* number of frames[0] in the driver's cache, from 0 */
    bool by_motion; /* true if the rig follows motion: its "keys" are forms, and nothing is known of nearest keys */
    ex_drive_frame *frames;
    double *weights;       /* [frame_count][key_count] */
    double *vertex_errors; /* [vertex_count] means over frames; NULL without truth */
    double mean, p95, nearest_mean, nearest_p95, blend_mean, blend_p95; /* over all frames and vertices; -1 without
                                                                           truth */
    double key_spread; /* distance between keys, measured as hull_distance is: mean distance to the nearest key of the
                          same database; 0 if no database has two */
    int far_count;     /* frames whose hull distance exceeds it: keys are missing there (figure 8); for a rig that
                          follows motion, frames that are farther from what was learned than learning met */
} ex_drive_report;

/* Applies a driven rig to an animation: writes the output if one is given (all of it or nothing), and measures if
 * report is given. A part of the frames (first, count) has the bytes that they have in the whole; see ex_drive_block
 * for its cost. Results: DATA (another connectivity, a frame that is not finite: frame and vertex named), FILE, MEMORY.
 */
EX_API ex_result ex_drive_apply(const ex_apply_def *def, ex_drive_report **report, ex_error *error);
EX_API void ex_drive_report_free(ex_drive_report *report);

/* Returns the number of frames after which ex_drive_apply begins anew, a power of two from 128 up. A part that begins
 * at a multiple of it, counting from 0, evaluates only its own frames. Others also evaluate those from the last
 * multiple on. A rig that follows motion sees a few frames more, without making forms. */
EX_API int ex_drive_block(const ex_rig *rig, const ex_cache_reader *driver, double rate);
/* Returns the time that ex_drive_apply gives to a frame of the driver's cache, in seconds: frame / rate, or with rate 0
 * the cache's own. */
EX_API double ex_drive_time(const ex_cache_reader *driver, int frame, double rate);
/* Makes the mesh that ex_drive_apply writes into OBJ and Alembic caches: the rig's, or the part of it that has a group
 * of faces. group: may be NULL. Results: DATA (no such group), MEMORY. */
EX_API ex_result ex_drive_mesh(const ex_rig *rig, const char *group, ex_mesh **mesh, ex_error *error);

/* A garment as a sheet, in one form. */
typedef struct ex_drive_sheet {
    int vertex_count;
    const float *positions; /* [vertex_count][3] */
    int triangle_count;
} ex_drive_sheet;

/* Turns triangles [triangle_count][3] of a garment so that they face away from its driver, each connected part as a
 * whole. A settler with them (open) then puts other garments over this one, frame by frame. Results: MEMORY. */
EX_API ex_result ex_drive_turn_outwards(const ex_drive_sheet *sheet, const ex_bounds *driver, uint32_t *triangles,
                                        ex_error *error);

#ifdef __cplusplus
}
#endif
#endif
