/*
 * The block of a rig's driver: moving frames, their skins, the driver's un-posed keys, the regions' views and weighers,
 * and the settler, which knows the place of every key's vertices on the driver.
 */
#include "runtime/rig/drive/drive.h"

#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/pose/frame_tree.h"
#include "runtime/rig/domains/domain.h"
#include "runtime/shape/mixture.h"
#include "runtime/weigh/driver.h"

#include <math.h>
#include <string.h>

/* ---- data made before the block's size is known ---- */

typedef struct made_layer {
    exi_drive_layer record;
    ex_region *views; /* [EX_DRIVER_FRAME_MAX] */
    ex_influences regions;
    ex_regions *seen;
    ex_weigher **weighers; /* [view_count]; NULL for a single region */
    double *shares;
    const float **keys;   /* [example_count] */
    const float **places; /* [example_count]: motions of the frames, if joints move them; else NULL */
    void *memory;
    size_t size;
} made_layer;

typedef struct making {
    const ex_rig *rig;
    const exi_drive_source *source;
    const ex_allocator *allocator;
    ex_rig_driver def;
    ex_bind binds[EX_BIND_MAX];
    ex_driver *driver;
    ex_skin *skin, *driver_skin;
    ex_forms *forms;
    exi_trajectories *paths;
    ex_settler *settler;
    made_layer *layers;
    int layer_count;
    float *matrices;       /* [frames][12] */
    exi_frame_link *links; /* [frames] */
    void *palette;
    size_t palette_size;
} making;

static size_t rows_of(const making *m) {
    return (size_t)m->rig->counts.vertices + (size_t)m->def.driver.vertex_count;
}

static ex_result make_skin(const making *m, size_t first, int count, ex_skin **skin, ex_error *error) {
    const ex_influences *carry = &m->def.carry;
    const size_t entries = carry->starts ? carry->starts[first + (size_t)count] - carry->starts[first] : (size_t)count;
    exi_size total = {0};
    const size_t joints_at = exi_size_add(&total, entries, sizeof(uint32_t), 8);
    const size_t starts_at = exi_size_add(&total, (size_t)count + 1, sizeof(uint32_t), 8);
    const size_t weights_at = exi_size_add(&total, entries, sizeof(float), 8);
    char *memory = total.overflow ? NULL : exi_allocate(m->allocator, total.bytes);
    if (!memory)
        return ex_error_memory(error, "what the driver carries", total.bytes);
    uint32_t *joints = (uint32_t *)(void *)(memory + joints_at), *starts = (uint32_t *)(void *)(memory + starts_at);
    float *weights = (float *)(void *)(memory + weights_at);
    const uint32_t base = carry->starts ? carry->starts[first] : 0;
    for (int v = 0; v <= count; v++)
        starts[v] = carry->starts ? carry->starts[first + (size_t)v] - base : (uint32_t)v;
    for (size_t i = 0; i < entries; i++) {
        joints[i] = carry->starts ? carry->places[base + i] : 0;
        weights[i] = carry->starts ? carry->weights[base + i] : 1;
    }
    ex_skin_def def = {.vertex_count = count,
                       .joint_count = m->def.driver.frame_count,
                       .starts = starts,
                       .joints = joints,
                       .weights = weights};
    ex_result result = ex_skin_create(&def, m->allocator, skin, error);
    exi_release(m->allocator, memory, total.bytes);
    return result;
}

/* ---- layers ---- */

static ex_result open_layer(making *m, int layer, made_layer *made, ex_error *error) {
    const exi_layer_record *record = &exi_rig_layers(m->rig)[layer];
    const size_t examples = (size_t)record->example_count;
    exi_size total = {0};
    const size_t views_at = exi_size_add(&total, EX_DRIVER_FRAME_MAX, sizeof(ex_region), 8);
    const size_t weighers_at = exi_size_add(&total, EX_DRIVER_FRAME_MAX, sizeof(ex_weigher *), 8);
    const size_t shares_at = exi_size_add(&total, EX_DRIVER_FRAME_MAX, sizeof(double), 8);
    const size_t keys_at = exi_size_add(&total, examples, sizeof(float *), 8);
    const size_t places_at = exi_size_add(&total, examples, sizeof(float *), 8);
    size_t joint_floats = 0;
    const bool jointed = m->def.joints != NULL && ex_rig_skeleton(m->rig) != NULL;
    if (!exi_multiply(examples, jointed ? 12 * (size_t)m->def.driver.frame_count : 0, &joint_floats))
        total.overflow = true;
    const size_t floats_at = exi_size_add(&total, joint_floats, sizeof(float), 8);
    made->memory = total.overflow ? NULL : exi_allocate(m->allocator, total.bytes);
    if (!made->memory)
        return ex_error_memory(error, "the driver", total.bytes);
    memset(made->memory, 0, total.bytes);
    char *memory = made->memory;
    made->size = total.bytes;
    made->views = (ex_region *)(void *)(memory + views_at);
    made->weighers = (ex_weigher **)(void *)(memory + weighers_at);
    made->shares = (double *)(void *)(memory + shares_at);
    made->keys = (const float **)(void *)(memory + keys_at);
    made->places = jointed ? (const float **)(void *)(memory + places_at) : NULL;
    for (size_t k = 0; jointed && k < examples; k++)
        made->places[k] = (float *)(void *)(memory + floats_at) + k * 12 * (size_t)m->def.driver.frame_count;
    made->record = (exi_drive_layer){
        .layer = layer, .example_count = record->example_count, .width = (record->example_count + 3) / 4 * 4};
    return EX_OK;
}

