/*
 * Layers of offsets: forms sculpted at the example's pose, of which only the moved vertices are kept. Reads the frame
 * in which they are added, the examples that a vertex takes part in, how their sculpts were made, and zeros. Zeros are
 * pseudo-examples at which no example counts, at the layer's rest pose and at the poses of earlier layers' examples.
 * They need the examples of all layers.
 */
#include "author/project/domains/project_domain.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A zero closer to a point of the space than this fraction of the space's size would coincide with it. */
static const double at_one_place = 1e-6;

/* ---- keys ---- */

static ex_result read_words(exi_project_reader *r, const json_t *object, const exi_place *place,
                            ex_project_layer *layer) {
    static const char *const frames[] = {
#define NAME(id, text) text,
        EX_OFFSET_FRAME_LIST(NAME)
#undef NAME
    };
    static const char *const participations[] = {
#define NAME(id, text) text,
        EX_PARTICIPATION_LIST(NAME)
#undef NAME
    };
    exi_place frame_at = exi_place_key(place, "frame"), at = exi_place_key(place, "participation");
    int frame = EX_OFFSET_FRAME_REST, participation = EX_PARTICIPATION_LAYER;
    ex_result result = EX_OK;
    if (json_object_get(object, "frame"))
        result =
            exi_choose(&r->keys, json_object_get(object, "frame"), &frame_at, frames, EX_OFFSET_FRAME_COUNT, &frame);
    if (result == EX_OK && json_object_get(object, "participation"))
        result = exi_choose(&r->keys, json_object_get(object, "participation"), &at, participations,
                            EX_PARTICIPATION_COUNT, &participation);
    layer->offsets.frame = (ex_offset_frame)frame;
    layer->offsets.participation = (ex_participation)participation;
    if (result == EX_OK && layer->offsets.frame == EX_OFFSET_FRAME_SKINNED && !r->view->skeleton)
        result = ex_error_set(
            r->keys.error, EX_ERROR_DATA,
            "%s: there is no skin to turn with: add \"skeleton\": \"FILE.glb\" to the project, or use \"rest\"",
            frame_at.text);
    if (result == EX_OK && layer->offsets.participation == EX_PARTICIPATION_MOVED &&
        !ex_weigher_kind_info(layer->weigh.kind)->has_sets)
        result = ex_error_set(r->keys.error, EX_ERROR_DATA,
                              "%s: \"moved\" needs \"weigh\": {\"kind\": \"gaussian\"}, which can be solved for some "
                              "of the examples only",
                              at.text);
    return result;
}

static ex_result read_tolerance(exi_project_reader *r, const json_t *object, const exi_place *place,
                                ex_project_layer *layer) {
    double tolerance = -1;
    ex_result result = exi_get_number(&r->keys, object, place, "tolerance", &tolerance);
    if (result == EX_OK && json_object_get(object, "tolerance") && !(tolerance >= 0))
        result = ex_error_set(r->keys.error, EX_ERROR_DATA, "%s.tolerance: must not be negative", place->text);
    layer->offsets.tolerance = tolerance < 0 ? -1 : tolerance * r->view->unit;
    return result;
}

static ex_result read_layer(exi_project_reader *r, const json_t *object, const exi_place *place,
                            ex_project_layer *layer) {
    const bool direct = !ex_weigher_kind_info(layer->weigh.kind)->has_points;
    ex_result result = read_words(r, object, place, layer);
    layer->offsets.tolerance = -1;
    layer->offsets.posed = true;
    layer->offsets.rest = !direct && layer->offsets.participation == EX_PARTICIPATION_LAYER;
    if (result == EX_OK)
        result = exi_get_bool(&r->keys, object, place, "posed", &layer->offsets.posed);
    if (result == EX_OK)
        result = exi_get_bool(&r->keys, object, place, "rest", &layer->offsets.rest);
    if (result == EX_OK)
        result = exi_get_bool(&r->keys, object, place, "protect", &layer->offsets.protect);
    if (result == EX_OK && direct && (layer->offsets.rest || layer->offsets.protect))
        result = ex_error_set(r->keys.error, EX_ERROR_DATA,
                              "%s.%s: the axes of a direct layer are its weights: it has no points to hold",
                              place->text, layer->offsets.rest ? "rest" : "protect");
    return result == EX_OK ? read_tolerance(r, object, place, layer) : result;
}

/* ---- zeros ---- */

/* The points of a layer and their distances, while zeros are added. */
typedef struct zeros {
    exi_project_reader *r;
    ex_project_layer *layer;
    ex_weigher *measure;
    double near;
    ex_pseudo *pseudos; /* with room for all that may be added */
    size_t count;
    const double *weights; /* [example_count] zeros */
} zeros;

/* Makes a weigher of one point, which every space allows; it measures distances as the layer's own does. NULL also if
 * the space is invalid, which building reports. */
static ex_result open_measure(zeros *z, const ex_project_layer *layer) {
    ex_weigher_def def = layer->weigh;
    ex_error error = {0};
    def.falloffs = def.metrics = NULL;
    def.sets = NULL;
    def.set_count = 0;
    def.ridge = 0;
    def.example_count = 1;
    def.pseudo_count = 0;
    if (ex_weigher_create(&def, NULL, &z->measure, &error) == EX_ERROR_MEMORY)
        return ex_error_memory(z->r->keys.error, "the project", 0);
    return EX_OK;
}

static const double *point_at(const zeros *z, size_t i) {
    const size_t examples = (size_t)z->layer->example_count;
    return i < examples ? z->layer->examples[i].at : z->pseudos[i - examples].at;
}

