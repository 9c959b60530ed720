/*
 * exemplar/author/project.h - projects: the editable description from which a rig is built.
 *
 * A project is a JSON file that names meshes and places them as examples in spaces (docs/reference/project.md). It is
 * read strictly, edited as a JSON tree (which keeps the order of keys), built into a rig, checked, and written back. An
 * unpacked rig is a project again. Only one thread at a time may use an ex_project; different projects are independent.
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_H
#define EXEMPLAR_AUTHOR_PROJECT_H

#include <exemplar/author/base.h>
#include <exemplar/author/drive.h>
#include <exemplar/author/mesh.h>
#include <exemplar/author/scene.h>
#include <exemplar/author/trajectory.h>
#include <exemplar/rig_inspect.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- contents of a project, as parsed; owned by the project and changed by its edits ---- */

/* An axis of a layer. */
typedef struct ex_project_axis {
    const char *name;
    const char *unit; /* or NULL */
    ex_axis axis;
    const char *joint;  /* the joint it is read from; NULL: a dial, or the driver's form, which has no numbers in
                           points */
    ex_reading reading; /* quantity that is read from the joint */
} ex_project_axis;

/* A joint of an example's whole pose, relative to the joint's rest: `at` and `joints` combined. Rotated after the rest
 * rotation, moved along the joint's own axes at rest (metres), scaled on top of the rest scale. */
typedef struct ex_project_joint {
    const char *name;
    ex_transform relative;
} ex_project_joint;

/* An example of a layer. */
typedef struct ex_project_example {
    const char *name;
    const char *mesh;               /* path relative to the project file; NULL in layers of pixels and displacements */
    const char *image;              /* likewise, in a layer of pixels; else NULL */
    const char *map;                /* likewise, in a layer of displacements (ex_displacement_map_read); else NULL */
    const char *skeleton;           /* the example's own; NULL: the project's */
    const char *sculpt;             /* the form that all layers together should give at its pose; NULL: the mesh's */
    bool reference;                 /* in a layer of trajectories: true for the project's mesh itself */
    const ex_project_joint *joints; /* [joint_count]: the joints of its whole pose that are not at rest */
    int joint_count;
    const double *at;               /* [dimension]; NULL in a direct layer */
    const double *const *points;    /* [layer_count]: the point of its whole pose in every layer's space; axes that `at`
                                       does not name are at rest, and an example of a direct layer has its own axis at
                                       1 */
    const ex_project_joint *locals; /* [local_count], in a layer weighed by a driver: joints whose whole local transform
                                       is given, in place of one relative to rest */
    int local_count;
    const char *driver; /* the driver's form in its whole pose: a path; NULL: the project's driver */
    bool rest;          /* in a layer weighed by a driver: true if its form is at rest, not moved with the driver */
    int place;          /* position in the file's list of examples, counting muted ones */
} ex_project_example;

/* Sources of a mask. */
typedef enum ex_mask_kind { EX_MASK_NONE, EX_MASK_FILE, EX_MASK_GROUP, EX_MASK_COLOUR, EX_MASK_JOINTS } ex_mask_kind;

/* A mask over vertices. */
typedef struct ex_project_mask {
    ex_mask_kind kind;
    const char *source;        /* file, group name, or "r", "g", "b" */
    const char *const *joints; /* [joint_count]; the mask is the sum of their skin weights */
    int joint_count;
} ex_project_mask;

/* A region made by hand: the driver vertices that it looks at, and the vertices that it weighs. */
typedef struct ex_project_region {
    ex_project_mask look, mask;
} ex_project_region;

/* Examples in which a vertex of a layer of offsets takes part, with the names that project files use. */
#define EX_PARTICIPATION_LIST(X)                                                                                       \
    X(EX_PARTICIPATION_LAYER, "layer") /* a vertex that any example moves is held at all of them, and at rest */       \
    X(EX_PARTICIPATION_MOVED, "moved") /* a vertex is held only at those that move it */

typedef enum ex_participation {
#define EX_PARTICIPATION_ENUM(name, text) name,
    EX_PARTICIPATION_LIST(EX_PARTICIPATION_ENUM)
#undef EX_PARTICIPATION_ENUM
        EX_PARTICIPATION_COUNT
} ex_participation;

/* Settings of layers of pixels. Here and below: zero in layers of other domains. */
typedef struct ex_project_pixels {
    const char *texture;  /* "base_color", …, or "MATERIAL/base_color" */
    const char *material; /* the only material that shows it; NULL: all */
} ex_project_pixels;

