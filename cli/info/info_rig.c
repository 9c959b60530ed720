/* cli/info/info_rig.c - describes rigs for `exemplar info`; and prints the start of every answer. */
#include "info.h"

#include "cli/base/files.h"
#include "cli/base/report.h"
#include "cli/base/rigs.h"
#include "layers.h"

#include <exemplar/author/base.h>
#include <exemplar/author/formats.h>

#include <math.h>
#include <stdlib.h>

/* ---- shared by the kinds of file ---- */

void exi_info_begin(const char *path, const char *kind) {
    char bytes[EXI_TEXT_SIZE];
    exi_print("%s: %s, %s\n", path, kind, exi_text_bytes(bytes, exi_file_size(path)));
}

exi_emitter exi_info_begin_json(const char *path, const char *kind) {
    exi_emitter json = exi_emit_start(stdout);
    exi_emit_open(&json, NULL, '{');
    exi_emit_text(&json, "file", path);
    exi_emit_text(&json, "kind", kind);
    exi_emit_number(&json, "bytes", exi_file_size(path));
    return json;
}

void exi_info_end_json(exi_emitter *json) {
    exi_emit_close(json, '}');
    exi_emit_end(json);
}

static double box_size(const double box[6]) {
    return sqrt(pow(box[3] - box[0], 2) + pow(box[4] - box[1], 2) + pow(box[5] - box[2], 2));
}

void exi_info_print_box(const double box[6]) {
    exi_print("box       %g %g %g to %g %g %g, diagonal %g\n", box[0], box[1], box[2], box[3], box[4], box[5],
              box_size(box));
}

/* Limit on the indentation of a tree of joints: a chain of thousands would fill a file with blanks. */
enum { DEPTH_MOST = 30 };

/* A coordinate of a joint, without the noise of a rotation. */
static double place(const float *worlds, int joint, int axis) {
    const double at = (double)worlds[12 * (size_t)joint + 4 * (size_t)axis + 3];
    return fabs(at) < 1e-6 ? 0 : at;
}

/* Prints one joint per line, children below their parent and in their order; next and first [count] hold siblings and
 * children. worlds [count][12], or NULL: the last column is the place. */
static void print_tree(int count, const int *parents, const char *const *names, const float *worlds, int *first,
                       int *next) {
    int root = -1, depth = 0;
    for (int j = 0; j < count; j++)
        first[j] = -1;
    for (int j = count - 1; j >= 0; j--) {
        int *head = parents[j] < 0 ? &root : &first[parents[j]];
        next[j] = *head;
        *head = j;
    }
    for (int j = root; j >= 0;) {
        exi_print("    %3d %*s%s", j, 2 * (depth < DEPTH_MOST ? depth : DEPTH_MOST), "",
                  names[j] && *names[j] ? names[j] : "(no name)");
        if (worlds)
            exi_print("  at %.3g %.3g %.3g", place(worlds, j, 0), place(worlds, j, 1), place(worlds, j, 2));
        exi_print("\n");
        if (first[j] >= 0) {
            j = first[j];
            depth++;
            continue;
        }
        while (j >= 0 && next[j] < 0) {
            j = parents[j];
            depth--;
        }
        j = j < 0 ? -1 : next[j];
    }
}

bool exi_info_print_joints(int count, const int *parents, const char *const *names, const float *worlds) {
    int *links = malloc(2 * (size_t)count * sizeof *links + 1);
    if (links)
        print_tree(count, parents, names, worlds, links, links + count);
    free(links);
    return links != NULL;
}

/* ---- numbers ---- */

/* The bounding box at rest. Floats are converted to their shortest decimals, so that JSON shows 0.3f as 0.3 too. */
static void rest_box(const ex_rig *rig, void *scratch, double box[6]) {
    float narrow[6] = {0};
    ex_rig_evaluate(rig, NULL, &(ex_output){.box = narrow}, NULL, scratch);
    for (int i = 0; i < 6; i++) {
        char text[32];
        int length = ex_format_float(text, narrow[i]);
        const char *cursor = text;
        box[i] = (double)narrow[i];
        ex_parse_double(&cursor, text + length, &box[i]);
    }
}

