/* exemplar info - what is inside any file that Exemplar reads, and what this build of it can do. */
#include "command.h"
#include "emit.h"
#include "files.h"
#include "layers.h"
#include "report.h"
#include "rigs.h"

#include "author/formats/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool capabilities;

static const ex_option options[] = {
    {.name = "capabilities",
     .help = "instead of a file: version, ABI, rig format, SIMD set, storage, weighers and kernels of this build",
     .flag = &capabilities},
};

/* ---- this build ---- */

static const char *const storage_names[EX_STORAGE_COUNT] = {
    [EX_STORAGE_FLOAT] = "float",
    [EX_STORAGE_16_BIT] = "16 bit",
};
static const char *const formats_read[] = {"project .json", "rig .glb", "form .obj", "poses .csv"};
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
    printf("version   %s\nabi       %d\nformat    %d\nsimd      %s\n", version.text, version.abi, version.format,
           version.simd);
    for (int i = 0; i < LIST_COUNT; i++) {
        printf("%-9s ", lists[i].key);
        for (int j = 0; j < lists[i].count; j++)
            printf("%s%s", j ? ", " : "", lists[i].name(j));
        printf("\n");
    }
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

/* ---- shared by the kinds of file ---- */

/* The opening of every answer: which file, what kind, how large. */
static void begin(const char *path, const char *kind) {
    char bytes[EXI_TEXT_SIZE];
    printf("%s: a %s, %s\n", path, kind, exi_text_bytes(bytes, exi_file_size(path)));
}

static exi_emitter begin_json(const char *path, const char *kind) {
    exi_emitter json = exi_emit_start(stdout);
    exi_emit_open(&json, NULL, '{');
    exi_emit_text(&json, "file", path);
    exi_emit_text(&json, "kind", kind);
    exi_emit_number(&json, "bytes", exi_file_size(path));
    return json;
}

static void end_json(exi_emitter *json) {
    exi_emit_close(json, '}');
    exi_emit_end(json);
}

static double box_size(const double box[6]) {
    return sqrt(pow(box[3] - box[0], 2) + pow(box[4] - box[1], 2) + pow(box[5] - box[2], 2));
}

static void print_box(const double box[6]) {
    printf("box       %g %g %g to %g %g %g, diagonal %g\n", box[0], box[1], box[2], box[3], box[4], box[5],
           box_size(box));
}

/* ---- forms ---- */

/* How many faces have 3, 4 and more corners. */
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

/* How many faces carry a group or a material. */
static int count_labelled(const ex_mesh *mesh, const int *labels, int label) {
    int count = 0;
    for (int f = 0; labels && f < mesh->face_count; f++)
        count += labels[f] == label;
    return count;
}

static void print_labels(const ex_mesh *mesh, const char *what, char **names, int count, const int *labels) {
    for (int i = 0; i < count; i++) {
        char faces[EXI_TEXT_SIZE];
        printf("%-9s %s, %s\n", what, names[i], exi_text_count(faces, count_labelled(mesh, labels, i), "face"));
    }
}

static void json_labels(const ex_mesh *mesh, exi_emitter *json, const char *key, char **names, int count,
                        const int *labels) {
    exi_emit_open(json, key, '[');
    for (int i = 0; i < count; i++) {
        exi_emit_open(json, NULL, '{');
        exi_emit_text(json, "name", names[i]);
        exi_emit_number(json, "faces", count_labelled(mesh, labels, i));
        exi_emit_close(json, '}');
    }
    exi_emit_close(json, ']');
}

static void print_form(const char *path, const ex_mesh *mesh) {
    int faces[3];
    double box[6];
    count_faces(mesh, faces);
    mesh_box(mesh, box);
    begin(path, "form");
    printf("vertices  %d%s\n", mesh->vertex_count, mesh->colours ? ", coloured" : "");
    char triangles[EXI_TEXT_SIZE], quads[EXI_TEXT_SIZE];
    printf("faces     %d: %s, %s, %d larger\n", mesh->face_count, exi_text_count(triangles, faces[0], "triangle"),
           exi_text_count(quads, faces[1], "quad"), faces[2]);
    printf("texcoords %d\nnormals   %d\n", mesh->texcoord_count, mesh->normal_count);
    print_box(box);
    print_labels(mesh, "group", mesh->group_names, mesh->group_count, mesh->face_groups);
    print_labels(mesh, "material", mesh->material_names, mesh->material_count, mesh->face_materials);
    for (int i = 0; i < mesh->tag_count; i++)
        printf("tag       %s\n", mesh->tags[i].name);
}

