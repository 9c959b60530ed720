/*
 * Reads tables of poses to scan and of markers. A table of poses may have two text columns, `name` and `part`; the
 * others are poses as in any pose table, and are read by the same code, with the same line numbers.
 */
#include "author/base/array.h"
#include "author/base/csv.h"
#include "author/base/json.h"
#include "author/project/model/project.h"
#include "author/scan/session/session.h"
#include "author/scan/session/table.h"
#include "author/scan/simulate/simulate.h"
#include "runtime/base/result.h"

#include <exemplar/author/files.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- poses ---- */

typedef struct splitter {
    ex_scan_poses *poses;
    const char *path;
    exi_csv csv;
    int columns[2]; /* of name and part; -1 */
    bool bare;      /* true if there are no other columns */
    exi_text rest;  /* the table without them */
    size_t name_capacity, part_capacity;
    int count;
    ex_error *error;
} splitter;

static void add_field(splitter *s, const char *field, bool first) {
    exi_text_add(&s->rest, first ? "\"" : ",\"", first ? 1 : 2);
    for (; *field; field++)
        exi_text_add(&s->rest, *field == '"' ? "\"\"" : field, *field == '"' ? 2 : 1);
    exi_text_add(&s->rest, "\"", 1);
}

static ex_result add_word(splitter *s, char ***words, size_t *capacity, const char *word) {
    char **grown = exi_array_grow(*words, capacity, (size_t)s->count + 1, sizeof **words);
    if (grown) {
        *words = grown;
        grown[s->count] = exi_text_copy(word, strlen(word));
    }
    return grown && grown[s->count] ? EX_OK : ex_error_memory(s->error, "the table of poses", strlen(word));
}

static ex_result check_name(const splitter *s, const char *name) {
    if (!exi_scan_is_name(name))
        return ex_error_set(s->error, EX_ERROR_DATA,
                            "%s:%d: '%s' cannot be the name of a scan, because files get that name", s->path,
                            s->csv.line, name);
    for (int i = 0; i < s->count; i++)
        if (strcmp(s->poses->names[i], name) == 0)
            return ex_error_set(s->error, EX_ERROR_DATA, "%s:%d: there is already a scan '%s' above", s->path,
                                s->csv.line, name);
    return EX_OK;
}

static ex_result add_pose(splitter *s, const char *name, const char *part) {
    char number[32];
    snprintf(number, sizeof number, "scan_%d", s->count + 1);
    const char *called = s->columns[0] >= 0 ? name : number;
    ex_result result = check_name(s, called);
    if (result == EX_OK)
        result = add_word(s, &s->poses->names, &s->name_capacity, called);
    if (result != EX_OK)
        return result;
    result = add_word(s, &s->poses->parts, &s->part_capacity, part);
    if (result == EX_OK)
        s->count++;
    else
        free(s->poses->names[s->count]);
    return result;
}

/* Splits one line: keeps its words, passes its numbers on. The first line names the columns. */
static ex_result split_line(splitter *s, bool header) {
    char field[EXI_FIELD_SIZE], words[2][EXI_FIELD_SIZE] = {"", ""};
    bool first = true;
    int column = 0;
    for (bool last = false; !last; column++) {
        if (!exi_csv_field(&s->csv, field, &last))
            return ex_error_set(s->error, EX_ERROR_FORMAT,
                                "%s:%d: a field is too long, not text, or its quote is not closed", s->path,
                                s->csv.line);
        for (int i = 0; i < 2 && header; i++)
            if (strcmp(field, i == 0 ? "name" : "part") == 0 && s->columns[i] < 0)
                s->columns[i] = column;
        if (column == s->columns[0] || column == s->columns[1]) {
            memcpy(words[column == s->columns[1]], field, sizeof field);
        } else {
            add_field(s, field, first);
            first = false;
        }
    }
    if (header)
        s->bare = first;
    if (first) /* else the next reader takes the line for an empty one */
        add_field(s, header ? "time" : s->bare ? "0" : "", true);
    exi_text_add(&s->rest, "\n", 1);
    return header ? EX_OK : add_pose(s, words[0], words[1]);
}

static ex_result split(splitter *s) {
    ex_result result = EX_OK;
    bool header = true;
    if (s->poses->size >= 3 && memcmp(s->csv.at, "\xEF\xBB\xBF", 3) == 0)
        s->csv.at += 3;
    while (result == EX_OK && s->csv.at < s->csv.end) {
        if (exi_csv_skip_blank_line(&s->csv)) {
            exi_text_add(&s->rest, "\n", 1);
            continue;
        }
        result = split_line(s, header);
        header = false;
    }
    if (result == EX_OK && s->rest.failed)
        result = ex_error_memory(s->error, "the table of poses", s->poses->size);
    return result;
}

