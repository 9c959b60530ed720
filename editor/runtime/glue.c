/*
 * glue.c - the runtime as a page sees it: numbers and addresses in WebAssembly's memory, no structs but those of
 * numbers of one kind. index.js is its only caller and checks every index; nothing here prints, opens or waits.
 *
 * A rig with what a page changes of it (replaced weighers, muted layers), a pose, and a surface (where results go, with
 * the scratch that evaluating them takes) are three kinds of object, each released by its caller. What can fail returns
 * 0, and error_text has the sentence: there is one instance a page and one thread an instance.
 */
#include <exemplar/exemplar.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wasi/api.h>

#define EXPORT(name) __attribute__((export_name(#name))) name

typedef struct page_rig {
    ex_rig *rig;
    ex_weigher **edited; /* [layer_count], each NULL where the rig's own holds */
    bool *muted;         /* [layer_count] */
} page_rig;

typedef struct page_surface {
    int level;
    bool split;
    int count;
    ex_output output;
    float box[6];
    unsigned char **textures; /* [texture_count], or NULL */
    void *scratch;
} page_surface;

static ex_error error;

static bool failed(ex_result result, const char *text) {
    error.result = result;
    snprintf(error.text, sizeof error.text, "%s", text);
    return false;
}

/* At least a byte, so that NULL means what it says. */
static void *zeros(size_t count, size_t size) {
    void *memory = calloc(count > 0 ? count : 1, size > 0 ? size : 1);
    if (!memory)
        failed(EX_ERROR_MEMORY, "there is not enough memory in the page for this");
    return memory;
}

const char *EXPORT(error_text)(void) {
    return error.text;
}
int EXPORT(error_result)(void) {
    return (int)error.result;
}
const char *EXPORT(version_text)(void) {
    return ex_version().text;
}
const char *EXPORT(version_simd)(void) {
    return ex_version().simd;
}
int EXPORT(version_format)(void) {
    return ex_version().format;
}
void *EXPORT(memory_allocate)(size_t size) {
    return zeros(size, 1);
}
void EXPORT(memory_release)(void *memory) {
    free(memory);
}

/* The C library's formatting brings standard output along. It is never written to; with these in place of what a host
 * would have to provide, the module imports nothing. */
__wasi_errno_t __wasi_fd_close(__wasi_fd_t fd) {
    (void)fd;
    return __WASI_ERRNO_BADF;
}
__wasi_errno_t __wasi_fd_seek(__wasi_fd_t fd, __wasi_filedelta_t offset, __wasi_whence_t whence,
                              __wasi_filesize_t *place) {
    (void)fd, (void)offset, (void)whence, (void)place;
    return __WASI_ERRNO_BADF;
}
__wasi_errno_t __wasi_fd_write(__wasi_fd_t fd, const __wasi_ciovec_t *parts, size_t count, __wasi_size_t *written) {
    (void)fd, (void)parts, (void)count, (void)written;
    return __WASI_ERRNO_BADF;
}

/* ---- rigs ---- */

void EXPORT(rig_close)(page_rig *r) {
    if (!r)
        return;
    for (int l = 0; r->rig && r->edited && l < ex_rig_layer_count(r->rig); l++)
        ex_weigher_destroy(r->edited[l]);
    ex_rig_destroy(r->rig);
    free(r->edited);
    free(r->muted);
    free(r);
}

page_rig *EXPORT(rig_open)(const void *bytes, size_t size, bool compact) {
    page_rig *r = zeros(1, sizeof *r);
    const ex_rig_options options = {.storage = compact ? EX_STORAGE_16_BIT : EX_STORAGE_FLOAT};
    bool done = r && ex_rig_unpack(bytes, size, &options, NULL, &r->rig, &error) == EX_OK;
    if (done) {
        const int layers = ex_rig_layer_count(r->rig);
        r->edited = zeros((size_t)layers, sizeof *r->edited);
        r->muted = zeros((size_t)layers, sizeof *r->muted);
        done = r->edited && r->muted;
        for (int l = 0; done && l < layers; l++)
            r->muted[l] = ex_rig_layer_muted(r->rig, l);
    }
    if (done)
        return r;
    rig_close(r);
    return NULL;
}

