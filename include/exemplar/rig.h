/*
 * exemplar/rig.h - the rig: everything the runtime needs of one character, in one immutable block of memory.
 *
 * A rig holds a mesh, its layers (each a space, a weigher and examples) and the names of its inputs. It is made from
 * arrays (ex_rig_create) or from the bytes of a rig file (ex_rig_unpack). Evaluation reads it from any number of
 * threads at once, allocates nothing and cannot fail. Reading and writing files is the caller's, or authoring's
 * (exemplar/author.h).
 */
#ifndef EXEMPLAR_RIG_H
#define EXEMPLAR_RIG_H

#include <exemplar/base.h>
#include <exemplar/shape.h>
#include <exemplar/weigh.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The mesh of a rig. Vertices are the source's, in source order; forms and outputs have one entry for each. A vertex
 * that has several texture coordinates or normals is split for display: split vertices are sorted by their source, each
 * source has at least one, and faces and triangles refer to split vertices.
 */
typedef struct ex_rig_mesh {
    int vertex_count;
    const float *positions; /* [vertex_count][3] */
    int split_count;
    const uint32_t *split_source; /* [split_count], non-decreasing; NULL where split_count == vertex_count */
    const float *texcoords;       /* [split_count][2], origin at the top left as in glTF; or NULL */
    const float *normals;         /* [split_count][3], at rest; or NULL */
    int face_count;
    int corner_count;
    const uint32_t *face_sizes; /* [face_count], each at least 3 */
    const uint32_t *corners;    /* [corner_count] split vertices */
    int triangle_count;
    const uint32_t *triangles; /* [triangle_count][3] split vertices */
} ex_rig_mesh;

/*
 * One layer: rest form(v) += mask(v) * sum over k of w_k * delta_k(v). The same axis name in two layers is one input:
 * in both a number or in both a rotation, with one rest value.
 */
typedef struct ex_layer_def {
    const char *name;
    ex_weigher_def weigh;             /* space, points and kind; its names are set from example_names */
    const char *const *axis_names;    /* [weigh.axis_count] */
    const char *const *axis_units;    /* [weigh.axis_count] or NULL, each may be NULL: text for people */
    const char *const *example_names; /* [weigh.example_count], all different */
    const float *const *deltas;       /* [weigh.example_count] of [vertex_count][3]: example minus mesh */
    const float *mask;                /* [vertex_count] in [0, 1], multiplied into the deltas; or NULL */
} ex_layer_def;

/* Bytes that a rig carries for others and does not look into (groups, materials, …). */
#define EX_NOTE_KIND_SIZE 16
typedef struct ex_note {
    const char *kind; /* at most 15 characters */
    const void *data;
    size_t size;
} ex_note;

typedef struct ex_rig_def {
    ex_rig_mesh mesh;
    const ex_layer_def *layers;
    int layer_count;
    const ex_note *notes;
    int note_count;
    ex_storage storage; /* default float */
} ex_rig_def;

typedef struct ex_rig ex_rig;

EX_API ex_rig_def ex_rig_def_default(void);

/* Solves every layer's space and lays the forms out, in one allocation. Everything is copied. Results: ARGUMENT, DATA,
 * SINGULAR, LIMIT, MEMORY; the error names layer, axis, example, vertex. */
EX_API ex_result ex_rig_create(const ex_rig_def *def, const ex_allocator *allocator, ex_rig **rig, ex_error *error);
EX_API void ex_rig_destroy(ex_rig *rig);

/* ---- what is inside ---- */

EX_API int ex_rig_vertex_count(const ex_rig *rig);
EX_API int ex_rig_layer_count(const ex_rig *rig);
/* Examples of all layers together: the length of ex_output.weights. */
EX_API int ex_rig_example_count(const ex_rig *rig);
EX_API const char *ex_rig_layer_name(const ex_rig *rig, int layer);
/* The layer's weigher; belongs to the rig. Its example_count is the layer's. */
EX_API const ex_weigher *ex_rig_weigher(const ex_rig *rig, int layer);
/* Where the layer's examples start among the examples of all layers. */
EX_API int ex_rig_first_example(const ex_rig *rig, int layer);
EX_API const char *ex_rig_example_name(const ex_rig *rig, int layer, int example);

/* Inputs: the free axes of all layers, each once, in order of first appearance. */
EX_API int ex_rig_input_count(const ex_rig *rig);
EX_API const char *ex_rig_input_name(const ex_rig *rig, int input);
/* "" where no unit was given. */
EX_API const char *ex_rig_input_unit(const ex_rig *rig, int input);
/* The axis as the first layer that has it defines it. */
EX_API ex_axis ex_rig_input_axis(const ex_rig *rig, int input);
/* Where the input's one or four numbers start in ex_pose.inputs. */
EX_API int ex_rig_input_offset(const ex_rig *rig, int input);
/* The input's number, or -1. */
EX_API int ex_rig_input_find(const ex_rig *rig, const char *name);
/* The input that axis `axis` of the layer reads. */
EX_API int ex_rig_layer_input(const ex_rig *rig, int layer, int axis);
/* Numbers in ex_pose.inputs. */
EX_API int ex_rig_pose_size(const ex_rig *rig);
/* Fills inputs [ex_rig_pose_size] with the rest pose. */
EX_API void ex_rig_rest_pose(const ex_rig *rig, double *inputs);