size_t exi_drive_trajectory_size(const ex_rig *rig, int layer, int example, int vertices) {
    const exi_trajectories *paths = exi_rig_trajectories_of(rig, layer);
    if (!paths)
        return 0;
    const exi_trajectory_example *e = &exi_trajectories_examples(paths)[example];
    return (size_t)(e->corrector_count + ((e->flags & EXI_PATHS_TURNS) != 0)) * 12 * (size_t)vertices;
}

size_t exi_drive_mixture_size(const ex_rig *rig, int layer, int vertices) {
    const exi_trajectories *paths = exi_rig_trajectories_of(rig, layer);
    if (!paths || paths->mixture.node_count == 0)
        return 0;
    const size_t shares = EX_NODE_SHARES * (sizeof(float) + sizeof(uint16_t));
    return (size_t)vertices * (shares + (size_t)paths->mixture.corrector_count * 3 * sizeof(float));
}

static ex_result find_keys(making *m, made_layer *made, ex_error *error) {
    const exi_layer_record *record = &exi_rig_layers(m->rig)[made->record.layer];
    const size_t before = (size_t)m->def.driver.vertex_count * 12;
    const size_t joints = (size_t)m->rig->counts.joints * sizeof(ex_transform);
    for (int k = 0; k < record->example_count; k++) {
        exi_bytes key = m->source->keys[record->first_example + k];
        const size_t path = exi_drive_trajectory_size(m->rig, made->record.layer, k, m->def.driver.vertex_count);
        key.size = key.size >= path ? key.size - path : 0;
        if (key.size != before && (joints == 0 || key.size != before + joints))
            return ex_error_set(error, EX_ERROR_DATA,
                                "example '%s' has no driver form, or one with another number of vertices",
                                ex_rig_example_name(m->rig, made->record.layer, k));
        made->keys[k] = key.data;
        if (made->places) {
            const void *locals = key.size > before ? (const char *)key.data + before : NULL;
            ex_result result =
                exi_drive_place_frames(m->driver, m->def.joints, ex_rig_skeleton(m->rig), locals, key.data,
                                       m->allocator, (float *)(uintptr_t)made->places[k], error);
            if (result != EX_OK)
                return result;
        }
    }
    return EX_OK;
}

/* Makes a region's weigher: the layer's own, with other products. */
static ex_result make_weigher(making *m, made_layer *made, int view, double *points, ex_error *error) {
    const ex_weigher *own = ex_rig_weigher(m->rig, made->record.layer);
    const size_t n = (size_t)made->record.example_count, dimension = (size_t)ex_weigher_dimension(own);
    const double *gram = (const double *)exi_driver_at(made->seen, made->seen->grams) + (size_t)view * n * n;
    ex_axis axes[2];
    ex_weigher_def def;
    ex_weigher_describe(own, &def, axes, NULL);
    const size_t driver_at = axes[0].kind == EX_AXIS_DRIVER ? 0 : 1;
    for (size_t k = 0; k < n; k++) {
        memcpy(points + k * dimension, ex_weigher_point(own, (int)k), dimension * sizeof *points);
        memcpy(points + k * dimension + driver_at, gram + k * n, n * sizeof *points);
    }
    def.points = points;
    return ex_weigher_create(&def, m->allocator, &made->weighers[view], error);
}

static void measure_shares(const making *m, made_layer *made) {
    const ex_influences *f = &made->regions;
    for (int v = 0; v < m->rig->counts.vertices; v++) {
        if (!f->starts)
            made->shares[0] += 1;
        for (uint32_t i = f->starts ? f->starts[v] : 0; f->starts && i < f->starts[v + 1]; i++)
            made->shares[f->places[i]] += (double)f->weights[i];
    }
    double total = 0;
    for (int r = 0; r < made->record.view_count; r++)
        total += made->shares[r];
    for (int r = 0; r < made->record.view_count; r++)
        made->shares[r] /= total;
}