static int driver_count(const ex_rig *rig) {
    ex_rig_driver driver;
    return ex_rig_get_driver(rig, &driver, NULL) ? driver.driver.vertex_count : 0;
}

static const ex_weigher *weigher_of(const page_rig *r, int layer) {
    return r->edited[layer] ? r->edited[layer] : ex_rig_weigher(r->rig, layer);
}

void EXPORT(rig_counts)(const page_rig *r, int counts[9]) {
    counts[0] = ex_rig_layer_count(r->rig);
    counts[1] = ex_rig_example_count(r->rig);
    counts[2] = ex_rig_input_count(r->rig);
    counts[3] = ex_rig_pose_size(r->rig);
    counts[4] = ex_rig_joint_count(r->rig);
    counts[5] = ex_rig_level_count(r->rig);
    counts[6] = ex_rig_level(r->rig);
    counts[7] = ex_rig_texture_count(r->rig);
    counts[8] = driver_count(r->rig);
}

const char *EXPORT(layer_name)(const page_rig *r, int layer) {
    return ex_rig_layer_name(r->rig, layer);
}
const char *EXPORT(example_name)(const page_rig *r, int l, int k) {
    return ex_rig_example_name(r->rig, l, k);
}
const char *EXPORT(input_name)(const page_rig *r, int input) {
    return ex_rig_input_name(r->rig, input);
}
const char *EXPORT(input_unit)(const page_rig *r, int input) {
    return ex_rig_input_unit(r->rig, input);
}
const char *EXPORT(joint_name)(const page_rig *r, int j) {
    return ex_skeleton_name(ex_rig_skeleton(r->rig), j);
}
int EXPORT(joint_parent)(const page_rig *r, int j) {
    return ex_skeleton_parent(ex_rig_skeleton(r->rig), j);
}

/* Kind, width, smallest, largest, rest (four numbers), first of a dial's numbers or -1, joint or -1. */
void EXPORT(input_numbers)(const page_rig *r, int input, double numbers[10]) {
    const ex_axis axis = ex_rig_input_axis(r->rig, input);
    const bool scalar = axis.kind == EX_AXIS_SCALAR;
    numbers[0] = axis.kind;
    numbers[1] = axis.kind == EX_AXIS_DRIVER ? 0 : ex_axis_width(&axis);
    numbers[2] = scalar ? axis.min : -1;
    numbers[3] = scalar ? axis.max : 1;
    memcpy(numbers + 4, axis.rest_rotation, sizeof axis.rest_rotation);
    if (scalar)
        numbers[4] = axis.rest;
    else if (axis.rest_rotation[0] == 0 && axis.rest_rotation[1] == 0 && axis.rest_rotation[2] == 0 &&
             axis.rest_rotation[3] == 0)
        numbers[7] = 1;
    numbers[8] = ex_rig_input_offset(r->rig, input);
    numbers[9] = ex_rig_input_source(r->rig, input).joint;
}

/* As the layer is now, edits included. */
void EXPORT(layer_numbers)(const page_rig *r, int layer, int numbers[9]) {
    const ex_weigher *weigher = weigher_of(r, layer);
    numbers[0] = (int)ex_rig_layer_domain(r->rig, layer);
    numbers[1] = r->muted[layer];
    numbers[2] = (int)ex_weigher_get_kind(weigher);
    numbers[3] = ex_weigher_axis_count(weigher);
    numbers[4] = ex_weigher_example_count(weigher);
    numbers[5] = ex_weigher_pseudo_count(weigher);
    numbers[6] = ex_weigher_dimension(weigher);
    numbers[7] = ex_rig_first_example(r->rig, layer);
    numbers[8] = ex_rig_layer_texture(r->rig, layer);
}

int EXPORT(layer_input)(const page_rig *r, int layer, int axis) {
    return ex_rig_layer_input(r->rig, layer, axis);
}
const double *EXPORT(layer_point)(const page_rig *r, int l, int k) {
    return ex_weigher_point(weigher_of(r, l), k);
}
void EXPORT(layer_mute)(page_rig *r, int layer, bool muted) {
    r->muted[layer] = muted;
}

