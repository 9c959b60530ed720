/*
 * Writes a web page for naming markers: pictures of scans from the positions of their views, or from four sides if they
 * were merged, with spots at the found markers. The page's data are JSON (label_page_text.c has the rest of it):
 * markers [{name, colour}], scans [{name, reference, views: [{width, height, picture}], spots: [{at: [x, y, z], name,
 * confidence, other, hand, colour, seen: [[view, x, y], …]}], extra: rows of labels/ without a spot}].
 */
#include "author/base/array.h"
#include "author/base/json.h"
#include "author/scan/label/label_scans.h"
#include "author/scan/session/session.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <exemplar/author/picture.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGER_SIDE = 640, SIDES = 4 };
#define MARGIN     0.08  /* left by ex_render around a form */
#define SAME_PLACE 0.008 /* metres */
#define PI         3.14159265358979323846

/* A picture: a parallel view at a height, from a direction around y. */
typedef struct shot {
    int width, height;
    double right[3], back[3], middle[3];
    double half; /* metres from the middle to the upper edge */
    double yaw;
} shot;

typedef struct page {
    const ex_scan_session *session;
    ex_file_writer *writer;
    const ex_tasks *tasks;
} page;

/* ---- pictures ---- */

static void cross_of(const ex_mesh *mesh, int face, double normal[3]) {
    const int *corners = mesh->corners + mesh->face_offsets[face];
    const double *p[3];
    double a[3], b[3];
    for (int i = 0; i < 3; i++)
        p[i] = mesh->positions + 3 * (size_t)corners[i];
    exi_subtract(p[1], p[0], a);
    exi_subtract(p[2], p[0], b);
    exi_cross(a, b, normal);
}

/* Finds a view's direction: the one that most of what it saw faces. */
static double find_yaw(const ex_mesh *mesh) {
    double sum[3] = {0, 0, 0};
    for (int f = 0; f < mesh->face_count; f++) {
        double normal[3];
        cross_of(mesh, f, normal);
        for (int c = 0; c < 3; c++)
            sum[c] += normal[c];
    }
    return atan2(sum[0], sum[2]);
}

/* Frames the mesh as ex_render frames a parallel view. */
static void frame(const ex_mesh *mesh, double yaw, shot *s) {
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    *s = (shot){.yaw = yaw, .right = {cos(yaw), 0, -sin(yaw)}, .back = {sin(yaw), 0, cos(yaw)}};
    for (int i = 0; i < mesh->corner_count; i++) { /* vertices without a face are not seen */
        const double *p = mesh->positions + 3 * (size_t)mesh->corners[i];
        const double at[2] = {exi_dot3(p, s->right), p[1]};
        for (int c = 0; c < 2; c++) {
            low[c] = at[c] < low[c] ? at[c] : low[c];
            high[c] = at[c] > high[c] ? at[c] : high[c];
        }
    }
    const double wide = high[0] - low[0] > 0.01 ? high[0] - low[0] : 0.01;
    const double tall = high[1] - low[1] > 0.01 ? high[1] - low[1] : 0.01;
    s->width = wide > tall ? LONGER_SIDE : (int)(LONGER_SIDE * (wide / tall < 0.3 ? 0.3 : wide / tall));
    s->height = wide > tall ? (int)(LONGER_SIDE * (tall / wide < 0.3 ? 0.3 : tall / wide)) : LONGER_SIDE;
    const double aspect = (double)s->width / s->height;
    s->half = 0.5 * (tall > wide / aspect ? tall : wide / aspect) / (1 - 2 * MARGIN);
    for (int c = 0; c < 3; c++)
        s->middle[c] = 0.5 * (low[0] + high[0]) * s->right[c];
    s->middle[1] = 0.5 * (low[1] + high[1]);
}

/* Computes the pixel of a point. */
static void project(const shot *s, const double point[3], double at[2]) {
    double from[3];
    exi_subtract(point, s->middle, from);
    at[0] = 0.5 * s->width + 0.5 * s->height * exi_dot3(from, s->right) / s->half;
    at[1] = 0.5 * s->height * (1 - from[1] / s->half);
}

