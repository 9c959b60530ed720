/*
 * Reads and writes the files of a session that have the scanner's unit and axes: scans, landmarks, labels and found
 * markers. In memory they are in metres with y up.
 */
#include "author/base/array.h"
#include "author/scan/session/session.h"
#include "runtime/base/result.h"

#include <exemplar/author/formats.h>

#include <stdlib.h>
#include <string.h>

/* ---- scans ---- */

static void convert_mesh(const ex_scan_session *session, ex_mesh *mesh) {
    double turn[3][3];
    if (!(session->unit > 0 && session->unit != 1) && (!session->up[0] || strcmp(session->up, "y") == 0))
        return;
    exi_scan_turn(session->up, turn);
    for (size_t v = 0; v < (size_t)mesh->vertex_count; v++)
        ex_scan_from_files(session, mesh->positions + 3 * v);
    for (size_t n = 0; n < (size_t)mesh->normal_count; n++) {
        double *to = mesh->normals + 3 * n, from[3];
        memcpy(from, to, sizeof from);
        for (int i = 0; i < 3; i++)
            to[i] = turn[i][0] * from[0] + turn[i][1] * from[1] + turn[i][2] * from[2];
    }
}

static ex_result read_mesh(const ex_scan_session *session, const char *path, ex_mesh **mesh, int *read_count,
                           ex_error *error) {
    ex_result result = ex_mesh_read(path, mesh, error);
    if (result != EX_OK)
        return result;
    *read_count += (*mesh)->vertex_count;
    convert_mesh(session, *mesh);
    if ((*mesh)->face_count == 0 && !session->person)
        result =
            ex_error_set(error, EX_ERROR_DATA, "%s has %d points and no faces: scans must be meshes, so mesh it first",
                         path, (*mesh)->vertex_count);
    else if ((*mesh)->face_count == 0)
        result = ex_error_within(error, exi_scan_mesh_points(*mesh, session->points, error), "%s", path);
    if (result == EX_OK)
        return EX_OK;
    ex_mesh_destroy(*mesh);
    *mesh = NULL;
    return result;
}

ex_result ex_scan_mesh_read(const ex_scan_session *session, const char *path, ex_mesh **mesh, ex_error *error) {
    int count = 0;
    if (!session || !path || !mesh)
        return exi_misuse_error(error, __func__, "no session, no file, or no pointer for the mesh");
    return read_mesh(session, path, mesh, &count, error);
}

ex_result ex_scan_meshes(const ex_scan_session *session, int scan, ex_mesh ***meshes, ex_error *error) {
    int count;
    return exi_scan_meshes(session, scan, meshes, &count, error);
}

ex_result exi_scan_meshes(const ex_scan_session *session, int scan, ex_mesh ***meshes, int *read_count,
                          ex_error *error) {
    const ex_scan_entry *entry = &session->scans[scan];
    ex_mesh **made = calloc((size_t)entry->file_count, sizeof *made);
    ex_result result = made ? EX_OK : ex_error_memory(error, "a scan", (size_t)entry->file_count * sizeof *made);
    *meshes = NULL;
    *read_count = 0;
    for (int i = 0; i < entry->file_count && result == EX_OK; i++) {
        char *path = exi_scan_file(session->folder, entry->files[i]);
        result = path ? read_mesh(session, path, &made[i], read_count, error) : ex_error_memory(error, "a path", 0);
        free(path);
    }
    if (result == EX_OK && session->points > 0)
        result = ex_error_within(error, ex_scan_thin(made, entry->file_count, session->points, NULL, error),
                                 "scan '%s'", entry->name);
    if (result == EX_OK) {
        *meshes = made;
        return EX_OK;
    }
    for (int i = 0; made && i < entry->file_count; i++)
        ex_mesh_destroy(made[i]);
    free(made);
    return result;
}

/* ---- points ---- */

ex_result ex_scan_labels_read(const ex_scan_session *session, const char *path, ex_labelled **labelled, int *count,
                              ex_error *error) {
    const ex_result result = ex_labels_read(path, labelled, count, error);
    for (int i = 0; result == EX_OK && i < *count; i++)
        ex_scan_from_files(session, (*labelled)[i].position);
    return result;
}

ex_result ex_scan_labels_write(const ex_scan_session *session, const char *path, const ex_labelled *labelled, int count,
                               ex_error *error) {
    ex_labelled *rows = exi_array_copy(labelled, (size_t)count, sizeof *rows);
    if (!rows)
        return ex_error_memory(error, "the labels", (size_t)count * sizeof *rows);
    for (int i = 0; i < count; i++)
        ex_scan_to_files(session, rows[i].position);
    const ex_result result = ex_labels_write(path, rows, count, error);
    free(rows);
    return result;
}

static double unit_of(const ex_scan_session *session) {
    return session->unit > 0 ? session->unit : 1;
}

ex_result ex_scan_found_read(const ex_scan_session *session, const char *path, ex_found_marker **markers, int *count,
                             ex_error *error) {
    const ex_result result = ex_found_read(path, markers, count, error);
    for (int i = 0; result == EX_OK && i < *count; i++) {
        ex_scan_from_files(session, (*markers)[i].position);
        (*markers)[i].size *= unit_of(session);
    }
    return result;
}

ex_result ex_scan_found_write(const ex_scan_session *session, const char *path, const ex_found_marker *markers,
                              int count, ex_error *error) {
    ex_found_marker *rows = exi_array_copy(markers, (size_t)count, sizeof *rows);
    if (!rows)
        return ex_error_memory(error, "the markers", (size_t)count * sizeof *rows);
    for (int i = 0; i < count; i++) {
        ex_scan_to_files(session, rows[i].position);
        rows[i].size /= unit_of(session);
    }
    const ex_result result = ex_found_write(path, rows, count, error);
    free(rows);
    return result;
}