static bool is_taken(const zeros *z, const double *point) {
    const size_t count = (size_t)z->layer->example_count + z->count;
    for (size_t i = 0; i < count; i++)
        if (ex_weigher_distance(z->measure, point, point_at(z, i)) <= z->near)
            return true;
    return false;
}

static void add_zero(zeros *z, const double *point) {
    if (!is_taken(z, point))
        z->pseudos[z->count++] = (ex_pseudo){.at = point, .weights = z->weights};
}

/* Muted earlier layers need no protection. */
static bool is_protected(const ex_project_layer *earlier) {
    return !earlier->muted && exi_project_domain_of(earlier)->masked != EXI_MASKED_NOTHING;
}

static double space_size(const zeros *z, const double *rest) {
    const int own = (int)(z->layer - z->r->view->layers);
    double size = 0;
    for (int l = 0; l <= own; l++) {
        const ex_project_layer *layer = &z->r->view->layers[l];
        for (int k = 0; (l == own || z->layer->offsets.protect) && k < layer->example_count; k++) {
            const double d = ex_weigher_distance(z->measure, rest, layer->examples[k].points[own]);
            size = d > size ? d : size;
        }
    }
    return size;
}

static void fill(zeros *z, const double *rest) {
    const int own = (int)(z->layer - z->r->view->layers);
    z->near = at_one_place * space_size(z, rest);
    if (z->layer->offsets.rest)
        add_zero(z, rest);
    for (int l = 0; z->layer->offsets.protect && l < own; l++) {
        const ex_project_layer *earlier = &z->r->view->layers[l];
        for (int k = 0; is_protected(earlier) && k < earlier->example_count; k++)
            add_zero(z, earlier->examples[k].points[own]);
    }
}

static ex_result read_zeros(exi_project_reader *r, const exi_place *place, ex_project_layer *layer) {
    size_t most = (size_t)layer->pseudo_count + 1;
    for (const ex_project_layer *l = r->view->layers; layer->offsets.protect && l < layer; l++)
        most += (size_t)l->example_count;
    if (!layer->offsets.rest && !layer->offsets.protect)
        return EX_OK;
    zeros z = {.r = r,
               .layer = layer,
               .pseudos = exi_arena_allocate(r->keys.arena, most, sizeof *z.pseudos),
               .count = (size_t)layer->pseudo_count,
               .weights = exi_arena_allocate(r->keys.arena, (size_t)layer->example_count, sizeof *z.weights)};
    const double *rest = exi_point_in(r, NULL, NULL, 0, layer);
    if (!z.pseudos || !z.weights || !rest)
        return ex_error_memory(r->keys.error, "the project", most * sizeof *z.pseudos);
    if (z.count > 0)
        memcpy(z.pseudos, layer->weigh.pseudos, z.count * sizeof *z.pseudos);
    ex_result result = open_measure(&z, layer);
    if (result == EX_OK && z.measure)
        fill(&z, rest);
    ex_weigher_destroy(z.measure);
    if (result == EX_OK && (size_t)layer->example_count + z.count > EX_POINT_MAX)
        result = ex_error_set(r->keys.error, EX_ERROR_LIMIT,
                              "%s: a space holds at most %d points; with the poses to protect, there are %zu",
                              place->text, EX_POINT_MAX, (size_t)layer->example_count + z.count);
    layer->weigh.pseudos = z.pseudos;
    layer->weigh.pseudo_count = (int)z.count;
    layer->zero_count = (int)z.count - layer->pseudo_count;
    return result;
}

/* ---- building and unpacking ---- */

static void free_layer(exi_building *b, int index, ex_layer_def *layer) {
    (void)b, (void)index;
    for (int k = 0; layer->offsets.examples && k < layer->weigh.example_count; k++)
        exi_offsets_free((ex_offsets *)(uintptr_t)&layer->offsets.examples[k]);
    free((void *)(uintptr_t)layer->offsets.examples);
}

/* Sculpts are written at rest, with everything counting; zeros are among the pseudo-examples. */
static bool describe(const ex_rig *rig, int layer, const ex_weigher_def *def, const json_t *paths, json_t *object) {
    (void)paths;
    json_t *own =
        json_pack("{s:s, s:s, s:b, s:i}", "frame", ex_offset_frame_name(ex_rig_layer_frame(rig, layer)),
                  "participation", ex_rig_layer_moved(rig, layer) ? "moved" : "layer", "posed", 0, "tolerance", 0);
    const bool done =
        own && (!ex_weigher_kind_info(def->kind)->has_points || json_object_set_new(own, "rest", json_false()) == 0) &&
        json_object_update(object, own) == 0;
    json_decref(own);
    return done;
}

const exi_project_domain exi_project_domain_offsets = {.examples = "offsets",
                                                       .file = "mesh",
                                                       .files = "a \"mesh\"",
                                                       .ending = ".obj",
                                                       .file_at = offsetof(ex_project_example, mesh),
                                                       .keys = {{"frame", "this"},
                                                                {"participation", "this"},
                                                                {"rest", "this"},
                                                                {"protect", "this"},
                                                                {"posed", "this"},
                                                                {"tolerance", "this"}},
                                                       .read = read_layer,
                                                       .finish = read_zeros,
                                                       .build = exi_build_forms,
                                                       .free = free_layer,
                                                       .check = exi_check_forms,
                                                       .describe = describe,
                                                       .write = exi_unpack_write_sculpts,
                                                       .compare_example = exi_difference_forms};
