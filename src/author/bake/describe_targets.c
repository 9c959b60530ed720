/*
 * Turns the rig's examples into morph targets. A layer at rest adds sum over k of w_k delta_k to the form, exactly what
 * morph targets do; at a refined level, deltas are refined like positions. If vertices are weighed only by the examples
 * that move them (ex_layer_def.moved), an example has a different weight in each set of examples, and gives a target
 * for each: the vertices of that set.
 *
 * Examples that have no weight in the motion, and those that move nothing, are left out.
 */
#include "author/bake/bake.h"

#include "author/base/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Weights by target while their number is unknown: [target][frame]. */
typedef struct columns {
    float *values;
    size_t capacity;
} columns;

static ex_result no_memory(const exi_bake *bake) {
    return ex_error_memory(bake->error, "morph targets", (size_t)bake->vertex_count * 16);
}

exi_bake_target *exi_bake_add_target(exi_bake *bake, const char *name) {
    exi_bake_target *targets =
        exi_array_grow(bake->targets, &bake->target_capacity, (size_t)bake->target_count + 1, sizeof *targets);
    if (targets)
        bake->targets = targets;
    char *copy = exi_text_copy(name, strlen(name));
    if (!targets || !copy) {
        free(copy);
        no_memory(bake);
        return NULL;
    }
    bake->targets[bake->target_count] = (exi_bake_target){.name = copy};
    return &bake->targets[bake->target_count++];
}

ex_result exi_bake_fill_target(exi_bake *bake, exi_bake_target *target, const float *deltas) {
    size_t count = 0;
    for (int v = 0; v < bake->vertex_count; v++) {
        const float *d = deltas + 3 * (size_t)v;
        count += d[0] != 0 || d[1] != 0 || d[2] != 0;
    }
    target->vertices = exi_array_allocate(count, sizeof *target->vertices);
    target->deltas = exi_array_allocate(count, 3 * sizeof *target->deltas);
    if (!target->vertices || !target->deltas)
        return no_memory(bake);
    for (int v = 0; v < bake->vertex_count; v++) {
        const float *d = deltas + 3 * (size_t)v;
        if (d[0] == 0 && d[1] == 0 && d[2] == 0)
            continue;
        target->vertices[target->count] = (uint32_t)v;
        memcpy(target->deltas + 3 * (size_t)target->count++, d, 3 * sizeof *d);
    }
    return EX_OK;
}

/* ---- adding ---- */

/* True if the layer becomes targets. Also used to count them for names. */
static bool becomes_targets(const exi_bake *bake, int layer) {
    const ex_stage stage = ex_rig_layer_stage(bake->rig, layer);
    return !bake->muted[layer] && ex_rig_layer_is_sum(bake->rig, layer) &&
           (stage == EX_STAGE_REST || (stage == EX_STAGE_POSED && !bake->skin));
}

/* Returns "example", or "layer/example" if there are several layers; set: a number to append. Release with free. */
static char *name_target(const exi_bake *bake, int layer, int example, int set) {
    int layers = 0;
    for (int l = 0; l < ex_rig_layer_count(bake->rig); l++)
        layers += becomes_targets(bake, l);
    const char *above = layers > 1 ? ex_rig_layer_name(bake->rig, layer) : "";
    const char *name = ex_rig_example_name(bake->rig, layer, example);
    const size_t size = strlen(above) + strlen(name) + 24;
    char *made = malloc(size);
    if (!made)
        return NULL;
    const int length = snprintf(made, size, "%s%s%s", above, layers > 1 ? "/" : "", name);
    if (set > 0)
        snprintf(made + length, size - (size_t)length, " (set %d)", set);
    return made;
}

/* Weights of one target: column `at` of rows of `width`. True if any is not 0. */
static bool is_used(const exi_bake *bake, const double *weights, size_t width, size_t at) {
    for (int f = 0; f < bake->frame_count; f++)
        if ((float)weights[(size_t)f * width + at] != 0)
            return true;
    return false;
}

