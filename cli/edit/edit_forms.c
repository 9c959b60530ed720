/* cli/edit/edit_forms.c - writes the results of the editor's brush as files: forms, masks and groups of the mesh's
 * vertices. */
#define _POSIX_C_SOURCE 200809L

#include "cli/base/encode.h"
#include "cli/base/files.h"
#include "edit.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Removes that ending, if the name has it: "bent.obj" and "bent" are the same form. */
static void drop_ending(char *name, const char *ending) {
    if (strlen(name) > strlen(ending) && ex_path_ends_with(name, ending))
        name[strlen(name) - strlen(ending)] = '\0';
}

/* Reads the mesh that the request names, as it is in its file; NULL after a refusal. */
static ex_mesh *read_mesh(const exi_edit *edit, const exi_asked *asked, char path[EXI_EDIT_PATH_SIZE],
                          exi_answer *answer) {
    ex_mesh *mesh = NULL;
    ex_error error = {.result = EX_OK};
    if (!exi_asked_needed(asked, "mesh", path, EXI_EDIT_PATH_SIZE, answer))
        return NULL;
    if (!exi_edit_may_read(edit, path, &error)) {
        exi_refuse_error(edit, answer, 403, &error, NULL);
        return NULL;
    }
    char *joined = ex_path_join(edit->path, path);
    if (!joined)
        exi_refuse_memory(answer);
    else if (ex_mesh_read(joined, &mesh, &error) != EX_OK)
        exi_refuse_error(edit, answer, 422, &error, NULL);
    free(joined);
    return mesh;
}

static bool check_size(const exi_asked *asked, size_t count, size_t width, const char *mesh, exi_answer *answer) {
    if (asked->size == count * width)
        return true;
    exi_refuse(answer, 422, "%zu bytes were sent for the %zu vertices of '%s', which need %zu", asked->size, count,
               mesh, count * width);
    return false;
}

static void add_obj(exi_edit *edit, const char *stem, const ex_mesh *mesh, exi_answer *answer) {
    char *bytes = NULL;
    size_t size = 0;
    ex_error error = {.result = EX_OK};
    if (exi_obj_encode(mesh, &bytes, &size, &error) == EX_OK)
        exi_edit_add_file(edit, stem, ".obj", bytes, size, answer);
    else
        exi_refuse_error(edit, answer, 500, &error, NULL);
    free(bytes);
}

static float float_at(const char *bytes, size_t index) {
    float value;
    memcpy(&value, bytes + index * sizeof value, sizeof value);
    return value;
}

/* ---- forms ---- */

/* Reads the project's unit and up axis, as the page has them; false after a refusal. */
static bool read_measure(const exi_asked *asked, double *unit, bool *z_up, exi_answer *answer) {
    char text[32] = "m", up[8] = "y";
    if (!exi_asked_optional(asked, "unit", text, sizeof text, answer) ||
        !exi_asked_optional(asked, "up", up, sizeof up, answer))
        return false;
    const char *cursor = text, *end = text + strlen(text);
    *z_up = strcmp(up, "z") == 0;
    const bool good = ex_unit_metres(text, unit) || (ex_parse_double(&cursor, end, unit) && cursor == end &&
                                                     *unit >= EX_UNIT_LEAST && *unit <= EX_UNIT_MOST);
    if (!good || (!*z_up && strcmp(up, "y") != 0)) {
        exi_refuse(answer, 400, "'%s' cannot be the %s of a project", good ? up : text, good ? "up axis" : "unit");
        return false;
    }
    return true;
}

/* The number with the fewest digits that rounds to this float, which keeps files of forms short. */
static double shortest(float value) {
    char text[32];
    double number = 0;
    const char *cursor = text;
    ex_parse_double(&cursor, text + ex_format_float(text, value), &number);
    return number;
}

