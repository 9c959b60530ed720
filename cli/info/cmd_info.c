/* exemplar info - describes any file that Exemplar reads, and the capabilities of this build. */
#include "cli/bake/gpu.h"
#include "cli/base/command.h"
#include "cli/base/emit.h"
#include "cli/base/files.h"
#include "cli/base/report.h"
#include "info.h"
#include "layers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool capabilities;

static const ex_option options[] = {
    {.name = "capabilities",
     .help = "instead of a file: version, ABI, rig format, SIMD set, storage, weighers and kernels of this build, CUDA "
             "support, and the GPUs of this machine",
     .flag = &capabilities},
};

/* ---- this build ---- */

static const char *const storage_names[EX_STORAGE_COUNT] = {
    [EX_STORAGE_FLOAT] = "float",
    [EX_STORAGE_16_BIT] = "16 bit",
};
static const char *const formats_read[] = {
    "project .json",    "rig .glb",   "glTF .glb .gltf", "form .obj .ply .off",
    "image .png .jpg",  "poses .csv", "motion .bvh",     "point cache .pc2 .mdd .abc .obj",
    "markers .c3d .trc"};
enum { FORMAT_COUNT = (int)(sizeof formats_read / sizeof formats_read[0]) };

static const char *storage_name(int i) {
    return storage_names[i];
}
static const char *weigher_name(int i) {
    return ex_weigher_kind_name((ex_weigher_kind)i);
}
static const char *kernel_name(int i) {
    return ex_kernel_name((ex_kernel)i);
}
static const char *format_name(int i) {
    return formats_read[i];
}

static const struct {
    const char *key;
    const char *(*name)(int index);
    int count;
} lists[] = {
    {"storage", storage_name, EX_STORAGE_COUNT},
    {"weighers", weigher_name, EX_WEIGHER_COUNT},
    {"kernels", kernel_name, EX_KERNEL_COUNT},
    {"reads", format_name, FORMAT_COUNT},
};
enum { LIST_COUNT = (int)(sizeof lists / sizeof lists[0]) };

static void print_capabilities(void) {
    ex_version_info version = ex_version();
    exi_print("version   %s\nabi       %d\nformat    %d\nsimd      %s\n", version.text, version.abi, version.format,
              version.simd);
    for (int i = 0; i < LIST_COUNT; i++) {
        exi_print("%-9s ", lists[i].key);
        for (int j = 0; j < lists[i].count; j++)
            exi_print("%s%s", j ? ", " : "", lists[i].name(j));
        exi_print("\n");
    }
    exi_gpu_print();
}

static void print_capabilities_json(exi_emitter *json) {
    ex_version_info version = ex_version();
    exi_emit_text(json, "version", version.text);
    exi_emit_number(json, "abi", version.abi);
    exi_emit_number(json, "format", version.format);
    exi_emit_text(json, "simd", version.simd);
    for (int i = 0; i < LIST_COUNT; i++) {
        exi_emit_open(json, lists[i].key, '[');
        for (int j = 0; j < lists[i].count; j++)
            exi_emit_text(json, NULL, lists[i].name(j));
        exi_emit_close(json, ']');
    }
    exi_gpu_print_json(json);
}

static int show_capabilities(const ex_call *call) {
    if (call->json) {
        exi_emitter json = exi_emit_start(stdout);
        exi_emit_open(&json, NULL, '{');
        print_capabilities_json(&json);
        exi_emit_close(&json, '}');
        exi_emit_end(&json);
    } else {
        print_capabilities();
    }
    return EX_EXIT_DONE;
}

/* ---- forms ---- */

/* Counts faces with 3, 4 and more corners. */
static void count_faces(const ex_mesh *mesh, int counts[3]) {
    counts[0] = counts[1] = counts[2] = 0;
    for (int f = 0; f < mesh->face_count; f++) {
        int size = mesh->face_offsets[f + 1] - mesh->face_offsets[f];
        counts[size == 3 ? 0 : size == 4 ? 1 : 2]++;
    }
}