/* Settings of layers of offsets. */
typedef struct ex_project_offsets {
    ex_offset_frame frame;
    ex_participation participation;
    bool rest;        /* true: a zero at the layer's rest pose; default true if participation is `layer` */
    bool protect;     /* true: zeros at the poses of earlier layers' examples */
    bool posed;       /* true: sculpts are at their example's pose; false: at rest, as unpacking writes them */
    double tolerance; /* metres: smaller movements count as none; below 0: the default, 5e-6 of the mesh's size */
} ex_project_offsets;

/* Settings of layers of trajectories. */
typedef struct ex_project_trajectory {
    const ex_trajectory_options *options; /* settings for finding paths; its segments are NULL */
    const char *segments;                 /* file of given segments, or NULL */
} ex_project_trajectory;

/* A layer of a project. */
typedef struct ex_project_layer {
    const char *name;
    ex_domain domain;
    bool unposed; /* true: forms are at their example's pose and building un-poses them; files then say "unposed"
                     (ex_project_layer_shape) */
    bool muted;   /* true: built, but left out of evaluation unless switched on; later layers are measured without it */
    const ex_project_axis *axes;
    int axis_count;
    int dimension;                      /* numbers in a point */
    ex_weigher_def weigh;               /* complete: axes, points, pseudos, names of examples */
    const ex_project_example *examples; /* those that are not muted: the weigher's */
    int example_count;
    const ex_project_example *muted_examples; /* the muted ones, left out of the build; at is NULL in a direct layer */
    int muted_count;
    int pseudo_count;  /* in the file */
    int zero_count;    /* pseudo-examples after those, not in the file, with zero weight for every example: `rest`,
                          `protect` */
    bool auto_falloff; /* gaussian: true if building chooses the falloffs ("auto") */

    ex_project_mask mask; /* of displacements: a file over the vertices of the last level, or none */

    ex_project_pixels pixels;
    ex_project_offsets offsets;
    ex_project_trajectory trajectory;

    /* layers weighed by a driver */
    bool driven;                    /* true if this is one */
    bool one_region;                /* true: weighed by the whole driver, whatever its moving frames */
    ex_project_mask driver_weights; /* of the driver's vertices */
    const ex_project_region *regions;
    int region_count;
    const char *predictor; /* file of the predictor (ex_predictor_read); NULL unless the layer follows motion */
} ex_project_layer;

/* The mesh that drives a rig, and how the rig follows it and settles on it. */
typedef struct ex_project_driver {
    const char *name;         /* of its axis */
    const char *mesh;         /* NULL: the project has no driver */
    const char *joint;        /* of the moving frame; NULL if it has none */
    const char *bind;         /* file of binds, or NULL */
    bool residual;            /* true if options.residual was given; else it is chosen */
    ex_drive_options options; /* except for what is in other files, the number of the joint, and the layer's settings */
} ex_project_driver;

/* The contents of a project. */
typedef struct ex_project_view {
    const char *path; /* of the project file, as given; "" if it has none yet */
    const char *mesh;
    const char *skeleton; /* a glTF file with a skin, or NULL */
    ex_skinning skinning;
    const char *materials; /* a glTF file with the materials of the mesh, found by name; or NULL */
    const char *clips;     /* a glTF file with animations of the joints and dials; or NULL */
    const ex_project_layer *layers;
    int layer_count;
    bool subdivide;
    ex_subdivide_def subdivision; /* used if subdivide is true */
    ex_project_driver driver;
    double unit; /* metres in the project's unit */
    bool z_up;   /* true: meshes have z up and are turned to y up when read */
} ex_project_view;

/* ---- reading, writing, editing ---- */

/* Limits on metres per unit; beyond them the next factor would leave the range of float. */
#define EX_UNIT_LEAST 1e-15
#define EX_UNIT_MOST  1e15

/* Gets the metres in a unit of that name ("mm", "cm", …); returns false if there is no such unit. */
EX_API bool ex_unit_metres(const char *name, double *metres);

/* A project in memory. */
typedef struct ex_project ex_project;

/* Read and check a project; none of its meshes is opened. Errors name the path in the file:
 * layers[1].examples[3].at.elbow. */
EX_API ex_result ex_project_read(const char *path, ex_project **project, ex_error *error);
EX_API ex_result ex_project_parse(const char *text, size_t size, const char *path, ex_project **project,
                                  ex_error *error);