/* Removes the mesh's normals, which are not the form's. */
static void drop_normals(ex_mesh *mesh) {
    free(mesh->corner_normals);
    free(mesh->normals);
    mesh->corner_normals = NULL;
    mesh->normals = NULL;
    mesh->normal_count = 0;
}

/* Converts positions from metres with y up to the units of the project's files; false if one is not finite. */
static bool take_positions(ex_mesh *mesh, const char *bytes, double unit, bool z_up) {
    for (size_t v = 0; v < (size_t)mesh->vertex_count; v++) {
        const float x = float_at(bytes, 3 * v), y = float_at(bytes, 3 * v + 1), z = float_at(bytes, 3 * v + 2);
        if (!isfinite(x) || !isfinite(y) || !isfinite(z))
            return false;
        double *p = mesh->positions + 3 * v;
        p[0] = shortest(x) / unit;
        p[1] = shortest(z_up ? -z : y) / unit;
        p[2] = shortest(z_up ? y : z) / unit;
    }
    return true;
}

void exi_edit_post_form(exi_edit *edit, const exi_asked *asked, exi_answer *answer) {
    char name[EXI_EDIT_NAME_SIZE], path[EXI_EDIT_PATH_SIZE];
    double unit;
    bool z_up;
    if (!exi_edit_asked_name(asked, "name", name, answer) || !read_measure(asked, &unit, &z_up, answer))
        return;
    ex_mesh *mesh = read_mesh(edit, asked, path, answer);
    if (mesh && check_size(asked, (size_t)mesh->vertex_count, 3 * sizeof(float), path, answer)) {
        drop_normals(mesh);
        drop_ending(name, ".obj");
        if (take_positions(mesh, asked->body, unit, z_up))
            add_obj(edit, name, mesh, answer);
        else
            exi_refuse(answer, 422, "a vertex of the form has a number that is not finite");
    }
    ex_mesh_destroy(mesh);
}

/* ---- masks ---- */

/* Prints lines `vertex value`; a vertex that is not listed has 0. The first line explains that to people who open the
 * file. */
static bool print_mask(const exi_asked *asked, size_t count, char **text, size_t *size) {
    FILE *file = open_memstream(text, size);
    if (!file)
        return false;
    for (size_t v = 0; v < count; v++) {
        char number[32];
        const float value = float_at(asked->body, v);
        if (value > 0) {
            ex_format_float(number, value);
            fprintf(file, "%zu %s\n", v, number);
        }
    }
    const bool whole = !ferror(file);
    return fclose(file) == 0 && whole;
}

void exi_edit_post_mask(exi_edit *edit, const exi_asked *asked, exi_answer *answer) {
    char name[EXI_EDIT_NAME_SIZE], count_text[16], *text = NULL;
    size_t size = 0;
    int count = 0;
    if (!exi_edit_asked_name(asked, "name", name, answer) ||
        !exi_asked_needed(asked, "count", count_text, sizeof count_text, answer))
        return;
    const char *cursor = count_text;
    if (!ex_parse_int(&cursor, count_text + strlen(count_text), &count) || *cursor || count < 1 ||
        asked->size != (size_t)count * sizeof(float)) {
        exi_refuse(answer, 422, "%zu bytes were sent for the mask of '%s' vertices", asked->size, count_text);
        return;
    }
    for (size_t v = 0; v < (size_t)count; v++)
        if (!(float_at(asked->body, v) >= 0 && float_at(asked->body, v) <= 1)) {
            exi_refuse(answer, 422, "the mask of vertex %zu is not from 0 to 1", v);
            return;
        }
    drop_ending(name, ".txt");
    if (print_mask(asked, (size_t)count, &text, &size))
        exi_edit_add_file(edit, name, ".txt", text, size, answer);
    else
        exi_refuse_memory(answer);
    free(text);
}

/* ---- groups ---- */

