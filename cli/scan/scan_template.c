/* exemplar scan template - makes the cage that follows the fitted skeleton. */
#include "scan.h"

#include "cli/base/emit.h"

#include <stdlib.h>
#include <string.h>

static const char *cage;

static const ex_option options[] = {
    {.name = "cage",
     .argument = "FILE",
     .help = "a mesh instead of the generated one, at the pose of the reference scan, mostly of quads (default: as in "
             "scan.json)",
     .text = &cage},
};

static void print(const ex_call *call, const ex_scan_session *session, const ex_template *made) {
    const ex_mesh *mesh = made->cage;
    const int extraordinary = ex_template_extraordinary_count(made);
    char vertices[EXI_TEXT_SIZE], faces[EXI_TEXT_SIZE], points[EXI_TEXT_SIZE], groups[EXI_TEXT_SIZE];
    if (call->json) {
        exi_emitter json = exi_emit_start(stdout);
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "session", session->folder);
        exi_emit_number(&json, "vertices", mesh->vertex_count);
        exi_emit_number(&json, "faces", mesh->face_count);
        exi_emit_number(&json, "extraordinary", extraordinary);
        exi_emit_open(&json, "groups", '[');
        for (int i = 0; i < mesh->group_count; i++)
            exi_emit_text(&json, NULL, mesh->group_names[i]);
        exi_emit_close(&json, ']');
        exi_emit_close(&json, '}');
        exi_emit_end(&json);
    } else if (!call->quiet) {
        exi_print("%s/template/cage.obj: %s, %s, %s; faces on %s\n", session->folder,
                  exi_text_count(vertices, mesh->vertex_count, "control point"),
                  exi_text_count(faces, mesh->face_count, "face"),
                  exi_text_count(points, extraordinary, "extraordinary point"),
                  exi_text_count(groups, mesh->group_count, "joint"));
    }
}

/* Names joints without faces of their own. */
static void warn(const ex_scan_fitted *fitted, const ex_mesh *mesh) {
    const ex_kinematics *kinematics = fitted->kinematics;
    for (int j = 0; j < kinematics->joint_count; j++) {
        const char *name = kinematics->joints[j].name;
        bool found = kinematics->joints[j].freedom == EX_FREEDOM_FIXED;
        for (int i = 0; i < mesh->group_count && !found; i++)
            found = strcmp(mesh->group_names[i], name) == 0;
        if (!found)
            exi_failed_text(
                "the cage has no faces on '%s': no part can cover it, and its skin moves with its neighbours", name);
    }
}

static int run(const ex_call *call) {
    ex_error error = {0};
    ex_template *made = NULL;
    ex_scan_session *session = exi_scan_open_to_change(call);
    const bool can = session && exi_scan_can_write(session, "template", "cage.obj");
    ex_scan_fitted *fitted = can ? exi_scan_open_fit(session) : NULL;
    ex_result result = fitted ? ex_scan_template(session, fitted, cage, &made, &error) : EX_ERROR_DATA;
    if (result == EX_OK)
        result = ex_scan_template_write(session, made, &error);
    if (result == EX_OK && !call->quiet)
        warn(fitted, made->cage);
    if (result == EX_OK)
        print(call, session, made);
    else if (fitted)
        exi_failed(&error);
    ex_template_destroy(made);
    ex_scan_fitted_destroy(fitted);
    ex_scan_session_destroy(session);
    return result == EX_OK ? EX_EXIT_DONE : EX_EXIT_FAILED;
}

const ex_command cmd_scan_template = {
    .name = "scan template",
    .summary = "make the cage that follows the fitted skeleton",
    .usage = "scan template DIR [--cage FILE]",
    .description = "Makes a Catmull-Clark cage from fit.json, at the pose of the reference scan:\n"
                   "rings of control points around the bones, as wide as the reference scan there;\n"
                   "those at joints are moved by both bones, half each. Arms leave the trunk at\n"
                   "its sides, and legs at its lower end. If the skeleton ends at hips or neck,\n"
                   "the cage is open there. The cage is planned in the skeleton's own pose and\n"
                   "carried to the reference, which may stand or sit in any pose. A limb that it\n"
                   "has no room for is an error; a joint without faces is named. Writes\n"
                   "template/cage.obj, with a group of faces for every bone, and\n"
                   "template/body.glb, its skeleton and skin.\n"
                   "\n"
                   "A mesh given with --cage is moved by the bones nearest to its vertices. You\n"
                   "can edit both files before the body is built, as long as the vertices keep\n"
                   "their number and order.",
    .examples = "exemplar scan template body\n"
                "exemplar scan template body --cage mine.obj",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 1,
    .argument_max = 1,
    .run = run,
};
