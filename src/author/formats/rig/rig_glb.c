/*
 * Rig files: binary glTF 2.0. The BIN chunk is the rig's pack, followed by pictures of the textures at rest; the JSON
 * chunk tells viewers that know nothing of Exemplar where they find what they can show (rig_gltf.c). Nothing is stored
 * twice, and our own reader of rigs never looks at the JSON (docs/reference/rig.md).
 */
#include "author/base/array.h"
#include "author/base/file_view.h"
#include "author/formats/foreign.h"
#include "author/formats/gltf/glb.h"
#include "author/formats/rig/rig_gltf.h"
#include "runtime/base/result.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>
#include <exemplar/author/image.h>
#include <exemplar/author/mesh.h>

#include <stdlib.h>
#include <string.h>

/* The growing binary part. */
typedef struct binary {
    char *bytes;
    size_t size;
} binary;

/* ---- textures at rest ---- */

static bool is_opaque(const unsigned char *pixels, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (pixels[4 * i + 3] != 255)
            return false;
    return true;
}

/* Appends a picture, at a multiple of 16. */
static ex_result append_picture(binary *bin, const ex_image *image, exi_rig_picture *picture, ex_error *error) {
    unsigned char *png = NULL;
    size_t size = 0;
    ex_result result = ex_image_encode(image, &png, &size, error);
    if (result != EX_OK)
        return result;
    const size_t offset = (bin->size + 15) / 16 * 16;
    char *grown = realloc(bin->bytes, offset + size);
    if (grown) {
        memset(grown + bin->size, 0, offset - bin->size);
        memcpy(grown + offset, png, size);
        *bin = (binary){grown, offset + size};
        *picture =
            (exi_rig_picture){offset, size, is_opaque(image->pixels, (size_t)image->width * (size_t)image->height)};
    } else {
        result = ex_error_memory(error, "the rig file", offset + size);
    }
    free(png);
    return result;
}

static ex_result append_pictures(const ex_rig *rig, unsigned char *const *textures, binary *bin,
                                 exi_rig_picture *pictures, ex_error *error) {
    ex_result result = EX_OK;
    for (int i = 0; result == EX_OK && i < ex_rig_texture_count(rig); i++) {
        const ex_texture texture = ex_rig_texture(rig, i);
        const ex_image image = {texture.width, texture.height, textures[i]};
        if (textures[i])
            result = append_picture(bin, &image, &pictures[i], error);
    }
    return result;
}

/* ---- colours ---- */

/* Appends the colours of vertices to the binary part, at a multiple of 16, once for every split vertex. */
static ex_result append_colours(const ex_rig *rig, binary *bin, size_t *offset, ex_error *error) {
    const ex_attachment note = exi_rig_find_attachment(rig, "colours");
    const ex_rig_mesh mesh = ex_rig_get_mesh(rig);
    const size_t row = 3 * sizeof(float), size = (size_t)mesh.split_count * row, at = (bin->size + 15) / 16 * 16;
    *offset = 0;
    if (!note.data || note.size != (size_t)mesh.vertex_count * row)
        return EX_OK;
    char *grown = realloc(bin->bytes, at + size);
    if (!grown)
        return ex_error_memory(error, "the rig file", at + size);
    memset(grown + bin->size, 0, at - bin->size);
    for (size_t i = 0; i < (size_t)mesh.split_count; i++)
        memcpy(grown + at + i * row, (const char *)note.data + (mesh.split_source ? mesh.split_source[i] : i) * row,
               row);
    *bin = (binary){grown, at + size};
    *offset = at;
    return EX_OK;
}

/* ---- triangles by material ---- */

/* Triangles of every material, for viewers, which draw one material at a time. */
typedef struct pieces {
    ex_mesh *mesh; /* owns the names */
    exi_rig_piece *list;
    int count;
} pieces;

/* Counts the triangles of every material, in order of first use. Returns true if they already are in that order. */
static bool count_pieces(const ex_mesh *mesh, int *numbers, pieces *p) {
    bool sorted = true;
    for (int f = 0; f < mesh->face_count; f++) {
        const int material = mesh->face_materials[f] + 1;
        if (numbers[material] < 0) {
            numbers[material] = p->count;
            p->list[p->count++] = (exi_rig_piece){.material = material > 0 ? mesh->material_names[material - 1] : NULL};
        } else if (numbers[material] < p->count - 1) {
            sorted = false;
        }
        p->list[numbers[material]].count += 3 * (size_t)(mesh->face_offsets[f + 1] - mesh->face_offsets[f] - 2);
    }
    return sorted;
}