ex_result ex_scan_poses_read(const char *path, const ex_rig *rig, ex_scan_poses *poses, ex_error *error) {
    *poses = (ex_scan_poses){.names = NULL};
    ex_result result = ex_file_read(path, &poses->text, &poses->size, error);
    if (result != EX_OK)
        return result;
    splitter s = {.poses = poses,
                  .path = path,
                  .csv = {.at = poses->text, .end = poses->text + poses->size, .next_line = 1},
                  .columns = {-1, -1},
                  .error = error};
    const bool is_text = memchr(poses->text, 0, poses->size) == NULL; /* else the other reader reports it */
    if (is_text)
        result = split(&s);
    if (result == EX_OK) {
        exi_text_add(&s.rest, "", 1); /* ends with NUL */
        result = s.rest.failed ? ex_error_memory(error, "the table of poses", poses->size)
                 : is_text     ? exi_pose_table_parse(s.rest.bytes, s.rest.size - 1, path, rig, &poses->table, error)
                               : exi_pose_table_parse(poses->text, poses->size, path, rig, &poses->table, error);
    }
    free(s.rest.bytes);
    const int count = s.count;
    if (result != EX_OK) {
        poses->table.pose_count = count; /* the number of names */
        ex_scan_poses_free(poses);
    }
    return result;
}

void ex_scan_poses_free(ex_scan_poses *poses) {
    for (int i = 0; i < poses->table.pose_count; i++) {
        free(poses->names ? poses->names[i] : NULL);
        free(poses->parts ? poses->parts[i] : NULL);
    }
    free(poses->names);
    free(poses->parts);
    free(poses->text);
    ex_pose_table_free(&poses->table);
    *poses = (ex_scan_poses){.names = NULL};
}

/* ---- markers ---- */

void ex_paints_free(ex_paint *paints, int paint_count) {
    for (int i = 0; paints && i < paint_count; i++)
        free(paints[i].name);
    free(paints);
}

static ex_result read_paint(const exi_table *table, int row, const ex_rig *rig, const ex_bounds *fit, ex_paint *paint,
                            ex_error *error) {
    static const char *const colours[3] = {"r", "g", "b"}, *const places[3] = {"x", "y", "z"};
    const char *name = exi_table_text(table, row, exi_table_column(table, "marker")),
               *joint = exi_table_text(table, row, exi_table_column(table, "joint"));
    double colour[3] = {0}, place[3] = {0};
    ex_result result = exi_table_triple(table, row, colours, true, colour, error);
    if (result == EX_OK)
        result = exi_table_triple(table, row, places, true, place, error);
    if (result != EX_OK)
        return result;
    paint->joint = ex_skeleton_find(ex_rig_skeleton(rig), joint);
    if (!name[0])
        return ex_error_set(error, EX_ERROR_DATA, "%s:%d: this marker has no name", table->path, table->lines[row]);
    if (paint->joint < 0)
        return ex_error_set(error, EX_ERROR_DATA, "%s:%d: the rig has no joint '%s'", table->path, table->lines[row],
                            joint);
    for (int k = 0; k < 3; k++) {
        if (!(colour[k] >= 0 && colour[k] <= 255))
            return ex_error_set(error, EX_ERROR_DATA, "%s:%d: a colour must be from 0 to 255", table->path,
                                table->lines[row]);
        paint->colour[k] = (unsigned char)(colour[k] + 0.5);
    }
    if (!exi_surface_closest(fit, place, &paint->triangle, paint->place))
        return ex_error_set(error, EX_ERROR_DATA, "%s:%d: there is no skin near this marker", table->path,
                            table->lines[row]);
    paint->name = exi_text_copy(name, strlen(name));
    return paint->name ? EX_OK : ex_error_memory(error, "the markers", strlen(name));
}

ex_result ex_paints_read(const char *path, const ex_rig *rig, int level, ex_paint **paints, int *paint_count,
                         ex_error *error) {
    static const char *const columns[] = {"marker", "joint", "r", "g", "b", "x", "y", "z", NULL};
    exi_table table = {.row_count = 0};
    exi_skin_surface surface = {.rig = NULL};
    void *memory = NULL;
    *paints = NULL;
    *paint_count = 0;
    if (!ex_rig_skeleton(rig))
        return ex_error_set(error, EX_ERROR_DATA, "the rig has no skeleton, so markers have nothing to follow");
    ex_result result = exi_table_read(path, columns, 8, &table, error);
    if (result == EX_OK)
        result = exi_skin_surface_open(&surface, rig, level, error);
    if (result == EX_OK) {
        const size_t size = ex_bounds_size(surface.tree);
        memory = malloc(size + 1);
        *paints = calloc((size_t)table.row_count + 1, sizeof **paints);
        *paint_count = *paints ? table.row_count : 0;
        result = memory && *paints ? EX_OK : ex_error_memory(error, "the markers", size);
    }
    const ex_bounds *fit = result == EX_OK ? ex_bounds_fit(surface.tree, surface.rest, 0, memory, NULL) : NULL;
    for (int i = 0; result == EX_OK && i < table.row_count; i++) {
        result = read_paint(&table, i, rig, fit, &(*paints)[i], error);
        for (int j = 0; result == EX_OK && j < i; j++)
            if (strcmp((*paints)[i].name, (*paints)[j].name) == 0)
                result = ex_error_set(error, EX_ERROR_DATA, "%s:%d: there is already a marker '%s' above", path,
                                      table.lines[i], (*paints)[i].name);
    }
    free(memory);
    exi_skin_surface_close(&surface);
    exi_table_free(&table);
    if (result != EX_OK) {
        ex_paints_free(*paints, *paint_count);
        *paints = NULL;
        *paint_count = 0;
    }
    return result;
}
