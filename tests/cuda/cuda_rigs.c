/*
 * Random rigs; see cuda_rigs.h. The mesh is a bumpy sheet: vertex v in row v / width, with quads between rows. Forms
 * are waves, so that neighbours move alike and normals are meaningful; skins, offsets and trajectories are rougher.
 */
#include "cuda/cuda_rigs.h"

#include "support/paths.h"
#include "support/tubes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { JOINTS = 14, LAYERS_MOST = 40, EXAMPLES_MOST = 7, KEPT_MOST = 512, LEVELS = 2, REACH = 9 };

static const char *const example_names[EXAMPLES_MOST] = {"a", "b", "c", "d", "e", "f", "g"};

/* Everything that a definition points to until its rig is made. */
typedef struct workshop {
    const rig_kind *kind;
    int vertices, width;
    float *mesh;
    uint64_t random;
    ex_rig_def def;
    ex_layer_def layers[LAYERS_MOST];
    ex_rig_mesh levels[LEVELS];
    path_layer paths;
    mixture_layer *mixtures[3];
    ex_skeleton *skeleton;
    ex_skin *skin;
    ex_stencils *stencils;
    void *kept[KEPT_MOST];
    int kept_count;
} workshop;

void must(bool good, const char *what, const ex_error *error) {
    if (good)
        return;
    fprintf(stderr, "exemplar_cuda_test: %s: %s\n", what, error ? error->text : "it should work");
    exit(1);
}

void *must_allocate(size_t count, size_t size) {
    void *memory = calloc(count + 1, size);
    must(memory != NULL, "not enough memory", NULL);
    return memory;
}

double draw(uint64_t *random, double low, double high) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(*random >> 33) / 2147483648.0;
}

static void *keep(workshop *w, size_t count, size_t size) {
    must(w->kept_count < KEPT_MOST, "a rig is larger than planned", NULL);
    return w->kept[w->kept_count++] = must_allocate(count, size);
}

/* Assigns a vertex to one of several items, without a pattern. */
static uint32_t mix(uint32_t a, uint32_t b) {
    uint32_t x = a * 2654435761u ^ (b + 1) * 2246822519u;
    x ^= x >> 15;
    x *= 2246822519u;
    return x ^ x >> 13;
}

/* ---- meshes ---- */

/* The faces of a sheet of that many vertices; with seams, every seventh vertex occurs twice. */
static ex_rig_mesh make_sheet(workshop *w, int count, int width) {
    const bool seams = (w->kind->parts & RIG_SEAMS) != 0;
    const size_t room = (size_t)count;
    uint32_t *sources = keep(w, 2 * room, 4), *first = keep(w, room, 4), *sizes = keep(w, room, 4);
    uint32_t *corners = keep(w, 4 * room, 4), *triangles = keep(w, 6 * room, 4);
    uint32_t splits = 0;
    int faces = 0;
    for (int v = 0; v < count; v++) {
        first[v] = splits;
        for (int copy = 0; copy < (seams && v % 7 == 3 ? 2 : 1); copy++)
            sources[splits++] = (uint32_t)v;
    }
    for (int v = 0; v + width + 1 < count; v++) {
        if (v % width + 1 == width)
            continue;
        const int around[4] = {v, v + 1, v + width + 1, v + width};
        uint32_t quad[4];
        for (int i = 0; i < 4; i++) /* the second of two, for some faces */
            quad[i] = first[around[i]] + (seams && around[i] % 7 == 3 ? (uint32_t)(v % 2) : 0);
        memcpy(corners + 4 * faces, quad, sizeof quad);
        memcpy(triangles + 6 * faces, (uint32_t[]){quad[0], quad[1], quad[2], quad[0], quad[2], quad[3]}, 24);
        sizes[faces++] = 4;
    }
    return (ex_rig_mesh){.vertex_count = count,
                         .split_count = (int)splits,
                         .split_source = seams && splits > (uint32_t)count ? sources : NULL,
                         .face_count = faces,
                         .corner_count = 4 * faces,
                         .face_sizes = sizes,
                         .corners = corners,
                         .triangle_count = 2 * faces,
                         .triangles = triangles};
}