/* The names on a `g` line without `name`, which is appended if requested; NULL if out of memory. */
static char *group_line(const char *line, const char *name, bool inside) {
    char *made = malloc(strlen(line) + strlen(name) + 2);
    size_t used = 0;
    for (const char *at = line; made && *at;) {
        const size_t word = strcspn(at, " \t");
        if (word > 0 && !(word == strlen(name) && strncmp(at, name, word) == 0)) {
            if (used > 0)
                made[used++] = ' ';
            memcpy(made + used, at, word);
            used += word;
        }
        at += word + strspn(at + word, " \t");
    }
    if (!made)
        return NULL;
    made[used] = '\0';
    if (inside)
        sprintf(made + used, "%s%s", used > 0 ? " " : "", name);
    return made;
}

static bool is_inside(const ex_mesh *mesh, int face, const char *inside) {
    for (int c = mesh->face_offsets[face]; c < mesh->face_offsets[face + 1]; c++)
        if (!inside[mesh->corners[c]])
            return false;
    return true;
}

/* Adds the faces inside to the group. All faces keep their other groups, because other masks depend on them, so each
 * old group, and no group, becomes two. Returns the number of faces inside; -1 if out of memory. */
static int set_group(ex_mesh *mesh, const char *name, const char *inside) {
    const int old = mesh->group_count + 1;
    char **names = calloc((size_t)(2 * old), sizeof *names);
    int *groups = malloc((size_t)mesh->face_count * sizeof *groups + 1), count = 0;
    bool good = names && groups;
    for (int g = 0; good && g < 2 * old; g++) {
        names[g] = group_line(g % old < old - 1 ? mesh->group_names[g % old] : "", name, g >= old);
        good = names[g];
    }
    for (int f = 0; good && f < mesh->face_count; f++) {
        const int had = mesh->face_groups && mesh->face_groups[f] >= 0 ? mesh->face_groups[f] : old - 1;
        const bool in = is_inside(mesh, f, inside);
        groups[f] = had + (in ? old : 0);
        if (!names[groups[f]][0])
            groups[f] = -1;
        count += in;
    }
    if (!good) {
        for (int g = 0; names && g < 2 * old; g++)
            free(names[g]);
        free(names);
        free(groups);
        return -1;
    }
    for (int g = 0; g < old - 1; g++)
        free(mesh->group_names[g]);
    free(mesh->group_names);
    free(mesh->face_groups);
    mesh->group_names = names;
    mesh->face_groups = groups;
    mesh->group_count = 2 * old;
    return count;
}

static void add_group(exi_edit *edit, const exi_asked *asked, const char *name, const char *path, ex_mesh *mesh,
                      exi_answer *answer) {
    char stem[EXI_EDIT_NAME_SIZE];
    char *of = exi_path_stem(path);
    const int count = of ? set_group(mesh, name, asked->body) : -1;
    if (count < 0) {
        exi_refuse_memory(answer);
    } else if (count == 0) {
        exi_refuse(answer, 422, "no face has all its vertices inside: paint a larger part");
    } else {
        snprintf(stem, sizeof stem, "%.*s-%.*s", exi_readable_cut(of, 100), of, exi_readable_cut(name, 90), name);
        add_obj(edit, stem, mesh, answer);
    }
    free(of);
}

void exi_edit_post_group(exi_edit *edit, const exi_asked *asked, exi_answer *answer) {
    char name[EXI_EDIT_NAME_SIZE], path[EXI_EDIT_PATH_SIZE];
    if (!exi_edit_asked_name(asked, "name", name, answer))
        return;
    if (strpbrk(name, " \t")) {
        exi_refuse(answer, 400, "the name of a group cannot have spaces: '%s' would be several", name);
        return;
    }
    ex_mesh *mesh = read_mesh(edit, asked, path, answer);
    if (mesh && check_size(asked, (size_t)mesh->vertex_count, 1, path, answer))
        add_group(edit, asked, name, path, mesh, answer);
    ex_mesh_destroy(mesh);
}