static void print_form_json(const char *path, const ex_mesh *mesh) {
    int faces[3];
    double box[6];
    count_faces(mesh, faces);
    mesh_box(mesh, box);
    exi_emitter json = begin_json(path, "form");
    exi_emit_number(&json, "vertices", mesh->vertex_count);
    exi_emit_bool(&json, "colours", mesh->colours != NULL);
    exi_emit_number(&json, "faces", mesh->face_count);
    exi_emit_number(&json, "triangles", faces[0]);
    exi_emit_number(&json, "quads", faces[1]);
    exi_emit_number(&json, "larger", faces[2]);
    exi_emit_number(&json, "texcoords", mesh->texcoord_count);
    exi_emit_number(&json, "normals", mesh->normal_count);
    exi_emit_numbers(&json, "box", box, 6);
    json_labels(mesh, &json, "groups", mesh->group_names, mesh->group_count, mesh->face_groups);
    json_labels(mesh, &json, "materials", mesh->material_names, mesh->material_count, mesh->face_materials);
    exi_emit_open(&json, "tags", '[');
    for (int i = 0; i < mesh->tag_count; i++)
        exi_emit_text(&json, NULL, mesh->tags[i].name);
    exi_emit_close(&json, ']');
    end_json(&json);
}

static int show_mesh(const ex_call *call, const char *path, ex_mesh *mesh) {
    if (call->json)
        print_form_json(path, mesh);
    else
        print_form(path, mesh);
    ex_mesh_destroy(mesh);
    return EX_EXIT_DONE;
}

static int show_form(const ex_call *call, const char *path) {
    ex_error error = {.result = EX_OK};
    ex_mesh *mesh = NULL;
    return ex_obj_read(path, &mesh, &error) == EX_OK ? show_mesh(call, path, mesh) : exi_failed(&error);
}

/* ---- projects ---- */

static int print_project_layers(const ex_project_view *view, exi_emitter *json) {
    int exit_code = EX_EXIT_DONE;
    for (int i = 0; i < view->layer_count && exit_code == EX_EXIT_DONE; i++) {
        exi_layer layer;
        if (!exi_layer_of_project(&layer, &view->layers[i]))
            exit_code = exi_failed_text("there is not enough memory");
        else if (json)
            exi_layer_print_json(&layer, json);
        else
            exi_layer_print(&layer);
        exi_layer_free(&layer);
    }
    return exit_code;
}

static int show_project(const ex_call *call, const char *path) {
    ex_error error = {.result = EX_OK};
    ex_project *project = NULL;
    if (ex_project_read(path, &project, &error) != EX_OK)
        return exi_failed(&error);
    const ex_project_view *view = ex_project_get(project);
    int exit_code;
    if (call->json) {
        exi_emitter json = begin_json(path, "project");
        exi_emit_text(&json, "mesh", view->mesh);
        exi_emit_number(&json, "unit", view->unit);
        exi_emit_text(&json, "up", view->z_up ? "z" : "y");
        exi_emit_open(&json, "layers", '[');
        exit_code = print_project_layers(view, &json);
        exi_emit_close(&json, ']');
        end_json(&json);
    } else {
        begin(path, "project");
        printf("mesh      %s, %s up, unit %g m\n", view->mesh, view->z_up ? "z" : "y", view->unit);
        exit_code = print_project_layers(view, NULL);
    }
    ex_project_destroy(project);
    return exit_code;
}

/* ---- rigs ---- */

/* The bounding box at rest. Floats go through their shortest decimals, so that 0.3f is shown as 0.3 in JSON too. */
static void rest_box(const ex_rig *rig, void *scratch, double box[6]) {
    float narrow[6] = {0};
    ex_rig_evaluate(rig, NULL, &(ex_output){.box = narrow}, NULL, scratch);
    for (int i = 0; i < 6; i++) {
        char text[32];
        int length = exi_format_float(text, narrow[i]);
        const char *cursor = text;
        box[i] = (double)narrow[i];
        exi_parse_double(&cursor, text + length, &box[i]);
    }
}

/* Layers one after the other, into the JSON where there is one. */
static int print_rig_layers(const ex_rig *rig, exi_emitter *json) {
    int exit_code = EX_EXIT_DONE;
    for (int i = 0; i < ex_rig_layer_count(rig) && exit_code == EX_EXIT_DONE; i++) {
        exi_layer layer;
        if (!exi_layer_of_rig(&layer, rig, i))
            exit_code = exi_failed_text("there is not enough memory");
        else if (json)
            exi_layer_print_json(&layer, json);
        else
            exi_layer_print(&layer);
        exi_layer_free(&layer);
    }
    return exit_code;
}

