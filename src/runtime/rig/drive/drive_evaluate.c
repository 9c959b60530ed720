/*
 * The driver's part in evaluating a pose (DrivenShape): places its frames (2.7) and weighs every driven layer by what
 * its regions see (2.2). After the form is blended and posed, it blends the driver in the same way, carries the
 * residual over, and pushes penetrating vertices out (2.3 to 2.6).
 */
#include "runtime/rig/drive/drive_evaluate.h"

#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/pose/frame_tree.h"
#include "runtime/shape/mixture.h"
#include "runtime/weigh/driver.h"

#include <math.h>
#include <string.h>

/* Vertices of the driver blended per task. */
enum { GRAIN = 1024 };

static void *take(uintptr_t *cursor, size_t count, size_t size) {
    void *place = (void *)*cursor;
    *cursor += (count * size + 63) / 64 * 64;
    return place;
}

void exi_drive_lay(const ex_rig *rig, uintptr_t *cursor, exi_drive_scratch *s) {
    const exi_drive *d = exi_rig_drive(rig);
    if (!d)
        return;
    const size_t vertices = (size_t)rig->counts.vertices, driven = (size_t)d->vertex_count;
    size_t rows = 0;
    for (int l = 0; l < d->layer_count; l++)
        rows += (size_t)exi_drive_layers(d)[l].view_count * (size_t)exi_drive_layers(d)[l].width;
    const bool keyed = exi_drive_is_keyed(d);
    s->matrices = take(cursor, (size_t)d->frame_count, 12 * sizeof(float));
    s->products = take(cursor, (size_t)d->most_products, sizeof(double));
    s->point = take(cursor, (size_t)d->most_width + 1, sizeof(double));
    s->squares = take(cursor, EX_DRIVER_FRAME_MAX, sizeof(double));
    s->region_weights = take(cursor, (size_t)d->most_width, sizeof(double));
    s->weights = take(cursor, rows, sizeof(float));
    s->omegas = take(cursor, keyed ? vertices * (size_t)d->most_width : 0, sizeof(float));
    s->blended = take(cursor, d->forms ? driven : 0, 3 * sizeof(float));
    const size_t forms = d->paths ? (size_t)((const ex_forms *)exi_drive_at(d, d->forms))->example_count : 0;
    s->floats = take(cursor, forms, sizeof(float));
    s->terms = take(cursor, 2 * forms, sizeof(exi_term));
    s->mixing = take(cursor, d->paths ? exi_mixture_room_size(exi_drive_at(d, d->paths)) : 0, 1);
    s->palette = take(cursor, ex_palette_size(EX_SKINNING_DUAL_QUATERNION, d->frame_count), 1);
    s->motion = take(cursor, (size_t)d->most_state, sizeof(float));
    s->sizes = d->most_state > 0 ? take(cursor, (size_t)d->frame_count, sizeof(float)) : NULL;
    s->weighing = take(cursor, (size_t)d->weigher_scratch, 1);
    s->settling = take(cursor, d->settler ? ex_settler_scratch_size(exi_drive_at(d, d->settler)) : 0, 1);
}

size_t ex_rig_state_size(const ex_rig *rig) {
    const exi_drive *d = exi_is_given(rig, __func__, "no rig") ? exi_rig_drive(rig) : NULL;
    return d ? (size_t)d->state_size : 0;
}

/* ---- frames ---- */

/* The reference is at the start of its section, after the head. */
static const float *reference_of(const exi_drive *d) {
    return (const float *)(const void *)((const char *)exi_drive_at(d, d->section) + sizeof(exi_pack_driver));
}

