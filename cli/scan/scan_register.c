/* exemplar scan register - moves a template onto a scan. */
#include "scan.h"

#include "cli/base/emit.h"
#include "cli/base/files.h"
#include "common/pool.h"
#include "cli/drive/drive.h"

#include "common/array.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>
#include <exemplar/author/register.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *output, *start, *landmarks, *points, *align, *confidence, *reach_text, *start_reach_text,
    *noise_text;

static const ex_option options[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "OUT.obj",
     .values = ".obj|.ply|.glb",
     .help = "output file: the template's faces at the places found (default: none)",
     .text = &output},
    {.name = "start",
     .argument = "FILE",
     .values = ".obj|.ply|.off|.glb",
     .help = "the template in a rough pose, or registered to the frame before: same vertices and faces (default: the "
             "template itself)",
     .text = &start},
    {.name = "landmarks",
     .argument = "FILE.csv",
     .help = "places on the scan, marker,x,y,z: a marker is a vertex of the template, counted from 0, or a name "
             "in --points",
     .text = &landmarks},
    {.name = "points",
     .argument = "FILE.csv",
     .help = "the same landmarks on the template: marker,x,y,z",
     .text = &points},
    {.name = "align",
     .argument = "HOW",
     .values = "similarity|rigid|none",
     .help = "first move the template by the landmarks: similarity turns, moves and scales it, rigid does not scale "
             "(default: similarity, or none with --start)",
     .text = &align},
    {.name = "confidence",
     .argument = "FILE",
     .values = ".csv|.ply",
     .help = "write the confidence of every vertex, from 0 to 1: a table, or a mesh with colours from red to green",
     .text = &confidence},
    {.name = "reach",
     .argument = "LENGTH",
     .help = "greatest distance between template and scan at the end (default: 30mm)",
     .text = &reach_text},
    {.name = "start-reach",
     .argument = "LENGTH",
     .help = "the same at the beginning (default: a fourteenth of the template's size)",
     .text = &start_reach_text},
    {.name = "noise", .argument = "LENGTH", .help = "noise of the scan (default: 1mm)", .text = &noise_text},
};

typedef struct work {
    ex_mesh *mesh;
    ex_mesh *start; /* or NULL */
    ex_mesh **scans;
    int scan_count;
    ex_register_anchor *anchors;
    int anchor_count;
    double (*begin)[3]; /* [vertex_count] */
    ex_register_def def;
    ex_registered *registered;
} work;

static void free_work(work *w) {
    ex_mesh_destroy(w->mesh);
    ex_mesh_destroy(w->start);
    for (int i = 0; w->scans && i < w->scan_count; i++)
        ex_mesh_destroy(w->scans[i]);
    free(w->scans);
    free(w->anchors);
    free(w->begin);
    ex_registered_destroy(w->registered);
}

/* ---- input ---- */

static ex_result no_memory(ex_error *error) {
    return ex_error_set(error, EX_ERROR_MEMORY, "not enough memory");
}

static ex_result read_meshes(const ex_call *call, work *w, ex_error *error) {
    ex_result result = ex_mesh_read(call->arguments[0], &w->mesh, error);
    w->scans = calloc((size_t)call->argument_count, sizeof(ex_mesh *));
    if (result == EX_OK && !w->scans)
        result = no_memory(error);
    for (int i = 1; i < call->argument_count && result == EX_OK; i++)
        result = ex_mesh_read(call->arguments[i], &w->scans[w->scan_count++], error);
    if (result == EX_OK && start)
        result = ex_mesh_read(start, &w->start, error);
    if (result == EX_OK && start && ex_mesh_compare_connectivity(w->mesh, w->start, error) != EX_OK)
        result =
            ex_error_within(error, EX_ERROR_DATA, "'%s' does not have the faces of '%s'", start, call->arguments[0]);
    return result;
}