static void make_mesh(workshop *w) {
    w->width = (int)sqrt((double)w->vertices);
    w->mesh = keep(w, (size_t)w->vertices, 12);
    for (int v = 0; v < w->vertices; v++) {
        const double x = (double)(v % w->width) / w->width, y = (double)(v / w->width) / w->width;
        w->mesh[3 * v] = (float)(x + 0.02 / w->width * sin(17.0 * v));
        w->mesh[3 * v + 1] = (float)(y + 0.02 / w->width * sin(13.0 * v));
        w->mesh[3 * v + 2] = (float)(0.2 * sin(5 * x) * cos(4 * y));
    }
    w->def.mesh = make_sheet(w, w->vertices, w->width);
    w->def.mesh.positions = w->mesh;
}

/* ---- levels ---- */

static int rising(const void *a, const void *b) {
    return *(const int *)a - *(const int *)b;
}

/* Up to nine control vertices near `first`, each once. */
static int gather(const workshop *w, int first, int most, int *list) {
    const int steps[REACH] = {0, 1, w->width, w->width + 1, 2, 2 * w->width, w->width + 2, 2 * w->width + 1, 3};
    int count = 0, kept = 0;
    for (int i = 0; i < most; i++)
        if (first + steps[i] < w->vertices)
            list[count++] = first + steps[i];
    qsort(list, (size_t)count, sizeof *list, rising);
    for (int i = 0; i < count; i++)
        if (kept == 0 || list[kept - 1] != list[i])
            list[kept++] = list[i];
    return kept;
}

/* Sums of 1 to 9 control vertices, the first counting most; tangents to the right and to the next row. */
static ex_stencil_rows make_rows(workshop *w, int count, bool tangents) {
    const size_t most = (size_t)count * REACH;
    int *offsets = keep(w, (size_t)count + 1, sizeof *offsets), *indices = keep(w, most, sizeof *indices), at = 0;
    double *weights = keep(w, most, sizeof *weights), *both = keep(w, 2 * most, sizeof *both);
    for (int v = 0; v < count; v++) {
        const int first = (int)((int64_t)v * w->vertices / count);
        const int size = gather(w, first, tangents ? 4 + v % 6 : 1 + v % REACH, indices + at);
        double sum = 0;
        for (int i = 0; i < size; i++)
            sum += weights[at + i] = draw(&w->random, 0.1, 1) + (i == 0 ? 2 : 0);
        for (int i = 0; i < size; i++) {
            const int step = indices[at + i] - first;
            weights[at + i] /= sum;
            both[2 * (at + i)] = step == 1 ? 1 : step == 0 ? -1 : 0;
            both[2 * (at + i) + 1] = step == w->width ? 1 : step == 0 ? -1 : 0;
        }
        offsets[v + 1] = at += size;
    }
    return (ex_stencil_rows){count, offsets, indices, weights, tangents ? both : NULL};
}

static void make_levels(workshop *w) {
    const bool displaced = (w->kind->parts & RIG_DISPLACED) != 0;
    ex_stencil_rows rows[LEVELS], limit;
    for (int i = 0; i < LEVELS; i++) {
        const int count = (i + 2) * w->vertices + 5;
        rows[i] = make_rows(w, count, displaced);
        w->levels[i] = make_sheet(w, count, (int)sqrt((double)count));
        if (i == LEVELS - 1)
            limit = make_rows(w, count, true);
    }
    const ex_stencils_def def = {
        .control_count = w->vertices, .level_count = LEVELS, .levels = rows, .limit = displaced ? NULL : &limit};
    ex_error error = {0};
    must(ex_stencils_create(&def, NULL, &w->stencils, &error) == EX_OK, "stencils", &error);
    w->def.stencils = w->stencils;
    w->def.levels = w->levels;
    w->def.level = LEVELS;
}

/* ---- skeleton and skin ---- */

static void make_skeleton(workshop *w) {
    int parents[JOINTS];
    ex_transform rest[JOINTS];
    for (int j = 0; j < JOINTS; j++) {
        parents[j] = j > 0 ? (int)draw(&w->random, j > 2 ? j - 3 : 0, j) : -1;
        rest[j] = ex_transform_identity();
        for (int c = 0; c < 3; c++) {
            rest[j].translation[c] = (float)draw(&w->random, -0.2, 0.3);
            rest[j].rotation[c] = (float)draw(&w->random, -0.5, 0.5);
            if (w->kind->parts & RIG_STRETCH)
                rest[j].scale[c] = (float)draw(&w->random, 0.9, 1.1);
        }
    }
    ex_error error = {0};
    must(ex_skeleton_create(&(ex_skeleton_def){JOINTS, parents, rest, NULL, NULL}, NULL, &w->skeleton, &error) == EX_OK,
         "skeleton", &error);
    w->def.skeleton = w->skeleton;
}

