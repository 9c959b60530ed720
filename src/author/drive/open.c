/*
 * Recovers what a driven rig was built from: the inverse of drive_build.c. Takes driven forms out of the moving frames;
 * drivers are stored in the rig unchanged.
 */
#include "author/base/array.h"
#include "author/drive/drive.h"
#include "runtime/base/result.h"

#include <stdlib.h>

struct ex_drive_set {
    ex_drive_def def;
    ex_mesh *driver, *driven;
    exi_arena arena;
};

static ex_result no_memory(const ex_rig *rig, ex_error *error) {
    return ex_error_memory(error, "the keys of the rig", 12 * (size_t)ex_rig_vertex_count(rig));
}

/* ---- kind of rig ---- */

static ex_result check_kind(const ex_rig *rig, ex_rig_driver *driver, ex_bind *binds, ex_error *error) {
    if (!ex_rig_get_driver(rig, driver, binds))
        return ex_error_set(error, EX_ERROR_DATA, "this rig does not follow a driver: it has no keys");
    for (int l = 0; l < ex_rig_layer_count(rig); l++)
        if (ex_rig_layer_predictor(rig, l)) {
            ex_error_set(error, EX_ERROR_DATA,
                         "this rig follows motion and has no keys: learn it again with the new take");
            return ex_error_kind(error, EX_ERROR_DATA, "no_keys");
        }
    if (ex_rig_layer_count(rig) != 1 || !ex_weigher_get_info(ex_rig_weigher(rig, 0))->is_driven)
        return ex_error_set(error, EX_ERROR_DATA,
                            "the rig has %d layers besides that of its driver: unpack it and edit its project",
                            ex_rig_layer_count(rig));
    if (ex_rig_skeleton(rig) || ex_rig_skin(rig))
        return ex_error_set(error, EX_ERROR_DATA,
                            "the rig has a skeleton besides its driver: unpack it and edit its project");
    return EX_OK;
}

/* ---- options from the tables ---- */

/* Recovers masks of regions made by hand from the influences of driven vertices. */
static ex_result take_masks(ex_drive_set *set, const ex_rig *rig, ex_error *error) {
    const ex_drive_options *o = &set->def.options;
    const size_t count = (size_t)ex_rig_vertex_count(rig);
    ex_influences regions = {0};
    ex_region *views = exi_arena_allocate(&set->arena, EX_DRIVER_FRAME_MAX, sizeof *views);
    if (!views)
        return no_memory(rig, error);
    if (ex_rig_layer_regions(rig, 0, views, &regions) != o->region_count)
        return ex_error_set(error, EX_ERROR_DATA, "the rig's note of how it follows its driver is damaged");
    ex_drive_region *list = (ex_drive_region *)o->regions; /* in the arena */
    for (int r = 0; r < o->region_count; r++) {
        float *mask = exi_arena_allocate(&set->arena, count, sizeof *mask);
        if (!mask)
            return no_memory(rig, error);
        list[r].mask = mask;
        for (size_t v = 0; v < count; v++) {
            mask[v] = regions.starts ? 0 : 1;
            for (uint32_t i = regions.starts ? regions.starts[v] : 0; regions.starts && i < regions.starts[v + 1]; i++)
                if (regions.places[i] == r)
                    mask[v] = regions.weights[i];
        }
    }
    return EX_OK;
}

static ex_result take_options(ex_drive_set *set, const ex_rig *rig, const ex_rig_driver *driver, ex_error *error) {
    ex_drive_options *o = &set->def.options;
    ex_result result = exi_drive_note_read(rig, driver, &set->arena, o, &set->driver, error);
    if (result != EX_OK)
        return result;
    ex_weigher_def weigh;
    ex_weigher_describe(ex_rig_weigher(rig, 0), &weigh, NULL, NULL);
    o->ridge = weigh.ridge;
    o->paths = !ex_rig_layer_is_sum(rig, 0);
    o->residual = driver->residual;
    o->push = driver->push;
    o->thickness = (double)driver->thickness;
    o->bind_count = driver->bind_count;
    o->binds = driver->binds;
    o->vertex_binds = driver->vertex_binds;
    return o->region_count > 0 ? take_masks(set, rig, error) : EX_OK;
}

/* Copies binds: they point into the rig, which the set must outlive. */
static ex_result copy_binds(ex_drive_set *set, const ex_rig *rig, ex_error *error) {
    ex_drive_options *o = &set->def.options;
    const size_t count = (size_t)ex_rig_vertex_count(rig);
    if (o->bind_count == 0) {
        o->binds = NULL;
        o->vertex_binds = NULL;
        return EX_OK;
    }
    ex_bind *binds = exi_arena_allocate(&set->arena, (size_t)o->bind_count, sizeof *binds);
    uint16_t *vertices = exi_arena_allocate(&set->arena, count, sizeof *vertices);
    for (int b = 0; binds && vertices && b < o->bind_count; b++) {
        const size_t triangles = (size_t)o->binds[b].triangle_count;
        uint32_t *list = exi_arena_allocate(&set->arena, triangles, sizeof *list);
        if (!list)
            return no_memory(rig, error);
        for (size_t t = 0; t < triangles; t++)
            list[t] = o->binds[b].triangles[t];
        binds[b] = (ex_bind){.triangle_count = (int)triangles, .triangles = list};
    }
    for (size_t v = 0; binds && vertices && v < count; v++)
        vertices[v] = o->vertex_binds[v];
    o->binds = binds;
    o->vertex_binds = vertices;
    return binds && vertices ? EX_OK : no_memory(rig, error);
}