static void mesh_box(const ex_mesh *mesh, double box[6]) {
    for (int i = 0; i < 6; i++)
        box[i] = mesh->vertex_count > 0 ? mesh->positions[i % 3] : 0;
    for (int v = 1; v < mesh->vertex_count; v++) {
        for (int i = 0; i < 3; i++) {
            box[i] = fmin(box[i], mesh->positions[3 * (size_t)v + (size_t)i]);
            box[3 + i] = fmax(box[3 + i], mesh->positions[3 * (size_t)v + (size_t)i]);
        }
    }
}

/* Returns the number of faces with each group or material [count + 1]; NULL without memory. Release with free. */
static int *count_labelled(const ex_mesh *mesh, const int *labels, int count) {
    int *faces = calloc((size_t)count + 1, sizeof *faces);
    for (int f = 0; faces && labels && f < mesh->face_count; f++)
        if (labels[f] >= 0 && labels[f] < count)
            faces[labels[f]]++;
    return faces;
}

static bool print_labels(const ex_mesh *mesh, const char *what, char **names, int count, const int *labels) {
    int *faces = count_labelled(mesh, labels, count);
    for (int i = 0; faces && i < count; i++) {
        char text[EXI_TEXT_SIZE];
        exi_print("%-9s %s, %s\n", what, names[i], exi_text_count(text, faces[i], "face"));
    }
    const bool good = faces != NULL;
    free(faces);
    return good;
}

static bool json_labels(const ex_mesh *mesh, exi_emitter *json, const char *key, char **names, int count,
                        const int *labels) {
    int *faces = count_labelled(mesh, labels, count);
    exi_emit_open(json, key, '[');
    for (int i = 0; faces && i < count; i++) {
        exi_emit_open(json, NULL, '{');
        exi_emit_text(json, "name", names[i]);
        exi_emit_number(json, "faces", faces[i]);
        exi_emit_close(json, '}');
    }
    exi_emit_close(json, ']');
    const bool good = faces != NULL;
    free(faces);
    return good;
}

static bool print_form(const char *path, const ex_mesh *mesh) {
    int faces[3];
    double box[6];
    count_faces(mesh, faces);
    mesh_box(mesh, box);
    exi_info_begin(path, "a form");
    exi_print("vertices  %d%s\n", mesh->vertex_count, mesh->colours ? ", coloured" : "");
    char triangles[EXI_TEXT_SIZE], quads[EXI_TEXT_SIZE];
    exi_print("faces     %d: %s, %s, %d larger\n", mesh->face_count, exi_text_count(triangles, faces[0], "triangle"),
              exi_text_count(quads, faces[1], "quad"), faces[2]);
    exi_print("texcoords %d\nnormals   %d\n", mesh->texcoord_count, mesh->normal_count);
    exi_info_print_box(box);
    const bool good = print_labels(mesh, "group", mesh->group_names, mesh->group_count, mesh->face_groups) &&
                      print_labels(mesh, "material", mesh->material_names, mesh->material_count, mesh->face_materials);
    for (int i = 0; good && i < mesh->tag_count; i++)
        exi_print("tag       %s\n", mesh->tags[i].name);
    return good;
}

static bool print_form_json(const char *path, const ex_mesh *mesh) {
    int faces[3];
    double box[6];
    count_faces(mesh, faces);
    mesh_box(mesh, box);
    exi_emitter json = exi_info_begin_json(path, "form");
    exi_emit_number(&json, "vertices", mesh->vertex_count);
    exi_emit_bool(&json, "colours", mesh->colours != NULL);
    exi_emit_number(&json, "faces", mesh->face_count);
    exi_emit_number(&json, "triangles", faces[0]);
    exi_emit_number(&json, "quads", faces[1]);
    exi_emit_number(&json, "larger", faces[2]);
    exi_emit_number(&json, "texcoords", mesh->texcoord_count);
    exi_emit_number(&json, "normals", mesh->normal_count);
    exi_emit_numbers(&json, "box", box, 6);
    const bool good =
        json_labels(mesh, &json, "groups", mesh->group_names, mesh->group_count, mesh->face_groups) &&
        json_labels(mesh, &json, "materials", mesh->material_names, mesh->material_count, mesh->face_materials);
    exi_emit_open(&json, "tags", '[');
    for (int i = 0; i < mesh->tag_count; i++)
        exi_emit_text(&json, NULL, mesh->tags[i].name);
    exi_emit_close(&json, ']');
    exi_info_end_json(&json);
    return good;
}