/* Checks the predictor of a layer that follows motion. Its section is copied into the block with the others. */
static ex_result check_predictor(const making *m, const made_layer *made, ex_error *error) {
    const exi_bytes section = m->source->regions[made->record.layer];
    const exi_layer_record *record = &exi_rig_layers(m->rig)[made->record.layer];
    ex_predictor head;
    bool sound = exi_predictor_is_sound(section.data, section.size, &head) &&
                 head.weight_count == record->example_count && head.frame_count == m->def.driver.frame_count &&
                 record->domain == EX_DOMAIN_FORM;
    for (int k = 0; sound && k < record->example_count; k++)
        sound = m->source->keys[record->first_example + k].size == 0;
    return sound ? EX_OK : ex_error_set(error, EX_ERROR_DATA, "the predictor of the rig is broken");
}

static ex_result make_layer(making *m, int layer, made_layer *made, ex_error *error) {
    ex_result result = open_layer(m, layer, made, error);
    if (result == EX_OK && ex_weigher_get_info(ex_rig_weigher(m->rig, layer))->is_predicted)
        return check_predictor(m, made, error);
    const size_t mixture = exi_drive_mixture_size(m->rig, layer, m->def.driver.vertex_count);
    exi_bytes regions = m->source->regions[layer];
    regions.size = regions.size >= mixture ? regions.size - mixture : 0;
    if (result == EX_OK)
        result = exi_drive_read_regions(regions, m->rig->counts.vertices, &m->def, &made->record.view_count,
                                        made->views, &made->regions, error);
    if (result == EX_OK && made->record.view_count > 1 && !made->regions.starts)
        made->regions = m->def.carry;
    if (result == EX_OK && made->record.view_count > 1 && !exi_domain_of(m->rig, layer)->forms)
        result = ex_error_set(error, EX_ERROR_ARGUMENT, "only a layer of forms can have several regions");
    if (result == EX_OK)
        result = find_keys(m, made, error);
    if (result != EX_OK)
        return result;
    ex_regions_def views = {.driver = m->driver,
                            .region_count = made->record.view_count,
                            .regions = made->views,
                            .key_count = made->record.example_count,
                            .keys = made->keys,
                            .key_places = made->places};
    result = ex_regions_create(&views, m->allocator, &made->seen, error);
    if (result != EX_OK || made->record.view_count == 1) {
        made->shares[0] = 1;
        return result;
    }
    measure_shares(m, made);
    const ex_weigher *own = ex_rig_weigher(m->rig, layer);
    const size_t size = (size_t)made->record.example_count * (size_t)ex_weigher_dimension(own) * sizeof(double);
    double *points = exi_allocate(m->allocator, size);
    if (!points)
        return ex_error_memory(error, "the driver", size);
    for (int r = 0; result == EX_OK && r < made->record.view_count; r++)
        result = make_weigher(m, made, r, points, error);
    exi_release(m->allocator, points, size);
    return result;
}

/* ---- the driver in its keys, and the driven form on it ---- */

static const float *frames_at(const making *m, const made_layer *made, int key) {
    if (made->places)
        return made->places[key];
    ex_driver_place(m->driver, made->keys[key], m->matrices);
    return m->matrices;
}

static const ex_palette *palette_at(const making *m, const made_layer *made, int key) {
    const ex_palette_def def = {.method = EX_SKINNING_DUAL_QUATERNION,
                                .joint_count = m->def.driver.frame_count,
                                .matrices = frames_at(m, made, key)};
    ex_palette *palette = ex_palette_make(&def, m->palette);
    exi_frame_tree_follow(m->links, palette);
    return palette;
}

/* A key's data for the driver's vertices, at the end of its section. */
typedef struct path_vectors {
    const float *turns;
    const float *correctors[EX_CORRECTOR_MAX];
} path_vectors;

static void find_vectors(const making *m, const exi_trajectories *paths, int example, path_vectors *vectors) {
    const int layer = m->layers[0].record.layer, vertices = m->def.driver.vertex_count;
    const exi_trajectory_example *e = &exi_trajectories_examples(paths)[example];
    const exi_bytes key = m->source->keys[exi_rig_layers(m->rig)[layer].first_example + example];
    const char *from = (const char *)key.data + key.size - exi_drive_trajectory_size(m->rig, layer, example, vertices);
    *vectors = (path_vectors){0};
    if (e->flags & EXI_PATHS_TURNS) {
        vectors->turns = (const float *)(const void *)from;
        from += 12 * (size_t)vertices;
    }
    for (int c = 0; c < e->corrector_count; c++, from += 12 * (size_t)vertices)
        vectors->correctors[c] = (const float *)(const void *)from;
}