void exi_drive_place(const ex_rig *rig, const ex_pose *pose, exi_drive_scratch *s, const float *joints) {
    const exi_drive *d = exi_rig_drive(rig);
    s->form = pose && pose->driver ? pose->driver : reference_of(d);
    s->hull = 0;
    s->hull_layers = 0;
    s->elapsed = pose ? pose->elapsed : 0;
    s->unfamiliar = 0;
    exi_driver_measure(exi_drive_at(d, d->driver), s->form, s->matrices, s->sizes);
    const int32_t *frame_joints = d->joints ? exi_drive_at(d, d->joints) : NULL;
    for (int f = 0; frame_joints && joints && f < d->frame_count; f++)
        if (frame_joints[f] >= 0)
            memcpy(s->matrices + 12 * (size_t)f, joints + 12 * (size_t)frame_joints[f], 12 * sizeof(float));
}

const ex_palette *exi_drive_palette(const ex_rig *rig, exi_drive_scratch *s, bool rotations) {
    const exi_drive *d = exi_rig_drive(rig);
    const ex_palette_def def = {.method = EX_SKINNING_DUAL_QUATERNION,
                                .joint_count = d->frame_count,
                                .matrices = s->matrices,
                                .rotations = rotations};
    ex_palette *palette = ex_palette_make(&def, s->palette);
    exi_frame_tree_follow(exi_drive_at(d, d->links), palette);
    return palette;
}

/* ---- weights ---- */

exi_regions exi_drive_regions(const ex_rig *rig, const exi_drive_layer *layer, const exi_drive_scratch *s,
                              bool of_driver) {
    const exi_drive *d = exi_rig_drive(rig);
    const size_t first = of_driver ? (size_t)rig->counts.vertices : 0;
    size_t rows = 0;
    for (const exi_drive_layer *before = exi_drive_layers(d); before < layer; before++)
        rows += (size_t)before->view_count * (size_t)before->width;
    exi_regions regions = {.weights = s->weights + rows, .count = layer->example_count, .width = layer->width};
    if (layer->starts) {
        regions.influences.starts = (const uint32_t *)exi_drive_at(d, layer->starts) + first;
        regions.influences.weights = exi_drive_at(d, layer->weights);
        regions.influences.places = exi_drive_at(d, layer->places);
    }
    return regions;
}

/* Makes a point from products and the value of the other axis. */
static void compose(const ex_weigher *weigher, const double *products, double scalar, double *point) {
    const size_t n = (size_t)weigher->example_count;
    const size_t driver_at = exi_axes(weigher)[0].kind == EX_AXIS_DRIVER ? 0 : 1;
    memcpy(point + driver_at, products, n * sizeof *point);
    if (weigher->axis_count > 1)
        point[driver_at == 0 ? n : 0] = scalar;
}

static double distance(const ex_regions *views, const ex_weigher *weigher, int view, const double *point, double square,
                       const double *weights) {
    const double total = ((const double *)exi_driver_at(views, views->totals))[view];
    return sqrt(ex_weigher_hull_distance_sq(weigher, point, square, weights) / total);
}

static void weigh_whole(const exi_drive *d, const exi_drive_layer *layer, const ex_weigher *weigher, double scalar,
                        exi_drive_scratch *s, double *weights, char *state) {
    const size_t n = (size_t)layer->example_count;
    const ex_regions *views = exi_drive_at(d, layer->views);
    double square = s->squares[0];
    for (int v = 1; v < layer->view_count; v++) {
        square += s->squares[v];
        for (size_t k = 0; k < n; k++)
            s->products[k] += s->products[(size_t)v * n + k];
    }
    compose(weigher, s->products, scalar, s->point);
    ex_weigher_evaluate_from(weigher, s->point, weights, layer->view_count == 1 ? state : NULL, s->weighing);
    if (layer->view_count == 1)
        s->hull += distance(views, weigher, 0, s->point, square, weights);
}

/* Predicts the weights of a layer from the driver's motion. */
static void weigh_motion(const exi_drive *d, const exi_drive_layer *layer, const ex_weigher *weigher,
                         exi_drive_scratch *s, double *weights, void *state) {
    const ex_predictor *predictor = exi_drive_at(d, layer->predictor);
    ex_predictor_observe(predictor, s->matrices, s->sizes, s->elapsed, state ? (char *)state + layer->state : NULL,
                         s->motion);
    const double unfamiliar = ex_predictor_evaluate(predictor, s->motion, s->point, s->weighing);
    s->unfamiliar = unfamiliar > s->unfamiliar ? unfamiliar : s->unfamiliar;
    ex_weigher_evaluate(weigher, s->point, weights);
}

