/*
 * Writes a web page for naming markers: pictures of scans from the positions of their views, or from four sides if they
 * were merged, with spots at the found markers. The page's data are JSON (label_page_text.c has the rest of it):
 * markers [{name, colour}], scans [{name, reference, views: [{width, height, picture}], spots: [{at: [x, y, z], name,
 * confidence, hand, refused, colour, seen: [[view, x, y], …]}], asked: [{spot, other, picture}]}], known {marker: its
 * picture on the reference}. A doubtful spot is asked about, with a picture of the skin around it; `other` is the
 * second best name. Rows of labels/ without a found marker are spots that are not seen.
 */
#include "author/base/array.h"
#include "author/base/json.h"
#include "author/scan/label/label_scans.h"
#include "author/scan/session/session.h"
#include "author/scan/session/table.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <exemplar/author/picture.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGER_SIDE = 640, SIDES = 4, CLOSE = 200, ASKED_MOST = 300 };
#define MARGIN 0.08 /* left by ex_render around a form */
#define AROUND 0.11 /* metres that a picture of a spot shows on each side of it */
#define PI     3.14159265358979323846

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
    exi_table *doubtful; /* labels/doubtful.csv; without rows if there is none */
    exi_refused *refused;
    int refused_count;
    bool *wanted; /* [site_count]: a picture on the reference is needed */
    int *asked;   /* number of pictures of spots */
} page;

/* A doubtful spot. */
typedef struct question {
    int spot, view;
    const char *name, *other;
    double position[3];
} question;

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

/* Writes a picture as a data address, in quotes. */
static ex_result write_drawn(const page *p, const ex_mesh *mesh, int width, int height, ex_camera camera,
                             ex_error *error) {
    ex_render_item item = ex_render_item_default();
    ex_render_def def = ex_render_def_default();
    ex_image *image = NULL;
    unsigned char *bytes = NULL;
    size_t size = 0;
    item.mesh = mesh;
    item.vertex_colours = true;
    def.width = width;
    def.height = height;
    def.items = &item;
    def.item_count = 1;
    def.camera = camera;
    def.ground = false;
    def.occlusion = 0;
    def.samples = 4;
    def.background = EX_BACKGROUND_WHITE;
    def.tasks = p->tasks;
    ex_result result = ex_render(&def, &image, error);
    /* Half the bytes, without visible loss. */
    for (size_t i = 0; result == EX_OK && i < 4 * (size_t)width * (size_t)height; i++) {
        const int level = i % 4 == 3 ? 255 : (image->pixels[i] & 0xf8) * 255 / 248;
        image->pixels[i] = (unsigned char)level;
    }
    if (result == EX_OK)
        result = ex_image_encode(image, &bytes, &size, error);
    ex_image_destroy(image);
    if (result != EX_OK)
        return result;
    ex_file_printf(p->writer, "\"data:image/png;base64,");
    exi_page_base64(p->writer, bytes, size);
    ex_file_printf(p->writer, "\"");
    free(bytes);
    return EX_OK;
}

static ex_result write_picture(const page *p, const ex_mesh *mesh, const shot *s, ex_error *error) {
    const ex_camera camera = {.yaw = s->yaw * 180 / PI, .zoom = 1};
    ex_file_printf(p->writer, "{\"width\":%d,\"height\":%d,\"picture\":", s->width, s->height);
    const ex_result result = write_drawn(p, mesh, s->width, s->height, camera, error);
    ex_file_printf(p->writer, "}");
    return result;
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
    if (mesh->face_count > 0)
        cross_of(mesh, nearest, normal);
    if (mesh->face_count == 0 || !exi_unit3(normal))
        memcpy(normal, (double[3]){0, 0, 1}, 3 * sizeof *normal);
}