/* Appends the triangles in the order of their materials, at a multiple of 16. A face of n corners has n - 2 of them. */
static bool append_triangles(const ex_rig *rig, const pieces *p, const int *numbers, size_t at, binary *bin) {
    const ex_rig_mesh own = ex_rig_get_mesh(rig);
    const size_t size = 3 * (size_t)own.triangle_count * sizeof(uint32_t);
    char *grown = realloc(bin->bytes, at + size);
    size_t *next = exi_array_allocate((size_t)p->count + 1, sizeof *next);
    if (grown)
        bin->bytes = grown;
    if (grown && next) {
        const uint32_t *from = own.triangles;
        memset(grown + bin->size, 0, at - bin->size);
        bin->size = at + size;
        next[0] = 0;
        for (int i = 0; i < p->count; i++)
            next[i + 1] = next[i] + p->list[i].count;
        for (int f = 0; f < p->mesh->face_count; f++) {
            const size_t count = 3 * (size_t)(p->mesh->face_offsets[f + 1] - p->mesh->face_offsets[f] - 2);
            size_t *to = &next[numbers[p->mesh->face_materials[f] + 1]];
            memcpy(grown + at + *to * sizeof *from, from, count * sizeof *from);
            *to += count;
            from += count;
        }
    }
    const bool good = grown && next;
    free(next);
    return good;
}

static size_t triangles_offset(const binary *bin) {
    for (int i = 0; i < ex_pack_section_count(bin->bytes); i++) {
        const ex_section section = ex_pack_section(bin->bytes, i);
        if (section.kind == EX_SECTION_TRIANGLES && section.index == 0)
            return section.offset;
    }
    return 0;
}

static ex_result divide(const ex_rig *rig, pieces *p, binary *bin, ex_error *error) {
    const ex_mesh *mesh = p->mesh;
    const size_t materials = (size_t)mesh->material_count + 1;
    int *numbers = exi_array_allocate(materials, sizeof *numbers);
    p->list = exi_array_allocate(materials, sizeof *p->list);
    ex_result result = numbers && p->list ? EX_OK : ex_error_memory(error, "the rig file", materials);
    for (size_t m = 0; numbers && m < materials; m++)
        numbers[m] = -1;
    if (result == EX_OK) {
        size_t at = triangles_offset(bin);
        if (!count_pieces(mesh, numbers, p)) {
            at = (bin->size + 15) / 16 * 16;
            if (!append_triangles(rig, p, numbers, at, bin))
                result = ex_error_memory(error, "the rig file", at);
        }
        for (int i = 0; i < p->count; i++) {
            p->list[i].offset = at;
            at += p->list[i].count * sizeof(uint32_t);
        }
    }
    free(numbers);
    return result;
}

/* Finds the pieces of a rig whose materials viewers can see. */
static ex_result find_pieces(const ex_rig *rig, pieces *p, binary *bin, ex_error *error) {
    bool named = exi_rig_find_attachment(rig, EXI_LOOKS_NOTE).data != NULL;
    for (int i = 0; i < ex_rig_texture_count(rig); i++)
        named = named || strchr(ex_rig_texture(rig, i).name, '/');
    if (!named)
        return EX_OK;
    ex_result result = ex_rig_to_mesh(rig, NULL, &p->mesh, error);
    if (result == EX_OK && p->mesh->face_materials)
        result = divide(rig, p, bin, error);
    return result;
}

static void free_pieces(pieces *p) {
    ex_mesh_destroy(p->mesh);
    free(p->list);
}

/* ---- the rig at rest ---- */

/* Data that a viewer shows at rest: weights, and, if the mesh has texture coordinates, the textures that it can use. */
typedef struct rest {
    double *weights;
    unsigned char **textures;
    exi_rig_picture *pictures;
} rest;

static void close_rest(rest *r, int texture_count) {
    for (int i = 0; r->textures && i < texture_count; i++)
        free(r->textures[i]);
    free(r->textures);
    free(r->pictures);
    free(r->weights);
}

static ex_result open_rest(const ex_rig *rig, rest *r, ex_error *error) {
    const size_t textures = (size_t)ex_rig_texture_count(rig), scratch_size = ex_rig_scratch_size(rig, NULL, 1);
    r->weights = exi_array_allocate((size_t)ex_rig_example_count(rig), sizeof *r->weights);
    r->textures = calloc(textures + 1, sizeof *r->textures);
    r->pictures = calloc(textures + 1, sizeof *r->pictures);
    void *scratch = malloc(scratch_size);
    bool whole = r->weights && r->textures && r->pictures && scratch;
    for (int i = 0; whole && i < (int)textures && ex_rig_get_mesh(rig).texcoords; i++) {
        const ex_texture texture = ex_rig_texture(rig, i);
        if (!exi_rig_gltf_shows(texture.name))
            continue;
        r->textures[i] = exi_array_allocate((size_t)texture.width * (size_t)texture.height, 4);
        whole = r->textures[i] != NULL;
    }
    if (whole)
        ex_rig_evaluate(rig, NULL, &(ex_output){.weights = r->weights, .textures = r->textures}, NULL, scratch);
    free(scratch);
    return whole ? EX_OK : ex_error_memory(error, "the rig file", scratch_size);
}