/* The mesh; pointers into the rig, and positions NULL: ask ex_rig_rest_mesh for them. */
EX_API ex_rig_mesh ex_rig_get_mesh(const ex_rig *rig);
/* Positions [vertex_count][3] of the mesh itself, before any layer. */
EX_API void ex_rig_rest_mesh(const ex_rig *rig, float *positions);
/* An example's stored difference from the mesh [vertex_count][3], mask included. Exact for float storage. */
EX_API void ex_rig_example_delta(const ex_rig *rig, int layer, int example, float *delta);
EX_API ex_storage ex_rig_storage(const ex_rig *rig);
EX_API int ex_rig_note_count(const ex_rig *rig);
EX_API ex_note ex_rig_note(const ex_rig *rig, int note);

/* ---- evaluation ---- */

/* The whole input of a rig. All zero is the rest pose. */
typedef struct ex_pose {
    const double *inputs; /* [ex_rig_pose_size]; NULL: rest. Non-finite numbers read as rest. */
} ex_pose;

/* Where results go; every pointer may be NULL. */
typedef struct ex_output {
    float *positions;       /* [vertex_count] triples, in source order */
    size_t position_stride; /* bytes from one to the next, at least 12; 0: 12 */
    float *box;             /* [6]: smallest x y z, largest x y z */
    double *weights;        /* [ex_rig_example_count] */
} ex_output;

/* How to evaluate; NULL or all zero is the rig as it is, serially. */
typedef struct ex_evaluation {
    const ex_weigher *const *weighers; /* [layer_count] replacements, each may be NULL; same number of examples */
    const bool *muted;                 /* [layer_count]: layers to leave out */
    const ex_tasks *tasks;
} ex_evaluation;

/* Bytes of scratch that evaluating so many poses in one call needs; aligned as malloc does. It is enough for fewer. */
EX_API size_t ex_rig_scratch_size(const ex_rig *rig, int pose_count);

/*
 * Evaluates one pose. The result depends on pose and evaluation alone, bit for bit, whatever the tasks. Costs the
 * weighers' evaluation and one pass over the forms whose weight is not 0.
 */
EX_API void ex_rig_evaluate(const ex_rig *rig, const ex_pose *pose, const ex_output *output,
                            const ex_evaluation *evaluation, void *scratch);

/*
 * The same for many poses, [pose_count] each: same bits, but a tile of the forms is read from memory once and used for
 * all of them. Scratch grows with pose_count; a few dozen at a time are enough to be fast.
 */
EX_API void ex_rig_evaluate_many(const ex_rig *rig, int pose_count, const ex_pose *poses, const ex_output *outputs,
                                 const ex_evaluation *evaluation, void *scratch);

/* ---- packing ---- */

/* Size of the rig in its packed form. 0 for a rig in 16-bit storage, which cannot be packed: files are float. */
EX_API size_t ex_rig_pack_size(const ex_rig *rig);

/* Writes the packed form: what stands in the BIN chunk of a rig file. bytes are aligned to 8. The same rig gives the
 * same bytes. */
EX_API ex_result ex_rig_pack(const ex_rig *rig, void *bytes, size_t size, ex_error *error);

/*
 * A rig from the bytes of a .glb rig file, or from a bare pack, aligned to 4. Checks everything; bytes may be hostile.
 * Results: FORMAT (no rig), VERSION, CHECKSUM (damaged, or rearranged by another program), DATA, LIMIT, MEMORY.
 */
EX_API ex_result ex_rig_unpack(const void *bytes, size_t size, ex_storage storage, const ex_allocator *allocator,
                               ex_rig **rig, ex_error *error);

/* The pack's directory, for those who wrap it in a file (docs/rig-format.md). */
typedef enum ex_section_kind {
    EX_SECTION_STRINGS = 1,
    EX_SECTION_INPUTS,
    EX_SECTION_LAYERS,
    EX_SECTION_AXES,     /* which input each axis of each layer reads */
    EX_SECTION_EXAMPLES, /* names of examples */
    EX_SECTION_WEIGHER,  /* index: layer */
    EX_SECTION_SOURCES,  /* split_source */
    EX_SECTION_FACES,
    EX_SECTION_CORNERS,
    EX_SECTION_NOTE, /* index: note */
    EX_SECTION_TRIANGLES,
    EX_SECTION_POSITIONS, /* split vertices */
    EX_SECTION_TEXCOORDS,
    EX_SECTION_NORMALS,
    EX_SECTION_TARGET, /* index: example among all; split vertices */
    EX_SECTION_KIND_COUNT
} ex_section_kind;

typedef struct ex_section {
    ex_section_kind kind;
    int index;
    size_t offset; /* from the start of the pack */
    size_t size;
} ex_section;

/* Bytes of header and directory at the start of a pack made by ex_rig_pack. */
EX_API size_t ex_pack_header_size(const void *pack);
EX_API int ex_pack_section_count(const void *pack);
EX_API ex_section ex_pack_section(const void *pack, int section);

#ifdef __cplusplus
}
#endif
#endif