/* Writes a project to path (NULL: the file it was read from); safe against a crash half-way. */
EX_API ex_result ex_project_write(const ex_project *project, const char *path, ex_error *error);
/* Releases a project. NULL is fine. */
EX_API void ex_project_destroy(ex_project *project);
/* Returns the contents of a project, which belong to it. */
EX_API const ex_project_view *ex_project_get(const ex_project *project);
/* Returns the file's word for the kind of the layer's examples: ex_domain_name, or "unposed". */
EX_API const char *ex_project_layer_shape(const ex_project_layer *layer);

/*
 * Applies an edit of a space to a project. On failure the project is unchanged. `layer` and `index` are numbers; points
 * are [dimension] of that layer. An edit invalidates earlier results of ex_project_get. edit.index and its other fields
 * mean the same as in ex_weigher_edit; name and mesh (the image in a layer of pixels, the map in one of displacements)
 * are required only for EX_EDIT_ADD_EXAMPLE.
 */
EX_API ex_result ex_project_edit(ex_project *project, int layer, const ex_edit *edit, const char *name,
                                 const char *mesh, ex_error *error);

/* Reads the mask of a layer as numbers, from the source that the project names: *values [*vertex_count] over the mesh
 * (release with free), NULL and 0 if the layer has none. Not for layers of displacements, whose masks are over the
 * refined surface. Results: DATA, FILE, MEMORY. */
EX_API ex_result ex_project_read_mask(const ex_project *project, int layer, float **values, int *vertex_count,
                                      ex_error *error);

/* ---- building ---- */

/* A function that building calls for every example with vertices that un-posing cannot restore exactly
 * (EX_UNPOSE_LIMIT). list is ascending and valid only during the call. */
typedef struct ex_damped_report {
    void (*report)(void *user, int layer, int example, const ex_damped *list, int count);
    void *user;
} ex_damped_report;

/* Paths of layers of trajectories, kept from one build or check to the next. Finding them takes seconds to minutes, and
 * they depend on forms and "trajectory" alone, not on spaces and weighers. Those used last stay, up to a number of
 * bytes. Any number of threads may build and check with one at the same time. */
typedef struct ex_kept_paths ex_kept_paths;
/* Makes an empty one, or NULL without memory; and releases it, after all builds and checks with it. most: bytes to
 * keep; 0: 256 MiB. The layer found last stays, however large it is. */
EX_API ex_kept_paths *ex_kept_paths_create(size_t most);
EX_API void ex_kept_paths_destroy(ex_kept_paths *kept);
/* Also keeps them in files of that folder, which is made if it is missing, so that other processes on this machine find
 * them. Call it before the first build. Files of another version of the library, and damaged ones, are as good as none.
 * most: bytes of the files, of which the ones used last stay; 0: 512 MiB. False if the folder's name is empty or longer
 * than 1023 bytes. */
EX_API bool ex_kept_paths_use_folder(ex_kept_paths *kept, const char *folder, size_t most);

/* Options of building. */
typedef struct ex_build_options {
    ex_rig_options rig;
    const ex_progress *progress;                /* optional; returning false stops */
    const ex_damped_report *damped;             /* optional */
    void (*note)(void *user, const char *text); /* optional: called with a sentence about what building chose or had to
                                                   add: falloffs by cross-validation (leave-one-out), a ridge and the
                                                   pose to blame */
    void *note_user;
    const ex_tasks *tasks;     /* optional: shares out long work; the rig does not depend on it */
    ex_kept_paths *kept_paths; /* optional: paths that are there are not found again; the rig does not depend on it */
} ex_build_options;

/* Builds a rig: reads the meshes, un-poses them if their layer requires it, measures the examples' differences, solves
 * the spaces and lays out the rig. options may be NULL. */
EX_API ex_result ex_project_build(const ex_project *project, const ex_build_options *options, ex_rig **rig,
                                  ex_error *error);

/* Turns a rig back into a project: writes NAME.json, mesh.obj, every example as an OBJ, PNG or PLY file, and
 * skeleton.glb if there is one, into directory (made if missing). Forms are written at rest, in layers of "positions"
 * or, if the rig has sparse offsets, of "offsets" with "posed": false. Refuses to overwrite any file unless told to.
 * The files replace older ones all together; on failure, those are as before (ex_file_set). Building that project gives
 * a rig with the same bytes. */