/* Makes the anchor of a landmark: at a vertex by its number, or at a named point of the template. */
static ex_result make_anchor(const work *w, const ex_labelled *landmark, const ex_labelled *known, int known_count,
                             ex_register_anchor *anchor, ex_error *error) {
    const char *at = landmark->name, *end = at + strlen(at);
    int vertex = 0;
    for (int i = 0; i < known_count; i++)
        if (strcmp(known[i].name, landmark->name) == 0)
            return ex_register_anchor_find(w->mesh, known[i].position, landmark->position, anchor, error);
    if (!ex_parse_int(&at, end, &vertex) || at != end)
        return ex_error_set(
            error, EX_ERROR_DATA, "landmark '%s' of '%s' is neither a vertex of the template nor a name in %s%s%s",
            landmark->name, landmarks, points ? "'" : "", points ? points : "--points", points ? "'" : "");
    if (vertex < 0 || vertex >= w->mesh->vertex_count)
        return ex_error_set(error, EX_ERROR_DATA,
                            "landmark %d of '%s' is no vertex of the template, which has vertices 0 to %d", vertex,
                            landmarks, w->mesh->vertex_count - 1);
    *anchor = (ex_register_anchor){.vertices = {vertex, vertex, vertex}, .shares = {1, 0, 0}};
    memcpy(anchor->target, landmark->position, sizeof anchor->target);
    return EX_OK;
}

static ex_result read_landmarks(work *w, ex_error *error) {
    ex_labelled *found = NULL, *known = NULL;
    int count = 0, known_count = 0;
    if (!landmarks)
        return EX_OK;
    ex_result result = ex_labels_read(landmarks, &found, &count, error);
    if (result == EX_OK && points)
        result = ex_labels_read(points, &known, &known_count, error);
    w->anchors = result == EX_OK ? array_allocate((size_t)count, sizeof *w->anchors) : NULL;
    if (result == EX_OK && !w->anchors)
        result = no_memory(error);
    for (int i = 0; i < count && result == EX_OK; i++) {
        result = make_anchor(w, &found[i], known, known_count, &w->anchors[i], error);
        w->anchor_count += result == EX_OK;
    }
    ex_labels_free(found, count);
    ex_labels_free(known, known_count);
    return result;
}

/* Places the template: as in --start, or moved by the landmarks. */
static ex_result place(work *w, ex_error *error) {
    const ex_mesh *from = w->start ? w->start : w->mesh;
    const size_t size = 3 * (size_t)from->vertex_count * sizeof(double);
    const bool aligned = align ? strcmp(align, "none") != 0 : w->anchor_count >= 3 && !start;
    ex_result result = EX_OK;
    w->begin = array_allocate((size_t)from->vertex_count, sizeof *w->begin);
    double(*own)[3] = array_allocate((size_t)w->anchor_count, sizeof *own);
    double(*targets)[3] = array_allocate((size_t)w->anchor_count, sizeof *targets);
    if (!w->begin || !own || !targets) {
        result = no_memory(error);
    } else {
        memcpy(w->begin, from->positions, size);
        for (int i = 0; i < w->anchor_count; i++)
            for (int k = 0; k < 3; k++) {
                const ex_register_anchor *a = &w->anchors[i];
                own[i][k] = 0;
                for (int c = 0; c < 3; c++)
                    own[i][k] += a->shares[c] * w->begin[a->vertices[c]][k];
                targets[i][k] = a->target[k];
            }
        if (aligned) {
            ex_similarity similarity;
            result = ex_register_align(w->anchor_count, (const double(*)[3])own, (const double(*)[3])targets, NULL,
                                       !align || strcmp(align, "similarity") == 0, &similarity, error);
            if (result == EX_OK)
                ex_similarity_apply(&similarity, from->vertex_count, w->begin);
        }
    }
    free(own);
    free(targets);
    return result;
}

/* ---- the result ---- */