/* The layer's mixture, with the data of the driver's vertices, at the end of its section; pointers has room for its
 * correctors. */
static ex_mixture find_mixture(const making *m, const float **pointers) {
    const int layer = m->layers[0].record.layer;
    const size_t vertices = (size_t)m->def.driver.vertex_count;
    const exi_bytes section = m->source->regions[layer];
    ex_mixture mixture = ex_rig_layer_mixture(m->rig, layer);
    const char *from =
        (const char *)section.data + section.size - exi_drive_mixture_size(m->rig, layer, m->def.driver.vertex_count);
    mixture.correctors = pointers;
    mixture.shares = (const float *)(const void *)from;
    from += vertices * EX_NODE_SHARES * sizeof(float);
    for (int j = 0; j < mixture.corrector_count; j++, from += vertices * 3 * sizeof(float))
        pointers[j] = (const float *)(const void *)from;
    mixture.nodes = (const uint16_t *)(const void *)from;
    return mixture;
}

/* Makes the driver's own paths in a trajectory layer: the layer's, with its keys' data for the driver's vertices. */
static ex_result make_paths(making *m, ex_error *error) {
    const int layer = m->layers[0].record.layer;
    const exi_layer_record *record = &exi_rig_layers(m->rig)[layer];
    bool paths = false;
    for (int l = 0; l < m->layer_count; l++)
        paths |= exi_rig_trajectories_of(m->rig, m->layers[l].record.layer) != NULL;
    if (!paths)
        return EX_OK;
    const exi_trajectories *own = m->layer_count == 1 ? exi_rig_trajectories_of(m->rig, layer) : NULL;
    if (!own || own->segment_count > 0)
        return ex_error_set(
            error, EX_ERROR_ARGUMENT,
            "trajectories weighed by a driver cannot have segments, and with a residual they must be in one layer");
    const size_t examples = (size_t)record->example_count;
    const size_t size = examples * (sizeof(ex_trajectory) + sizeof(path_vectors));
    ex_trajectory *trajectories = exi_allocate(m->allocator, size);
    if (!trajectories)
        return ex_error_memory(error, "the driver's trajectories", size);
    path_vectors *vectors = (path_vectors *)(void *)(trajectories + examples);
    for (size_t k = 0; k < examples; k++) {
        find_vectors(m, own, (int)k, &vectors[k]);
        trajectories[k] = ex_rig_example_trajectory(m->rig, layer, (int)k);
        trajectories[k].turns = vectors[k].turns;
        trajectories[k].correctors = vectors[k].correctors;
    }
    exi_trajectories_def def = {.vertex_count = m->def.driver.vertex_count,
                                .example_count = record->example_count,
                                .storage = ex_rig_storage(m->rig),
                                .trajectories = trajectories,
                                .reference = own->reference,
                                .overlaps = ex_rig_layer_overlaps(m->rig, layer)};
    memcpy(def.centre, own->centre, sizeof def.centre);
    const float *correctors[EX_MIXTURE_CORRECTOR_MAX];
    if (own->mixture.node_count > 0)
        def.mixture = find_mixture(m, correctors);
    ex_result result = exi_trajectories_create(&def, m->allocator, &m->paths, error);
    result = ex_error_within(error, result, "the driver's vertices");
    exi_release(m->allocator, trajectories, size);
    return result;
}

static ex_result fill_mixture(making *m, ex_error *error) {
    const float *correctors[EX_MIXTURE_CORRECTOR_MAX];
    if (!m->paths || m->paths->mixture.node_count == 0)
        return EX_OK;
    find_mixture(m, correctors);
    return ex_error_within(error, exi_trajectories_fill_mixture(m->paths, m->forms, correctors, error),
                           "the driver's vertices");
}

/* Fills an example's forms, which move the driver's vertices along their paths to `delta`. */
static ex_result fill_path(making *m, int example, const float *delta, void *room, ex_error *error) {
    path_vectors vectors;
    find_vectors(m, m->paths, example, &vectors);
    const exi_trajectory_numbers numbers = {.turns = vectors.turns, .correctors = vectors.correctors, .delta = delta};
    return exi_trajectories_fill(m->paths, m->forms, example, &numbers, room, error);
}