static void make_skin(workshop *w) {
    const size_t most = (size_t)w->kind->influences;
    uint32_t *starts = keep(w, (size_t)w->vertices + 1, 4), *joints = keep(w, (size_t)w->vertices * most, 4), at = 0;
    float *weights = keep(w, (size_t)w->vertices * most, 4);
    for (uint32_t v = 0; v < (uint32_t)w->vertices; v++) {
        const uint32_t own = 1 + mix(v, 1) % (uint32_t)most, first = mix(v / 5, 2) % JOINTS;
        for (uint32_t i = 0; i < own; i++, at++) {
            joints[at] = (first + 5 * i) % JOINTS;
            weights[at] = (float)draw(&w->random, 0.05, 1);
        }
        starts[v + 1] = at;
    }
    ex_error error = {0};
    const ex_skin_def def = {w->vertices, JOINTS, starts, joints, weights};
    must(ex_skin_create(&def, NULL, &w->skin, &error) == EX_OK, "skin", &error);
    w->def.skin = w->skin;
    w->def.skinning = w->kind->skinning;
}

/* ---- layers ---- */

/* Axes that layers share: two dials, three dials that are rotations, two with limits, four that read joints. */
static const char *const dial_names[2] = {"a", "b"};
static const char *const turn_names[4] = {"a", "turn", "swing", "twist"};
static const char *const limit_names[2] = {"fading", "held"};
static const char *const read_names[4] = {"angle", "rotation", "slide", "stretch"};
static const ex_axis_source read_sources[4] = {
    {.joint = 1, .reading = {.kind = EX_READING_ANGLE, .about = {1, 0.2, 0}, .middle = 30}},
    {.joint = 2, .reading = {.kind = EX_READING_ROTATION, .about = {0, 1, 0}, .part = EX_AXIS_ROTATION}},
    {.joint = 3, .reading = {.kind = EX_READING_SLIDE, .about = {0, 2, 0}, .unit = 0.01}},
    {.joint = 4, .reading = {.kind = EX_READING_STRETCH, .about = {0, 0, 1}}}};

static ex_axis *dial_axes(workshop *w) {
    ex_axis *axes = keep(w, 2, sizeof *axes);
    axes[0] = ex_axis_scalar(0, 1, 0);
    axes[1] = ex_axis_scalar(-1, 2, 0.5);
    axes[1].clamp = true;
    return axes;
}

static ex_axis *turn_axes(workshop *w) {
    ex_axis *axes = keep(w, 4, sizeof *axes);
    axes[0] = ex_axis_scalar(0, 1, 0);
    axes[1] = ex_axis_rotation(EX_AXIS_ROTATION, NULL);
    axes[2] = ex_axis_rotation(EX_AXIS_SWING, (double[]){0.3, 1, 0.2});
    axes[3] = ex_axis_rotation(EX_AXIS_TWIST, (double[]){1, 0, 0.4});
    return axes;
}

static ex_axis *limit_axes(workshop *w) {
    ex_axis *axes = keep(w, 2, sizeof *axes);
    axes[0] = ex_axis_scalar(0, 1, 0);
    axes[0].limit = EX_LIMIT_FADE;
    axes[1] = ex_axis_scalar(-1, 1, 0);
    axes[1].limit = EX_LIMIT_HOLD;
    return axes;
}

static ex_axis *read_axes(workshop *w) {
    ex_axis *axes = keep(w, 4, sizeof *axes);
    axes[0] = ex_axis_scalar(-60, 60, 0);
    axes[1] = ex_axis_rotation(EX_AXIS_ROTATION, NULL);
    axes[2] = ex_axis_scalar(-10, 10, 0);
    axes[3] = ex_axis_scalar(0.5, 2, 1);
    return axes;
}