/* ---- keys ---- */

static ex_result take_key(ex_drive_set *set, const ex_rig *rig, exi_moving_frames *carrier, int k, float *delta,
                          ex_drive_key *key, ex_error *error) {
    const size_t driver_numbers = 3 * (size_t)set->driver->vertex_count;
    const size_t driven_numbers = 3 * (size_t)set->driven->vertex_count;
    const float *held = ex_rig_example_driver(rig, 0, k);
    float *driver = exi_arena_allocate(&set->arena, driver_numbers, sizeof *driver);
    float *driven = exi_arena_allocate(&set->arena, driven_numbers, sizeof *driven);
    char *name = exi_arena_text(&set->arena, ex_rig_example_name(rig, 0, k));
    if (!driver || !driven || !name)
        return no_memory(rig, error);
    for (size_t i = 0; i < driver_numbers; i++)
        driver[i] = held[i];
    ex_rig_example_delta(rig, 0, k, delta);
    for (size_t i = 0; i < driven_numbers; i++)
        carrier->unposed[i] = (double)carrier->rest[i] + (double)delta[i];
    exi_moving_frames_place(carrier, driver, NULL, NULL);
    exi_moving_frames_pose(carrier, carrier->unposed, driven);
    *key = (ex_drive_key){.name = name, .driver = driver, .driven = driven};
    return EX_OK;
}

/* Reads each key's value on the axis of databases, which follows the driver's numbers in a point. */
static ex_result take_databases(ex_drive_set *set, const ex_rig *rig, ex_drive_key *keys, ex_error *error) {
    const ex_weigher *weigher = ex_rig_weigher(rig, 0);
    int axis = -1;
    for (int a = 0; a < ex_weigher_axis_count(weigher); a++) {
        const int input = ex_rig_layer_input(rig, 0, a);
        if (ex_rig_input_axis(rig, input).kind == EX_AXIS_SCALAR)
            axis = a;
    }
    if (axis < 0)
        return EX_OK;
    char *name = exi_arena_text(&set->arena, ex_rig_input_name(rig, ex_rig_layer_input(rig, 0, axis)));
    if (!name)
        return no_memory(rig, error);
    set->def.database_axis = name;
    for (int k = 0; k < set->def.key_count; k++)
        keys[k].database = ex_weigher_point(weigher, k)[axis == 0 ? 0 : ex_weigher_dimension(weigher) - 1];
    return EX_OK;
}

static ex_result take_keys(ex_drive_set *set, const ex_rig *rig, const ex_rig_driver *driver, ex_error *error) {
    const int count = ex_weigher_example_count(ex_rig_weigher(rig, 0)), vertices = ex_rig_vertex_count(rig);
    exi_moving_frames carrier = {0};
    float *rest = exi_array_allocate(3 * (size_t)vertices, sizeof *rest);
    float *delta = exi_array_allocate(3 * (size_t)vertices, sizeof *delta);
    ex_drive_key *keys = exi_arena_allocate(&set->arena, (size_t)count, sizeof *keys);
    ex_result result = rest && delta && keys ? EX_OK : no_memory(rig, error);
    if (result == EX_OK) {
        ex_rig_rest_mesh(rig, rest);
        result = exi_moving_frames_open(&carrier, driver, rest, vertices, error);
    }
    for (int k = 0; result == EX_OK && k < count; k++)
        result = take_key(set, rig, &carrier, k, delta, &keys[k], error);
    exi_moving_frames_close(&carrier);
    free(rest);
    free(delta);
    set->def.keys = keys;
    set->def.key_count = count;
    return result == EX_OK ? take_databases(set, rig, keys, error) : result;
}

/* ---- the set ---- */

static ex_result open_set(ex_drive_set *set, const ex_rig *rig, ex_error *error) {
    ex_rig_driver driver;
    ex_bind binds[EX_BIND_MAX];
    ex_result result = check_kind(rig, &driver, binds, error);
    if (result == EX_OK)
        result = take_options(set, rig, &driver, error);
    if (result == EX_OK)
        result = copy_binds(set, rig, error);
    if (result == EX_OK)
        result = ex_rig_to_mesh(rig, NULL, &set->driven, error);
    if (result == EX_OK)
        result = take_keys(set, rig, &driver, error);
    if (result != EX_OK)
        return result;
    set->def.driver = set->driver;
    set->def.driven = set->driven;
    set->def.driver_name = exi_arena_text(&set->arena, driver.name);
    return set->def.driver_name ? EX_OK : no_memory(rig, error);
}

ex_result ex_drive_open(const ex_rig *rig, ex_drive_set **set, ex_error *error) {
    *set = NULL;
    if (!rig)
        return exi_misuse_error(error, __func__, "no rig to open");
    ex_drive_set *made = calloc(1, sizeof *made);
    if (!made)
        return no_memory(rig, error);
    ex_result result = open_set(made, rig, error);
    if (result == EX_OK)
        *set = made;
    else
        ex_drive_close(made);
    return result;
}

const ex_drive_def *ex_drive_get_def(const ex_drive_set *set) {
    return set ? &set->def : NULL;
}

void ex_drive_close(ex_drive_set *set) {
    if (!set)
        return;
    ex_mesh_destroy(set->driver);
    ex_mesh_destroy(set->driven);
    exi_arena_free(&set->arena);
    free(set);
}
