/* exemplar diff - compares two forms or two rigs. */
#include "cli/base/command.h"
#include "cli/base/emit.h"
#include "cli/base/files.h"
#include "cli/base/report.h"
#include "cli/base/rigs.h"

#include <exemplar/author/files.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *tolerance_text;
static bool exit_code_wanted;

static const ex_option options[] = {
    {.name = "tolerance",
     .argument = "X",
     .help = "numbers that differ by at most X count as the same (default: 0); positions are in the files' unit, "
             "pixels from 0 to 1",
     .text = &tolerance_text},
    {.name = "exit-code", .help = "exit with 1 if the two differ", .flag = &exit_code_wanted},
};

static int verdict(bool same) {
    return exit_code_wanted && !same ? EX_EXIT_FAILED : EX_EXIT_DONE;
}

static void begin_json(exi_emitter *json, const ex_call *call, const char *kind, bool same) {
    exi_emit_open(json, NULL, '{');
    exi_emit_text(json, "kind", kind);
    exi_emit_open(json, "files", '[');
    exi_emit_text(json, NULL, call->arguments[0]);
    exi_emit_text(json, NULL, call->arguments[1]);
    exi_emit_close(json, ']');
    exi_emit_bool(json, "same", same);
}

static void end_json(exi_emitter *json) {
    exi_emit_close(json, '}');
    exi_emit_end(json);
}

/* ---- forms ---- */

static void box_of(const ex_mesh *mesh, double box[6]) {
    for (int i = 0; i < 6; i++)
        box[i] = mesh->vertex_count > 0 ? mesh->positions[i % 3] : 0;
    for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; i++) {
        const double x = mesh->positions[i];
        box[i % 3] = x < box[i % 3] ? x : box[i % 3];
        box[3 + i % 3] = x > box[3 + i % 3] ? x : box[3 + i % 3];
    }
}

static double relative(const ex_mesh_difference *d, double distance) {
    return d->size > 0 ? distance / d->size : 0;
}

/* Prints "1 5 6 2", the vertices of a face. */
static void print_face(const ex_mesh *mesh, int face) {
    for (int c = mesh->face_offsets[face]; c < mesh->face_offsets[face + 1]; c++)
        exi_print(" %d", mesh->corners[c]);
}

static void print_faces(const ex_mesh *a, const ex_mesh *b, int face) {
    if (a->face_count != b->face_count)
        exi_print("faces     %d and %d\n", a->face_count, b->face_count);
    if (face < 0) {
        exi_print("faces     the same %d\n", a->face_count);
        return;
    }
    exi_print("faces     differ, face %d (counting from 0) first:", face);
    if (face < a->face_count && face < b->face_count) {
        print_face(a, face);
        exi_print(" and");
        print_face(b, face);
        exi_print("\n");
    } else {
        exi_print(" only in the %s\n", face < a->face_count ? "first" : "second");
    }
}

/* Differences below this part of the size come from rounding to float, not from a change. */
#define ROUNDING 3e-7

static void print_vertices(const ex_mesh *a, const ex_mesh *b, const ex_mesh_difference *d) {
    if (!d->measured) {
        exi_print("vertices  %d and %d\n", a->vertex_count, b->vertex_count);
        return;
    }
    if (d->moved_count > 0 && relative(d, d->farthest) < ROUNDING) {
        exi_print("vertices  the same %d but for rounding, up to %g\n", a->vertex_count, d->farthest);
    } else if (d->moved_count == 0) {
        exi_print("vertices  the same %d%s\n", a->vertex_count, d->farthest > 0 ? " within the tolerance" : "");
    } else {
        exi_print("vertices  %d of %d moved\n", d->moved_count, a->vertex_count);
        exi_print("farthest  vertex %d (counting from 0), by %g, %.3g of the size\n", d->farthest_vertex, d->farthest,
                  relative(d, d->farthest));
        exi_print("rms       %g, %.3g of the size\n", d->rms, relative(d, d->rms));
    }
}

static void print_form(const ex_mesh *a, const ex_mesh *b, const ex_mesh_difference *d) {
    const struct {
        const char *name;
        bool differ;
    } others[] = {{"texcoords", d->texcoords}, {"normals", d->normals},     {"colours", d->colours},
                  {"groups", d->groups},       {"materials", d->materials}, {"tags", d->tags}};
    const ex_mesh *meshes[2] = {a, b};
    print_vertices(a, b, d);
    print_faces(a, b, d->first_face);
    for (size_t i = 0; d->measured && d->first_face < 0 && i < sizeof others / sizeof others[0]; i++)
        if (others[i].differ)
            exi_print("%-9s differ\n", others[i].name);
    for (int i = 0; i < 2; i++) {
        double box[6];
        box_of(meshes[i], box);
        exi_print("box       %g %g %g to %g %g %g\n", box[0], box[1], box[2], box[3], box[4], box[5]);
    }
}