/* Prints the layers, as JSON if `json` is given. */
static int print_rig_layers(const ex_rig *rig, exi_emitter *json) {
    int exit_code = EX_EXIT_DONE;
    for (int i = 0; i < ex_rig_layer_count(rig) && exit_code == EX_EXIT_DONE; i++) {
        exi_layer layer;
        if (!exi_layer_of_rig(&layer, rig, i))
            exit_code = exi_failed_memory();
        else if (json)
            exi_layer_print_json(&layer, json);
        else
            exi_layer_print(&layer);
        exi_layer_free(&layer);
    }
    return exit_code;
}

/* ---- text ---- */

/* World matrices [joint_count][12] at rest; NULL without memory. Release with free. */
static float *rest_worlds(const ex_rig *rig) {
    const ex_skeleton *skeleton = ex_rig_skeleton(rig);
    float *worlds = malloc(12 * (size_t)ex_rig_joint_count(rig) * sizeof *worlds);
    void *scratch = malloc(ex_skeleton_scratch_size(skeleton) + 1);
    if (worlds && scratch)
        ex_skeleton_evaluate(skeleton, NULL, &(ex_skeleton_output){.worlds = worlds}, scratch);
    else
        free(worlds), worlds = NULL;
    free(scratch);
    return worlds;
}

static bool print_skeleton(const ex_rig *rig) {
    const ex_skeleton *skeleton = ex_rig_skeleton(rig);
    const ex_skin *skin = ex_rig_skin(rig);
    const int count = ex_rig_joint_count(rig);
    if (!skeleton)
        return true;
    char joints[EXI_TEXT_SIZE], influences[EXI_TEXT_SIZE];
    exi_print("skeleton  %s", exi_text_count(joints, count, "joint"));
    if (skin)
        exi_print(", %s skinning, at most %s a vertex", ex_skinning_name(ex_rig_skinning(rig)),
                  exi_text_count(influences, ex_skin_get_info(skin).influence_most, "influence"));
    else
        exi_print(", moves nothing");
    exi_print("\n");
    int *parents = malloc((size_t)count * sizeof *parents + 1);
    const char **names = malloc((size_t)count * sizeof *names + 1);
    for (int j = 0; parents && names && j < count; j++) {
        parents[j] = ex_skeleton_parent(skeleton, j);
        names[j] = ex_skeleton_name(skeleton, j);
    }
    float *worlds = rest_worlds(rig);
    const bool printed = parents && names && worlds && exi_info_print_joints(count, parents, names, worlds);
    free(worlds);
    free(names);
    free(parents);
    return printed;
}

static void print_driver(const ex_rig *rig) {
    ex_rig_driver driver;
    char vertices[EXI_TEXT_SIZE], triangles[EXI_TEXT_SIZE], frames[EXI_TEXT_SIZE];
    if (!ex_rig_get_driver(rig, &driver, NULL))
        return;
    exi_print("driver    %s, %s, %s, %s\n", driver.name, exi_text_count(vertices, driver.driver.vertex_count, "vertex"),
              exi_text_count(triangles, driver.triangle_count, "triangle"),
              exi_text_count(frames, driver.driver.frame_count, "moving frame"));
    exi_print("settle    residual %s, ", ex_residual_name(driver.residual));
    if (driver.push)
        exi_print("pushed out to %g m", round((double)driver.thickness * 1e9) / 1e9);
    else
        exi_print("not pushed out");
    if (driver.bind_count > 0)
        exi_print(", %d bind%s", driver.bind_count, driver.bind_count == 1 ? "" : "s");
    exi_print("\n");
}

static void print_levels(const ex_rig *rig) {
    const ex_rig_refinement refinement = ex_rig_get_refinement(rig);
    const int count = refinement.level_count;
    char vertices[EXI_TEXT_SIZE];
    for (int l = 1; l <= count; l++)
        exi_print("level %d   %s%s\n", l, exi_text_count(vertices, refinement.vertex_counts[l - 1], "vertex"),
                  refinement.level == l ? ", shown" : "");
    if (refinement.all_on_limit)
        exi_print("limit     all levels are on it\n");
    else if (refinement.has_limit)
        exi_print("limit     %s%s\n",
                  exi_text_count(vertices, count > 0 ? refinement.vertex_counts[count - 1] : ex_rig_vertex_count(rig),
                                 "vertex"),
                  refinement.level == EX_LEVEL_LIMIT ? ", shown" : "");
}

/* The scenes that the rig carries; false after printing an error. */
typedef struct carried {
    ex_scene *looks, *clips; /* NULL if it has none */
} carried;

