/*
 * Trajectories: rest form(v) += mask(v) (path(v) - mesh(v)), with paths from the mesh as in exemplar/shape.h.
 * Per-vertex data are forms of the rig, after all others; the rest is a block of the layer (shape/trajectories.h).
 * domain_trajectory_file.c has the sections, domain_trajectory_access.c the access functions.
 */
#include "runtime/base/result.h"
#include "runtime/rig/jacobian.h"
#include "runtime/shape/mixture.h"

#include <string.h>

/* The contents of trajectories are checked when they are laid out (trajectory_create.c). */
static ex_result check(const ex_layer_def *layer, const ex_rig_def *def, ex_error *error) {
    if (!layer->trajectory.examples || !layer->form.deltas || layer->trajectory.reference < -1 ||
        layer->trajectory.reference >= layer->weigh.example_count)
        return ex_error_set(
            error, EX_ERROR_ARGUMENT,
            "a layer of trajectories needs a trajectory and a form for each example, and a reference among them or -1");
    for (int k = 0; k < layer->weigh.example_count; k++)
        if (k != layer->trajectory.reference && !layer->form.deltas[k])
            return ex_error_set(error, EX_ERROR_ARGUMENT, "example '%s' has no form", layer->example_names[k]);
    ex_result result = exi_check_mask(layer, def->mesh.vertex_count, error);
    return result == EX_OK ? exi_check_shifts(layer, def, error) : result;
}

/* ---- creation ---- */

/* All layers of a rig under construction. */
typedef struct trajectory_making {
    const ex_trajectory **examples;  /* [layers of the rig] of [example_count] */
    const float *const **correctors; /* [layers of the rig]: those of their mixtures */
    void *room;                      /* exi_trajectories_room_size of the layer that needs most */
    size_t room_size;
} trajectory_making;

static ex_result keep_room(exi_making *m, trajectory_making *own, size_t size, ex_error *error) {
    if (size <= own->room_size)
        return EX_OK;
    own->room = exi_making_keep(m, size, 1);
    own->room_size = size;
    return own->room ? EX_OK : ex_error_memory(error, "the trajectories", size);
}

static ex_result add_layer(exi_making *m, int layer, const exi_trajectories_def *def, ex_error *error) {
    trajectory_making *own = m->own[EX_DOMAIN_TRAJECTORY];
    if (!own) {
        const size_t layers = (size_t)m->counts.layers;
        own = exi_making_keep(m, 1, sizeof *own);
        const ex_trajectory **examples = exi_making_keep(m, layers, sizeof *examples);
        const float *const **correctors = exi_making_keep(m, layers, sizeof *correctors);
        if (!own || !examples || !correctors)
            return ex_error_memory(error, "the trajectories", layers * sizeof *examples);
        own->examples = examples;
        own->correctors = correctors;
        m->own[EX_DOMAIN_TRAJECTORY] = own;
    }
    own->examples[layer] = def->trajectories;
    own->correctors[layer] = def->mixture.correctors;
    exi_trajectories *made = NULL;
    ex_result result = exi_trajectories_create(def, m->allocator, &made, error);
    m->parts[layer] = made;
    if (result == EX_OK)
        result = keep_room(m, own, exi_trajectories_room_size(made), error);
    if (result != EX_OK)
        return result;
    made->first_form = m->counts.forms + m->more_forms;
    if ((int64_t)made->first_form + made->form_count > EXI_FORM_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT, "there are more than %d forms, turns and correctors", EXI_FORM_MAX);
    m->more_forms += made->form_count;
    return EX_OK;
}

static ex_result make(exi_making *m, int layer, ex_error *error) {
    const ex_layer_def *from = &m->def->layers[layer];
    exi_trajectories_def def = {.vertex_count = m->counts.vertices,
                                .example_count = from->weigh.example_count,
                                .storage = m->options.storage,
                                .trajectories = from->trajectory.examples,
                                .names = from->example_names,
                                .reference = from->trajectory.reference,
                                .overlaps = from->trajectory.overlaps,
                                .mask = from->mask,
                                .segments = from->trajectory.segments,
                                .mixture = from->trajectory.mixture};
    memcpy(def.centre, from->trajectory.centre, sizeof def.centre);
    return add_layer(m, layer, &def, error);
}