static double *draw_points(workshop *w, const ex_axis *axes, int axis_count, int count) {
    double *points = keep(w, (size_t)count * 4 * (size_t)axis_count, sizeof *points), *at = points;
    for (int k = 0; k < count; k++)
        for (int a = 0; a < axis_count; a++)
            if (axes[a].kind == EX_AXIS_SCALAR)
                *at++ = draw(&w->random, axes[a].min, axes[a].max);
            else
                for (int c = 0; c < 4; c++)
                    *at++ = draw(&w->random, -0.6, 0.6) + (c == 3 ? 0.8 : 0);
    return points;
}

static ex_layer_def *add_layer(workshop *w, ex_domain domain, const char *const *names, const ex_axis *axes,
                               int axis_count, int examples) {
    must(w->def.layer_count < LAYERS_MOST, "too many layers", NULL);
    ex_layer_def *layer = &w->layers[w->def.layer_count++];
    char *name = keep(w, 32, 1);
    snprintf(name, 32, "layer %d", w->def.layer_count);
    *layer = (ex_layer_def){.name = name,
                            .domain = domain,
                            .weigh = ex_weigher_def_default(),
                            .axis_names = names,
                            .example_names = example_names,
                            .trajectory.reference = -1,
                            .muted = (w->kind->parts & RIG_MUTED) && w->def.layer_count % 2 == 0};
    layer->weigh.axes = axes;
    layer->weigh.axis_count = axis_count;
    layer->weigh.example_count = examples;
    layer->weigh.points = draw_points(w, axes, axis_count, examples);
    if (w->kind->parts & RIG_MASKS && domain != EX_DOMAIN_DISPLACEMENT) {
        float *mask = keep(w, (size_t)w->vertices, sizeof *mask);
        for (uint32_t v = 0; v < (uint32_t)w->vertices; v++)
            mask[v] = v % 11 == 0 ? 0 : (float)(0.5 + 0.5 * sin(0.01 * v));
        layer->mask = mask;
    }
    return layer;
}

/* Waves over the mesh, of another direction for each example. */
static void add_waves(workshop *w, ex_layer_def *layer) {
    const int count = layer->weigh.example_count;
    float **deltas = keep(w, (size_t)count, sizeof *deltas);
    for (int k = 0; k < count; k++) {
        double wave[4], size[3];
        for (int c = 0; c < 4; c++)
            wave[c] = draw(&w->random, -5, 5);
        for (int c = 0; c < 3; c++)
            size[c] = draw(&w->random, -0.1, 0.1);
        deltas[k] = keep(w, (size_t)w->vertices, 12);
        for (int v = 0; v < w->vertices; v++) {
            const float *p = w->mesh + 3 * v;
            const double phase = wave[0] * (double)p[0] + wave[1] * (double)p[1] + wave[2] * (double)p[2] + wave[3];
            for (int c = 0; c < 3; c++)
                deltas[k][3 * v + c] = (float)(size[c] * sin(phase + c));
        }
    }
    layer->form.deltas = (const float *const *)deltas;
}

/* A pseudo-example that borrows the weights of a point, and one with given weights. */
static void add_pseudos(workshop *w, ex_layer_def *layer) {
    const ex_weigher_def *weigh = &layer->weigh;
    ex_pseudo *pseudos = keep(w, 2, sizeof *pseudos);
    double *weights = keep(w, (size_t)weigh->example_count, sizeof *weights);
    for (int k = 0; k < weigh->example_count; k++)
        weights[k] = draw(&w->random, -0.5, 1);
    for (int i = 0; i < 2; i++)
        pseudos[i] = (ex_pseudo){.at = draw_points(w, weigh->axes, weigh->axis_count, 1)};
    pseudos[0].from = draw_points(w, weigh->axes, weigh->axis_count, 1);
    pseudos[1].weights = weights;
    layer->weigh.pseudos = pseudos;
    layer->weigh.pseudo_count = 2;
}

static void add_falloffs(workshop *w, ex_layer_def *layer) {
    const size_t points = (size_t)(layer->weigh.example_count + layer->weigh.pseudo_count);
    const size_t axes = (size_t)layer->weigh.axis_count;
    double *falloffs = keep(w, points * axes, sizeof *falloffs);
    for (size_t i = 0; i < points * axes; i++)
        falloffs[i] = i % 3 == 0 ? 0 : draw(&w->random, 0.2, 0.6);
    layer->weigh.falloffs = falloffs;
}