static ex_result make_forms(making *m, ex_error *error) {
    const int vertices = m->def.driver.vertex_count;
    ex_result result = make_paths(m, error);
    if (result != EX_OK)
        return result;
    ex_forms head = {.vertex_count = vertices, .storage = (int32_t)ex_rig_storage(m->rig)};
    for (int l = 0; l < m->layer_count; l++) {
        m->layers[l].record.first_form = head.example_count;
        head.example_count += m->paths ? m->paths->form_count : m->layers[l].record.example_count;
    }
    const size_t room = m->paths ? exi_trajectories_room_size(m->paths) : 0;
    const size_t triples = 3 * (size_t)vertices, size = triples * (sizeof(double) + sizeof(float)) + 64 + room;
    m->forms = exi_forms_layout(&head) ? exi_block_create(m->allocator, (size_t)head.size) : NULL;
    double *rest = m->forms ? exi_allocate(m->allocator, size) : NULL;
    if (!rest)
        return ex_error_memory(error, "the driver's keys", (size_t)head.size);
    *m->forms = head;
    float *delta = (float *)(void *)(rest + triples);
    int bad = 0;
    bool finite = exi_forms_set_base(m->forms, m->def.driver.reference, NULL, &bad);
    if (finite) {
        result = fill_mixture(m, error);
        finite = result == EX_OK;
    }
    for (int l = 0; l < m->layer_count; l++)
        for (int k = 0; finite && k < m->layers[l].record.example_count; k++) {
            const made_layer *made = &m->layers[l];
            ex_unpose_job job = {.posed = made->keys[k], .rest = m->def.driver.reference, .out = rest};
            ex_skin_unpose(m->driver_skin, palette_at(m, made, k), &job);
            for (size_t i = 0; i < triples; i++)
                delta[i] = (float)(rest[i] - (double)m->def.driver.reference[i]);
            if (m->paths) {
                result = fill_path(m, k, delta, (void *)(((uintptr_t)(delta + triples) + 63) / 64 * 64), error);
                finite = result == EX_OK;
            } else {
                finite = exi_forms_set_example(m->forms, made->record.first_form + k, delta, NULL, NULL, &bad);
            }
        }
    exi_release(m->allocator, rest, size);
    if (finite || result != EX_OK)
        return result;
    return ex_error_set(error, EX_ERROR_DATA, "vertex %d of the driver is not finite, or too far away", bad);
}

/* Finds the place of every key's vertices on its driver. Keys are padded to a multiple of 4, like weights. */
static ex_result measure_keys(making *m, ex_settler_def *def, uint32_t *triangles, float *places, float *gaps,
                              float *form, void *scratch, ex_error *error) {
    const made_layer *made = &m->layers[0];
    const size_t vertices = (size_t)m->rig->counts.vertices;
    float *base = form + 3 * vertices;
    ex_rig_rest_mesh(m->rig, base);
    for (int k = 0; k < made->record.example_count; k++) {
        ex_rig_example_delta(m->rig, made->record.layer, k, form);
        for (size_t i = 0; i < 3 * vertices; i++)
            form[i] += base[i];
        ex_skin_job job = {.end = (int)vertices, .positions = form, .out_positions = form};
        ex_skin_apply(m->skin, palette_at(m, made, k), &job);
        uint32_t *row = triangles + (size_t)k * vertices;
        ex_settler_measure(m->settler, made->keys[k], form, 0, row, places + 2 * (size_t)k * vertices,
                           gaps + (size_t)k * vertices, NULL, scratch);
        for (size_t v = 0; v < vertices; v++)
            if (row[v] == UINT32_MAX)
                return ex_error_set(error, EX_ERROR_DATA,
                                    "example '%s': vertex %zu, or the driver there, is not finite, or too far away",
                                    ex_rig_example_name(m->rig, made->record.layer, k), v);
    }
    def->key_count = made->record.width;
    def->key_triangles = triangles;
    def->key_places = places;
    def->key_gaps = gaps;
    return EX_OK;
}

/* Without keys: finds the place of the rest form on the driver's reference. It is a key without weights, which only
 * tells neighbours and where to look first. If a vertex has no place, there is none. */
static void measure_rest(making *m, ex_settler_def *def, uint32_t *triangles, float *places, float *form,
                         void *scratch) {
    ex_rig_rest_mesh(m->rig, form);
    ex_settler_measure(m->settler, m->def.driver.reference, form, 0, triangles, places, NULL, NULL, scratch);
    for (int v = 0; v < m->rig->counts.vertices; v++)
        if (triangles[v] == UINT32_MAX)
            return;
    def->key_count = 1;
    def->key_triangles = triangles;
    def->key_places = places;
}