static int show_mesh(const ex_call *call, const char *path, ex_mesh *mesh) {
    const bool good = call->json ? print_form_json(path, mesh) : print_form(path, mesh);
    ex_mesh_destroy(mesh);
    return good ? EX_EXIT_DONE : exi_failed_memory();
}

static int show_form(const ex_call *call, const char *path) {
    ex_error error = {.result = EX_OK};
    ex_mesh *mesh = NULL;
    /* PLY begins with a signature; OFF may have none. Any other file is read as OBJ. */
    ex_result result = exi_file_begins_with(path, "ply") ? ex_ply_read(path, &mesh, &error)
                       : ex_path_ends_with(path, ".off") ? ex_off_read(path, &mesh, &error)
                                                         : ex_obj_read(path, &mesh, &error);
    return result == EX_OK ? show_mesh(call, path, mesh) : exi_failed(&error);
}

/* ---- projects ---- */

static int print_project_layers(const ex_project_view *view, exi_emitter *json) {
    int exit_code = EX_EXIT_DONE;
    for (int i = 0; i < view->layer_count && exit_code == EX_EXIT_DONE; i++) {
        exi_layer layer;
        if (!exi_layer_of_project(&layer, &view->layers[i]))
            exit_code = exi_failed_memory();
        else if (json)
            exi_layer_print_json(&layer, json);
        else
            exi_layer_print(&layer);
        exi_layer_free(&layer);
    }
    return exit_code;
}

static const char *const schemes[EX_SCHEME_COUNT] = {
    [EX_SCHEME_CATMULL_CLARK] = "catmull_clark",
    [EX_SCHEME_LOOP] = "loop",
    [EX_SCHEME_BILINEAR] = "bilinear",
};

static void print_subdivision(const ex_subdivide_def *def) {
    char levels[EXI_TEXT_SIZE];
    exi_print("subdivide %s, %s%s\n", schemes[def->scheme], exi_text_count(levels, def->levels, "level"),
              def->all     ? ", all on the limit"
              : def->limit ? " and the limit"
                           : "");
}

static void json_subdivision(const ex_subdivide_def *def, exi_emitter *json) {
    exi_emit_open(json, "subdivide", '{');
    exi_emit_text(json, "scheme", schemes[def->scheme]);
    exi_emit_number(json, "levels", def->levels);
    if (def->all)
        exi_emit_text(json, "limit", "all");
    else
        exi_emit_bool(json, "limit", def->limit);
    exi_emit_close(json, '}');
}

static int show_project(const ex_call *call, const char *path) {
    ex_error error = {.result = EX_OK};
    ex_project *project = NULL;
    if (ex_project_read(path, &project, &error) != EX_OK)
        return exi_failed(&error);
    const ex_project_view *view = ex_project_get(project);
    int exit_code;
    if (call->json) {
        exi_emitter json = exi_info_begin_json(path, "project");
        exi_emit_text(&json, "mesh", view->mesh);
        if (view->skeleton) {
            exi_emit_text(&json, "skeleton", view->skeleton);
            exi_emit_text(&json, "skinning", ex_skinning_name(view->skinning));
        }
        if (view->driver.mesh) {
            exi_emit_open(&json, "driver", '{');
            exi_emit_text(&json, "mesh", view->driver.mesh);
            exi_emit_close(&json, '}');
        }
        if (view->subdivide)
            json_subdivision(&view->subdivision, &json);
        exi_emit_number(&json, "unit", view->unit);
        exi_emit_text(&json, "up", view->z_up ? "z" : "y");
        exi_emit_open(&json, "layers", '[');
        exit_code = print_project_layers(view, &json);
        exi_emit_close(&json, ']');
        exi_info_end_json(&json);
    } else {
        exi_info_begin(path, "a project");
        exi_print("mesh      %s, %s up, unit %g m\n", view->mesh, view->z_up ? "z" : "y", view->unit);
        if (view->skeleton)
            exi_print("skeleton  %s, %s skinning\n", view->skeleton, ex_skinning_name(view->skinning));
        if (view->driver.mesh)
            exi_print("driver    %s\n", view->driver.mesh);
        if (view->subdivide)
            print_subdivision(&view->subdivision);
        exit_code = print_project_layers(view, NULL);
    }
    ex_project_destroy(project);
    return exit_code;
}