/* Two scalar axes: oblique ellipses, except for the first point. */
static void add_metrics(workshop *w, ex_layer_def *layer) {
    const size_t points = (size_t)(layer->weigh.example_count + layer->weigh.pseudo_count);
    double *metrics = keep(w, points * 4, sizeof *metrics);
    for (size_t i = 1; i < points; i++) {
        metrics[4 * i] = draw(&w->random, 4, 9);
        metrics[4 * i + 1] = metrics[4 * i + 2] = draw(&w->random, -2, 2);
        metrics[4 * i + 3] = draw(&w->random, 4, 9);
    }
    layer->weigh.metrics = metrics;
}

/* Every kernel of cardinal weighers, and every other kind that needs no driver. */
static void add_weighers(workshop *w, const char *const *names, const ex_axis *axes, int axis_count) {
    ex_layer_def *layer = NULL;
    for (int kernel = 0; kernel < EX_KERNEL_COUNT; kernel++) {
        layer = add_layer(w, EX_DOMAIN_FORM, names, axes, axis_count, 5);
        layer->weigh.kernel = (ex_kernel)kernel;
        if (kernel == EX_KERNEL_GAUSSIAN || kernel == EX_KERNEL_BIHARMONIC)
            layer->weigh.linear = false;
        if (kernel == EX_KERNEL_BSPLINE || kernel == EX_KERNEL_MULTIQUADRIC)
            add_pseudos(w, layer);
        add_waves(w, layer);
    }
    for (int paper = 0; paper < 2; paper++) {
        layer = add_layer(w, EX_DOMAIN_FORM, names, axes, axis_count, 7);
        layer->weigh.kind = EX_WEIGHER_NEAREST;
        layer->weigh.neighbours = paper ? 4 : 3;
        layer->weigh.paper_form = paper;
        add_waves(w, layer);
    }
    for (int power = 2; power < 4; power++) {
        layer = add_layer(w, EX_DOMAIN_FORM, names, axes, axis_count, 4);
        layer->weigh.kind = EX_WEIGHER_SHEPARD;
        layer->weigh.power = power == 2 ? 2 : 1.7;
        add_waves(w, layer);
    }
    for (int how = 0; how < (axis_count == 2 ? 3 : 2); how++) {
        layer = add_layer(w, EX_DOMAIN_FORM, names, axes, axis_count, 4);
        layer->weigh.kind = EX_WEIGHER_GAUSSIAN;
        if (how > 0) {
            add_pseudos(w, layer);
            add_falloffs(w, layer);
        }
        if (how == 2)
            add_metrics(w, layer);
        add_waves(w, layer);
    }
    for (int pseudos = 0; pseudos < 2; pseudos++) {
        layer = add_layer(w, EX_DOMAIN_FORM, names, axes, axis_count, 6);
        layer->weigh.kind = EX_WEIGHER_CALM;
        if (pseudos)
            add_pseudos(w, layer);
        add_waves(w, layer);
    }
    if (axis_count == 2) {
        layer = add_layer(w, EX_DOMAIN_FORM, names, axes, 2, 2);
        layer->weigh.kind = EX_WEIGHER_DIRECT;
        layer->weigh.points = NULL;
        add_waves(w, layer);
    }
}

static void add_shifts(workshop *w, ex_layer_def *layer) {
    float **shifts = keep(w, (size_t)layer->weigh.example_count, sizeof *shifts);
    for (int k = 1; k < layer->weigh.example_count; k++) {
        shifts[k] = keep(w, JOINTS, 12);
        for (int i = 0; i < 3 * JOINTS; i++)
            shifts[k][i] = (float)draw(&w->random, -0.05, 0.05);
    }
    layer->form.shifts = (const float *const *)shifts;
}

static void add_forms(workshop *w, const char *const *names, const ex_axis *axes, int axis_count,
                      const ex_axis_source *sources) {
    ex_layer_def *layer = add_layer(w, EX_DOMAIN_FORM, names, axes, axis_count, 5);
    layer->sources = sources;
    add_waves(w, layer);
    if (w->kind->parts & RIG_SHIFTS)
        add_shifts(w, layer);
}