static ex_result make_settler(making *m, ex_error *error) {
    ex_settler_def def = {.driver_count = m->def.driver.vertex_count,
                          .driver_positions = m->def.driver.reference,
                          .triangle_count = m->def.triangle_count,
                          .triangles = m->def.triangles,
                          .vertex_count = m->rig->counts.vertices,
                          .bind_count = m->def.bind_count,
                          .binds = m->def.binds,
                          .vertex_binds = m->def.vertex_binds};
    ex_result result = ex_settler_create(&def, m->allocator, &m->settler, error);
    if (result != EX_OK)
        return result;
    const bool keyed = m->layer_count == 1 && m->skin && m->layers[0].record.view_count > 0;
    const size_t vertices = (size_t)m->rig->counts.vertices, width = keyed ? (size_t)m->layers[0].record.width : 1;
    exi_size total = {0};
    size_t rows = 0;
    total.overflow = !exi_multiply(width, vertices, &rows);
    const size_t triangles_at = exi_size_add(&total, rows, sizeof(uint32_t), 16);
    const size_t places_at = exi_size_add(&total, rows, 2 * sizeof(float), 16);
    const size_t gaps_at = exi_size_add(&total, rows, sizeof(float), 16);
    const size_t form_at = exi_size_add(&total, vertices, 6 * sizeof(float), 16);
    const size_t scratch_at = exi_size_add(&total, ex_settler_scratch_size(m->settler), 1, 64);
    char *memory = total.overflow ? NULL : exi_allocate(m->allocator, total.bytes + 64);
    if (!memory)
        return ex_error_memory(error, "the driver's keys", total.bytes);
    memset(memory, 0, scratch_at);
    uint32_t *triangles = (uint32_t *)(void *)(memory + triangles_at);
    float *places = (float *)(void *)(memory + places_at), *form = (float *)(void *)(memory + form_at);
    if (keyed)
        result = measure_keys(m, &def, triangles, places, (float *)(void *)(memory + gaps_at), form,
                              memory + scratch_at, error);
    else
        measure_rest(m, &def, triangles, places, form, memory + scratch_at);
    ex_settler_destroy(m->settler);
    m->settler = NULL;
    if (result == EX_OK)
        result = ex_settler_create(&def, m->allocator, &m->settler, error);
    exi_release(m->allocator, memory, total.bytes + 64);
    return result;
}

/* ---- the block ---- */

typedef struct placing {
    exi_size total;
    char *to; /* NULL: count only */
} placing;

static uint64_t place(placing *p, const void *from, size_t count, size_t size, size_t align) {
    const size_t at = exi_size_add(&p->total, count, size, align);
    if (p->to && from && count > 0)
        memcpy(p->to + at, from, count * size);
    return at;
}

static uint64_t place_part(placing *p, const void *part) {
    return part ? place(p, part, exi_part_size(part), 1, EXI_ALIGN) : 0;
}

static void place_layer(placing *p, const making *m, made_layer *made) {
    exi_drive_layer *r = &made->record;
    const size_t views = (size_t)r->view_count, rows = rows_of(m);
    const exi_bytes section = m->source->regions[r->layer];
    const bool predicted = ex_weigher_get_info(ex_rig_weigher(m->rig, r->layer))->is_predicted;
    r->views = place_part(p, made->seen);
    r->shares = place(p, made->shares, views, sizeof(double), 16);
    r->regions_size = section.size;
    r->regions = place(p, section.data, section.size, 1, EXI_ALIGN);
    r->predictor = predicted ? r->regions : 0;
    r->starts = r->weights = r->places = 0;
    if (made->regions.starts) {
        const size_t entries = made->regions.starts[rows];
        r->starts = place(p, made->regions.starts, rows + 1, sizeof(uint32_t), 16);
        r->weights = place(p, made->regions.weights, entries, sizeof(float), 16);
        r->places = place(p, made->regions.places, entries, sizeof(uint16_t), 16);
    }
    r->weighers = 0;
    if (views > 1) {
        r->weighers = place(p, NULL, views, sizeof(uint64_t), 16);
        for (size_t i = 0; i < views; i++) {
            const uint64_t at = place_part(p, made->weighers[i]);
            if (p->to)
                memcpy(p->to + r->weighers + i * sizeof at, &at, sizeof at);
        }
    }
}

static void place_keys(placing *p, const making *m, exi_drive *head) {
    head->keys = place(p, NULL, (size_t)m->rig->counts.examples, sizeof(exi_drive_key), 16);
    for (int i = 0; i < m->rig->counts.examples; i++) {
        const exi_bytes bytes = m->source->keys[i];
        exi_drive_key key = {.size = bytes.size};
        if (bytes.size > 0)
            key.data = place(p, bytes.data, bytes.size, 1, 16);
        if (p->to)
            memcpy(p->to + head->keys + (size_t)i * sizeof key, &key, sizeof key);
    }
}