EX_API ex_result ex_project_unpack(const ex_rig *rig, const char *directory, const char *name, bool overwrite,
                                   ex_error *error);

/* Writes the rig's skeleton and skin as a .glb file, which a project may name as its "skeleton": reading it gives the
 * same skeleton and skin, bit for bit. Results: DATA (the rig has no skeleton), FILE, MEMORY. */
EX_API ex_result ex_skeleton_write(const char *path, const ex_rig *rig, ex_error *error);

/* A function that gets a sentence for everything that is left out or changed; text is valid only during the call. */
typedef struct ex_init_report {
    void (*note)(void *user, const char *text);
    void *user;
} ex_init_report;

/* Options of ex_project_init. */
typedef struct ex_init_options {
    bool overwrite;  /* true: replace existing files */
    bool keep_seams; /* true: keep the scene's vertices, split at breaks of normals and texture coordinates */
} ex_init_options;

/*
 * Makes a project from a glTF scene: NAME.json, mesh.obj, skeleton.glb if a mesh has a skin, and every morph target as
 * an OBJ file, into directory (made if missing). The mesh is the visible scene, as ex_scene_to_form gives it; if there
 * are skins, everything attached to the one that moves the most vertices. Vertices of a node that agree bit for bit in
 * position, colour, targets and influences are merged if the faces next to them close an edge. Targets become the
 * examples of one direct layer "targets", each with an axis from 0 to 1 of its name, whose rest value is the scene's;
 * targets of the same name in several meshes are one. A scene without targets gives a project without layers. At rest,
 * the rig has the scene's pose. Files are treated as in ex_project_unpack. options (default: all false) and report may
 * be NULL. The rig is built in memory before anything is written, so a project that was made can be built. Results:
 * DATA (a scene that no rig can be made from, with the reason), FILE, MEMORY, LIMIT.
 */
EX_API ex_result ex_project_init(const ex_scene *scene, const char *directory, const char *name,
                                 const ex_init_options *options, const ex_init_report *report, ex_error *error);

/* A form that a project starts with: an OBJ, PLY, OFF or glTF file with the vertices and faces of the mesh. */
typedef struct ex_init_form {
    const char *path;
    const char *name; /* of the example, and of its axis if it has one of its own */
    const double *at; /* [axis_count] of the space; NULL without a space */
} ex_init_form;

/* The forms of a new project: a mesh at rest, and shapes of it. */
typedef struct ex_init_forms {
    ex_init_form rest;         /* the mesh; with a space, an example too: at [axis_count], NULL for 0 on every axis */
    const ex_init_form *forms; /* [form_count] */
    int form_count;
    const char *const *axes; /* [axis_count] names of the axes of the space */
    int axis_count;          /* 0: no space; every form has an axis from 0 to 1 with its own name */
    bool trajectory;         /* true: vertices move on paths that turn; false: on straight lines */
} ex_init_forms;

/*
 * Makes a project from forms: NAME.json with one layer, mesh.obj, and every form as an OBJ file, into directory (made
 * if missing). Without a space the layer is direct, with an axis per form. With a space the layer is cardinal, with the
 * mesh as one of its examples; the range of each axis is that of the examples. Vertices in another order are matched by
 * texture coordinates or by position, which is reported as a note. Forms are read one at a time, and built in memory
 * before anything is written. Files are treated as in ex_project_unpack. options and report may be NULL. Results: DATA
 * (a form with other vertices or faces, two names or places that are the same, an axis without a range), FILE, MEMORY.
 */
EX_API ex_result ex_project_init_forms(const ex_init_forms *forms, const char *directory, const char *name,
                                       const ex_init_options *options, const ex_init_report *report, ex_error *error);

/* ---- values by name: poses and places ---- */

/* Kinds of value. */
typedef enum ex_setting_kind {
    EX_SETTING_NUMBER,   /* number, in the axis's unit */
    EX_SETTING_ROTATION, /* rotation */
    EX_SETTING_TURNS,    /* turns */
    EX_SETTING_FILE      /* file: a driver's form */
} ex_setting_kind;

/* A rotation about a joint's own x (0), y or z, in degrees. */
typedef struct ex_axis_turn {
    int axis;
    double degrees;
} ex_axis_turn;

/* The value of one axis or joint, identified by name. A pose treats turns and rotations alike; a project file keeps
 * turns as given, each about the axis as left by the ones before it. */