/* Adds a target from deltas of the cage [vertices of the rig][3]; `refined` has room for those of the level. */
static ex_result add_target(exi_bake *bake, columns *c, char *name, const float *delta, float *refined,
                            const double *weights, size_t width, size_t at) {
    const size_t frames = (size_t)bake->frame_count, first = (size_t)bake->target_count * frames;
    ex_result result = name ? EX_OK : no_memory(bake);
    if (result == EX_OK && bake->level != 0)
        result = exi_bake_refine(bake, delta, refined);
    float *values = result == EX_OK ? exi_array_grow(c->values, &c->capacity, first + frames, sizeof *values) : NULL;
    exi_bake_target *target = NULL;
    if (values) {
        c->values = values;
        target = exi_bake_add_target(bake, name);
    } else if (result == EX_OK) {
        result = no_memory(bake);
    }
    free(name);
    if (result != EX_OK || !target)
        return EX_ERROR_MEMORY;
    result = exi_bake_fill_target(bake, target, bake->level != 0 ? refined : delta);
    if (result != EX_OK)
        return result;
    for (size_t f = 0; f < frames; f++)
        c->values[first + f] = (float)weights[f * width + at];
    if (target->count == 0) { /* the example is the mesh itself */
        free(target->name);
        free(target->vertices);
        free(target->deltas);
        bake->target_count--;
    }
    return EX_OK;
}

/* Scratch memory for one example: its deltas in the cage and at the level. */
typedef struct delta_room {
    float *delta, *refined;
    float *mask; /* [vertices of the rig] */
} delta_room;

static ex_result add_layer(exi_bake *bake, columns *c, delta_room *room, int layer, const double *weights) {
    const size_t width = (size_t)ex_rig_example_count(bake->rig);
    const int first = ex_rig_first_example(bake->rig, layer);
    ex_result result = EX_OK;
    for (int k = 0; result == EX_OK && k < ex_weigher_example_count(ex_rig_weigher(bake->rig, layer)); k++) {
        if (!is_used(bake, weights, width, (size_t)(first + k))) {
            bake->unused_count++;
            continue;
        }
        ex_rig_example_delta(bake->rig, layer, k, room->delta);
        if (ex_rig_layer_mask(bake->rig, layer, room->mask)) /* stored separately, as for trajectories */
            for (size_t i = 0; i < 3 * (size_t)ex_rig_vertex_count(bake->rig); i++)
                room->delta[i] *= room->mask[i / 3];
        result = add_target(bake, c, name_target(bake, layer, k, 0), room->delta, room->refined, weights, width,
                            (size_t)(first + k));
    }
    return result;
}

/* ---- layers whose vertices are weighed in sets ---- */

typedef struct set_layer {
    int layer, example_count, set_count;
    size_t words;         /* per set */
    const uint32_t *sets; /* [set_count][words] */
    int *vertex_sets;     /* [vertices of the rig], -1 for none */
    double *weights;      /* [frame_count][width] */
    size_t width;
} set_layer;

static bool has(const set_layer *s, int set, int example) {
    return s->sets[(size_t)set * s->words + (size_t)example / 32] >> (example % 32) & 1;
}

/* Assigns each vertex to the set of the examples that move it. */
static ex_result sort_vertices(exi_bake *bake, set_layer *s) {
    const size_t vertices = (size_t)ex_rig_vertex_count(bake->rig);
    uint32_t *masks = calloc(vertices * s->words + 1, sizeof *masks);
    uint32_t *list = exi_array_allocate(vertices, sizeof *list);
    s->vertex_sets = exi_array_allocate(vertices, sizeof *s->vertex_sets);
    if (!masks || !list || !s->vertex_sets) {
        free(masks);
        free(list);
        return no_memory(bake);
    }
    for (int k = 0; k < s->example_count; k++) {
        const int count = ex_rig_example_offset_count(bake->rig, s->layer, k);
        ex_rig_example_offsets(bake->rig, s->layer, k, list, NULL);
        for (int i = 0; i < count; i++)
            masks[list[i] * s->words + (size_t)k / 32] |= (uint32_t)1 << (k % 32);
    }
    for (size_t v = 0; v < vertices; v++) {
        s->vertex_sets[v] = -1;
        for (int set = 0; set < s->set_count && s->vertex_sets[v] < 0; set++)
            if (memcmp(masks + v * s->words, s->sets + (size_t)set * s->words, s->words * sizeof *masks) == 0)
                s->vertex_sets[v] = set;
    }
    free(masks);
    free(list);
    return EX_OK;
}