static bool open_carried(carried *c, const ex_rig *rig) {
    ex_error error = {.result = EX_OK};
    *c = (carried){0};
    if (ex_rig_looks(rig, &c->looks, &error) == EX_OK && ex_rig_clips(rig, &c->clips, &error) == EX_OK)
        return true;
    exi_failed(&error);
    return false;
}

static void close_carried(carried *c) {
    ex_scene_destroy(c->looks);
    ex_scene_destroy(c->clips);
}

static int print_rig(const char *path, const ex_rig *rig, const carried *c, const double box[6]) {
    ex_rig_mesh mesh = ex_rig_get_mesh(rig);
    exi_info_begin(path, "a rig");
    exi_print("vertices  %d", mesh.vertex_count);
    if (mesh.split_count != mesh.vertex_count)
        exi_print(", %d for display, where seams split them", mesh.split_count);
    exi_print("\n");
    char triangles[EXI_TEXT_SIZE];
    exi_print("faces     %d, %s\n", mesh.face_count, exi_text_count(triangles, mesh.triangle_count, "triangle"));
    exi_print("texcoords %s\nnormals   %s\n", mesh.texcoords ? "yes" : "no", mesh.normals ? "yes" : "no");
    exi_print("examples  %d\n", ex_rig_example_count(rig));
    exi_info_print_box(box);
    print_levels(rig);
    for (int t = 0; t < ex_rig_texture_count(rig); t++) {
        const ex_texture texture = ex_rig_texture(rig, t);
        exi_print("texture   %s, %d x %d, %s\n", texture.name, texture.width, texture.height,
                  texture.srgb ? "colours" : "data");
    }
    if (c->looks)
        exi_info_print_looks(c->looks);
    if (c->clips)
        exi_info_print_clips(c->clips);
    if (!print_skeleton(rig))
        return exi_failed_memory();
    print_driver(rig);
    return print_rig_layers(rig, NULL);
}

/* ---- JSON ---- */

static void json_inputs(const ex_rig *rig, exi_emitter *json) {
    exi_emit_open(json, "inputs", '[');
    for (int i = 0; i < ex_rig_input_count(rig); i++) {
        const ex_axis axis = ex_rig_input_axis(rig, i);
        const ex_axis_source source = ex_rig_input_source(rig, i);
        exi_axis_print_json(&axis, ex_rig_input_name(rig, i), ex_rig_input_unit(rig, i),
                            source.joint >= 0 ? ex_skeleton_name(ex_rig_skeleton(rig), source.joint) : NULL,
                            &source.reading, json);
    }
    exi_emit_close(json, ']');
}

/* False without memory; the joints then have no places. */
static bool json_skeleton(const ex_rig *rig, exi_emitter *json) {
    const ex_skeleton *skeleton = ex_rig_skeleton(rig);
    const ex_skin *skin = ex_rig_skin(rig);
    if (!skeleton)
        return true;
    if (skin)
        exi_emit_text(json, "skinning", ex_skinning_name(ex_rig_skinning(rig)));
    exi_emit_open(json, "skeleton", '{');
    exi_emit_number(json, "influences", skin ? ex_skin_get_info(skin).influence_most : 0);
    float *worlds = rest_worlds(rig);
    exi_emit_open(json, "joints", '[');
    for (int j = 0; j < ex_rig_joint_count(rig); j++) {
        const int parent = ex_skeleton_parent(skeleton, j);
        exi_emit_open(json, NULL, '{');
        exi_emit_text(json, "name", ex_skeleton_name(skeleton, j));
        exi_emit_text(json, "parent", parent >= 0 ? ex_skeleton_name(skeleton, parent) : NULL);
        exi_emit_open(json, "at", '[');
        for (int axis = 0; worlds && axis < 3; axis++)
            exi_emit_number(json, NULL, place(worlds, j, axis));
        exi_emit_close(json, ']');
        exi_emit_close(json, '}');
    }
    exi_emit_close(json, ']');
    exi_emit_close(json, '}');
    free(worlds);
    return worlds != NULL;
}