bool exi_drive_weigh(const ex_rig *rig, const exi_drive_layer *layer, const ex_weigher *other, double scalar,
                     exi_drive_scratch *s, double *weights, void *state) {
    const exi_drive *d = exi_rig_drive(rig);
    if (layer->predictor) {
        weigh_motion(d, layer, other ? other : ex_rig_weigher(rig, layer->layer), s, weights, state);
        return false;
    }
    const ex_regions *views = exi_drive_at(d, layer->views);
    const size_t n = (size_t)layer->example_count, width = (size_t)layer->width;
    exi_regions regions = exi_drive_regions(rig, layer, s, false);
    float *rows = (float *)(uintptr_t)regions.weights;
    char *states = state ? (char *)state + layer->state : NULL;
    ex_regions_measure(views, s->form, s->matrices, s->products, s->squares);
    s->hull_layers++;
    if (other || layer->view_count == 1) {
        weigh_whole(d, layer, other ? other : ex_rig_weigher(rig, layer->layer), scalar, s, weights,
                    other ? NULL : states);
        for (int v = 0; v < layer->view_count; v++)
            for (size_t k = 0; k < width; k++)
                rows[(size_t)v * width + k] = k < n ? (float)weights[k] : 0;
        return layer->view_count > 1;
    }
    const uint64_t *weighers = exi_drive_at(d, layer->weighers);
    const double *shares = exi_drive_at(d, layer->shares);
    double hull = 0;
    memset(weights, 0, n * sizeof *weights);
    for (int v = 0; v < layer->view_count; v++) {
        const ex_weigher *weigher = exi_drive_at(d, weighers[v]);
        compose(weigher, s->products + (size_t)v * n, scalar, s->point);
        ex_weigher_evaluate_from(weigher, s->point, s->region_weights, states, s->weighing);
        states = states ? states + (ex_weigher_state_size(weigher) + 15) / 16 * 16 : NULL;
        hull += shares[v] * distance(views, weigher, v, s->point, s->squares[v], s->region_weights);
        for (size_t k = 0; k < width; k++) {
            rows[(size_t)v * width + k] = k < n ? (float)s->region_weights[k] : 0;
            if (k < n)
                weights[k] += shares[v] * s->region_weights[k];
        }
    }
    s->hull += hull;
    return true;
}

void exi_drive_copy_weights(const ex_rig *rig, const exi_drive_scratch *s, double *out) {
    const exi_drive *d = exi_rig_drive(rig);
    for (int l = 0; l < d->layer_count; l++) {
        const exi_drive_layer *layer = &exi_drive_layers(d)[l];
        const exi_regions regions = exi_drive_regions(rig, layer, s, false);
        for (int v = 0; v < layer->view_count; v++)
            for (int k = 0; k < layer->example_count; k++)
                *out++ = (double)regions.weights[(size_t)v * (size_t)layer->width + (size_t)k];
    }
}

/* ---- settling ---- */

typedef struct blending {
    const ex_rig *rig;
    exi_drive_scratch *s;
    const ex_palette *palette;
    exi_blend paths; /* for a trajectory layer */
    exi_trajectory path;
} blending;