static ex_result write_confidence(const work *w, ex_mesh *mesh, ex_error *error) {
    const ex_registered *r = w->registered;
    if (ex_path_ends_with(confidence, ".csv")) {
        ex_file_writer writer;
        ex_result result = ex_file_open(&writer, confidence, error);
        if (result != EX_OK)
            return result;
        ex_file_printf(&writer, "vertex,confidence\n");
        for (int v = 0; v < r->vertex_count; v++) {
            char number[32];
            ex_format_float(number, r->confidences[v]);
            ex_file_printf(&writer, "%d,%s\n", v, number);
        }
        return ex_file_commit(&writer, error);
    }
    free(mesh->colours);
    mesh->colours = array_allocate(3 * (size_t)r->vertex_count, sizeof *mesh->colours);
    if (!mesh->colours)
        return no_memory(error);
    for (int v = 0; v < r->vertex_count; v++) {
        const float sure = r->confidences[v],
                    colour[3] = {sure < 0.5F ? 1 : 2 - 2 * sure, sure < 0.5F ? 2 * sure : 1, 0.2F};
        for (int k = 0; k < 3; k++)
            mesh->colours[3 * (size_t)v + (size_t)k] = (float)(int)(255 * colour[k]) / 255;
    }
    return ex_ply_write(confidence, mesh, EX_PLY_LITTLE_ENDIAN, error);
}

static ex_result write_results(const work *w, ex_error *error) {
    const ex_registered *r = w->registered;
    ex_mesh *mesh = ex_mesh_copy(w->mesh);
    ex_result result = mesh ? EX_OK : no_memory(error);
    if (result == EX_OK) {
        memcpy(mesh->positions, r->vertices, 3 * (size_t)r->vertex_count * sizeof(double));
        free(mesh->normals); /* they belong to the rest form */
        free(mesh->corner_normals);
        mesh->normals = NULL;
        mesh->corner_normals = NULL;
        mesh->normal_count = 0;
    }
    if (result == EX_OK && output)
        result = ex_mesh_write(output, mesh, error);
    if (result == EX_OK && confidence)
        result = write_confidence(w, mesh, error);
    ex_mesh_destroy(mesh);
    return result;
}

static void print_json(const work *w) {
    const ex_registered *r = w->registered;
    exi_emitter json = exi_emit_start(stdout);
    exi_emit_open(&json, NULL, '{');
    exi_emit_text(&json, "output", output);
    exi_emit_number(&json, "vertices", r->vertex_count);
    exi_emit_number(&json, "matched", r->matched_count);
    exi_emit_number(&json, "unmatched", r->unmatched_count);
    exi_emit_number(&json, "rms", r->rms);
    exi_emit_number(&json, "landmark_rms", w->anchor_count > 0 ? r->anchor_rms : (double)NAN);
    exi_emit_number(&json, "covered", r->covered);
    exi_emit_number(&json, "flipped", r->flipped_count);
    exi_emit_number(&json, "scan_points", r->sample_count);
    exi_emit_number(&json, "seconds", r->seconds);
    exi_emit_close(&json, '}');
    exi_emit_end(&json);
}

static void print_text(const ex_call *call, const work *w) {
    const ex_registered *r = w->registered;
    char length[EXI_TEXT_SIZE], seconds[EXI_TEXT_SIZE], count[EXI_TEXT_SIZE];
    exi_print("%s: %d of %s on the scan, %s (rms) from it", output ? output : call->arguments[0], r->matched_count,
              exi_text_count(count, r->matched_count + r->unmatched_count, "vertex"), exi_text_length(length, r->rms));
    if (exi_report_is_terminal())
        exi_print(", %s", exi_text_seconds(seconds, r->seconds));
    exi_print("\n%.0f %% of the scan's area is within reach of the template\n", 100 * r->covered);
    if (w->anchor_count > 0)
        exi_print("landmarks are %s (rms) from their places\n", exi_text_length(length, r->anchor_rms));
    if (r->flipped_count > 0)
        exi_failed_text("%d triangles are turned over: look at them, and add landmarks near them", r->flipped_count);
    if (2 * r->matched_count < r->unmatched_count)
        exi_failed_text("most of the template found no scan near it: give landmarks, or a rough pose with --start");
}

/* ---- the command ---- */