static void write_base64(ex_file_writer *writer, const unsigned char *bytes, size_t size) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char line[4];
    for (size_t i = 0; i < size; i += 3) {
        const unsigned left = size - i < 3 ? (unsigned)(size - i) : 3;
        const unsigned bits = (unsigned)bytes[i] << 16 | (left > 1 ? (unsigned)bytes[i + 1] << 8 : 0) |
                              (left > 2 ? (unsigned)bytes[i + 2] : 0);
        for (unsigned k = 0; k < 4; k++)
            line[k] = k <= left ? digits[bits >> (18 - 6 * k) & 63] : '=';
        ex_file_write(writer, line, sizeof line);
    }
}

static ex_result write_picture(const page *p, const ex_mesh *mesh, const shot *s, ex_error *error) {
    ex_render_item item = ex_render_item_default();
    ex_render_def def = ex_render_def_default();
    ex_image *image = NULL;
    unsigned char *bytes = NULL;
    size_t size = 0;
    item.mesh = mesh;
    item.vertex_colours = true;
    def.width = s->width;
    def.height = s->height;
    def.items = &item;
    def.item_count = 1;
    def.camera = (ex_camera){.yaw = s->yaw * 180 / PI, .zoom = 1};
    def.ground = false;
    def.occlusion = 0;
    def.samples = 4;
    def.background = EX_BACKGROUND_WHITE;
    def.tasks = p->tasks;
    ex_result result = ex_render(&def, &image, error);
    /* Half the bytes, without visible loss. */
    for (size_t i = 0; result == EX_OK && i < 4 * (size_t)s->width * (size_t)s->height; i++) {
        const int level = i % 4 == 3 ? 255 : (image->pixels[i] & 0xf8) * 255 / 248;
        image->pixels[i] = (unsigned char)level;
    }
    if (result == EX_OK)
        result = ex_image_encode(image, &bytes, &size, error);
    ex_image_destroy(image);
    if (result != EX_OK)
        return result;
    ex_file_printf(p->writer, "{\"width\":%d,\"height\":%d,\"picture\":\"data:image/png;base64,", s->width, s->height);
    write_base64(p->writer, bytes, size);
    ex_file_printf(p->writer, "\"}");
    free(bytes);
    return EX_OK;
}

/* ---- spots ---- */

/* Computes the normal of the surface nearest to a point. */
static void find_normal(const ex_mesh *mesh, const double point[3], double normal[3]) {
    double least = INFINITY;
    int nearest = 0;
    for (int f = 0; f < mesh->face_count; f++) {
        double apart[3];
        exi_subtract(mesh->positions + 3 * (size_t)mesh->corners[mesh->face_offsets[f]], point, apart);
        if (exi_dot3(apart, apart) < least) {
            least = exi_dot3(apart, apart);
            nearest = f;
        }
    }
    cross_of(mesh, nearest, normal);
    exi_unit3(normal);
}

static json_t *pair_of(int view, const double at[2]) {
    return json_pack("[i,f,f]", view, nearbyint(10 * at[0]) / 10, nearbyint(10 * at[1]) / 10);
}

/* Appends a value and takes it over. False without memory, also that of making the value. */
static bool add(json_t *list, json_t *value) {
    return json_array_append_new(list, value) == 0;
}

static json_t *drop(json_t *value) {
    json_decref(value);
    return NULL;
}

/* Finds its position on the picture of its view; for a merged scan, on all pictures that see its side. NULL without
 * memory. */
static json_t *find_seen(const ex_found_marker *found, ex_mesh *const *meshes, int mesh_count, const shot *shots,
                         int shot_count) {
    json_t *seen = json_array();
    double at[2], normal[3];
    bool done = seen != NULL;
    if (mesh_count > 1) {
        const int view = found->view >= 0 && found->view < shot_count ? found->view : 0;
        project(&shots[view], found->position, at);
        return done && add(seen, pair_of(view, at)) ? seen : drop(seen);
    }
    find_normal(meshes[0], found->position, normal);
    for (int i = 0; done && i < shot_count; i++) {
        if (exi_dot3(normal, shots[i].back) < 0.35)
            continue;
        project(&shots[i], found->position, at);
        done = add(seen, pair_of(i, at));
    }
    return done ? seen : drop(seen);
}