void EXPORT(layer_weigh)(const page_rig *r, int layer, const double *point, double *weights) {
    ex_weigher_evaluate(weigher_of(r, layer), point, weights);
}

void EXPORT(layer_reset)(page_rig *r, int layer) {
    ex_weigher_destroy(r->edited[layer]);
    r->edited[layer] = NULL;
}

/* One edit of a layer's space; at, from, weights and falloff as in ex_edit, each may be NULL. After a failure the layer
 * is as it was. */
bool EXPORT(layer_edit)(page_rig *r, int layer, int kind, int index, const double *at, const double *from,
                        const double *weights, const double *falloff) {
    const ex_edit edit = {(ex_edit_kind)kind, index, at, from, weights, falloff};
    ex_weigher *edited = NULL;
    if (ex_weigher_edit(weigher_of(r, layer), &edit, 1, NULL, &edited, &error) != EX_OK)
        return false;
    layer_reset(r, layer);
    r->edited[layer] = edited;
    return true;
}

/* Vertices, split vertices, triangles, faces, corners; then addresses, 0 for none: which vertex a split one is,
 * texture coordinates, triangles, sizes of faces, corners. */
void EXPORT(level_numbers)(const page_rig *r, int level, size_t numbers[10]) {
    memset(numbers, 0, 10 * sizeof *numbers);
    numbers[0] = (size_t)ex_rig_level_vertex_count(r->rig, level);
    if (numbers[0] == 0)
        return;
    const ex_rig_mesh mesh = ex_rig_level_mesh(r->rig, level);
    numbers[1] = (size_t)mesh.split_count;
    numbers[2] = (size_t)mesh.triangle_count;
    numbers[3] = (size_t)mesh.face_count;
    numbers[4] = (size_t)mesh.corner_count;
    numbers[5] = (size_t)mesh.split_source;
    numbers[6] = (size_t)mesh.texcoords;
    numbers[7] = (size_t)mesh.triangles;
    numbers[8] = (size_t)mesh.face_sizes;
    numbers[9] = (size_t)mesh.corners;
}

const char *EXPORT(texture_name)(const page_rig *r, int texture) {
    return ex_rig_texture(r->rig, texture).name;
}
void EXPORT(texture_numbers)(const page_rig *r, int texture, int numbers[3]) {
    const ex_texture t = ex_rig_texture(r->rig, texture);
    numbers[0] = t.width;
    numbers[1] = t.height;
    numbers[2] = t.srgb;
}

/* ---- poses ---- */

void EXPORT(pose_close)(ex_pose *pose) {
    if (!pose)
        return;
    free(pose->inputs);
    free(pose->joints);
    free((void *)pose->driver);
    free(pose);
}

/* The driver, where there is one, at its reference. */
static void rest_driver(const page_rig *r, float *driver) {
    ex_rig_driver d;
    if (ex_rig_get_driver(r->rig, &d, NULL))
        memcpy(driver, d.driver.reference, (size_t)d.driver.vertex_count * 3 * sizeof(float));
}

void EXPORT(pose_rest)(const page_rig *r, ex_pose *pose) {
    ex_rig_rest_pose(r->rig, pose);
    rest_driver(r, (float *)pose->driver);
}

ex_pose *EXPORT(pose_open)(const page_rig *r) {
    ex_pose *pose = zeros(1, sizeof *pose);
    if (!pose)
        return NULL;
    pose->inputs = zeros((size_t)ex_rig_pose_size(r->rig), sizeof *pose->inputs);
    pose->joints = zeros((size_t)ex_rig_joint_count(r->rig), sizeof *pose->joints);
    pose->driver = zeros((size_t)driver_count(r->rig) * 3, sizeof *pose->driver);
    if (pose->inputs && pose->joints && pose->driver) {
        pose_rest(r, pose);
        return pose;
    }
    pose_close(pose);
    return NULL;
}

