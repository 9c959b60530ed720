/* cli/edit/edit_targets.c - the morph targets of a glTF file that a project names, as forms of its vertices. */
#include "edit.h"

#include <exemplar/author/formats.h>

#include <stdlib.h>
#include <string.h>

/* Name of a target: its own, or "target3" by its place in the mesh, from 0, as 'exemplar init' names it. */
static const char *name_of(const ex_scene_mesh *mesh, int target, char text[24]) {
    if (mesh->target_names && mesh->target_names[target] && mesh->target_names[target][0])
        return mesh->target_names[target];
    snprintf(text, 24, "target%d", target);
    return text;
}

/* Targets of the same name in several meshes are one, as viewers treat them. */
typedef struct names {
    int count;
    char **texts;
    double *rests; /* weights in the file */
} names;

static bool add_name(names *n, const char *text, double rest) {
    for (int i = 0; i < n->count; i++)
        if (strcmp(n->texts[i], text) == 0)
            return true;
    char **texts = realloc(n->texts, ((size_t)n->count + 1) * sizeof *texts);
    n->texts = texts ? texts : n->texts;
    double *rests = realloc(n->rests, ((size_t)n->count + 1) * sizeof *rests);
    n->rests = rests ? rests : n->rests;
    char *copy = texts && rests ? malloc(strlen(text) + 1) : NULL;
    if (!copy)
        return false;
    n->rests[n->count] = rest;
    n->texts[n->count++] = strcpy(copy, text);
    return true;
}

static bool find_names(const ex_scene *scene, names *n) {
    char text[24];
    bool good = true;
    for (int m = 0; m < scene->mesh_count; m++)
        for (int t = 0; good && t < scene->meshes[m].target_count; t++)
            good = add_name(n, name_of(&scene->meshes[m], t, text),
                            scene->meshes[m].weights ? scene->meshes[m].weights[t] : 0);
    return good;
}

/* Adds a target to the positions of all primitives that have it. */
static void apply(ex_scene *scene, const char *name) {
    char text[24];
    for (int m = 0; m < scene->mesh_count; m++)
        for (int t = 0; t < scene->meshes[m].target_count; t++) {
            if (strcmp(name_of(&scene->meshes[m], t, text), name) != 0)
                continue;
            for (int p = 0; p < scene->meshes[m].primitive_count; p++) {
                const ex_scene_primitive *own = &scene->meshes[m].primitives[p];
                const float *by = own->targets ? own->targets[t].positions : NULL;
                for (size_t i = 0; by && i < 3 * (size_t)own->vertex_count; i++)
                    own->positions[i] += by[i];
            }
        }
}

/* Copies the positions of all primitives to `saved`, or back. Returns their number. */
static size_t copy_positions(ex_scene *scene, float *saved, bool back) {
    size_t at = 0;
    for (int m = 0; m < scene->mesh_count; m++)
        for (int p = 0; p < scene->meshes[m].primitive_count; p++) {
            const ex_scene_primitive *own = &scene->meshes[m].primitives[p];
            const size_t count = 3 * (size_t)own->vertex_count;
            if (saved && back)
                memcpy(own->positions, saved + at, count * sizeof *saved);
            else if (saved)
                memcpy(saved + at, own->positions, count * sizeof *saved);
            at += count;
        }
    return at;
}

/* Form of every target, floats [count][vertex_count][3] as the file has them; NULL after an error. */
static float *make_forms(ex_scene *scene, const names *n, int vertex_count, ex_error *error) {
    const size_t row = 3 * (size_t)vertex_count;
    float *forms = malloc((size_t)n->count * row * sizeof *forms + 1),
          *saved = malloc(copy_positions(scene, NULL, false) * sizeof *saved + 1);
    ex_result result =
        forms && saved ? EX_OK : ex_error_memory(error, "the targets", (size_t)n->count * row * sizeof *forms);
    if (saved)
        copy_positions(scene, saved, false);
    for (int i = 0; result == EX_OK && i < n->count; i++) {
        ex_mesh *mesh = NULL;
        apply(scene, n->texts[i]);
        result = ex_scene_to_form(scene, &mesh, error);
        copy_positions(scene, saved, true);
        if (result == EX_OK && mesh->vertex_count != vertex_count)
            result = ex_error_set(error, EX_ERROR_DATA,
                                  "morph target '%s' tears vertices apart that parts of the mesh share", n->texts[i]);
        for (size_t k = 0; result == EX_OK && k < row; k++)
            forms[(size_t)i * row + k] = (float)mesh->positions[k];
        ex_mesh_destroy(mesh);
    }
    free(saved);
    if (result == EX_OK)
        return forms;
    free(forms);
    return NULL;
}

static void reply(const names *n, int vertex_count, float *forms, exi_answer *answer) {
    exi_reply made;
    if (!exi_reply_start(&made, answer, 200)) {
        free(forms);
        return;
    }
    exi_emit_open(&made.json, "names", '[');
    for (int i = 0; i < n->count; i++)
        exi_emit_text(&made.json, NULL, n->texts[i]);
    exi_emit_close(&made.json, ']');
    exi_emit_numbers(&made.json, "rests", n->rests, n->count);
    exi_emit_number(&made.json, "vertices", vertex_count);
    exi_reply_end(&made);
    answer->framed = answer->status == 200;
    answer->bytes = answer->owned = forms;
    answer->size = forms ? (size_t)n->count * 3 * (size_t)vertex_count * sizeof *forms : 0;
}

static ex_result read_targets(const char *path, bool only_names, names *n, int *vertex_count, float **forms,
                              ex_error *error) {
    ex_scene *scene = NULL;
    ex_mesh *mesh = NULL;
    ex_result result = ex_scene_read(path, &scene, error);
    if (result == EX_OK && !find_names(scene, n))
        result = ex_error_memory(error, "the names", 0);
    if (result == EX_OK && !only_names && n->count > 0)
        result = ex_scene_to_form(scene, &mesh, error);
    if (mesh) {
        *vertex_count = mesh->vertex_count;
        *forms = make_forms(scene, n, mesh->vertex_count, error);
        result = *forms ? EX_OK : error->result;
    }
    ex_mesh_destroy(mesh);
    ex_scene_destroy(scene);
    return result;
}

void exi_edit_get_targets(exi_edit *edit, const exi_asked *asked, exi_answer *answer) {
    char path[EXI_EDIT_PATH_SIZE], only[8] = "";
    ex_error error = {.result = EX_OK};
    names n = {.count = 0};
    float *forms = NULL;
    int vertex_count = 0;
    if (!exi_asked_needed(asked, "mesh", path, sizeof path, answer) ||
        !exi_asked_optional(asked, "only", only, sizeof only, answer))
        return;
    if (!exi_edit_may_read(edit, path, &error)) {
        exi_refuse_error(edit, answer, 403, &error, NULL);
        return;
    }
    char *joined = ex_path_join(edit->path, path);
    const bool is_scene = ex_path_ends_with(path, ".glb") || ex_path_ends_with(path, ".gltf");
    if (!joined)
        exi_refuse_memory(answer);
    else if (is_scene && read_targets(joined, strcmp(only, "names") == 0, &n, &vertex_count, &forms, &error) != EX_OK)
        exi_refuse_error(edit, answer, 422, &error, NULL);
    else
        reply(&n, vertex_count, forms, answer);
    free(joined);
    for (int i = 0; i < n.count; i++)
        free(n.texts[i]);
    free(n.texts);
    free(n.rests);
}