/* Small waves on some of the vertices, other ones for each example. */
static void add_sparse(workshop *w, ex_layer_def *layer, uint32_t pattern) {
    const uint32_t count = (uint32_t)layer->weigh.example_count;
    ex_offsets *offsets = keep(w, count, sizeof *offsets);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t *vertices = keep(w, (size_t)w->vertices, 4);
        float *deltas = keep(w, (size_t)w->vertices, 12);
        int moved = 0;
        for (uint32_t v = 0; v < (uint32_t)w->vertices; v++) {
            if (v > 0 && mix(v / 3, k + pattern) % 5 > 1)
                continue;
            for (int c = 0; c < 3; c++)
                deltas[3 * moved + c] = (float)(0.3 / w->width * sin(v + 3.0 * c + k));
            vertices[moved++] = v;
        }
        offsets[k] = (ex_offsets){moved, vertices, deltas};
    }
    layer->offsets.examples = offsets;
}

static void add_offsets(workshop *w, ex_offset_frame frame, bool moved) {
    ex_layer_def *layer = add_layer(w, EX_DOMAIN_OFFSETS, dial_names, dial_axes(w), 2, 4);
    layer->weigh.kind = EX_WEIGHER_GAUSSIAN;
    layer->offsets.frame = frame;
    layer->offsets.moved = moved;
    add_sparse(w, layer, 7 * (uint32_t)frame + (moved ? 31 : 0));
    if (!moved)
        add_falloffs(w, layer);
}

/* Offsets as projects have them: calm, with rest as a pseudo-example of weight 0. */
static void add_calm(workshop *w, const char *const *names, const ex_axis *axes, int axis_count, bool linear) {
    ex_layer_def *layer = add_layer(w, EX_DOMAIN_OFFSETS, names, axes, axis_count, 5);
    ex_pseudo *rest = keep(w, 1, sizeof *rest);
    double *at = keep(w, 4 * (size_t)axis_count, sizeof *at), *value = at;
    for (int a = 0; a < axis_count; a++)
        if (axes[a].kind == EX_AXIS_SCALAR) {
            *value++ = axes[a].rest;
        } else {
            value[3] = 1;
            value += 4;
        }
    *rest = (ex_pseudo){.at = at, .weights = keep(w, (size_t)layer->weigh.example_count, sizeof(double))};
    layer->weigh.kind = EX_WEIGHER_CALM;
    layer->weigh.overshoot = 0.1;
    layer->weigh.linear = linear;
    layer->weigh.pseudos = rest;
    layer->weigh.pseudo_count = 1;
    add_sparse(w, layer, 57 + 11 * (uint32_t)w->def.layer_count);
}

static void add_displacements(workshop *w, bool masked) {
    const int count = w->levels[LEVELS - 1].vertex_count;
    ex_layer_def *layer = add_layer(w, EX_DOMAIN_DISPLACEMENT, dial_names, dial_axes(w), 2, 3);
    float **maps = keep(w, 3, sizeof *maps), *mask = keep(w, (size_t)count, sizeof *mask);
    for (int k = 0; k < 3; k++) {
        maps[k] = keep(w, (size_t)count, sizeof **maps);
        for (int v = 0; v < count; v++)
            maps[k][v] = v % 3 == 0 ? 0 : (float)(0.3 / w->width * sin(0.3 * v + k));
    }
    for (int v = 0; v < count; v++)
        mask[v] = (float)(v % 5) / 4;
    layer->displacement.maps = (const float *const *)maps;
    layer->mask = masked ? mask : NULL;
}

/* ---- rigs ---- */