static bool read_options(const ex_call *call, ex_register_def *def) {
    if (align && strcmp(align, "similarity") != 0 && strcmp(align, "rigid") != 0 && strcmp(align, "none") != 0) {
        exi_wrong_usage(call->command, "--align needs similarity, rigid or none, not '%s'", align);
        return false;
    }
    if (!landmarks && (points || (align && strcmp(align, "none") != 0))) {
        exi_wrong_usage(call->command, "--%s goes with --landmarks", points ? "points" : "align");
        return false;
    }
    return exi_drive_length_read(call, "reach", reach_text, &def->reach) &&
           exi_drive_length_read(call, "start-reach", start_reach_text, &def->start_reach) &&
           exi_drive_length_read(call, "noise", noise_text, &def->noise);
}

static ex_result do_register(const ex_call *call, work *w, ex_error *error) {
    exi_progress progress;
    exi_pool *pool = exi_pool_create(call->threads);
    exi_progress_start(&progress, call);
    w->def.mesh = w->mesh;
    w->def.start = (const double(*)[3])w->begin;
    w->def.scans = (const ex_mesh *const *)w->scans;
    w->def.scan_count = w->scan_count;
    w->def.anchors = w->anchors;
    w->def.anchor_count = w->anchor_count;
    w->def.progress = &progress.hook;
    w->def.tasks = exi_pool_tasks(pool);
    const ex_result result = ex_register(&w->def, &w->registered, error);
    exi_progress_end(&progress);
    exi_pool_destroy(pool);
    return result;
}

static int run(const ex_call *call) {
    work w = {.def = ex_register_def_default()};
    ex_error error = {0};
    int exit_code = EX_EXIT_USAGE;
    if (!read_options(call, &w.def))
        return EX_EXIT_USAGE;
    if (output && !exi_output_check(call->command, output, ".obj, .ply, .glb or .gltf", call->arguments[0], &exit_code))
        return exit_code;
    if (confidence && !exi_output_check(call->command, confidence, ".csv or .ply", call->arguments[0], &exit_code))
        return exit_code;
    ex_result result = read_meshes(call, &w, &error);
    if (result == EX_OK)
        result = read_landmarks(&w, &error);
    if (result == EX_OK)
        result = place(&w, &error);
    if (result == EX_OK)
        result = do_register(call, &w, &error);
    if (result == EX_OK)
        result = write_results(&w, &error);
    if (result != EX_OK)
        exi_failed(&error);
    else if (call->json)
        print_json(&w);
    else if (!call->quiet)
        print_text(call, &w);
    free_work(&w);
    return result == EX_OK ? EX_EXIT_DONE : EX_EXIT_FAILED;
}

const ex_command cmd_scan_register = {
    .name = "scan register",
    .summary = "move a template mesh onto a scan, without markers",
    .usage = "scan register TEMPLATE.obj SCAN.ply ... -o OUT.obj\n"
             "scan register TEMPLATE.obj SCAN.ply --landmarks FILE.csv -o OUT.obj",
    .description = "Bends a template mesh until it lies on a scan: one mesh, several views of it,\n"
                   "or points with normals. The result has the template's vertices and faces, so\n"
                   "registered scans of many poses can be compared vertex by vertex. Holes are\n"
                   "bridged by the template's own shape. Floors and walls are left out, and other\n"
                   "things do not pull if they are farther away than --reach. All files are in\n"
                   "metres, with the same axis up.\n"
                   "\n"
                   "Without landmarks, the template must begin within about 5 cm and 15 degrees of\n"
                   "the scan. With eight to twenty landmarks (wrists, elbows, knees, ankles, head)\n"
                   "limbs may be off by 15 cm and 30 degrees. For a sequence, give the result of\n"
                   "one frame as --start of the next.",
    .examples = "exemplar scan register body.obj scan.ply --landmarks clicked.csv -o r.obj\n"
                "exemplar scan register body.obj front.ply back.ply --start posed.obj -o r.obj\n"
                "exemplar scan register body.obj f2.ply --start f1.obj -o f2.obj",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 2,
    .argument_max = -1,
    .run = run,
};
