/* figures/figures_body.c - opens the session of the demo `body`, evaluates its surfaces, and makes coloured shots of
 * them. */
#include "figures_body.h"

#include "cli/base/files.h"
#include "cli/base/words.h"

#include "common/array.h"

#include <exemplar/author/formats.h>
#include <stdlib.h>
#include <string.h>

/* ---- opening ---- */

static ex_result open_template(exi_scanned *s, const char *folder, bool refitted) {
    ex_template *made = &s->templates[refitted];
    char *cage = exi_path_inside(folder, refitted ? "cage" : "template/cage", ".obj");
    char *scene = exi_path_inside(folder, refitted ? "skeleton" : "template/body", ".glb");
    ex_error *error = s->figures->error;
    ex_result result = cage && scene ? ex_obj_read(cage, &made->cage, error) : ex_error_memory(error, "a path", 0);
    if (result == EX_OK)
        result = ex_scene_read(scene, &made->scene, error);
    if (result == EX_OK)
        result = ex_template_rig(made, s->session->levels, &s->rigs[refitted], error);
    free(cage);
    free(scene);
    return result;
}

static ex_result open_session(exi_scanned *s, const char *folder) {
    ex_error *error = s->figures->error;
    char *fit = exi_path_inside(folder, "fit", ".json");
    ex_result result = fit ? ex_scan_session_read(folder, &s->session, error) : ex_error_memory(error, "a path", 0);
    if (result == EX_OK)
        result = ex_scan_fitted_read(fit, &s->fitted, error);
    for (int refitted = 0; refitted < 2 && result == EX_OK; refitted++)
        result = open_template(s, folder, refitted);
    if (result == EX_OK) {
        s->level = s->session->levels;
        s->vertex_count = ex_rig_level_vertex_count(s->rig, s->level);
    }
    free(fit);
    return result;
}

ex_result exi_scanned_open(exi_figures *f, exi_scanned *s) {
    *s = (exi_scanned){.figures = f, .rig = exi_figures_rig(f, "body")};
    if (!s->rig)
        return f->error->result;
    char *folder = exi_path_inside(f->folder, "demos/body", "");
    const ex_result result = folder ? open_session(s, folder) : ex_error_memory(f->error, "a path", 0);
    free(folder);
    return result;
}

void exi_scanned_close(exi_scanned *s) {
    for (int i = 0; i < s->shot_count; i++)
        ex_mesh_destroy(s->meshes[i]);
    for (int i = 0; i < 2; i++) {
        ex_rig_destroy(s->rigs[i]);
        ex_mesh_destroy(s->templates[i].cage);
        ex_scene_destroy(s->templates[i].scene);
    }
    ex_scan_fitted_destroy(s->fitted);
    ex_scan_session_destroy(s->session);
}

/* ---- surfaces ---- */

ex_result exi_scanned_pose(const exi_scanned *s, const char *words, ex_pose *pose) {
    char word[64];
    int length = 0;
    *pose = ex_pose_create(s->rig);
    if (!pose->inputs)
        return ex_error_memory(s->figures->error, "a pose", 0);
    for (const char *at = words; sscanf(at, " %63s%n", word, &length) == 1; at += length) {
        const ex_result result = exi_pose_word(s->rig, word, pose, s->figures->error);
        if (result != EX_OK)
            return result;
    }
    return EX_OK;
}

ex_result exi_scanned_surface(const exi_scanned *s, const ex_rig *rig, const ex_pose *pose, bool plain,
                              float *positions, float *normals) {
    bool *muted = calloc((size_t)ex_rig_layer_count(rig) + 1, sizeof *muted);
    const ex_evaluation how = {.muted = muted, .level = s->level, .tasks = s->figures->tasks};
    void *scratch = malloc(ex_rig_scratch_size(rig, &how, 1) + 1);
    for (int i = 0; muted && i < ex_rig_layer_count(rig); i++)
        muted[i] = plain;
    if (muted && scratch)
        ex_rig_evaluate(rig, pose, &(ex_output){.positions = positions, .normals = normals}, &how, scratch);
    const ex_result result = muted && scratch ? EX_OK : ex_error_memory(s->figures->error, "a surface", 0);
    free(muted);
    free(scratch);
    return result;
}

void exi_scanned_displace(const exi_scanned *s, const float *d, const float *normals, float *positions) {
    for (int i = 0; i < 3 * s->vertex_count; i++)
        positions[i] += d[i / 3] * normals[i];
}