static void make_layers(workshop *w) {
    const int parts = w->kind->parts;
    if (parts & RIG_FORMS)
        add_forms(w, dial_names, dial_axes(w), 2, NULL);
    if (parts & RIG_READ)
        add_forms(w, read_names, read_axes(w), 4, read_sources);
    if (parts & RIG_WEIGHERS)
        add_weighers(w, dial_names, dial_axes(w), 2);
    if (parts & RIG_TURNS)
        add_weighers(w, turn_names, turn_axes(w), 4);
    if (parts & RIG_OFFSETS) {
        add_offsets(w, EX_OFFSET_FRAME_REST, false);
        if (parts & RIG_SKIN)
            add_offsets(w, EX_OFFSET_FRAME_SKINNED, false);
        add_offsets(w, EX_OFFSET_FRAME_REST, true);
    }
    if (parts & RIG_CALM) {
        add_calm(w, dial_names, dial_axes(w), 2, false);
        add_calm(w, dial_names, dial_axes(w), 2, true);
        add_calm(w, limit_names, limit_axes(w), 2, false);
        add_calm(w, turn_names, turn_axes(w), 2, false);
    }
    if (w->kind->paths) {
        path_layer_open(&w->paths, w->mesh, w->vertices, w->kind->paths < 0 ? 0 : w->kind->paths, 5);
        ex_layer_def *layer = &w->layers[w->def.layer_count++];
        *layer = w->paths.def;
        layer->muted = (parts & RIG_MUTED) && w->def.layer_count % 2 == 0;
    }
    for (int i = 0; i < 3; i++)
        if (parts & RIG_MIXED << i) {
            w->mixtures[i] = open_mixture(w->mesh, w->vertices, RIG_MIXED << i, 9 + (uint64_t)i);
            ex_layer_def *layer = &w->layers[w->def.layer_count++];
            *layer = *mixture_def(w->mixtures[i]);
            layer->muted = (parts & RIG_MUTED) && w->def.layer_count % 2 == 0;
            if (!(parts & RIG_MASKS))
                layer->mask = NULL;
        }
    if (parts & RIG_DISPLACED) {
        add_displacements(w, false);
        add_displacements(w, true);
    }
}

ex_rig *make_rig(const rig_kind *kind, int vertex_count, uint64_t seed) {
    workshop *w = must_allocate(1, sizeof *w);
    w->kind = kind;
    w->vertices = vertex_count;
    w->random = seed;
    w->def = ex_rig_def_default();
    w->def.layers = w->layers;
    w->def.options.storage = kind->storage;
    make_mesh(w);
    if (kind->parts & (RIG_LEVELS | RIG_DISPLACED))
        make_levels(w);
    if (kind->parts & RIG_SKIN) {
        make_skeleton(w);
        make_skin(w);
    }
    make_layers(w);
    ex_rig *rig = NULL;
    ex_error error = {0};
    must(ex_rig_create(&w->def, NULL, &rig, &error) == EX_OK, kind->name, &error);
    ex_skeleton_destroy(w->skeleton);
    ex_skin_destroy(w->skin);
    ex_stencils_destroy(w->stencils);
    if (kind->paths)
        path_layer_close(&w->paths);
    for (int i = 0; i < 3; i++)
        close_mixture(w->mixtures[i]);
    for (int i = 0; i < w->kept_count; i++)
        free(w->kept[i]);
    free(w);
    return rig;
}

ex_rig *make_layered_rig(int layer_count) {
    static const float mesh[3] = {0}, form[3] = {1, 2, 3};
    static const float *const forms[1] = {form};
    static const char *const dial[1] = {"a"};
    const ex_axis axis = ex_axis_scalar(0, 1, 0);
    ex_layer_def *layers = must_allocate((size_t)layer_count, sizeof *layers);
    char(*names)[16] = must_allocate((size_t)layer_count, sizeof *names);
    ex_rig_def def = ex_rig_def_default();
    ex_rig *rig = NULL;
    ex_error error = {0};
    for (int l = 0; l < layer_count; l++) {
        snprintf(names[l], sizeof names[l], "layer %d", l % 100000);
        layers[l] = (ex_layer_def){.name = names[l],
                                   .domain = EX_DOMAIN_FORM,
                                   .weigh = ex_weigher_def_default(),
                                   .axis_names = dial,
                                   .example_names = example_names,
                                   .form.deltas = forms,
                                   .trajectory.reference = -1,
                                   .muted = true};
        layers[l].weigh.kind = EX_WEIGHER_DIRECT;
        layers[l].weigh.axes = &axis;
        layers[l].weigh.axis_count = layers[l].weigh.example_count = 1;
    }
    def.mesh = (ex_rig_mesh){.vertex_count = 1, .split_count = 1, .positions = mesh};
    def.layers = layers;
    def.layer_count = layer_count;
    must(ex_rig_create(&def, NULL, &rig, &error) == EX_OK, "a rig of many layers", &error);
    free(layers);
    free(names);
    return rig;
}

ex_rig *make_driven_rig(void) {
    driven_tube *tube = driven_tube_make(1, EX_RESIDUAL_NONE, false);
    ex_rig *rig = NULL;
    ex_error error = {0};
    must(ex_rig_create(&tube->def, NULL, &rig, &error) == EX_OK, "a driven rig", &error);
    free(tube);
    return rig;
}