double *EXPORT(pose_inputs)(const ex_pose *pose) {
    return pose->inputs;
}
ex_transform *EXPORT(pose_joints)(const ex_pose *pose) {
    return pose->joints;
}
const float *EXPORT(pose_driver)(const ex_pose *pose) {
    return pose->driver;
}
void EXPORT(pose_set)(const page_rig *r, const ex_pose *pose, int input, const double *value) {
    ex_rig_set_input(r->rig, input, value, pose);
}
void EXPORT(pose_get)(const page_rig *r, const ex_pose *pose, int input, double *value) {
    ex_rig_get_input(r->rig, input, pose, value);
}

/* ---- surfaces ---- */

void EXPORT(surface_close)(page_surface *s, int texture_count) {
    if (!s)
        return;
    for (int t = 0; s->textures && t < texture_count; t++)
        free(s->textures[t]);
    free(s->textures);
    free(s->output.positions);
    free(s->output.normals);
    free(s->output.tangents);
    free(s->output.weights);
    free(s->scratch);
    free(s);
}

static bool open_textures(const page_rig *r, page_surface *s) {
    const int count = ex_rig_texture_count(r->rig);
    s->textures = zeros((size_t)count, sizeof *s->textures);
    bool done = s->textures != NULL;
    for (int t = 0; done && t < count; t++) {
        const ex_texture texture = ex_rig_texture(r->rig, t);
        s->textures[t] = zeros((size_t)texture.width * (size_t)texture.height, 4);
        done = s->textures[t] != NULL;
    }
    s->output.textures = s->textures;
    return done;
}

/* Room for the results of a level that the rig has. */
page_surface *EXPORT(surface_open)(const page_rig *r, int level, bool split, bool normals, bool tangents,
                                   bool textures) {
    page_surface *s = zeros(1, sizeof *s);
    if (!s)
        return NULL;
    const ex_evaluation evaluation = {.level = level, .split = split};
    s->level = level;
    s->split = split;
    s->count = split ? ex_rig_level_mesh(r->rig, level).split_count : ex_rig_level_vertex_count(r->rig, level);
    const size_t count = (size_t)s->count;
    s->output.positions = zeros(count, 3 * sizeof(float));
    s->output.normals = normals ? zeros(count, 3 * sizeof(float)) : NULL;
    s->output.tangents = tangents ? zeros(count, 4 * sizeof(float)) : NULL;
    s->output.weights = zeros((size_t)ex_rig_example_count(r->rig), sizeof(double));
    s->output.box = s->box;
    s->scratch = zeros(ex_rig_scratch_size(r->rig, &evaluation, 1), 1);
    if (s->output.positions && (s->output.normals || !normals) && (s->output.tangents || !tangents) &&
        s->output.weights && s->scratch && (!textures || open_textures(r, s)))
        return s;
    surface_close(s, textures ? ex_rig_texture_count(r->rig) : 0);
    return NULL;
}

int EXPORT(surface_count)(const page_surface *s) {
    return s->count;
}
const float *EXPORT(surface_positions)(const page_surface *s) {
    return s->output.positions;
}
const float *EXPORT(surface_normals)(const page_surface *s) {
    return s->output.normals;
}
const float *EXPORT(surface_tangents)(const page_surface *s) {
    return s->output.tangents;
}
const double *EXPORT(surface_weights)(const page_surface *s) {
    return s->output.weights;
}
const float *EXPORT(surface_box)(const page_surface *s) {
    return s->box;
}
const unsigned char *EXPORT(surface_texture)(const page_surface *s, int t) {
    return s->textures ? s->textures[t] : NULL;
}

void EXPORT(surface_evaluate)(const page_rig *r, const ex_pose *pose, page_surface *s, bool unskinned, bool unsettled) {
    const ex_evaluation evaluation = {.weighers = (const ex_weigher *const *)r->edited,
                                      .muted = r->muted,
                                      .level = s->level,
                                      .split = s->split,
                                      .unskinned = unskinned,
                                      .unsettled = unsettled};
    ex_rig_evaluate(r->rig, pose, &s->output, &evaluation, s->scratch);
}
