/*
 * glue.c - the module itself (errors, versions, memory), and rigs: opening them, their contents, and twins, which share
 * the block of a rig and have separate edits.
 */
#include "glue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

ex_error glue_error;

bool glue_failed(ex_result result, const char *text) {
    glue_error.result = result;
    snprintf(glue_error.text, sizeof glue_error.text, "%s", text);
    return false;
}

void *glue_zeros(size_t count, size_t size) {
    void *memory = calloc(count > 0 ? count : 1, size > 0 ? size : 1);
    if (!memory)
        glue_failed(EX_ERROR_MEMORY, "there is not enough memory in the page for this");
    return memory;
}

const char *EXPORT(error_text)(void) {
    return glue_error.text;
}
int EXPORT(error_result)(void) {
    return (int)glue_error.result;
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
/* Not cleared: a rig has many bytes, and the caller fills them. */
void *EXPORT(memory_allocate)(size_t size) {
    void *memory = malloc(size > 0 ? size : 1);
    if (!memory)
        glue_failed(EX_ERROR_MEMORY, "there is not enough memory in the page for this");
    return memory;
}
void EXPORT(memory_release)(void *memory) {
    free(memory);
}

/* The C library's formatting links standard output, which is never written to. With these replacements the module
 * imports nothing from its host, and links only musl and its allocator. */
size_t __stdio_write(FILE *file, const unsigned char *bytes, size_t size);
off_t __stdio_seek(FILE *file, off_t offset, int whence);
int __stdio_close(FILE *file);
size_t __stdio_write(FILE *file, const unsigned char *bytes, size_t size) {
    (void)file, (void)bytes, (void)size;
    return 0;
}
off_t __stdio_seek(FILE *file, off_t offset, int whence) {
    (void)file, (void)offset, (void)whence;
    return -1;
}
int __stdio_close(FILE *file) {
    (void)file;
    return -1;
}

/* ---- opening ---- */

static void release_block(page_block *block) {
    if (!block || --block->users > 0)
        return;
    ex_rig_destroy(block->rig);
    free(block);
}

void EXPORT(rig_close)(page_rig *r) {
    if (!r)
        return;
    for (int l = 0; r->edited && l < ex_rig_layer_count(r->rig); l++)
        ex_weigher_destroy(r->edited[l]);
    free(r->edited);
    free(r->muted);
    release_block(r->block);
    free(r);
}

/* Adds a user of a block. */
static page_rig *open_on(page_block *block) {
    page_rig *r = glue_zeros(1, sizeof *r);
    if (!r)
        return NULL;
    const size_t layers = (size_t)ex_rig_layer_count(block->rig);
    block->users++;
    r->block = block;
    r->rig = block->rig;
    r->edited = glue_zeros(layers, sizeof *r->edited);
    r->muted = glue_zeros(layers, sizeof *r->muted);
    if (r->edited && r->muted)
        return r;
    rig_close(r);
    return NULL;
}

/* True if any example has its own skeleton; false and a note if out of memory. */
static bool find_shifts(page_block *block) {
    const ex_rig *rig = block->rig;
    float *shifts = glue_zeros((size_t)ex_rig_joint_count(rig), 3 * sizeof *shifts);
    for (int l = 0; shifts && l < ex_rig_layer_count(rig); l++)
        for (int k = 0; k < ex_weigher_example_count(ex_rig_weigher(rig, l)); k++)
            block->shifted = block->shifted || ex_rig_example_shifts(rig, l, k, shifts);
    free(shifts);
    return shifts != NULL;
}

page_rig *EXPORT(rig_open)(const void *bytes, size_t size, bool compact) {
    page_block *block = glue_zeros(1, sizeof *block);
    if (!block)
        return NULL;
    const ex_rig_options options = {.storage = compact ? EX_STORAGE_16_BIT : EX_STORAGE_FLOAT};
    block->users = 1; /* until a rig owns it */
    page_rig *r = NULL;
    if (ex_rig_unpack(bytes, size, &options, NULL, &block->rig, &glue_error) == EX_OK && find_shifts(block))
        r = open_on(block);
    for (int l = 0; r && l < ex_rig_layer_count(r->rig); l++)
        r->muted[l] = ex_rig_layer_muted(r->rig, l);
    release_block(block);
    return r;
}

/* Makes a rig over the same forms, with the present edits and mutes of this one. */
page_rig *EXPORT(rig_twin)(const page_rig *r) {
    page_rig *twin = open_on(r->block);
    bool done = twin != NULL;
    for (int l = 0; done && l < ex_rig_layer_count(r->rig); l++) {
        twin->muted[l] = r->muted[l];
        twin->edited[l] = r->edited[l] ? glue_copy(r, l) : NULL;
        done = !twin->edited[l] == !r->edited[l];
    }
    if (done)
        return twin;
    rig_close(twin);
    return NULL;
}

/* ---- contents ---- */

int glue_driver_count(const ex_rig *rig) {
    ex_rig_driver driver;
    return ex_rig_get_driver(rig, &driver, NULL) ? driver.driver.vertex_count : 0;
}

void EXPORT(rig_counts)(const page_rig *r, int counts[11]) {
    counts[0] = ex_rig_layer_count(r->rig);
    counts[1] = ex_rig_example_count(r->rig);
    counts[2] = ex_rig_input_count(r->rig);
    counts[3] = ex_rig_pose_size(r->rig);
    counts[4] = ex_rig_joint_count(r->rig);
    counts[5] = ex_rig_level_count(r->rig);
    counts[6] = ex_rig_level(r->rig);
    counts[7] = ex_rig_texture_count(r->rig);
    counts[8] = glue_driver_count(r->rig);
    counts[9] = ex_rig_vertex_count(r->rig);
    counts[10] = ex_rig_skin(r->rig) ? (int)ex_rig_skinning(r->rig) : -1;
}

/* Positions [vertex_count][3] of the mesh before any layer. */
void EXPORT(rig_rest)(const page_rig *r, float *positions) {
    ex_rig_rest_mesh(r->rig, positions);
}

/* Address of the normals [split_count][3] of the cage at rest, as its file has them; 0 for none. */
const float *EXPORT(rig_normals)(const page_rig *r) {
    return ex_rig_get_mesh(r->rig).normals;
}

/* Bytes that the rig carries for others: their names, numbers and addresses. */
int EXPORT(attachment_count)(const page_rig *r) {
    return ex_rig_attachment_count(r->rig);
}
const char *EXPORT(attachment_kind)(const page_rig *r, int attachment) {
    return ex_rig_attachment(r->rig, attachment).kind;
}
void EXPORT(attachment_numbers)(const page_rig *r, int attachment, size_t numbers[2]) {
    const ex_attachment a = ex_rig_attachment(r->rig, attachment);
    numbers[0] = a.size;
    numbers[1] = (size_t)a.data;
}

/* Number of triangles of the driver, and their address. */
void EXPORT(driver_numbers)(const page_rig *r, size_t numbers[2]) {
    ex_rig_driver driver;
    ex_rig_get_driver(r->rig, &driver, NULL);
    numbers[0] = (size_t)driver.triangle_count;
    numbers[1] = (size_t)driver.triangles;
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
void EXPORT(joint_rest)(const page_rig *r, int j, ex_transform *rest) {
    *rest = ex_skeleton_rest(ex_rig_skeleton(r->rig), j);
}

/* Kind, width, smallest, largest, rest (four numbers), first of a dial's numbers or -1, joint or -1, direction of the
 * axis (three). */
void EXPORT(input_numbers)(const page_rig *r, int input, double numbers[13]) {
    const ex_axis axis = ex_rig_input_axis(r->rig, input);
    const ex_axis_source source = ex_rig_input_source(r->rig, input);
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
    numbers[9] = source.joint;
    memcpy(numbers + 10, source.joint >= 0 ? source.reading.about : axis.about, sizeof axis.about);
}

/* Vertices, split vertices, triangles, faces, corners; then addresses, 0 for none: source vertices of the split ones,
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