static ex_result read_layer(exi_making *m, int layer, ex_error *error) {
    exi_trajectories_def def = {.storage = m->options.storage};
    ex_result result = exi_trajectory_read(m, layer, &def, error);
    if (result == EX_OK)
        result = ex_error_within(error, add_layer(m, layer, &def, error), "the rig's layer %d", layer);
    return result;
}

static ex_result fill(exi_making *m, ex_rig *rig, int layer, ex_error *error) {
    const trajectory_making *own = m->own[EX_DOMAIN_TRAJECTORY];
    exi_trajectories *paths = exi_rig_at_mut(rig, ((const uint64_t *)exi_rig_at(rig, rig->parts))[layer]);
    const exi_layer_record *record = &m->layers[layer];
    rig->path_layers++;
    rig->segments += paths->segment_count;
    rig->most_segments = paths->segment_count > rig->most_segments ? paths->segment_count : rig->most_segments;
    rig->mixing += exi_mixture_room_size(paths);
    ex_result result =
        exi_trajectories_fill_mixture(paths, exi_rig_at_mut(rig, rig->forms), own->correctors[layer], error);
    if (result != EX_OK)
        return m->def ? ex_error_within(error, result, "layer '%s'", m->def->layers[layer].name)
                      : ex_error_within(error, result, "the rig's layer %d", layer);
    for (int k = 0; k < record->example_count; k++) {
        const ex_trajectory *example = &own->examples[layer][k];
        const exi_trajectory_numbers numbers = {
            .turns = example->turns,
            .correctors = example->correctors,
            .delta = m->def ? (const void *)m->def->layers[layer].form.deltas[k]
                            : exi_unpack_find(m->file, EX_SECTION_TARGET, exi_example_index(record, k), NULL),
            .gather = m->gather};
        result = exi_trajectories_fill(paths, exi_rig_at_mut(rig, rig->forms), k, &numbers, own->room, error);
        if (result != EX_OK)
            return exi_within_example(m, layer, k, result, error);
    }
    return EX_OK;
}

const exi_trajectories *exi_rig_trajectories_of(const ex_rig *rig, int layer) {
    return exi_rig_layers(rig)[layer].domain == EX_DOMAIN_TRAJECTORY ? exi_rig_layer_part(rig, layer) : NULL;
}

/* ---- evaluation ---- */

/* Scratch of one pose. */
typedef struct running {
    exi_term *terms;         /* [forms of trajectories] */
    exi_trajectory *paths;   /* [path_layers]: those with non-zero weights */
    float (*appended)[3];    /* [segments] */
    double (*appending)[3];  /* [most_segments] */
    char *mixing;            /* [rig->mixing]: rooms of the layers' mixtures */
    int path_count, segment; /* so far */
    size_t mixed;            /* the same */
} running;

static void *scratch(const ex_rig *rig, int level, uintptr_t *cursor, bool measuring) {
    (void)level;
    running own = {0}, *s = exi_scratch_take(cursor, 1, sizeof own);
    const size_t forms = (size_t)(exi_rig_forms(rig)->example_count - rig->counts.forms);
    own.terms = exi_scratch_take(cursor, forms, sizeof *own.terms);
    own.paths = exi_scratch_take(cursor, (size_t)rig->path_layers, sizeof *own.paths);
    own.appended = exi_scratch_take(cursor, (size_t)rig->segments, sizeof *own.appended);
    own.appending = exi_scratch_take(cursor, (size_t)rig->most_segments, sizeof *own.appending);
    own.mixing = exi_scratch_take(cursor, (size_t)rig->mixing, 1);
    if (!measuring)
        *s = own;
    return s;
}