static void print_form_json(const ex_call *call, const ex_mesh *a, const ex_mesh *b, const ex_mesh_difference *d) {
    exi_emitter json = exi_emit_start(stdout);
    const ex_mesh *meshes[2] = {a, b};
    begin_json(&json, call, "form", ex_mesh_difference_none(d));
    exi_emit_numbers(&json, "vertices", (const double[]){a->vertex_count, b->vertex_count}, 2);
    exi_emit_numbers(&json, "faces", (const double[]){a->face_count, b->face_count}, 2);
    exi_emit_bool(&json, "same_faces", d->first_face < 0);
    if (d->first_face >= 0)
        exi_emit_number(&json, "first_face", d->first_face);
    if (d->measured) {
        exi_emit_number(&json, "moved", d->moved_count);
        exi_emit_number(&json, "farthest_vertex", d->farthest_vertex);
        exi_emit_number(&json, "farthest", d->farthest);
        exi_emit_number(&json, "rms", d->rms);
        exi_emit_number(&json, "size", d->size);
    }
    if (d->measured && d->first_face < 0) {
        exi_emit_bool(&json, "same_texcoords", !d->texcoords);
        exi_emit_bool(&json, "same_normals", !d->normals);
        exi_emit_bool(&json, "same_colours", !d->colours);
        exi_emit_bool(&json, "same_groups", !d->groups);
        exi_emit_bool(&json, "same_materials", !d->materials);
        exi_emit_bool(&json, "same_tags", !d->tags);
    }
    exi_emit_open(&json, "boxes", '[');
    for (int i = 0; i < 2; i++) {
        double box[6];
        box_of(meshes[i], box);
        exi_emit_numbers(&json, NULL, box, 6);
    }
    exi_emit_close(&json, ']');
    end_json(&json);
}

static int diff_forms(const ex_call *call, double tolerance) {
    ex_error error = {.result = EX_OK};
    ex_mesh *a = NULL, *b = NULL;
    ex_result result = ex_mesh_read(call->arguments[0], &a, &error);
    if (result == EX_OK)
        result = ex_mesh_read(call->arguments[1], &b, &error);
    int exit_code = EX_EXIT_FAILED;
    if (result != EX_OK) {
        exi_failed(&error);
    } else {
        const ex_mesh_difference d = ex_mesh_compare(a, b, tolerance);
        if (call->json)
            print_form_json(call, a, b, &d);
        else if (!call->quiet)
            print_form(a, b, &d);
        exit_code = verdict(ex_mesh_difference_none(&d));
    }
    ex_mesh_destroy(a);
    ex_mesh_destroy(b);
    return exit_code;
}

/* ---- rigs ---- */

/* Compares the bytes of two files; false after printing an error if one cannot be read. */
static bool compare_bytes(const ex_call *call, bool *same) {
    ex_error error = {.result = EX_OK};
    char *a = NULL, *b = NULL;
    size_t a_size = 0, b_size = 0;
    ex_result result = ex_file_read(call->arguments[0], &a, &a_size, &error);
    if (result == EX_OK)
        result = ex_file_read(call->arguments[1], &b, &b_size, &error);
    if (result == EX_OK)
        *same = a_size == b_size && memcmp(a, b, a_size) == 0;
    else
        exi_failed(&error);
    free(a);
    free(b);
    return result == EX_OK;
}

static void print_differences(const ex_call *call, const ex_differences *list, bool same_bytes) {
    for (int i = 0; i < list->count; i++) {
        const ex_difference *d = &list->items[i];
        exi_print("%s%s%s\n", d->where, *d->where ? ": " : "", d->text);
    }
    char count[EXI_TEXT_SIZE];
    if (list->count > 0)
        exi_print("%s and %s: %s\n", call->arguments[0], call->arguments[1],
                  exi_text_count(count, list->count, "difference"));
    else
        exi_print("%s and %s: %s\n", call->arguments[0], call->arguments[1],
                  same_bytes ? "the same bytes" : "the same, though their bytes differ");
}

static void print_differences_json(const ex_call *call, const ex_differences *list, bool same_bytes) {
    exi_emitter json = exi_emit_start(stdout);
    begin_json(&json, call, "rig", list->count == 0);
    exi_emit_bool(&json, "same_bytes", same_bytes);
    exi_emit_open(&json, "differences", '[');
    for (int i = 0; i < list->count; i++) {
        const ex_difference *d = &list->items[i];
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "kind", d->kind);
        exi_emit_text(&json, "where", d->where);
        exi_emit_text(&json, "text", d->text);
        exi_emit_number(&json, "largest", d->largest);
        exi_emit_number(&json, "rms", d->rms);
        exi_emit_close(&json, '}');
    }
    exi_emit_close(&json, ']');
    end_json(&json);
}