#define EX_SETTING_TURN_MAX 8
typedef struct ex_setting {
    const char *name; /* of the axis, or of the joint */
    bool joint;       /* true: a joint's rotation relative to its rest */
    ex_setting_kind kind;
    double number;
    double rotation[4]; /* x y z w, any nonzero length */
    int turn_count;
    ex_axis_turn turns[EX_SETTING_TURN_MAX];
    const char *file; /* .obj, .ply, .off, .glb or .gltf */
} ex_setting;

/* A list of settings that gives a place. Axes and joints that are not named are at rest, or keep their value. */
typedef struct ex_place {
    const ex_setting *settings; /* [count] */
    int count;
} ex_place;

/* ---- sculpts: forms at a pose that become examples ---- */

/*
 * The functions below change a project in memory and on disk as one: they write the form of a sculpt next to the
 * project, build the changed project, and only then replace the project's file, keeping the previous one as a version
 * to undo (exemplar/author/history.h) and with "~" after its name. On failure project, file and folder are unchanged.
 * The project must have been read from a file. Layers and examples are identified by name. options, for the build, may
 * be NULL; its note also reports what was chosen.
 */

/* A sculpt: a form at a pose, to be added as an example. */
typedef struct ex_sculpt {
    const char *layer; /* NULL: the layer that the place belongs to. In this order: the layer of offsets over exactly
                          the axes that `at` moves from rest; the layer of forms whose space has all of them; a new
                          layer of offsets. A slider of a direct layer alone at 1 is the place of its example */
    const char *name;  /* of the example; optional with replace */
    const char *form;  /* a file, .obj, .ply, .off, .glb or .gltf, in the project's unit and up axis */
    ex_place at;       /* its place. A joint in it that no axis reads becomes an axis of the new layer: an angle if it
                          turns about its own x, y or z alone, else a rotation */
    ex_place joints;   /* other joints that were turned, in any space */
    ex_place falloff;  /* its falloff: one number without a name, in distances of the space, or one per axis in the
                          axis's unit; none: the layer's */
    bool replace;  /* true: the example at that place, or without a place the one of that name, gets this form; its name
                      and falloff stay */
    double scale;  /* factor for the positions in the file; 0: 1 */
    bool any_size; /* true: takes a form that must be in another unit, or is far from the mesh; else it is refused */
} ex_sculpt;

/* Result of adding a sculpt. */
typedef struct ex_sculpted {
    int layer, example; /* numbers of the example in ex_project_get */
    bool new_layer;
    bool reordered;   /* true if its vertices were in another order than the mesh's and were reordered */
    int vertex_count; /* of the mesh */
    int moved_count;  /* vertices that the example moves */
    double largest;   /* farthest that it moves one of them, in metres, at its pose */
    int damped_count; /* vertices that cannot be restored */
    double error;     /* at the example's pose, with all layers and the skin: largest distance of a vertex from the
                         sculpt, in metres */
    int farthest;     /* that vertex */
    double size;      /* of the mesh as it is posed at rest, in metres */
    int lost_count;   /* other examples whose form at their own pose is not as before; 0 from mirroring */
    int lost_layer, lost_example; /* the one that changed most, in ex_project_get; only if lost_count > 0 */
    double loss;                  /* by how far it changed there: largest way of a vertex, posed, in metres */
} ex_sculpted;

/*
 * Adds a sculpt to the project. At its pose, the rig then gives the sculpt through all layers and the skin, also if
 * the layer holds forms at rest, or if later layers add to it: the form that is written accounts for them. The ranges
 * of axes grow to hold the place. A form with its vertices in another order than the mesh's is reordered if texture
 * coordinates, rest positions or the posed form identify them. A file in the project's folder that needs no change is
 * referenced; others are written as LAYER/NAME.obj, or under the next free name. Results: DATA (another connectivity,
 * with the first difference and how to export; another unit, with the factor; a place that is taken; an unknown axis),
 * FILE, MEMORY and those of building.
 */
EX_API ex_result ex_project_add_sculpt(ex_project *project, const ex_sculpt *sculpt, const ex_build_options *options,
                                       ex_sculpted *made, ex_error *error);

/* Sides of a character, by the words for left and right in names. */
typedef enum ex_side { EX_SIDE_NONE, EX_SIDE_LEFT, EX_SIDE_RIGHT } ex_side;