/* A layer that is not a plain sum is evaluated separately, and its forms take no part in the sum. */
static void weigh(const exi_rig_job *j, int layer, const double *unused, exi_pose_scratch *s) {
    (void)unused; /* the layer has no sets */
    const exi_trajectories *paths = exi_rig_layer_part(j->rig, layer);
    const double *weights = s->weights + exi_rig_layers(j->rig)[layer].first_example;
    running *own = s->own[EX_DOMAIN_TRAJECTORY];
    float *factors = s->floats + paths->first_form;
    void *mixing = own->mixing + own->mixed;
    if (paths->mixture.node_count > 0)
        weights = exi_mixture_weigh(paths, weights, mixing, factors);
    const bool moves = exi_trajectories_weigh(paths, weights, factors);
    if (moves && !exi_trajectories_is_sum(paths)) {
        exi_trajectory *path = &own->paths[own->path_count++];
        exi_trajectories_open(paths, exi_rig_forms(j->rig), weights, s->floats,
                              own->terms + paths->first_form - j->rig->counts.forms, own->appending,
                              own->appended + own->segment, path);
        if (paths->mixture.node_count > 0)
            exi_mixture_open(paths, mixing, path);
    }
    if (!exi_trajectories_is_sum(paths))
        memset(factors, 0, (size_t)paths->form_count * sizeof *factors);
    own->mixed += exi_mixture_room_size(paths);
    own->segment += paths->segment_count;
    s->blend.paths = own->paths;
    s->blend.path_count = own->path_count;
}

/* Differences of fourth order along the derivatives of the weights. A step changes a weight by at most this: rounding
 * of positions is then about 1e-5 of their size, and the path is nearly a parabola. */
static const double step = 0.02;

static void differentiate(exi_jacobian *j, int layer, const double *weights, const double *along) {
    static const double steps[4] = {1, -1, 2, -2};
    const size_t count = (size_t)exi_rig_layers(j->rig)[layer].example_count;
    double *moved = j->layer_weights;
    exi_jacobian_shape(j, layer, weights, j->shapes);
    exi_forms_get_base(exi_rig_forms(j->rig), j->room);
    for (size_t i = 0; i < j->size; i++)
        j->form[i] += (double)j->shapes[i] - (double)j->room[i];
    for (int c = 0; c < j->columns; c++) {
        const double *by = along + (size_t)c * count;
        double *out = exi_column_of(j->along, c, j->size), most = 0;
        for (size_t k = 0; k < count; k++)
            most = fmax(most, fabs(by[k]));
        if (most == 0)
            continue;
        for (size_t s = 0; s < 4; s++) {
            for (size_t k = 0; k < count; k++)
                moved[k] = weights[k] + steps[s] * step / most * by[k];
            exi_jacobian_shape(j, layer, moved, j->shapes + s * j->size);
        }
        const float *p = j->shapes;
        for (size_t i = 0; i < j->size; i++, p++) {
            const double near = (double)p[0] - (double)p[j->size],
                         far = (double)p[2 * j->size] - (double)p[3 * j->size];
            out[i] += (8 * near - far) / 12 * most / step;
        }
    }
}

static void delta(const ex_rig *rig, int layer, int example, float *out) {
    exi_trajectories_get_delta(exi_rig_trajectories_of(rig, layer), exi_rig_forms(rig), example, out);
}

const exi_domain exi_domain_trajectory = {.stage = EX_STAGE_REST,
                                          .targets = true,
                                          .curved = true,
                                          .gpu = true,
                                          .counted = offsetof(exi_rig_counts, trajectories),
                                          .check = check,
                                          .make = make,
                                          .read = read_layer,
                                          .fill = fill,
                                          .sections = exi_trajectory_sections,
                                          .section_count = EXI_TRAJECTORY_SECTIONS,
                                          .scratch = scratch,
                                          .weigh = weigh,
                                          .differentiate = differentiate,
                                          .delta = delta};
