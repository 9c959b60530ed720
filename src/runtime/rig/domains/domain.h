/*
 * Domains: what the examples of a layer are. A domain is a line of EX_DOMAIN_LIST (exemplar/rig_create.h) and a file
 * here that ends with its exi_domain (docs/adding-a-domain.md). Everything else in this room loops over layers and asks
 * the table; it knows no domain by name. Verbs are called once a layer, example or chunk, never once a vertex; one that
 * is NULL has nothing to do.
 */
#ifndef EXI_RIG_DOMAIN_H
#define EXI_RIG_DOMAIN_H

#include "runtime/rig/evaluate.h"
#include "runtime/rig/pack/unpack.h"

/* A kind of section that a domain has in files, one for each layer or for each example. */
typedef struct exi_domain_section {
    ex_section_kind kind;
    bool of_layer; /* index: layer, and example is -1; else example among all */
    /* Whether there is one, and its size. */
    bool (*size)(const ex_rig *rig, int layer, int example, uint64_t *size);
    /* out is zero. */
    void (*write)(const ex_rig *rig, int layer, int example, void *out);
    /* Takes it from the directory (exi_unpack_take) and looks at what sizes others; index as the file has it. */
    bool (*take)(exi_unpack *file, int layer, int example, int index, ex_error *error);
} exi_domain_section;

/* Layers that act on the refined surface, along its limit normals. */
typedef struct exi_surface_verbs {
    /* How many layers take part at this pose. */
    int (*open)(const exi_rig_job *job, int pose);
    /* Moves the level's positions. */
    void (*add)(const exi_rig_job *job, int pose, int count, const ex_output *output, const float *normals,
                size_t normal_stride);
    /* What no vertex is moved by more. */
    double (*bound)(const exi_rig_job *job, int pose, int count);
} exi_surface_verbs;

typedef struct exi_domain {
    /* ---- facts ---- */
    ex_stage stage; /* where it acts, offsets of the frame `skinned` apart */
    bool forms;     /* an example is one of the rig's forms, and its weight a factor in their sum */
    bool targets;   /* examples are whole forms: they show as morph targets, may bring joints, and a driver may weigh
                       them */
    bool curved;    /* examples are no mere terms of a sum */
    bool gpu;       /* src/cuda evaluates it, or passes it over as it does textures */
    size_t counted; /* the place in exi_rig_counts of how many examples of it there are; 0: nobody counts them */

    /* ---- making a rig ---- */
    /* What is wrong with a layer of a definition. */
    ex_result (*check)(const ex_layer_def *layer, const ex_rig_def *def, ex_error *error);
    /* Makes what goes into the rig besides forms: a block in parts[layer], fields of layers[layer], own[domain]; from
     * the definition, or from the file's sections. */
    ex_result (*make)(exi_making *making, int layer, ex_error *error);
    ex_result (*read)(exi_making *making, int layer, ex_error *error);
    /* When all layers are made: what they have in common. */
    ex_result (*finish)(exi_making *making, ex_error *error);
    /* Sets the sets of examples that the layer's weigher is solved for. */
    void (*weigher)(exi_making *making, int layer, ex_weigher_def *def);
    /* Room for tables of its own in the block, and what stands in own[domain]. */
    void (*place)(exi_making *making, exi_placing *placing);
    /* Fills what is there for the layer. */
    ex_result (*fill)(exi_making *making, ex_rig *rig, int layer, ex_error *error);
    void (*close)(exi_making *making);

    /* ---- files ---- */
    /* Whether what only this domain has in a layer's record is sound; sets it as other domains have it. */
    bool (*sound)(exi_layer_record *layer, int texture_count);
    const exi_domain_section *sections;
    int section_count;

    /* ---- evaluation ---- */
    /* Lays its scratch of one pose out from *cursor on (exi_scratch_take), or only measures it; it comes back in
     * scratch->own[domain]. */
    void *(*scratch)(const ex_rig *rig, int level, uintptr_t *cursor, bool measuring);
    /* Bytes of exi_rig_job.shared. */
    size_t (*shared)(const ex_rig *rig, int level);
    /* What follows from a layer's weights, which are scratch->weights too; NULL: all of them are 0. Those of sets where
     * the weigher has them. */
    void (*weigh)(const exi_rig_job *job, int layer, const double *weights, exi_pose_scratch *scratch);
    /* Adds to the positions of a chunk at a stage, REST or POSED, where it has anything to add there (touches NULL:
     * everywhere). position: of the chunk's first vertex. */
    bool (*touches)(const ex_rig *rig, ex_stage stage, int chunk);
    void (*add)(const exi_rig_job *job, const exi_pose_scratch *scratch, ex_stage stage, int chunk, float *position,
                size_t stride);
    const exi_surface_verbs *surface;
    /* Writes the textures that are asked for. */
    void (*paint)(const exi_rig_job *job, int pose);

    /* ---- looking in ---- */
    /* An example's difference from the mesh [vertices][3]. */
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
/* Whether a rig has layers of a domain. */
static inline bool exi_rig_has_domain(const ex_rig *rig, int domain) {
    return (rig->domains >> domain & 1U) != 0;
}

/* The section of that kind of a layer's domain; NULL: it has none. */
const exi_domain_section *exi_domain_find_section(const exi_domain *domain, ex_section_kind kind);

/* ---- what several domains ask for ---- */

/* create_check.c: masks are in [0, 1]; joints that an example brings are those of the skeleton, and numbers. */
ex_result exi_check_mask(const ex_layer_def *layer, int vertex_count, ex_error *error);
ex_result exi_check_shifts(const ex_layer_def *layer, const ex_rig_def *def, ex_error *error);

/* Says of which example an error is, by name or, from a file, by number. */
ex_result exi_within_example(const exi_making *making, int layer, int example, ex_result result, ex_error *error);

/* The number of an example among all. */
static inline int exi_example_index(const exi_layer_record *layer, int example) {
    return layer->first_example + example;
}

/* domain_form.c: the section of a whole form. */
bool exi_target_size(const ex_rig *rig, int layer, int example, uint64_t *size);
void exi_target_write(const ex_rig *rig, int layer, int example, void *out);
bool exi_target_take(exi_unpack *file, int layer, int example, int index, ex_error *error);

/* domain_trajectory_file.c: the sections of trajectories, and a layer read from them; its examples are kept. */
enum { EXI_TRAJECTORY_SECTIONS = 5 };
extern const exi_domain_section exi_trajectory_sections[EXI_TRAJECTORY_SECTIONS];
ex_result exi_trajectory_read(exi_making *making, int layer, exi_trajectories_def *def, ex_error *error);

#endif