/* Ways to find the counterpart of a vertex in a mirror, with their words. */
#define EX_MATCH_LIST(X)                                                                                               \
    X(EX_MATCH_SYMMETRIC, "symmetric") /* the vertex at the mirror image, on the mesh as it stands at rest */          \
    X(EX_MATCH_TOPOLOGY, "topology")   /* the vertex with the mirrored faces around it */                              \
    X(EX_MATCH_NEAREST, "nearest")     /* the nearest point of the surface */

typedef enum ex_match {
#define EX_MATCH_ENUM(name, text) name,
    EX_MATCH_LIST(EX_MATCH_ENUM)
#undef EX_MATCH_ENUM
        EX_MATCH_COUNT
} ex_match;

/* Returns the word for a way to find counterparts. */
EX_API const char *ex_match_name(ex_match match);

/* Examples to mirror: one by name; a whole layer, with its pseudo-examples, if only the layer is given; or all
 * examples of a side. */
typedef struct ex_mirroring {
    const char *layer; /* with a name, NULL: the only layer with an example of that name */
    const char *name;
    ex_side from;   /* with neither a name nor a layer: the side whose examples are mirrored to the other */
    const char *as; /* the new example's name; NULL: the name with left and right exchanged */
    char plane;     /* 'x', 'y' or 'z': the coordinate of the project's forms, as they stand, that is mirrored; 0: found
                       from the mesh at rest and from joints in pairs */
    double offset;  /* position of that plane, in the project's unit */
    double tolerance; /* largest distance of a counterpart from the mirror image, in sizes of the mesh; 0: 1e-4 for
                         symmetric vertices, 0.1 by topology, 0.02 for the nearest point */
    bool replace;     /* true: an example at the mirrored place gets the mirrored form */
} ex_mirroring;

/* A mirrored example. */
typedef struct ex_mirrored {
    ex_sculpted sculpted;
    double normal[3], offset; /* the plane: normal * p = offset, in metres with y up */
    bool as_bound;            /* true: that is a plane of the mesh as it was bound, which is symmetric, while the rest
                                 pose is not */
    int matched[EX_MATCH_COUNT]; /* vertices that it moves, by how their counterparts were found */
    double farthest;             /* largest distance of those counterparts from the mirror images at rest, in metres */
} ex_mirrored;

/*
 * Adds the mirror images of examples: sculpts, and forms at rest such as morph targets. The offset of each vertex from
 * the form at the same pose without the example is reflected, and added to the form at the mirrored pose. So only
 * vertices that an example moves need counterparts; the rest of the mesh, its skin weights and its positions, need not
 * be symmetric. Poses are mirrored through the joints' counterparts, found by name (ex_mirror_name) and position, so
 * that world rotations are reflected. The example goes to the layer of the same kind with the mirrored axes, which is
 * made if missing, with a mirrored mask. In a direct layer it gets an axis of its own. Mirroring twice restores an
 * example. *made [*made_count], in order (release with free), and made_count may both be NULL. Results: as for sculpts,
 * and DATA for vertices or joints without a counterpart, which are named.
 */
EX_API ex_result ex_project_mirror(ex_project *project, const ex_mirroring *mirroring, const ex_build_options *options,
                                   ex_mirrored **made, int *made_count, ex_error *error);

/* Returns the name with left and right exchanged: LeftArm, arm_L, arm.l, l_arm, arm-right, "left arm"; a copy if it has
 * neither. Release with free; NULL without memory. */
EX_API char *ex_mirror_name(const char *name);

/* Finds the mirror image [vertex_count] of each vertex, whose own mirror image is that vertex: by position and faces if
 * the faces are mirrored too, else by position alone. Release with free. Results: DATA (vertices without a counterpart
 * within the tolerance, in sizes of the mesh), MEMORY. */
EX_API ex_result ex_mesh_mirror_map(const ex_mesh *mesh, int plane, double offset, double tolerance, int **map,
                                    ex_error *error);

/* Names an example. layer may be NULL if only one layer has an example of that name. */
typedef struct ex_example_ref {
    const char *layer;
    const char *name;
} ex_example_ref;

/* Changes to the place of an example. */
typedef struct ex_example_move {
    ex_place at;        /* axes that are not named keep their value */
    ex_place joints;    /* replaces the present joints; none: unchanged */
    ex_place falloff;   /* as in ex_sculpt; none: unchanged */
    bool layer_falloff; /* true: use the layer's falloff from now on */
} ex_example_move;
/* Moves an example to another place. */
EX_API ex_result ex_project_move_example(ex_project *project, ex_example_ref which, const ex_example_move *move,
                                         const ex_build_options *options, ex_error *error);
