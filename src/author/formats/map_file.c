/*
 * Displacement maps in files: PLY whose vertices have `displacement`, and optionally `state`. The vertices are those of
 * a refined mesh, in its order, so that they need neither positions nor faces. Other properties of vertices, and
 * everything after the vertices, are ignored.
 */
#include "author/formats/map_file.h"
#include "author/base/array.h"
#include "author/formats/foreign.h"
#include "author/formats/ply/ply.h"

#include <exemplar/author/displacement.h>
#include <exemplar/author/files.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ex_displacement_map *ex_displacement_map_create(int vertex_count) {
    const size_t count = (size_t)(vertex_count > 0 ? vertex_count : 0);
    ex_displacement_map *map = calloc(1, sizeof *map);
    if (!map)
        return NULL;
    map->vertex_count = (int)count;
    map->displacements = calloc(count + 1, sizeof *map->displacements);
    map->states = calloc(count + 1, sizeof *map->states);
    if (!map->displacements || !map->states) {
        ex_displacement_map_destroy(map);
        return NULL;
    }
    return map;
}

void ex_displacement_map_destroy(ex_displacement_map *map) {
    if (!map)
        return;
    free(map->displacements);
    free(map->states);
    free(map);
}

/* ---- reading ---- */

/* Meaning of a vertex property. */
typedef enum role { DISPLACEMENT, STATE, OTHER, ROLES } role;

static ex_result find_roles(exi_ply *ply, const exi_ply_element *element, bool has[ROLES]) {
    exi_ply_property *properties = ply->header.properties + element->first_property;
    for (int i = 0; i < element->property_count; i++) {
        const exi_ply_property *property = &properties[i];
        const role found = exi_ply_is(property->name, property->name_size, "displacement") ? DISPLACEMENT
                           : exi_ply_is(property->name, property->name_size, "state")      ? STATE
                                                                                           : OTHER;
        if (property->count_type != EXI_PLY_NONE)
            return exi_ply_fail(ply, EX_ERROR_DATA, "the vertices of a displacement map must have numbers, not lists");
        properties[i].role = (int)found;
        has[found] = true;
    }
    if (!has[DISPLACEMENT])
        return exi_ply_fail(ply, EX_ERROR_DATA, "the vertices have no property 'displacement'");
    return EX_OK;
}

static ex_result read_vertex(exi_ply *ply, const exi_ply_element *element, const bool has[ROLES],
                             ex_displacement_map *map, size_t v) {
    const exi_ply_property *properties = ply->header.properties + element->first_property;
    double values[ROLES] = {[STATE] = EX_DISPLACEMENT_MAP_HIT};
    for (int i = 0; i < element->property_count; i++) {
        const ex_result result = exi_ply_next(ply, properties[i].type, &values[properties[i].role]);
        if (result != EX_OK)
            return result;
    }
    map->displacements[v] = (float)values[DISPLACEMENT];
    if (!isfinite(map->displacements[v]))
        return exi_ply_fail(ply, EX_ERROR_DATA, "the displacement of vertex %zu is too large for a float", v);
    if (has[STATE] && !(values[STATE] >= 0 && values[STATE] < EX_DISPLACEMENT_MAP_STATE_COUNT &&
                        values[STATE] == floor(values[STATE])))
        return exi_ply_fail(ply, EX_ERROR_DATA, "the state of vertex %zu is %g; states are 0 to %d", v, values[STATE],
                            EX_DISPLACEMENT_MAP_STATE_COUNT - 1);
    map->states[v] = (unsigned char)values[STATE];
    return EX_OK;
}