/* ---- the file ---- */

static ex_result write_tree(const char *path, const exi_rig_gltf *from, ex_error *error) {
    exi_text json = {0};
    json_t *root = exi_rig_gltf_make(from);
    if (root)
        exi_json_print(root, false, &json);
    else
        json.failed = true;
    json_decref(root);
    const ex_result result =
        exi_glb_write(path, &json, from->pack, from->bin_size, "use fewer or smaller examples", error);
    free(json.bytes);
    return result;
}

static ex_result write_file(const char *path, const ex_rig *rig, ex_form_axes axes, const rest *r, binary *bin,
                            ex_error *error) {
    pieces p = {0};
    size_t colours = 0;
    ex_result result = ex_rig_pack(rig, bin->bytes, bin->size, error);
    if (result == EX_OK)
        result = append_pictures(rig, r->textures, bin, r->pictures, error);
    if (result == EX_OK)
        result = append_colours(rig, bin, &colours, error);
    if (result == EX_OK)
        result = find_pieces(rig, &p, bin, error);
    if (result == EX_OK)
        result = write_tree(path,
                            &(exi_rig_gltf){.rig = rig,
                                            .pack = bin->bytes,
                                            .bin_size = bin->size,
                                            .pictures = r->pictures,
                                            .weights = r->weights,
                                            .axes = axes,
                                            .colours = colours,
                                            .pieces = p.list,
                                            .piece_count = p.count},
                            error);
    else
        ex_error_within(error, result, "%s", path);
    free_pieces(&p);
    return result;
}

ex_result ex_rig_write_for(const char *path, const ex_rig *rig, ex_form_axes axes, ex_error *error) {
    binary bin = {.size = ex_rig_pack_size(rig)};
    if (bin.size == 0)
        return ex_error_within(error, ex_rig_pack(rig, NULL, 0, error), "%s", path);
    rest r = {0};
    bin.bytes = malloc(bin.size);
    ex_result result = bin.bytes ? open_rest(rig, &r, error) : ex_error_memory(error, "the rig file", bin.size);
    if (result == EX_OK)
        result = write_file(path, rig, axes, &r, &bin, error);
    close_rest(&r, ex_rig_texture_count(rig));
    free(bin.bytes);
    return result;
}

ex_result ex_rig_write(const char *path, const ex_rig *rig, ex_error *error) {
    return ex_rig_write_for(path, rig, (ex_form_axes){.unit = 1}, error);
}

/* Finds asset.extras in the JSON part, which is the first. */
static ex_result find_axes(const char *bytes, size_t size, ex_form_axes *axes) {
    json_t *root = NULL;
    size_t length = 0;
    if (size < 20 || memcmp(bytes, "glTF", 4) != 0 || memcmp(bytes + 16, "JSON", 4) != 0)
        return EX_OK;
    for (int i = 0; i < 4; i++)
        length |= (size_t)(unsigned char)bytes[12 + i] << (8 * i);
    if (length > size - 20)
        return EX_OK;
    const ex_result result = exi_json_load(bytes + 20, length, &root, NULL);
    const json_t *extras = json_object_get(json_object_get(root, "asset"), "extras");
    const double unit = json_number_value(json_object_get(extras, "unit"));
    const char *up = json_string_value(json_object_get(extras, "up"));
    if (unit > 0 && unit <= 1e15 && up)
        *axes = (ex_form_axes){.unit = unit, .z_up = strcmp(up, "z") == 0};
    json_decref(root);
    return result == EX_ERROR_MEMORY ? result : EX_OK;
}

ex_result ex_rig_read_axes(const char *path, ex_form_axes *axes, ex_error *error) {
    *axes = (ex_form_axes){.unit = 1};
    exi_file_view file;
    ex_result result = exi_file_map(path, &file, error);
    if (result != EX_OK)
        return result;
    if (find_axes(file.bytes, file.size, axes) != EX_OK)
        result = ex_error_memory(error, "the rig file", file.size);
    exi_file_unmap(&file);
    return result;
}

ex_result ex_rig_read(const char *path, const ex_rig_options *options, ex_rig **rig, ex_error *error) {
    *rig = NULL;
    exi_file_view file;
    ex_result result = exi_file_map(path, &file, error);
    if (result != EX_OK)
        return result;
    result = ex_error_within(error, ex_rig_unpack(file.bytes, file.size, options, NULL, rig, error), "%s", path);
    result = exi_foreign_explain(error, result, EXI_CONTENT_RIG, path, ".glb", file.bytes, file.size);
    exi_file_unmap(&file);
    return result;
}