static void place_all(placing *p, making *m, exi_drive *head) {
    p->total = (exi_size){.bytes = sizeof *head};
    head->driver = place_part(p, m->driver);
    head->skin = place_part(p, m->skin);
    head->driver_skin = place_part(p, m->driver_skin);
    head->forms = place_part(p, m->forms);
    head->paths = place_part(p, m->paths);
    head->settler = place_part(p, m->settler);
    head->links = place(p, m->links, (size_t)head->frame_count, sizeof(exi_frame_link), 16);
    head->joints = m->def.joints ? place(p, m->def.joints, (size_t)head->frame_count, sizeof(int32_t), 16) : 0;
    head->section_size = m->source->driver.size;
    head->section = place(p, m->source->driver.data, m->source->driver.size, 1, 16);
    place_keys(p, m, head);
    for (int l = 0; l < m->layer_count; l++)
        place_layer(p, m, &m->layers[l]);
    head->layers = place(p, NULL, (size_t)m->layer_count, sizeof(exi_drive_layer), 16);
    head->layer_of = place(p, NULL, (size_t)m->rig->counts.layers, sizeof(int32_t), 16);
    if (p->to) {
        int32_t *layer_of = (int32_t *)(void *)(p->to + head->layer_of);
        for (int l = 0; l < m->rig->counts.layers; l++)
            layer_of[l] = -1;
        for (int l = 0; l < m->layer_count; l++) {
            memcpy(p->to + head->layers + (size_t)l * sizeof(exi_drive_layer), &m->layers[l].record,
                   sizeof(exi_drive_layer));
            layer_of[m->layers[l].record.layer] = l;
        }
    }
    head->size = exi_size_add(&p->total, 0, 1, EXI_ALIGN);
}

/* Measures the room that evaluation needs. */
static void measure(const making *m, exi_drive *head) {
    for (int l = 0; l < m->layer_count; l++) {
        exi_drive_layer *r = &m->layers[l].record;
        const int32_t products = r->view_count * r->example_count;
        head->most_products = products > head->most_products ? products : head->most_products;
        head->most_width = r->width > head->most_width ? r->width : head->most_width;
        r->state = head->state_size;
        if (ex_weigher_get_info(ex_rig_weigher(m->rig, r->layer))->is_predicted) {
            ex_predictor predictor;
            memcpy(&predictor, m->source->regions[r->layer].data, sizeof predictor);
            const int32_t length = ex_state_start(predictor.frame_count, EX_STATE_KIND_COUNT);
            const uint64_t scratch = ex_predictor_scratch_size(&predictor);
            head->most_state = length > head->most_state ? length : head->most_state;
            head->weigher_scratch = scratch > head->weigher_scratch ? scratch : head->weigher_scratch;
            head->state_size += ex_predictor_history_size(&predictor);
            continue;
        }
        for (int v = 0; v < r->view_count; v++) {
            const ex_weigher *weigher = r->view_count > 1 ? m->layers[l].weighers[v] : ex_rig_weigher(m->rig, r->layer);
            head->state_size += (ex_weigher_state_size(weigher) + 15) / 16 * 16;
        }
        /* For any weigher of as many examples: a replacement of the layer's own may have them all in one database. */
        const uint64_t scratch = exi_convex_scratch_size(r->example_count);
        head->weigher_scratch = scratch > head->weigher_scratch ? scratch : head->weigher_scratch;
    }
    head->state_size = (head->state_size + 63) / 64 * 64;
    head->settler_state = head->state_size;
    head->state_size += m->settler ? ex_settler_state_size(m->settler) : 0;
}

static ex_result make_links(making *m, ex_error *error) {
    const int frames = m->def.driver.frame_count;
    const size_t size = exi_frame_tree_room(frames);
    void *room = exi_allocate(m->allocator, size);
    m->links = exi_allocate(m->allocator, (size_t)frames * sizeof *m->links);
    if (room && m->links)
        exi_frame_tree_make(&m->def.carry, rows_of(m), frames, m->links, room);
    exi_release(m->allocator, room, size);
    return room && m->links ? EX_OK : ex_error_memory(error, "the driver", size);
}