static ex_result weigh_sets(exi_bake *bake, set_layer *s) {
    const ex_weigher *weigher = ex_rig_weigher(bake->rig, s->layer);
    double *point = exi_array_allocate((size_t)ex_weigher_dimension(weigher) + 4, sizeof *point);
    s->width = (size_t)ex_weigher_set_weight_count(weigher);
    s->weights = exi_array_allocate((size_t)bake->frame_count * s->width, sizeof *s->weights);
    ex_result result = point && s->weights ? EX_OK : no_memory(bake);
    for (int f = 0; result == EX_OK && f < bake->frame_count; f++) {
        double *at = point;
        for (int a = 0; a < ex_weigher_axis_count(weigher); a++) {
            const int input = ex_rig_layer_input(bake->rig, s->layer, a);
            ex_rig_get_input(bake->rig, input, &bake->motion->poses[f], at);
            at += ex_rig_input_axis(bake->rig, input).kind == EX_AXIS_SCALAR ? 1 : 4;
        }
        ex_weigher_evaluate_sets(weigher, point, NULL, s->weights + (size_t)f * s->width);
    }
    free(point);
    return result;
}

static ex_result add_sets(exi_bake *bake, columns *c, delta_room *room, const set_layer *s) {
    const int vertices = ex_rig_vertex_count(bake->rig);
    ex_result result = EX_OK;
    size_t at = 0;
    for (int set = 0; set < s->set_count; set++)
        for (int k = 0; result == EX_OK && k < s->example_count; k++) {
            if (!has(s, set, k))
                continue;
            const size_t place = at++;
            if (!is_used(bake, s->weights, s->width, place))
                continue;
            ex_rig_example_delta(bake->rig, s->layer, k, room->delta);
            for (int v = 0; v < vertices; v++)
                if (s->vertex_sets[v] != set)
                    memset(room->delta + 3 * (size_t)v, 0, 3 * sizeof(float));
            result = add_target(bake, c, name_target(bake, s->layer, k, s->set_count > 1 ? set + 1 : 0), room->delta,
                                room->refined, s->weights, s->width, place);
        }
    return result;
}

static ex_result add_moved_layer(exi_bake *bake, columns *c, delta_room *room, int layer) {
    const ex_weigher *weigher = ex_rig_weigher(bake->rig, layer);
    ex_weigher_def def;
    ex_weigher_describe(weigher, &def, NULL, NULL);
    set_layer s = {.layer = layer,
                   .example_count = ex_weigher_example_count(weigher),
                   .set_count = def.set_count,
                   .words = ((size_t)ex_weigher_example_count(weigher) + 31) / 32,
                   .sets = def.sets};
    ex_result result = sort_vertices(bake, &s);
    if (result == EX_OK)
        result = weigh_sets(bake, &s);
    if (result == EX_OK)
        result = add_sets(bake, c, room, &s);
    free(s.vertex_sets);
    free(s.weights);
    return result;
}

ex_result exi_bake_describe_targets(exi_bake *bake, const double *example_weights) {
    const size_t vertices = (size_t)ex_rig_vertex_count(bake->rig), frames = (size_t)bake->frame_count;
    columns c = {.values = NULL};
    delta_room room = {.delta = exi_array_allocate(vertices, 3 * sizeof(float)),
                       .mask = exi_array_allocate(vertices, sizeof(float)),
                       .refined = exi_array_allocate((size_t)bake->vertex_count, 3 * sizeof(float))};
    ex_result result = room.delta && room.refined && room.mask ? EX_OK : no_memory(bake);
    for (int l = 0; result == EX_OK && l < ex_rig_layer_count(bake->rig); l++)
        if (becomes_targets(bake, l))
            result = ex_rig_layer_moved(bake->rig, l) ? add_moved_layer(bake, &c, &room, l)
                                                      : add_layer(bake, &c, &room, l, example_weights);
    const size_t targets = (size_t)bake->target_count;
    bake->weights = result == EX_OK ? exi_array_allocate(frames * targets, sizeof *bake->weights) : NULL;
    if (result == EX_OK && !bake->weights)
        result = no_memory(bake);
    for (size_t f = 0; result == EX_OK && f < frames; f++)
        for (size_t k = 0; k < targets; k++)
            bake->weights[f * targets + k] = c.values[k * frames + f];
    free(c.values);
    free(room.delta);
    free(room.mask);
    free(room.refined);
    return result;
}