/* Moves the driver along the layer's trajectories. */
static void open_paths(blending *b) {
    const exi_drive *d = exi_rig_drive(b->rig);
    const exi_trajectories *paths = exi_drive_at(d, d->paths);
    const ex_forms *forms = exi_drive_at(d, d->forms);
    const exi_regions regions = exi_drive_regions(b->rig, exi_drive_layers(d), b->s, false);
    double *given = b->s->products; /* no longer needed, and of that size */
    for (int k = 0; k < regions.count; k++)
        given[k] = (double)regions.weights[k];
    const bool mixed = paths->mixture.node_count > 0;
    const double *weights = mixed ? exi_mixture_weigh(paths, given, b->s->mixing, b->s->floats) : given;
    b->paths = (exi_blend){.positions = b->s->blended, .stride = 3 * sizeof(float), .paths = &b->path};
    if (exi_trajectories_weigh(paths, weights, b->s->floats) && !exi_trajectories_is_sum(paths)) {
        exi_trajectories_open(paths, forms, weights, b->s->floats, b->s->terms + forms->example_count, NULL, NULL,
                              &b->path);
        if (mixed)
            exi_mixture_open(paths, b->s->mixing, &b->path);
        memset(b->s->floats, 0, (size_t)forms->example_count * sizeof(float));
        b->paths.path_count = 1;
    }
    exi_forms_set_terms(forms, b->s->floats, 0, forms->example_count, true, b->s->terms, &b->paths.sum);
}

static void blend_range(void *context, int begin, int end) {
    const blending *b = context;
    const exi_drive *d = exi_rig_drive(b->rig);
    const ex_forms *forms = exi_drive_at(d, d->forms);
    const int first = begin * GRAIN, last = end * GRAIN < d->vertex_count ? end * GRAIN : d->vertex_count;
    if (d->paths)
        exi_forms_blend_tiles(forms, &b->paths, first / EXI_TILE, (last + EXI_TILE - 1) / EXI_TILE);
    else
        memcpy(b->s->blended + 3 * (size_t)first, reference_of(d) + 3 * (size_t)first,
               3 * (size_t)(last - first) * sizeof(float));
    for (int l = 0; !d->paths && l < d->layer_count; l++) {
        const exi_drive_layer *layer = &exi_drive_layers(d)[l];
        const exi_regions regions = exi_drive_regions(b->rig, layer, b->s, true);
        exi_regions_add(&regions, forms, layer->first_form, first, last, b->s->blended, 3 * sizeof(float), NULL);
    }
    const ex_skin_job job = {.begin = first,
                             .end = last,
                             .positions = b->s->blended + 3 * (size_t)first,
                             .out_positions = b->s->blended + 3 * (size_t)first};
    ex_skin_apply(exi_drive_at(d, d->driver_skin), b->palette, &job);
}

/* Writes the weights of a layer with one region for every vertex. */
static void spread_weights(const ex_rig *rig, const exi_drive_layer *layer, exi_drive_scratch *s) {
    const exi_regions regions = exi_drive_regions(rig, layer, s, false);
    for (size_t v = 0; v < (size_t)rig->counts.vertices; v++)
        memcpy(s->omegas + v * (size_t)layer->width, regions.weights, (size_t)layer->width * sizeof(float));
}

void exi_drive_settle(const ex_rig *rig, exi_drive_scratch *s, const ex_palette *palette, float *positions,
                      size_t stride, void *state, const ex_tasks *tasks, ex_settled *settled) {
    const exi_drive *d = exi_rig_drive(rig);
    const exi_drive_layer *layer = exi_drive_layers(d);
    const bool keyed = exi_drive_is_keyed(d);
    blending b = {.rig = rig, .s = s, .palette = palette};
    if (d->paths)
        open_paths(&b);
    if (d->forms)
        exi_run(tasks, (d->vertex_count + GRAIN - 1) / GRAIN, 1, blend_range, &b);
    if (keyed && layer->view_count == 1)
        spread_weights(rig, layer, s);
    const ex_settle_job job = {.blended = d->forms ? s->blended : NULL,
                               .driver = s->form,
                               .driven = positions,
                               .stride = stride,
                               .residual = (ex_residual)d->residual,
                               .weights = keyed ? s->omegas : NULL,
                               .push = d->push != 0,
                               .thickness = d->thickness,
                               .tasks = tasks,
                               .settled = settled};
    ex_settle(exi_drive_at(d, d->settler), &job, state ? (char *)state + d->settler_state : NULL, s->settling);
}