/* Copies the faces around a point; NULL without memory. */
static ex_mesh *crop(const ex_mesh *mesh, const double point[3]) {
    ex_mesh *part = ex_mesh_copy(mesh);
    int corners = 0, faces = 0;
    for (int f = 0; part && f < mesh->face_count; f++) {
        const double *at = mesh->positions + 3 * (size_t)mesh->corners[mesh->face_offsets[f]];
        bool near = true;
        for (int c = 0; c < 3; c++)
            near = near && fabs(at[c] - point[c]) < 2 * AROUND;
        if (!near)
            continue;
        for (int i = mesh->face_offsets[f]; i < mesh->face_offsets[f + 1]; i++)
            part->corners[corners++] = mesh->corners[i];
        part->face_offsets[++faces] = corners;
    }
    if (part) {
        part->face_count = faces;
        part->corner_count = corners;
    }
    return part;
}

/* Draws the skin around a point, which is in the middle, from the direction that it faces. */
static ex_result write_close(const page *p, const ex_mesh *from, const double point[3], ex_error *error) {
    double normal[3];
    float around[6][3];
    ex_mesh *mesh = crop(from, point);
    if (!mesh)
        return ex_error_memory(error, "the page", (size_t)from->vertex_count * 24);
    find_normal(mesh, point, normal);
    for (int i = 0; i < 6; i++)
        for (int c = 0; c < 3; c++)
            around[i][c] = (float)(point[c] + (i / 2 == c ? (i % 2 ? AROUND : -AROUND) : 0));
    const ex_camera camera = {.yaw = atan2(normal[0], normal[2]) * 180 / PI,
                              .pitch = asin(normal[1] > 1    ? 1
                                            : normal[1] < -1 ? -1
                                                             : normal[1]) *
                                       180 / PI,
                              .zoom = 1,
                              .points = around[0],
                              .point_count = 6};
    const ex_result result = write_drawn(p, mesh, CLOSE, CLOSE, camera, error);
    ex_mesh_destroy(mesh);
    return result;
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
    double least = EXI_SAME_PLACE * EXI_SAME_PLACE;
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

/* Takes `seen` over; NULL without memory. Its place is in the unit and axes of the session's files, for the CSV. */
static json_t *make_spot(const page *p, const double position[3], const double colour[3], const ex_labelled *row,
                         bool refused, json_t *seen) {
    double at[3] = {position[0], position[1], position[2]};
    ex_scan_to_files(p->session, at);
    return !seen ? NULL
                 : json_pack("{s:[f,f,f], s:[i,i,i], s:s, s:f, s:b, s:b, s:o}", "at", nearbyint(1e6 * at[0]) / 1e6,
                             nearbyint(1e6 * at[1]) / 1e6, nearbyint(1e6 * at[2]) / 1e6, "colour", (int)colour[0],
                             (int)colour[1], (int)colour[2], "name", row ? row->name : "", "confidence",
                             row ? floor(1000 * row->confidence) / 1000 : 0.0, "hand", row ? row->by_hand : 0,
                             "refused", refused, "seen", seen);
}

/* The second best name of a doubtful one; "" if there is none. */
static const char *find_other(const page *p, const char *scan, const char *name) {
    const exi_table *t = p->doubtful;
    for (int i = 0; i < t->row_count; i++)
        if (strcmp(exi_table_text(t, i, exi_table_column(t, "scan")), scan) == 0 &&
            strcmp(exi_table_text(t, i, exi_table_column(t, "marker")), name) == 0)
            return exi_table_text(t, i, exi_table_column(t, "other"));
    return "";
}

static void want(const page *p, const char *name) {
    const int site = ex_kinematics_find_site(p->session->kinematics, name);
    if (site >= 0)
        p->wanted[site] = true;
}

/* Writes what is asked about a scan. */
static ex_result write_asked(const page *p, ex_mesh *const *meshes, const question *questions, int count,
                             ex_error *error) {
    ex_result result = EX_OK;
    ex_file_printf(p->writer, ",\"asked\":[");
    for (int i = 0; i < count && result == EX_OK && *p->asked < ASKED_MOST; i++, ++*p->asked) {
        const question *q = &questions[i];
        ex_file_printf(p->writer, "%s{\"spot\":%d,\"other\":", i ? "," : "", q->spot);
        result = exi_page_json(p->writer, json_string(q->other), error);
        ex_file_printf(p->writer, ",\"picture\":");
        if (result == EX_OK)
            result = write_close(p, meshes[q->view], q->position, error);
        ex_file_printf(p->writer, "}");
        want(p, q->name);
        want(p, q->other);
    }
    ex_file_printf(p->writer, "]");
    return result;
}

/* Spots of a scan, and what is known of them. */
typedef struct known {
    ex_found_marker *found;
    ex_labelled *rows;
    int found_count, row_count;
    bool *used; /* [row_count] */
    question *questions;
    int question_count;
} known;

static ex_result read_known(const page *p, int scan, known *k, ex_error *error) {
    char *path = ex_scan_path(p->session, "found", p->session->scans[scan].name, ".csv");
    ex_result result = path ? ex_scan_found_read(p->session, path, &k->found, &k->found_count, error)
                            : ex_error_memory(error, "the page", 0);
    free(path);
    if (result == EX_OK)
        result = exi_label_read(p->session, "labels", scan, &k->rows, &k->row_count, error);
    if (result != EX_OK)
        return result;
    k->used = calloc((size_t)k->row_count + 1, sizeof *k->used);
    k->questions = exi_array_allocate((size_t)k->found_count, sizeof *k->questions);
    return k->used && k->questions ? EX_OK : ex_error_memory(error, "the page", 0);
}

static void free_known(known *k) {
    free(k->found);
    ex_labels_free(k->rows, k->row_count);
    free(k->used);
    free(k->questions);
}

static ex_result make_spots(const page *p, int scan, known *k, ex_mesh *const *meshes, const shot *shots,
                            int shot_count, json_t *spots, ex_error *error) {
    const ex_scan_entry *entry = &p->session->scans[scan];
    bool good = true;
    for (int f = 0; f < k->found_count && good; f++) {
        const ex_found_marker *found = &k->found[f];
        const int at = find_row(found, k->rows, k->row_count, k->used);
        const ex_labelled *row = at >= 0 ? &k->rows[at] : NULL;
        if (row)
            k->used[at] = true;
        if (row && !row->by_hand && row->confidence < EX_LABEL_SURE) {
            question *q = &k->questions[k->question_count++];
            *q = (question){.spot = f,
                            .view = found->view >= 0 && found->view < entry->file_count ? found->view : 0,
                            .name = row->name,
                            .other = find_other(p, entry->name, row->name)};
            memcpy(q->position, found->position, sizeof q->position);
        }
        good = add(spots, make_spot(p, found->position, found->colour, row,
                                    exi_is_refused(p->refused, p->refused_count, scan, found->position),
                                    find_seen(found, meshes, entry->file_count, shots, shot_count)));
    }
    for (int r = 0; r < k->row_count && good; r++) /* named where nothing was found: they go into the CSV */
        if (!k->used[r])
            good =
                add(spots, make_spot(p, k->rows[r].position, (double[3]){0, 0, 0}, &k->rows[r], false, json_array()));
    return good ? EX_OK : ex_error_memory(error, "the page", 0);
}

static ex_result write_spots(const page *p, int scan, ex_mesh *const *meshes, const shot *shots, int shot_count,
                             ex_error *error) {
    known k = {0};
    json_t *spots = json_array();
    ex_result result = spots ? read_known(p, scan, &k, error) : ex_error_memory(error, "the page", 0);
    if (result == EX_OK)
        result = make_spots(p, scan, &k, meshes, shots, shot_count, spots, error);
    if (result == EX_OK)
        result = exi_page_json(p->writer, spots, error);
    else
        json_decref(spots);
    if (result == EX_OK)
        result = write_asked(p, meshes, k.questions, k.question_count, error);
    free_known(&k);
    return result;
}

/* Writes pictures of markers on the reference, of those that are asked about. */
static ex_result write_reference(const page *p, ex_error *error) {
    const int scan = p->session->reference;
    ex_mesh **meshes = NULL;
    known k = {0};
    bool first = true;
    ex_file_printf(p->writer, ",\n\"known\":{");
    ex_result result = *p->asked > 0 ? ex_scan_meshes(p->session, scan, &meshes, error) : EX_OK;
    if (result == EX_OK && meshes)
        result = read_known(p, scan, &k, error);
    for (int r = 0; r < k.row_count && result == EX_OK; r++) {
        const int site = ex_kinematics_find_site(p->session->kinematics, k.rows[r].name);
        int view = 0;
        if (site < 0 || !p->wanted[site])
            continue;
        for (int f = 0; f < k.found_count; f++) {
            double apart[3];
            exi_subtract(k.found[f].position, k.rows[r].position, apart);
            if (exi_dot3(apart, apart) < EXI_SAME_PLACE * EXI_SAME_PLACE)
                view = k.found[f].view;
        }
        ex_file_printf(p->writer, first ? "" : ",");
        first = false;
        result = exi_page_json(p->writer, json_string(k.rows[r].name), error);
        ex_file_printf(p->writer, ":");
        if (result == EX_OK)
            result = write_close(p, meshes[view >= 0 && view < p->session->scans[scan].file_count ? view : 0],
                                 k.rows[r].position, error);
    }
    ex_file_printf(p->writer, "}");
    for (int i = 0; meshes && i < p->session->scans[scan].file_count; i++)
        ex_mesh_destroy(meshes[i]);
    free(meshes);
    free_known(&k);
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
        result = exi_page_json(p->writer, json_string(entry->name), error);
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
    return exi_page_json(p->writer, markers, error);
}

static ex_result write_page(const page *p, const int *scans, int count, const ex_progress *progress, ex_error *error) {
    ex_file_write(p->writer, exi_label_page_before, strlen(exi_label_page_before));
    ex_file_printf(p->writer, "{\"markers\":");
    ex_result result = write_markers(p, error);
    ex_file_printf(p->writer, ",\n\"scans\":[");
    for (int i = 0; i < count && result == EX_OK; i++) {
        if (progress)
            progress->report(progress->user, "drawing", (double)i / count);
        ex_file_printf(p->writer, i ? ",\n" : "\n");
        result = write_scan(p, scans[i], error);
    }
    ex_file_printf(p->writer, "]");
    if (result == EX_OK)
        result = write_reference(p, error);
    ex_file_printf(p->writer, "}");
    ex_file_write(p->writer, exi_label_page_after, strlen(exi_label_page_after));
    return result;
}

/* Reads what was answered, and what is doubtful. */
static ex_result read_answers(page *p, ex_error *error) {
    static const char *const columns[] = {"scan", "marker", "x", "y", "z", "confidence", "other", NULL};
    char *path = ex_scan_path(p->session, "labels", "doubtful", ".csv");
    p->wanted = calloc((size_t)p->session->kinematics->site_count + 1, sizeof *p->wanted);
    ex_result result = path && p->wanted ? exi_refused_read(p->session, &p->refused, &p->refused_count, error)
                                         : ex_error_memory(error, "the page", 0);
    if (result == EX_OK && exi_scan_is_there(path))
        result = exi_table_read(path, columns, 7, p->doubtful, error);
    free(path);
    return result;
}

ex_result ex_scan_label_page(const ex_scan_session *session, const int *scans, int count, const char *path,
                             const ex_progress *progress, const ex_tasks *tasks, ex_error *error) {
    ex_file_writer writer;
    exi_table doubtful = {0};
    int asked = 0;
    page p = {.session = session, .writer = &writer, .tasks = tasks, .doubtful = &doubtful, .asked = &asked};
    if (!session || count < 0 || (count > 0 && !scans) || !path)
        return exi_misuse_error(error, "ex_scan_label_page", "no session, no scans, or no file");
    ex_result result = read_answers(&p, error);
    if (result == EX_OK)
        result = ex_file_open(&writer, path, error);
    if (result == EX_OK) {
        result = write_page(&p, scans, count, progress, error);
        if (result == EX_OK)
            result = ex_file_commit(&writer, error);
        else
            ex_file_abandon(&writer);
    }
    exi_table_free(&doubtful);
    free(p.refused);
    free(p.wanted);
    return result;
}