/* For a file whose kind neither content nor name tells: it may still be a form, the only kind without a signature. */
static int show_unknown(const ex_call *call, const char *path) {
    ex_error error = {.result = EX_OK};
    ex_mesh *mesh = NULL;
    ex_result result = ex_obj_read(path, &mesh, &error);
    if (result == EX_OK)
        return show_mesh(call, path, mesh);
    if (result == EX_ERROR_FILE || exi_is_foreign(&error))
        return exi_failed(&error);
    return exi_failed_text(
        "'%s' is not a file that Exemplar reads: a project (.json), a rig (.glb), glTF (.glb, .gltf), a form (.obj, "
        ".ply, .off), an image (.png, .jpg), a motion (.bvh), a point cache (.pc2, .mdd, .abc) or markers (.c3d, .trc)",
        path);
}

static int run(const ex_call *call) {
    if (capabilities) {
        return call->argument_count == 0
                   ? show_capabilities(call)
                   : exi_wrong_usage(call->command, "--capabilities takes no file, but '%s' is given",
                                     call->arguments[0]);
    }
    if (call->argument_count == 0)
        return exi_wrong_usage(call->command, "name a file, or give --capabilities");
    const char *path = call->arguments[0];
    switch (exi_file_kind_of(path)) {
    case EXI_FILE_PROJECT:
        return show_project(call, path);
    case EXI_FILE_RIG:
        return exi_info_rig(call, path);
    case EXI_FILE_SCENE:
        return exi_info_scene(call, path);
    case EXI_FILE_IMAGE:
        return exi_info_image(call, path);
    case EXI_FILE_CLIP:
        return exi_info_clip(call, path);
    case EXI_FILE_CACHE:
        return exi_info_cache(call, path);
    case EXI_FILE_C3D:
    case EXI_FILE_TRC:
        return exi_info_markers(call, path, exi_file_kind_of(path) == EXI_FILE_TRC);
    case EXI_FILE_FORM:
        return show_form(call, path);
    case EXI_FILE_UNKNOWN:
        break;
    }
    /* A folder, or a rig that is not built yet. */
    if (!exi_expect_kind(path, exi_file_is_folder(path) ? EXI_FILE_PROJECT : EXI_FILE_RIG))
        return EX_EXIT_FAILED;
    return show_unknown(call, path);
}

const ex_command cmd_info = {
    .name = "info",
    .summary = "show what is in a file",
    .usage = "info FILE [--json]\n"
             "info --capabilities [--json]",
    .description = "FILE is a project (.json), a rig (.glb), any other glTF file (.glb, .gltf), a\n"
                   "form (.obj, .ply, .off), an image (.png, .jpg), a motion (.bvh), a point cache\n"
                   "(.pc2, .mdd, .abc) or markers over time (.c3d, .trc).\n"
                   "\n"
                   "For a project or a rig, info lists every layer with its space, examples and\n"
                   "pseudo-examples and their places; for a rig also joints, refined levels and\n"
                   "textures. For glTF: meshes with their morph targets, skins, animations,\n"
                   "materials and images. For a motion: joints, frames and duration. For markers:\n"
                   "how often each is seen, and its gaps. For a form: counts of its parts.\n"
                   "\n"
                   "A project's meshes are not opened; 'exemplar check' does that. Parts of a glTF\n"
                   "file that were ignored or repaired are listed on stderr.",
    .examples = "exemplar info blob/blob.glb\n"
                "exemplar info --capabilities --json",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 0,
    .argument_max = 1,
    .run = run,
};