static int print_rig(const char *path, const ex_rig *rig, const double box[6]) {
    ex_rig_mesh mesh = ex_rig_get_mesh(rig);
    begin(path, "rig");
    printf("vertices  %d", mesh.vertex_count);
    if (mesh.split_count != mesh.vertex_count)
        printf(", %d for display, where seams split them", mesh.split_count);
    printf("\n");
    char triangles[EXI_TEXT_SIZE];
    printf("faces     %d, %s\n", mesh.face_count, exi_text_count(triangles, mesh.triangle_count, "triangle"));
    printf("texcoords %s\nnormals   %s\n", mesh.texcoords ? "yes" : "no", mesh.normals ? "yes" : "no");
    printf("examples  %d\n", ex_rig_example_count(rig));
    print_box(box);
    return print_rig_layers(rig, NULL);
}

static void json_inputs(const ex_rig *rig, exi_emitter *json) {
    exi_emit_open(json, "inputs", '[');
    for (int i = 0; i < ex_rig_input_count(rig); i++) {
        ex_axis axis = ex_rig_input_axis(rig, i);
        exi_axis_print_json(&axis, ex_rig_input_name(rig, i), ex_rig_input_unit(rig, i), json);
    }
    exi_emit_close(json, ']');
}

static int print_rig_json(const char *path, const ex_rig *rig, const double box[6]) {
    ex_rig_mesh mesh = ex_rig_get_mesh(rig);
    exi_emitter json = begin_json(path, "rig");
    exi_emit_number(&json, "vertices", mesh.vertex_count);
    exi_emit_number(&json, "split", mesh.split_count);
    exi_emit_number(&json, "faces", mesh.face_count);
    exi_emit_number(&json, "triangles", mesh.triangle_count);
    exi_emit_bool(&json, "texcoords", mesh.texcoords != NULL);
    exi_emit_bool(&json, "normals", mesh.normals != NULL);
    exi_emit_number(&json, "examples", ex_rig_example_count(rig));
    exi_emit_numbers(&json, "box", box, 6);
    json_inputs(rig, &json);
    exi_emit_open(&json, "layers", '[');
    int exit_code = print_rig_layers(rig, &json);
    exi_emit_close(&json, ']');
    end_json(&json);
    return exit_code;
}

static int show_rig(const ex_call *call, const char *path) {
    ex_rig *rig = exi_rig_load(path, EX_STORAGE_FLOAT);
    if (!rig)
        return EX_EXIT_FAILED;
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1) + 1);
    int exit_code;
    if (!scratch) {
        exit_code = exi_failed_text("there is not enough memory");
    } else {
        double box[6];
        rest_box(rig, scratch, box);
        exit_code = call->json ? print_rig_json(path, rig, box) : print_rig(path, rig, box);
    }
    free(scratch);
    ex_rig_destroy(rig);
    return exit_code;
}

/* Neither content nor name tells: a form is the one kind that has no mark of its own, so it may still be one. */
static int show_unknown(const ex_call *call, const char *path) {
    ex_error error = {.result = EX_OK};
    ex_mesh *mesh = NULL;
    ex_result result = ex_obj_read(path, &mesh, &error);
    if (result == EX_OK)
        return show_mesh(call, path, mesh);
    if (result == EX_ERROR_FILE)
        return exi_failed(&error);
    return exi_failed_text("'%s' is neither a project (.json), nor a rig (.glb), nor a form (.obj)", path);
}

static int run(const ex_call *call) {
    if (capabilities) {
        return call->argument_count == 0
                   ? show_capabilities(call)
                   : exi_wrong_usage(call->command, "--capabilities takes no file, but there is '%s'",
                                     call->arguments[0]);
    }
    if (call->argument_count == 0)
        return exi_wrong_usage(call->command, "name a file, or ask for --capabilities");
    const char *path = call->arguments[0];
    switch (exi_file_kind_of(path)) {
    case EXI_FILE_PROJECT:
        return show_project(call, path);
    case EXI_FILE_RIG:
        return show_rig(call, path);
    case EXI_FILE_FORM:
        return show_form(call, path);
    case EXI_FILE_UNKNOWN:
        break;
    }
    return show_unknown(call, path);
}

const ex_command cmd_info = {
    .name = "info",
    .summary = "say what is inside a project, a rig or a form",
    .usage = "info FILE [--json]\n"
             "info --capabilities [--json]",
    .description = "FILE is anything that Exemplar reads: a project (.json), a rig (.glb) or a form\n"
                   "(.obj). For a project and a rig the answer names every layer with its space, its\n"
                   "examples and pseudo-examples and where they stand; for a form it counts what the\n"
                   "file holds. A project's meshes are not opened; 'exemplar check' does that.",
    .examples = "exemplar info blob/blob.glb\n"
                "exemplar info --capabilities --json",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 0,
    .argument_max = 1,
    .run = run,
};