static int diff_rigs(const ex_call *call, double tolerance) {
    ex_rig *a = exi_rig_load(call->arguments[0], NULL);
    ex_rig *b = a ? exi_rig_load(call->arguments[1], NULL) : NULL;
    ex_error error = {.result = EX_OK};
    ex_differences *list = NULL;
    bool same_bytes = false;
    int exit_code = EX_EXIT_FAILED;
    if (b && compare_bytes(call, &same_bytes)) {
        if (ex_rig_compare(a, b, tolerance, &list, &error) != EX_OK) {
            exi_failed(&error);
        } else {
            if (call->json)
                print_differences_json(call, list, same_bytes);
            else if (!call->quiet)
                print_differences(call, list, same_bytes);
            exit_code = verdict(list->count == 0);
        }
    }
    ex_differences_destroy(list);
    ex_rig_destroy(a);
    ex_rig_destroy(b);
    return exit_code;
}

/* ---- the command ---- */

static bool read_tolerance(double *tolerance) {
    char *end = NULL;
    *tolerance = tolerance_text ? strtod(tolerance_text, &end) : 0;
    return !tolerance_text || (end != tolerance_text && *end == '\0' && *tolerance >= 0 && isfinite(*tolerance));
}

static int run(const ex_call *call) {
    double tolerance;
    if (!read_tolerance(&tolerance))
        return exi_wrong_usage(call->command, "--tolerance needs a number from 0 up, not '%s'", tolerance_text);
    exi_file_kind kinds[2];
    for (int i = 0; i < 2; i++) {
        kinds[i] = exi_file_kind_of(call->arguments[i]);
        if (kinds[i] == EXI_FILE_PROJECT || kinds[i] == EXI_FILE_IMAGE || kinds[i] == EXI_FILE_CLIP ||
            (kinds[i] == EXI_FILE_CACHE && ex_cache_kind_of(call->arguments[i]) != EX_CACHE_ABC) ||
            kinds[i] == EXI_FILE_C3D || kinds[i] == EXI_FILE_TRC)
            return exi_failed_text("'%s' is %s: only forms and rigs can be compared; build a rig from a project first",
                                   call->arguments[i], exi_file_kind_name(kinds[i]));
        if (kinds[i] == EXI_FILE_UNKNOWN && !exi_expect_kind(call->arguments[i], EXI_FILE_RIG))
            return EX_EXIT_FAILED;
    }
    if ((kinds[0] == EXI_FILE_RIG) != (kinds[1] == EXI_FILE_RIG) && kinds[0] != EXI_FILE_UNKNOWN &&
        kinds[1] != EXI_FILE_UNKNOWN)
        return exi_failed_text("'%s' is %s and '%s' is %s: 'exemplar pose' makes a form from a rig", call->arguments[0],
                               exi_file_kind_name(kinds[0]), call->arguments[1], exi_file_kind_name(kinds[1]));
    return kinds[0] == EXI_FILE_RIG || kinds[1] == EXI_FILE_RIG ? diff_rigs(call, tolerance)
                                                                : diff_forms(call, tolerance);
}

const ex_command cmd_diff = {
    .name = "diff",
    .summary = "compare two forms or two rigs",
    .usage = "diff A B [--tolerance X] [--exit-code] [--json]",
    .description = "A and B are two forms (.obj, .ply, .off, .glb, .gltf) or two rigs (.glb).\n"
                   "\n"
                   "For forms: the number of vertices that moved, the largest distance and its\n"
                   "vertex, the root mean square of all distances, and if faces, texture\n"
                   "coordinates, normals, colours, groups, materials and subdivision tags are the\n"
                   "same.\n"
                   "\n"
                   "For rigs: one line for every difference, from the mesh to layers, axes,\n"
                   "weighers, examples, skeletons, skins, refined levels and textures. Layers,\n"
                   "axes, examples and joints are matched by name. If both rigs have the same\n"
                   "number, those left over at the same position count as renamed.\n"
                   "\n"
                   "The exit code is 0 even if they differ, unless you give --exit-code.",
    .examples = "exemplar diff sculpt.obj sculpt-old.obj\n"
                "exemplar diff blob/blob.glb old/blob.glb --tolerance 1e-6 --exit-code -q",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 2,
    .argument_max = 2,
    .run = run,
};