/* Returns the row of labels/ for a found marker, or -1. */
static int find_row(const ex_found_marker *found, const ex_labelled *rows, int count, const bool *used) {
    double least = SAME_PLACE * SAME_PLACE;
    int nearest = -1;
    for (int i = 0; i < count; i++) {
        double apart[3];
        exi_subtract(rows[i].position, found->position, apart);
        if (!used[i] && exi_dot3(apart, apart) < least) {
            least = exi_dot3(apart, apart);
            nearest = i;
        }
    }
    return nearest;
}

/* Takes `seen` over; NULL without memory. */
/* Its place is in the unit and axes of the session's files, for the CSV. */
static json_t *make_spot(const page *p, const double position[3], const double colour[3], const ex_labelled *row,
                         json_t *seen) {
    double at[3] = {position[0], position[1], position[2]};
    ex_scan_to_files(p->session, at);
    return !seen ? NULL
                 : json_pack("{s:[f,f,f], s:[i,i,i], s:s, s:f, s:b, s:o}", "at", nearbyint(1e6 * at[0]) / 1e6,
                             nearbyint(1e6 * at[1]) / 1e6, nearbyint(1e6 * at[2]) / 1e6, "colour", (int)colour[0],
                             (int)colour[1], (int)colour[2], "name", row ? row->name : "", "confidence",
                             row ? floor(1000 * row->confidence) / 1000 : 0.0, "hand", row ? row->by_hand : 0, "seen",
                             seen);
}

static ex_result write_json(ex_file_writer *writer, json_t *value, ex_error *error) {
    exi_text text = {0};
    if (value)
        exi_json_print(value, false, &text);
    const bool good = value && !text.failed;
    for (size_t i = 0; good && i < text.size; i++) { /* so that no name ends the script */
        const bool tag = text.bytes[i] == '<';
        ex_file_write(writer, tag ? "\\u003c" : text.bytes + i, tag ? 6 : 1);
    }
    free(text.bytes);
    json_decref(value);
    return good ? EX_OK : ex_error_memory(error, "the page", text.size);
}

static ex_result write_spots(const page *p, int scan, ex_mesh *const *meshes, const shot *shots, int shot_count,
                             ex_error *error) {
    const ex_scan_entry *entry = &p->session->scans[scan];
    ex_found_marker *found = NULL;
    ex_labelled *rows = NULL;
    int found_count = 0, row_count = 0;
    char *path = ex_scan_path(p->session, "found", entry->name, ".csv");
    char *labels = ex_scan_path(p->session, "labels", entry->name, ".csv");
    json_t *spots = json_array();
    ex_result result = path && labels && spots ? EX_OK : ex_error_memory(error, "the page", 0);
    if (result == EX_OK)
        result = ex_scan_found_read(p->session, path, &found, &found_count, error);
    if (result == EX_OK && exi_scan_is_there(labels))
        result = ex_scan_labels_read(p->session, labels, &rows, &row_count, error);
    bool *used = calloc((size_t)row_count + 1, sizeof *used);
    if (result == EX_OK && !used)
        result = ex_error_memory(error, "the page", 0);
    for (int f = 0; f < found_count && result == EX_OK; f++) {
        const int row = find_row(&found[f], rows, row_count, used);
        if (row >= 0)
            used[row] = true;
        if (!add(spots, make_spot(p, found[f].position, found[f].colour, row >= 0 ? &rows[row] : NULL,
                                  find_seen(&found[f], meshes, entry->file_count, shots, shot_count))))
            result = ex_error_memory(error, "the page", 0);
    }
    for (int r = 0; r < row_count && result == EX_OK; r++) /* named where nothing was found: they go into the CSV */
        if (!used[r] && !add(spots, make_spot(p, rows[r].position, (double[3]){0, 0, 0}, &rows[r], json_array())))
            result = ex_error_memory(error, "the page", 0);
    if (result == EX_OK)
        result = write_json(p->writer, spots, error);
    else
        json_decref(spots);
    free(used);
    free(found);
    ex_labels_free(rows, row_count);
    free(path);
    free(labels);
    return result;
}