static ex_result read_map(exi_ply *ply, ex_displacement_map **map) {
    bool has[ROLES] = {false};
    const exi_ply_element *element = ply->header.elements;
    if (ply->header.element_count < 1 || !exi_ply_is(element->name, element->name_size, "vertex"))
        return exi_ply_fail(ply, EX_ERROR_DATA, "a displacement map must begin with its vertices");
    ex_result result = find_roles(ply, element, has);
    if (result != EX_OK)
        return result;
    if (element->count == 0)
        return exi_ply_fail(ply, EX_ERROR_DATA, "the displacement map has no vertices");
    if (element->count > INT_MAX / 4)
        return exi_ply_fail(ply, EX_ERROR_LIMIT, "a displacement map can have at most %d vertices", INT_MAX / 4);
    if (exi_ply_least_size(ply, element) > (size_t)(ply->end - ply->at))
        return exi_ply_fail(ply, EX_ERROR_FORMAT, "the file ends too early: the header states %zu vertices",
                            element->count);
    *map = ex_displacement_map_create((int)element->count);
    if (!*map)
        return ex_error_memory(ply->error, "the displacement map", element->count * 5);
    for (size_t v = 0; v < element->count && result == EX_OK; v++)
        result = read_vertex(ply, element, has, *map, v);
    return result;
}

ex_result ex_displacement_map_read(const char *path, ex_displacement_map **map, ex_error *error) {
    *map = NULL;
    char *bytes;
    size_t size;
    ex_result result = ex_file_read(path, &bytes, &size, error);
    if (result != EX_OK)
        return result;
    const unsigned char *start = (const unsigned char *)bytes;
    exi_ply ply = {.name = path, .at = start, .end = start + size, .error = error};
    ex_displacement_map *made = NULL;
    result = exi_ply_read_header(&ply);
    if (result == EX_OK)
        result = read_map(&ply, &made);
    free(ply.header.elements);
    free(ply.header.properties);
    result = exi_foreign_explain(error, result, EXI_CONTENT_MAP, path, ".ply", bytes, size);
    free(bytes);
    if (result == EX_OK)
        *map = made;
    else
        ex_displacement_map_destroy(made);
    return result;
}

/* ---- writing ---- */

static const char made_from_line[] = "comment made from ";

ex_result exi_displacement_map_write(const char *path, const ex_displacement_map *map, const char *made_from,
                                     ex_error *error) {
    if (!map || map->vertex_count < 1)
        return ex_error_set(error, EX_ERROR_DATA, "cannot write '%s': the map has no vertices", path);
    for (int v = 0; v < map->vertex_count; v++)
        if (!isfinite(map->displacements[v]) || map->states[v] >= EX_DISPLACEMENT_MAP_STATE_COUNT)
            return ex_error_set(
                error, EX_ERROR_DATA,
                "cannot write '%s': the displacement of vertex %d is not finite, or its state is unknown", path, v);
    enum { ROW = 5 };
    ex_file_writer writer;
    ex_result result = ex_file_open(&writer, path, error);
    if (result != EX_OK)
        return result;
    ex_file_printf(&writer, "ply\nformat binary_little_endian 1.0\n");
    if (made_from)
        ex_file_printf(&writer, "%s%s\n", made_from_line, made_from);
    ex_file_printf(&writer, "element vertex %d\nproperty float displacement\nproperty uchar state\nend_header\n",
                   map->vertex_count);
    for (int v = 0; v < map->vertex_count; v++) {
        uint32_t bits;
        unsigned char row[ROW];
        memcpy(&bits, &map->displacements[v], sizeof bits);
        for (int i = 0; i < 4; i++)
            row[i] = (unsigned char)(bits >> (8 * i) & 0xFF);
        row[4] = map->states[v];
        ex_file_write(&writer, row, sizeof row);
    }
    return ex_file_commit(&writer, error);
}

ex_result ex_displacement_map_write(const char *path, const ex_displacement_map *map, ex_error *error) {
    return exi_displacement_map_write(path, map, NULL, error);
}

bool exi_displacement_map_made_from(const char *path, char made_from[EXI_MADE_FROM_SIZE]) {
    char head[256] = "";
    FILE *file = fopen(path, "rb");
    const size_t read = file ? fread(head, 1, sizeof head - 1, file) : 0;
    if (file)
        fclose(file);
    head[read] = '\0';
    const char *end = strstr(head, "end_header"), *line = strstr(head, made_from_line);
    if (!line || (end && end < line))
        return false;
    line += sizeof made_from_line - 1;
    const size_t size = strcspn(line, " \r\n");
    if (size == 0 || size >= EXI_MADE_FROM_SIZE)
        return false;
    memcpy(made_from, line, size);
    made_from[size] = '\0';
    return true;
}
