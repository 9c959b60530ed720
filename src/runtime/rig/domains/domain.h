/*
 * Domains: kinds of example. A domain is a line of EX_DOMAIN_LIST (exemplar/rig_create.h) and a file here that ends
 * with its exi_domain (docs/guides/add-a-domain.md). All other files of this room loop over layers and use the table;
 * they know no domain by name. Functions are called once per layer, example or chunk, never once per vertex; NULL means
 * nothing to do.
 */
#ifndef EXI_RIG_DOMAIN_H
#define EXI_RIG_DOMAIN_H

#include "runtime/rig/evaluate.h"
#include "runtime/rig/pack/unpack.h"

/* A section kind that a domain has in files, with one section per layer or per example. */
typedef struct exi_domain_section {
    ex_section_kind kind;
    bool of_layer; /* true: index is the layer, and example is -1; false: index is the example among all */
    /* True if the section exists; sets its size. */
    bool (*size)(const ex_rig *rig, int layer, int example, uint64_t *size);
    /* out is zeroed. */
    void (*write)(const ex_rig *rig, int layer, int example, void *out);
    /* Takes it from the directory (exi_unpack_take) and reads what determines the sizes of other sections; index as in
     * the file. */
    bool (*take)(exi_unpack *file, int layer, int example, int index, ex_error *error);
} exi_domain_section;

/* Layers that act on the refined surface, along its limit normals. */
typedef struct exi_surface_verbs {
    /* Returns the number of layers that take part at this pose. */
    int (*open)(const exi_rig_job *job, int pose);
    /* Moves the level's positions. */
    void (*add)(const exi_rig_job *job, int pose, int count, const ex_output *output, const float *normals,
                size_t normal_stride);
    /* Returns an upper bound of the movement of any vertex. */
    double (*bound)(const exi_rig_job *job, int pose, int count);
} exi_surface_verbs;

typedef struct exi_jacobian exi_jacobian;

typedef struct exi_domain {
    /* ---- facts ---- */
    ex_stage stage; /* stage at which it acts, except offsets with the frame `skinned` */
    bool forms;     /* true if an example is one of the rig's forms, and its weight a factor in their sum */
    bool targets;   /* true if examples are complete forms: they show as morph targets, may bring joints, and a driver
                       may weigh them */
    bool curved;    /* true if examples are not terms of a sum */
    bool gpu;       /* true if src/cuda evaluates it, or ignores it as it does textures */
    size_t counted; /* offset in exi_rig_counts of the number of its examples; 0: they are not counted */

    /* ---- making a rig ---- */
    /* Checks a layer of a definition. */
    ex_result (*check)(const ex_layer_def *layer, const ex_rig_def *def, ex_error *error);
    /* Makes the layer's data besides forms: a block in parts[layer], fields of layers[layer], own[domain]; from the
     * definition, or from the file's sections. */
    ex_result (*make)(exi_making *making, int layer, ex_error *error);
    ex_result (*read)(exi_making *making, int layer, ex_error *error);
    /* Called after all layers are made, for their common data. */
    ex_result (*finish)(exi_making *making, ex_error *error);
    /* Sets the example sets that the layer's weigher is solved for. */
    void (*weigher)(exi_making *making, int layer, ex_weigher_def *def);
    /* Places the domain's own tables in the block, and the data in own[domain]. */
    void (*place)(exi_making *making, exi_placing *placing);
    /* Fills the layer's tables. */
    ex_result (*fill)(exi_making *making, ex_rig *rig, int layer, ex_error *error);
    void (*close)(exi_making *making);

    /* ---- files ---- */
    /* True if the fields of a layer's record that only this domain uses are valid; sets them as other domains have
     * them. */
    bool (*sound)(exi_layer_record *layer, int texture_count);
    const exi_domain_section *sections;
    int section_count;

    /* ---- evaluation ---- */
    /* Lays out its scratch for one pose from *cursor on (exi_scratch_take), or only measures it. The result becomes
     * scratch->own[domain]. */
    void *(*scratch)(const ex_rig *rig, int level, uintptr_t *cursor, bool measuring);
    /* Bytes of exi_rig_job.shared. */
    size_t (*shared)(const ex_rig *rig, int level);
    /* Processes a layer's weights, which are scratch->weights too, or those of sets if the weigher has sets; NULL: all
     * are 0. */
    void (*weigh)(const exi_rig_job *job, int layer, const double *weights, exi_pose_scratch *scratch);
    /* Adds to the positions of a chunk at a stage, REST or POSED, if it touches that chunk (touches NULL: all chunks).
     * position: of the chunk's first vertex. */
    bool (*touches)(const ex_rig *rig, ex_stage stage, int chunk);
    void (*add)(const exi_rig_job *job, const exi_pose_scratch *scratch, ex_stage stage, int chunk, float *position,
                size_t stride);
    const exi_surface_verbs *surface;
    /* Writes the requested textures. */
    void (*paint)(const exi_rig_job *job, int pose);
    /* Adds a layer's share of the form, and of its derivatives (jacobian.h). weights are as for weigh; along
     * [columns][as many] are their derivatives. Without it, a layer has no derivatives, unless it moves no vertex. */
    void (*differentiate)(exi_jacobian *jacobian, int layer, const double *weights, const double *along);

    /* ---- looking in ---- */
    /* Gets an example's difference from the mesh [vertices][3]. */
    void (*delta)(const ex_rig *rig, int layer, int example, float *delta);
} exi_domain;

#define EXI_DOMAIN_EXTERN(id, entry, word, help) extern const exi_domain exi_domain_##entry;
EX_DOMAIN_LIST(EXI_DOMAIN_EXTERN)
#undef EXI_DOMAIN_EXTERN

/* [EX_DOMAIN_COUNT] */
extern const exi_domain *const exi_domains[];

static inline const exi_domain *exi_domain_of(const ex_rig *rig, int layer) {
    return exi_domains[exi_rig_layers(rig)[layer].domain];
}
/* True if a rig has layers of a domain. */
static inline bool exi_rig_has_domain(const ex_rig *rig, int domain) {
    return (rig->domains >> domain & 1U) != 0;
}

/* Returns the section of that kind in a layer's domain, or NULL. */
const exi_domain_section *exi_domain_find_section(const exi_domain *domain, ex_section_kind kind);

/* ---- shared by several domains ---- */

/* create_check.c: checks that masks are in [0, 1], and that joints brought by an example are finite and belong to a
 * skeleton. */
ex_result exi_check_mask(const ex_layer_def *layer, int vertex_count, ex_error *error);
ex_result exi_check_shifts(const ex_layer_def *layer, const ex_rig_def *def, ex_error *error);

/* Adds the example to an error, by name, or by number if it comes from a file. */
ex_result exi_within_example(const exi_making *making, int layer, int example, ex_result result, ex_error *error);

/* Returns the index of an example among all. */
static inline int exi_example_index(const exi_layer_record *layer, int example) {
    return layer->first_example + example;
}

/* domain_form.c: section of a whole form. */
bool exi_target_size(const ex_rig *rig, int layer, int example, uint64_t *size);
void exi_target_write(const ex_rig *rig, int layer, int example, void *out);
bool exi_target_take(exi_unpack *file, int layer, int example, int index, ex_error *error);

/* domain_trajectory_file.c: sections of trajectories, and a layer read from them; its examples are kept. */
enum { EXI_TRAJECTORY_SECTIONS = 6 };
extern const exi_domain_section exi_trajectory_sections[EXI_TRAJECTORY_SECTIONS];
ex_result exi_trajectory_read(exi_making *making, int layer, exi_trajectories_def *def, ex_error *error);

#endif