/* Removes the example; its form stays on disk. A layer that loses its last example is removed too. */
EX_API ex_result ex_project_remove_example(ex_project *project, ex_example_ref which, const ex_build_options *options,
                                           ex_error *error);
/* Mutes an example or unmutes it; the whole layer if the name is NULL. */
EX_API ex_result ex_project_mute(ex_project *project, ex_example_ref which, bool muted, const ex_build_options *options,
                                 ex_error *error);

/* Things that have names. */
typedef enum ex_rename_kind { EX_RENAME_EXAMPLE, EX_RENAME_LAYER, EX_RENAME_AXIS } ex_rename_kind;

/* A new name. */
typedef struct ex_rename {
    ex_rename_kind kind;
    const char *layer; /* of an example; NULL if only one layer has an example of that name */
    const char *name;  /* the present name */
    const char *to;    /* the new one */
} ex_rename;
/* Renames an example, a layer, or an axis in all layers, and everything in the project that refers to it. Files keep
 * their names. A slider that has the name of its example is renamed with it. Results: DATA (a name that is taken, not
 * valid, or unknown), and those of building. */
EX_API ex_result ex_project_rename(ex_project *project, const ex_rename *rename, const ex_build_options *options,
                                   ex_error *error);

/* Makes a layer calm: its "weigh" becomes {"kind": "calm"}, and falloffs and metrics of its points are removed.
 * Results: DATA (no such layer, or one that cannot be calm: direct, driven, or weighed among the examples that move a
 * vertex), and those of building. */
EX_API ex_result ex_project_calm(ex_project *project, const char *layer, const ex_build_options *options,
                                 ex_error *error);

/* A pseudo-example: a place that borrows the weights at `from`, or given weights, numbers by the names of examples;
 * exactly one of the two. For moving, both may be empty. */
typedef struct ex_pseudo_place {
    const char *layer;
    ex_place at, from, weights;
} ex_pseudo_place;
/* Adds a pseudo-example. */
EX_API ex_result ex_project_add_pseudo(ex_project *project, const ex_pseudo_place *pseudo,
                                       const ex_build_options *options, ex_error *error);
/* Move and remove a pseudo-example. index: position in the layer's list in the file. */
EX_API ex_result ex_project_move_pseudo(ex_project *project, const ex_pseudo_place *pseudo, int index,
                                        const ex_build_options *options, ex_error *error);
EX_API ex_result ex_project_remove_pseudo(ex_project *project, const char *layer, int index,
                                          const ex_build_options *options, ex_error *error);

/* ---- checking ---- */

/* Severities of findings. */
typedef enum ex_severity {
    EX_SEVERITY_ERROR,   /* the project does not build, or builds into something wrong */
    EX_SEVERITY_WARNING, /* it builds, but will cause trouble */
    EX_SEVERITY_NOTE     /* a measurement */
} ex_severity;

/* One finding of a check. */
typedef struct ex_finding {
    ex_severity severity;
    const char *kind;   /* "close_examples", "condition", "leave_one_out", "weight_range", "connectivity", … */
    const char *where;  /* layers[0].examples[3] */
    const char *text;   /* a sentence */
    double value;       /* the number in the text, if there is one; else 0 */
    const char *remedy; /* "calm" if ex_project_calm for its layer was tried and helps; else NULL */
    const char *pose;   /* in words, "kick=0.5 leap=0.5", if it is about one pose that dials can set; else NULL */
} ex_finding;

/* The findings of a check. */
typedef struct ex_check {
    ex_finding *findings;
    int finding_count;
    int error_count, warning_count;
} ex_check;

/* Options of checking. */
typedef struct ex_check_options {
    int sample_count;            /* points of the space sampled per layer; 0: the default, 4096 */
    const ex_progress *progress; /* optional */
    int mixture_count;     /* layers of trajectories: random mixtures that are measured, besides up to ten times as many
                              chosen ones; 0: the default, 10, with fewer chosen ones for meshes above 30 000 triangles;
                              negative: none */
    const ex_tasks *tasks; /* optional */
    ex_kept_paths *kept_paths; /* optional, as for building */
} ex_check_options;

/* Checks a project: reports everything that is wrong or weak, not just the first thing; EX_OK even if errors were
 * found. If progress stops it: FILE. */
EX_API ex_result ex_project_check(const ex_project *project, const ex_check_options *options, ex_check **check,
                                  ex_error *error);
