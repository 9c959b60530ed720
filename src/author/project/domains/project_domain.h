/*
 * project_domain.h - interface of a domain for projects; private to authoring.
 *
 * The table has an entry for each line of EX_DOMAIN_LIST (exemplar/rig_create.h), in a file here
 * (docs/guides/add-a-domain.md). Reading, building, checking, unpacking and comparing loop over layers and call the
 * table. A NULL verb does nothing.
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_DOMAINS_PROJECT_DOMAIN_H
#define EXEMPLAR_AUTHOR_PROJECT_DOMAINS_PROJECT_DOMAIN_H

#include "author/project/build/build.h"
#include "author/project/check/check.h"
#include "author/project/compare/rig_difference.h"
#include "author/project/import/unpack.h"
#include "author/project/model/reader.h"

/* A key that only layers of one domain have, or only their examples, and its words in the sentence that refuses it
 * elsewhere: only a layer with "shape": "pixels" has a texture. */
typedef struct exi_domain_key {
    const char *key, *what;
} exi_domain_key;
enum { EXI_DOMAIN_KEYS = 8 };

/* Vertices that a layer's mask covers. */
typedef enum exi_masked { EXI_MASKED_MESH, EXI_MASKED_LEVEL, EXI_MASKED_NOTHING } exi_masked;

typedef struct exi_project_domain {
    /* ---- facts ---- */
    const char *examples;   /* in sentences: "forms" */
    const char *posed_word; /* replaces ex_domain_name if examples are made at their pose; or NULL */
    const char *file;       /* key of an example's file: "mesh" */
    const char *files;      /* likewise in sentences: "a \"mesh\"" */
    const char *ending;     /* of that file, when unpacked: ".obj" */
    size_t file_at;         /* its offset in ex_project_example */
    exi_masked masked;
    bool targets; /* true if examples are complete forms, which a driver may weigh and which may bring skeletons */
    exi_domain_key keys[EXI_DOMAIN_KEYS], example_keys[2]; /* ends at the first without a key */

    /* ---- reading ---- */
    /* Reads its keys of a layer whose name, weigher and domain have been read. */
    ex_result (*read)(exi_project_reader *r, const json_t *object, const exi_place *place, ex_project_layer *layer);
    /* Reads its keys of an example, before the file is read. */
    ex_result (*read_example)(exi_project_reader *r, const json_t *object, const exi_place *place,
                              const ex_project_layer *layer, ex_project_example *example);
    /* Called after its examples are read; and after those of all layers are. */
    ex_result (*check_examples)(exi_project_reader *r, const exi_place *examples, const ex_project_layer *layer);
    ex_result (*finish)(exi_project_reader *r, const exi_place *place, ex_project_layer *layer);

    /* ---- building ---- */
    /* Reads and measures the examples into the layer; and releases what that allocated. */
    ex_result (*build)(exi_building *b, int index, ex_layer_def *layer, ex_error *error);
    void (*free)(exi_building *b, int index, ex_layer_def *layer);

    /* ---- checking ---- */
    void (*check)(exi_checker *c, int index);

    /* ---- unpacking ---- */
    /* Adds its keys to a layer of the project file. def: of the weigher; paths: the note about trajectories, or NULL.
     * False without memory. */
    bool (*describe)(const ex_rig *rig, int layer, const ex_weigher_def *def, const json_t *paths, json_t *object);
    /* Writes the files of its examples. */
    ex_result (*write)(exi_unpacking *w, int layer, ex_error *error);

    /* ---- comparing ---- */
    void (*compare_example)(const exi_layer_pair *pair, int a, int b, const char *name);
    void (*compare)(exi_layer_pair *pair);
} exi_project_domain;

#define EXI_PROJECT_DOMAIN_EXTERN(id, entry, word, help) extern const exi_project_domain exi_project_domain_##entry;
EX_DOMAIN_LIST(EXI_PROJECT_DOMAIN_EXTERN)
#undef EXI_PROJECT_DOMAIN_EXTERN

/* [EX_DOMAIN_COUNT] */
extern const exi_project_domain *const exi_project_domains[];

static inline const exi_project_domain *exi_project_domain_of(const ex_project_layer *layer) {
    return exi_project_domains[layer->domain];
}

/* Reads "shape", and the other keys of the layer's domain. */
ex_result exi_read_domain(exi_project_reader *r, const json_t *object, const exi_place *place, ex_project_layer *layer);
/* Lists the keys of layers and of examples, given the keys common to all domains; ends with NULL. */
enum { EXI_KEYS_MAX = 64 };
void exi_domain_layer_keys(const char *const *common, const char *keys[EXI_KEYS_MAX]);
void exi_domain_example_keys(const char *const *common, const char *keys[EXI_KEYS_MAX]);
/* Refuses keys of examples that only other domains have. */
ex_result exi_refuse_example_keys(exi_project_reader *r, const json_t *object, const exi_place *place,
                                  ex_domain domain);
/* Returns the address of the name of an example's file. */
static inline const char **exi_example_file(const ex_project_layer *layer, const ex_project_example *example) {
    return (const char **)((uintptr_t)example + (uintptr_t)exi_project_domain_of(layer)->file_at);
}

/* build_layers.c: builds layers whose examples are measured as forms: forms, offsets, trajectories. */
ex_result exi_build_forms(exi_building *b, int index, ex_layer_def *layer, ex_error *error);
void exi_build_free_rows(const float *const *rows, int count);
void exi_build_free_form(exi_building *b, int index, ex_layer_def *layer);

/* unpack_layers.c: writes such layers at rest; and one file. */
ex_result exi_unpack_write_forms(exi_unpacking *w, int layer, ex_error *error);
ex_result exi_unpack_write_sculpts(exi_unpacking *w, int layer, ex_error *error);

/* difference_examples.c: compares differences from the mesh, and of joints. */
void exi_difference_forms(const exi_layer_pair *pair, int a, int b, const char *name);

#endif