static ex_result gather(making *m, ex_error *error) {
    ex_result result = exi_drive_read_driver(m->source->driver, m->rig->counts.vertices, m->rig->counts.joints, &m->def,
                                             m->binds, error);
    if (result == EX_OK)
        result = ex_driver_create(&m->def.driver, m->allocator, &m->driver, error);
    const size_t frames = (size_t)m->def.driver.frame_count;
    m->palette_size = ex_palette_size(EX_SKINNING_DUAL_QUATERNION, m->def.driver.frame_count);
    if (result == EX_OK) {
        m->matrices = exi_allocate(m->allocator, frames * 48);
        m->palette = exi_allocate(m->allocator, m->palette_size);
        if (!m->matrices || !m->palette)
            result = ex_error_memory(error, "the driver", m->palette_size);
    }
    if (result == EX_OK)
        result = make_links(m, error);
    if (result == EX_OK && !ex_rig_skin(m->rig))
        result = make_skin(m, 0, m->rig->counts.vertices, &m->skin, error);
    if (result == EX_OK && m->def.residual != EX_RESIDUAL_NONE && !m->skin)
        result = ex_error_set(error, EX_ERROR_ARGUMENT,
                              "a rig with its own skin is posed by its skeleton, so no residual can be carried to it");
    if (result == EX_OK && m->def.residual != EX_RESIDUAL_NONE)
        result = make_skin(m, (size_t)m->rig->counts.vertices, m->def.driver.vertex_count, &m->driver_skin, error);
    for (int l = 0; result == EX_OK && l < m->rig->counts.layers; l++)
        if (exi_rig_layers(m->rig)[l].flags & EXI_LAYER_DRIVEN) {
            result = make_layer(m, l, &m->layers[m->layer_count++], error);
            result = ex_error_within(error, result, "layer '%s'", ex_rig_layer_name(m->rig, l));
        }
    for (int l = 0; result == EX_OK && m->def.residual != EX_RESIDUAL_NONE && l < m->layer_count; l++)
        if (m->layers[l].record.view_count == 0)
            result = ex_error_set(error, EX_ERROR_ARGUMENT, "a layer that follows motion carries no residual");
    if (result == EX_OK && m->def.residual == EX_RESIDUAL_KEYS && m->layer_count != 1)
        result = ex_error_set(error, EX_ERROR_ARGUMENT, "a residual by keys needs one layer weighed by the driver");
    if (result == EX_OK && m->def.residual != EX_RESIDUAL_NONE)
        result = make_forms(m, error);
    if (result == EX_OK && (m->def.push || m->def.residual != EX_RESIDUAL_NONE))
        result = make_settler(m, error);
    return result;
}

static void close_making(making *m) {
    for (int l = 0; l < m->layer_count; l++) {
        made_layer *made = &m->layers[l];
        ex_regions_destroy(made->seen);
        for (int r = 0; made->weighers && r < EX_DRIVER_FRAME_MAX; r++)
            ex_weigher_destroy(made->weighers[r]);
        exi_release(m->allocator, made->memory, made->size);
    }
    ex_driver_destroy(m->driver);
    ex_skin_destroy(m->skin);
    ex_skin_destroy(m->driver_skin);
    ex_settler_destroy(m->settler);
    exi_block_destroy(m->forms);
    exi_block_destroy(m->paths);
    exi_release(m->allocator, m->matrices, (size_t)m->def.driver.frame_count * 48);
    exi_release(m->allocator, m->links, (size_t)m->def.driver.frame_count * sizeof *m->links);
    exi_release(m->allocator, m->palette, m->palette_size);
}

/* Joins the rig and the new block in one larger block. */
static ex_result join(making *m, const ex_allocator *allocator, ex_rig **rig, ex_error *error) {
    exi_drive head = {.vertex_count = m->def.driver.vertex_count,
                      .frame_count = m->def.driver.frame_count,
                      .layer_count = m->layer_count,
                      .residual = (int32_t)m->def.residual,
                      .push = m->def.push,
                      .thickness = m->def.thickness};
    measure(m, &head);
    placing p = {0};
    place_all(&p, m, &head);
    const size_t at = ((size_t)(*rig)->size + EXI_ALIGN - 1) / EXI_ALIGN * EXI_ALIGN;
    ex_rig *joined =
        p.total.overflow || head.size > SIZE_MAX - at ? NULL : exi_block_create(allocator, at + (size_t)head.size);
    if (!joined)
        return ex_error_memory(error, "the rig", at + (size_t)head.size);
    memcpy(joined, *rig, (size_t)(*rig)->size);
    p = (placing){.to = (char *)joined + at};
    place_all(&p, m, &head);
    memcpy(p.to, &head, sizeof head);
    joined->drive = at;
    joined->size = at + head.size;
    ex_rig_destroy(*rig);
    *rig = joined;
    return EX_OK;
}

ex_result exi_drive_attach(const exi_drive_source *source, const ex_allocator *allocator, ex_rig **rig,
                           ex_error *error) {
    const size_t layers = (size_t)(*rig)->counts.layers;
    const size_t size = sizeof(making) + layers * sizeof(made_layer);
    making *m = exi_allocate(allocator, size);
    if (!m)
        return ex_error_memory(error, "the driver", size);
    memset(m, 0, size);
    m->rig = *rig;
    m->source = source;
    m->allocator = allocator;
    m->layers = (made_layer *)(void *)(m + 1);
    ex_result result = gather(m, error);
    if (result == EX_OK)
        result = join(m, allocator, rig, error);
    close_making(m);
    exi_release(allocator, m, size);
    return result;
}