EX_API void ex_check_destroy(ex_check *check);

/* ---- comparing rigs ---- */

/* One difference between two rigs. */
typedef struct ex_difference {
    const char *kind;  /* "mesh", "layer", "axis", "weigher", "example", "pseudo", "skeleton", "joint", "skin", "level",
                          "texture", "trajectory", "driver", "note" */
    const char *where; /* "layer 'body', example 'bent'"; "" for the whole rig */
    const char *text;  /* a sentence, or the half of one that follows "where:" */
    double largest;    /* largest difference of a number, or distance of a vertex, if there is one; else 0 */
    double rms;        /* likewise over all of them; for images the mean */
} ex_difference;

/* The differences between two rigs. */
typedef struct ex_differences {
    ex_difference *items;
    int count;
} ex_differences;

/* Lists all differences of the second rig from the first; numbers within the tolerance count as equal (positions in
 * metres, pixels from 0 to 1). Layers, axes, examples and joints are matched by name; if both have the same number,
 * unmatched ones in the same position count as renamed. Results: MEMORY. */
EX_API ex_result ex_rig_compare(const ex_rig *rig, const ex_rig *other, double tolerance, ex_differences **differences,
                                ex_error *error);
EX_API void ex_differences_destroy(ex_differences *differences);

/* ---- poses ---- */

/* Writes one value into a pose that has all its arrays. A driver's form is a file, in metres with y up; the pose must
 * then come from ex_pose_create. Results: DATA (an unknown name: the nearest is suggested; a value of another kind than
 * the axis), FILE, MEMORY. */
EX_API ex_result ex_pose_set(const ex_rig *rig, const ex_setting *setting, const ex_pose *pose, ex_error *error);

/* A table of poses from CSV: a header of axis names (rotations as NAME.x … NAME.w, joints relative to their rest as
 * joint:NAME.x … joint:NAME.w), optional `time` in seconds. */
typedef struct ex_pose_table {
    int pose_count;
    ex_pose *poses; /* [pose_count], complete; owned by the table */
    double *times;  /* [pose_count] or NULL */
} ex_pose_table;
/* Read a table of poses, and release its arrays. */
EX_API ex_result ex_pose_table_read(const char *path, const ex_rig *rig, ex_pose_table *table, ex_error *error);
EX_API void ex_pose_table_free(ex_pose_table *table);

/* Makes a pose at rest with all its arrays, including a form of the driver, in one allocation: release with
 * free(pose->inputs). inputs NULL without memory. */
EX_API ex_pose ex_pose_create(const ex_rig *rig);

/* ---- a project from forms ---- */

/* Definition of a warp: a reference form, and the forms it turns into. */
typedef struct ex_warp_def {
    const char *reference; /* file of the form that the others start from: .obj, .ply, .off, .glb or .gltf */
    int form_count;
    const char *const *forms;      /* [form_count] files of the same connectivity */
    ex_trajectory_options options; /* its segments are ignored; use these: */
    const char *segments;          /* file of given segments (docs/reference/project.md), optional */
} ex_warp_def;

/*
 * Makes a project, without a file, of one direct layer "warp" of trajectories from the reference to every form, each
 * from 0 to 1 along an axis named after the form's file; with a single form, along "t". Reads the files to check that
 * they belong together. Results: ARGUMENT, DATA (another connectivity, with the first face that differs; faces that run
 * the other way round; no faces), MEMORY, and those of reading.
 */
EX_API ex_result ex_warp_project(const ex_warp_def *def, ex_project **project, ex_error *error);

/* The trajectories of a layer of a rig, for ex_trajectories_form and ex_warp_report_create, with the options they were
 * found with. The caller may set def.tasks and def.progress; everything else belongs to this structure and to the rig,
 * which must outlive it. */
typedef struct ex_rig_trajectories {
    ex_trajectories_def def;
    ex_trajectories found; /* without fits and triangle_segments, which a rig does not hold */
} ex_rig_trajectories;
/* Open and close the trajectories of a layer. Results: ARGUMENT (no such layer, or one of another domain), DATA (the
 * rig's note of how they were found is damaged), MEMORY. */
EX_API ex_result ex_rig_trajectories_open(const ex_rig *rig, int layer, ex_rig_trajectories **trajectories,
                                          ex_error *error);
EX_API void ex_rig_trajectories_close(ex_rig_trajectories *trajectories);

#ifdef __cplusplus
}
#endif
#endif