static void json_driver(const ex_rig *rig, exi_emitter *json) {
    ex_rig_driver driver;
    if (!ex_rig_get_driver(rig, &driver, NULL))
        return;
    exi_emit_open(json, "driver", '{');
    exi_emit_text(json, "name", driver.name);
    exi_emit_number(json, "vertices", driver.driver.vertex_count);
    exi_emit_number(json, "triangles", driver.triangle_count);
    exi_emit_number(json, "frames", driver.driver.frame_count);
    exi_emit_close(json, '}');
    exi_emit_open(json, "settle", '{');
    exi_emit_text(json, "residual", ex_residual_name(driver.residual));
    exi_emit_bool(json, "push", driver.push);
    exi_emit_number(json, "thickness", round((double)driver.thickness * 1e9) / 1e9);
    exi_emit_number(json, "bind_count", driver.bind_count);
    exi_emit_close(json, '}');
}

static void json_levels(const ex_rig *rig, exi_emitter *json) {
    const ex_rig_refinement refinement = ex_rig_get_refinement(rig);
    if (refinement.level_count == 0 && !refinement.has_limit)
        return;
    exi_emit_open(json, "subdivide", '{');
    exi_emit_number(json, "levels", refinement.level_count);
    if (refinement.all_on_limit)
        exi_emit_text(json, "limit", "all");
    else
        exi_emit_bool(json, "limit", refinement.has_limit);
    exi_emit_open(json, "vertices", '[');
    for (int l = 0; l < refinement.level_count; l++)
        exi_emit_number(json, NULL, refinement.vertex_counts[l]);
    exi_emit_close(json, ']');
    if (refinement.level == EX_LEVEL_LIMIT)
        exi_emit_text(json, "shown", "limit");
    else
        exi_emit_number(json, "shown", refinement.level);
    exi_emit_close(json, '}');
}

static void json_textures(const ex_rig *rig, exi_emitter *json) {
    exi_emit_open(json, "textures", '[');
    for (int t = 0; t < ex_rig_texture_count(rig); t++) {
        const ex_texture texture = ex_rig_texture(rig, t);
        exi_emit_open(json, NULL, '{');
        exi_emit_text(json, "name", texture.name);
        exi_emit_number(json, "width", texture.width);
        exi_emit_number(json, "height", texture.height);
        exi_emit_bool(json, "srgb", texture.srgb);
        exi_emit_close(json, '}');
    }
    exi_emit_close(json, ']');
}

static int print_rig_json(const char *path, const ex_rig *rig, const carried *c, const double box[6]) {
    ex_rig_mesh mesh = ex_rig_get_mesh(rig);
    exi_emitter json = exi_info_begin_json(path, "rig");
    exi_emit_number(&json, "vertices", mesh.vertex_count);
    exi_emit_number(&json, "split", mesh.split_count);
    exi_emit_number(&json, "faces", mesh.face_count);
    exi_emit_number(&json, "triangles", mesh.triangle_count);
    exi_emit_bool(&json, "texcoords", mesh.texcoords != NULL);
    exi_emit_bool(&json, "normals", mesh.normals != NULL);
    exi_emit_number(&json, "examples", ex_rig_example_count(rig));
    exi_emit_numbers(&json, "box", box, 6);
    json_levels(rig, &json);
    json_textures(rig, &json);
    exi_info_emit_looks(c->looks, &json);
    exi_info_emit_clips(c->clips, "clips", &json);
    const bool skeleton = json_skeleton(rig, &json);
    json_driver(rig, &json);
    json_inputs(rig, &json);
    exi_emit_open(&json, "layers", '[');
    int exit_code = print_rig_layers(rig, &json);
    exi_emit_close(&json, ']');
    exi_info_end_json(&json);
    return exit_code == EX_EXIT_DONE && !skeleton ? exi_failed_memory() : exit_code;
}

int exi_info_rig(const ex_call *call, const char *path) {
    /* The levels of a large rig take most of its memory, and nothing is evaluated on them. */
    ex_rig *rig = exi_rig_load(path, &(ex_rig_options){.without_normals = true, .without_levels = true});
    if (!rig)
        return EX_EXIT_FAILED;
    carried c;
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1) + 1);
    int exit_code = EX_EXIT_FAILED;
    if (!open_carried(&c, rig)) {
        exit_code = EX_EXIT_FAILED;
    } else if (!scratch) {
        exit_code = exi_failed_memory();
    } else {
        double box[6];
        rest_box(rig, scratch, box);
        exit_code = call->json ? print_rig_json(path, rig, &c, box) : print_rig(path, rig, &c, box);
    }
    close_carried(&c);
    free(scratch);
    ex_rig_destroy(rig);
    return exit_code;
}