/* ---- the page ---- */

static ex_result write_scan(const page *p, int scan, ex_error *error) {
    const ex_scan_entry *entry = &p->session->scans[scan];
    const bool merged = entry->file_count == 1;
    const int shot_count = merged ? SIDES : entry->file_count;
    ex_mesh **meshes = NULL;
    shot *shots = exi_array_allocate((size_t)shot_count, sizeof *shots);
    ex_result result = shots ? ex_scan_meshes(p->session, scan, &meshes, error) : ex_error_memory(error, "pictures", 0);
    if (result == EX_OK) {
        ex_file_printf(p->writer, "{\"name\":");
        result = write_json(p->writer, json_string(entry->name), error);
        ex_file_printf(p->writer, ",\"reference\":%s,\"views\":[", scan == p->session->reference ? "true" : "false");
    }
    for (int i = 0; i < shot_count && result == EX_OK; i++) {
        const ex_mesh *mesh = meshes[merged ? 0 : i];
        frame(mesh, merged ? i * PI / 2 : find_yaw(mesh), &shots[i]);
        ex_file_printf(p->writer, i ? "," : "");
        result = write_picture(p, mesh, &shots[i], error);
    }
    if (result == EX_OK) {
        ex_file_printf(p->writer, "],\"spots\":");
        result = write_spots(p, scan, meshes, shots, shot_count, error);
        ex_file_printf(p->writer, "}");
    }
    for (int i = 0; meshes && i < entry->file_count; i++)
        ex_mesh_destroy(meshes[i]);
    free(meshes);
    free(shots);
    return ex_error_within(error, result, "scan '%s'", entry->name);
}

static ex_result write_markers(const page *p, ex_error *error) {
    const ex_kinematics *k = p->session->kinematics;
    json_t *markers = json_array();
    for (int s = 0; markers && s < k->site_count; s++) {
        const ex_site *site = &k->sites[s];
        if (!add(markers, json_pack("{s:s, s:s, s:[i,i,i]}", "name", site->name, "joint", k->joints[site->joint].name,
                                    "colour", (int)site->colour[0], (int)site->colour[1], (int)site->colour[2])))
            markers = drop(markers);
    }
    return write_json(p->writer, markers, error);
}

ex_result ex_scan_label_page(const ex_scan_session *session, const int *scans, int count, const char *path,
                             const ex_progress *progress, const ex_tasks *tasks, ex_error *error) {
    ex_file_writer writer;
    const page p = {session, &writer, tasks};
    if (!session || count < 0 || (count > 0 && !scans) || !path)
        return exi_misuse_error(error, "ex_scan_label_page", "no session, no scans, or no file");
    ex_result result = ex_file_open(&writer, path, error);
    if (result != EX_OK)
        return result;
    ex_file_write(&writer, exi_label_page_before, strlen(exi_label_page_before));
    ex_file_printf(&writer, "{\"markers\":");
    result = write_markers(&p, error);
    ex_file_printf(&writer, ",\n\"scans\":[");
    for (int i = 0; i < count && result == EX_OK; i++) {
        if (progress)
            progress->report(progress->user, "drawing", (double)i / count);
        ex_file_printf(&writer, i ? ",\n" : "\n");
        result = write_scan(&p, scans[i], error);
    }
    ex_file_printf(&writer, "]}");
    ex_file_write(&writer, exi_label_page_after, strlen(exi_label_page_after));
    if (result == EX_OK)
        return ex_file_commit(&writer, error);
    ex_file_abandon(&writer);
    return result;
}