/* ---- shots ---- */

ex_result exi_scanned_add_mesh(exi_scanned *s, ex_mesh *mesh, const char *title, const char *note) {
    if (!mesh)
        return ex_error_memory(s->figures->error, "a form", 0);
    if (s->shot_count == EXI_SCANNED_SHOTS) {
        ex_mesh_destroy(mesh);
        return ex_error_set(s->figures->error, EX_ERROR_LIMIT, "a figure has more than %d shots", EXI_SCANNED_SHOTS);
    }
    s->meshes[s->shot_count] = mesh;
    s->shots[s->shot_count++] = (exi_shot){.mesh = mesh, .title = title, .note = note};
    return EX_OK;
}

/* Removes faces with a corner that is not kept, and then vertices without faces, because the camera frames all
 * vertices. */
static void drop_faces(ex_mesh *mesh, unsigned char *kept, int *numbers) {
    int faces = 0, corners = 0, vertices = 0;
    for (int face = 0; face < mesh->face_count; face++) {
        const int first = mesh->face_offsets[face], end = mesh->face_offsets[face + 1];
        bool whole = true;
        for (int c = first; c < end; c++)
            whole = whole && kept[mesh->corners[c]];
        if (!whole)
            continue;
        memmove(mesh->corners + corners, mesh->corners + first, (size_t)(end - first) * sizeof *mesh->corners);
        corners += end - first;
        mesh->face_offsets[++faces] = corners; /* at or before the face that is being read */
    }
    mesh->face_count = faces;
    mesh->corner_count = corners;
    memset(kept, 0, (size_t)mesh->vertex_count);
    for (int c = 0; c < corners; c++)
        kept[mesh->corners[c]] = 1;
    for (int v = 0; v < mesh->vertex_count; v++) {
        if (!kept[v])
            continue;
        memmove(mesh->positions + 3 * vertices, mesh->positions + 3 * v, 3 * sizeof *mesh->positions);
        if (mesh->colours)
            memmove(mesh->colours + 3 * vertices, mesh->colours + 3 * v, 3 * sizeof *mesh->colours);
        numbers[v] = vertices++;
    }
    for (int c = 0; c < corners; c++)
        mesh->corners[c] = numbers[mesh->corners[c]];
    mesh->vertex_count = vertices;
}

/* Colours [level vertices][3] from 0 to 1; NULL if out of memory. */
static float *make_colours(const ex_colour *colours, int count) {
    float *values = array_allocate((size_t)count, 3 * sizeof *values);
    for (int v = 0; values && v < count; v++) {
        values[3 * v] = colours[v].red / 255.0f;
        values[3 * v + 1] = colours[v].green / 255.0f;
        values[3 * v + 2] = colours[v].blue / 255.0f;
    }
    return values;
}

ex_result exi_scanned_add(exi_scanned *s, const float *positions, const ex_colour *colours, const unsigned char *kept,
                          const char *title, const char *note) {
    ex_mesh *mesh = NULL;
    const size_t count = (size_t)s->vertex_count;
    unsigned char *marks = array_allocate(count, 1);
    int *numbers = array_allocate(count, sizeof *numbers);
    const ex_surface surface = {.level = s->level, .positions = positions};
    ex_result result = marks && numbers ? ex_rig_to_mesh(s->rig, &surface, &mesh, s->figures->error)
                                        : ex_error_memory(s->figures->error, "a form", 0);
    if (result == EX_OK && colours && !(mesh->colours = make_colours(colours, s->vertex_count)))
        result = ex_error_memory(s->figures->error, "colours", 0);
    if (result == EX_OK && kept) {
        memcpy(marks, kept, count);
        drop_faces(mesh, marks, numbers);
    }
    if (result == EX_OK)
        result = exi_scanned_add_mesh(s, mesh, title, note);
    else
        ex_mesh_destroy(mesh);
    free(marks);
    free(numbers);
    return result;
}

ex_result exi_scanned_draw(exi_scanned *s, int columns, double size, double yaw, double pitch, const float *close_up,
                           const char *path) {
    const exi_shots shots = {.shots = s->shots,
                             .count = s->shot_count,
                             .columns = columns,
                             .yaw = yaw,
                             .pitch = pitch,
                             .size = size,
                             .close_up = close_up};
    return exi_figures_shots(s->figures, &shots, path);
}
