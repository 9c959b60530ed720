/*
 * Writes a web page for clicking landmarks on scans that can be turned. The page's data are JSON (landmark_page_text.c
 * has the rest of it): landmarks [{name, title, where, at: [x, y, z] on the template}], template: a mesh, scans [{name,
 * reference, points: {name: [x, y, z]}, mesh}], files: images of the axes in the unit and axes of the session's files,
 * for the CSV. A mesh is {corner: [x, y, z], step, positions, triangles, colours}:
 * positions are counts of steps from the corner, of 16 bits; those and the rest are base64, little-endian.
 */
#include "author/base/array.h"
#include "author/scan/human/human.h"
#include "author/scan/label/label_scans.h"
#include "author/scan/session/session.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Vertices of all scans together, of one scan, and of the template: 28 bytes of the page each. Numbers of vertices have
 * 16 bits. */
enum { MOST_ALL = 600000, MOST = 30000, LEAST = 8000, MOST_TEMPLATE = 6000, STEPS = 65535 };

/* Landmarks of the tool's own template in words, in the order in which they are asked for: those that are seen
 * from the front first. A template of the user's may have others, which the picture shows. */
typedef struct sentence {
    const char *name, *title, *where;
} sentence;
static const sentence sentences[] = {
    {"head_top", "Top of the head", "The highest point of the skull, in the middle."},
    {"nose", "Tip of the nose", "The foremost point of the nose."},
    {"chin", "Chin", "The lower front of the chin, in the middle."},
    {"breastbone", "Breastbone", "The middle of the upper chest, three fingers below the notch of the throat."},
    {"navel", "Navel", "The belly button."},
    {"shoulder_top.L", "Left shoulder", "The highest point of the left shoulder, half-way between neck and arm."},
    {"shoulder_top.R", "Right shoulder", "The highest point of the right shoulder, half-way between neck and arm."},
    {"wrist_top.L", "Left wrist", "The back of the left wrist, in the middle, where a watch sits."},
    {"wrist_top.R", "Right wrist", "The back of the right wrist, in the middle, where a watch sits."},
    {"fingertip.L", "Left middle finger", "The tip of the longest finger of the left hand."},
    {"fingertip.R", "Right middle finger", "The tip of the longest finger of the right hand."},
    {"knee.L", "Left knee", "The middle of the left kneecap."},
    {"knee.R", "Right knee", "The middle of the right kneecap."},
    {"toe_tip.L", "Left toes", "The foremost point of the toes of the left foot."},
    {"toe_tip.R", "Right toes", "The foremost point of the toes of the right foot."},
    {"ankle_outside.L", "Left ankle", "The bony knob on the outside of the left ankle."},
    {"ankle_outside.R", "Right ankle", "The bony knob on the outside of the right ankle."},
    {"neck_back", "Back of the neck", "The bony knob where neck and back meet, in the middle."},
    {"elbow_tip.L", "Left elbow", "The bony tip of the left elbow, behind."},
    {"elbow_tip.R", "Right elbow", "The bony tip of the right elbow, behind."},
    {"heel.L", "Left heel", "The hindmost point of the left heel."},
    {"heel.R", "Right heel", "The hindmost point of the right heel."},
};
enum { SENTENCES = sizeof sentences / sizeof sentences[0] };

/* ---- meshes ---- */

static void write_numbers(ex_file_writer *writer, const char *key, const uint16_t *numbers, size_t count,
                          unsigned char *bytes) {
    for (size_t i = 0; i < count; i++) {
        bytes[2 * i] = (unsigned char)(numbers[i] & 255);
        bytes[2 * i + 1] = (unsigned char)(numbers[i] >> 8);
    }
    ex_file_printf(writer, ",\"%s\":\"", key);
    exi_page_base64(writer, bytes, 2 * count);
    ex_file_printf(writer, "\"");
}

/* Meshes together, as arrays of the page. */
typedef struct joined {
    size_t vertex_count, triangle_count;
    uint16_t *numbers;    /* room for positions, or for triangles */
    unsigned char *bytes; /* of these */
} joined;

static void write_positions(ex_file_writer *writer, ex_mesh *const *meshes, int count, const joined *j) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, extent = 1e-6;
    size_t at = 0;
    for (int m = 0; m < count; m++)
        for (int i = 0; i < 3 * meshes[m]->vertex_count; i++)
            low[i % 3] = fmin(low[i % 3], meshes[m]->positions[i]);
    for (int m = 0; m < count; m++)
        for (int i = 0; i < 3 * meshes[m]->vertex_count; i++)
            extent = fmax(extent, meshes[m]->positions[i] - low[i % 3]);
    const double step = extent / STEPS;
    for (int m = 0; m < count; m++)
        for (int i = 0; i < 3 * meshes[m]->vertex_count; i++)
            j->numbers[at++] = (uint16_t)nearbyint((meshes[m]->positions[i] - low[i % 3]) / step);
    ex_file_printf(writer, "{\"corner\":[%.9g,%.9g,%.9g],\"step\":%.12g", low[0], low[1], low[2], step);
    write_numbers(writer, "positions", j->numbers, at, j->bytes);
}

static ex_result write_triangles(ex_file_writer *writer, ex_mesh *const *meshes, int count, const joined *j,
                                 ex_error *error) {
    size_t at = 0, first = 0;
    ex_result result = EX_OK;
    for (int m = 0; m < count && result == EX_OK; m++) {
        int *corners = NULL, triangles = 0;
        result = ex_mesh_triangulate(meshes[m], &corners, &triangles, error);
        for (int i = 0; result == EX_OK && i < 3 * triangles; i++)
            j->numbers[at++] = (uint16_t)(first + (size_t)meshes[m]->corners[corners[i]]);
        first += (size_t)meshes[m]->vertex_count;
        free(corners);
    }
    if (result == EX_OK)
        write_numbers(writer, "triangles", j->numbers, at, j->bytes);
    return result;
}

/* Views without colours are black beside others. */
static void write_colours(ex_file_writer *writer, ex_mesh *const *meshes, int count, const joined *j) {
    size_t at = 0;
    bool coloured = false;
    for (int m = 0; m < count; m++)
        for (int i = 0; i < 3 * meshes[m]->vertex_count; i++) {
            const float level = meshes[m]->colours ? meshes[m]->colours[i] : 0;
            j->bytes[at++] = (unsigned char)(level > 0 ? (level < 1 ? 255 * level + 0.5F : 255) : 0);
            coloured = coloured || meshes[m]->colours;
        }
    if (!coloured)
        return;
    ex_file_printf(writer, ",\"colours\":\"");
    exi_page_base64(writer, j->bytes, at);
    ex_file_printf(writer, "\"");
}

/* Thins the meshes together, and writes them as one. */
static ex_result write_mesh(ex_file_writer *writer, ex_mesh *const *meshes, int count, int most, ex_error *error) {
    joined j = {0};
    ex_result result = ex_scan_thin(meshes, count, most, NULL, error);
    for (int m = 0; m < count; m++) {
        j.vertex_count += (size_t)meshes[m]->vertex_count;
        j.triangle_count += (size_t)(meshes[m]->corner_count - 2 * meshes[m]->face_count);
    }
    const size_t room = 3 * (j.vertex_count > j.triangle_count ? j.vertex_count : j.triangle_count);
    j.numbers = exi_array_allocate(room, sizeof *j.numbers);
    j.bytes = exi_array_allocate(room, 2);
    if (result == EX_OK && (!j.numbers || !j.bytes))
        result = ex_error_memory(error, "the page", room * sizeof *j.numbers);
    if (result == EX_OK) {
        write_positions(writer, meshes, count, &j);
        result = write_triangles(writer, meshes, count, &j, error);
    }
    if (result == EX_OK)
        write_colours(writer, meshes, count, &j);
    ex_file_printf(writer, "}");
    free(j.numbers);
    free(j.bytes);
    return result;
}

/* ---- landmarks ---- */

static const sentence *find_sentence(const char *name) {
    for (int i = 0; i < SENTENCES; i++)
        if (strcmp(sentences[i].name, name) == 0)
            return &sentences[i];
    return NULL;
}

static bool add_landmark(json_t *list, const exi_human *human, const char *name, const sentence *s) {
    const double *at = human->mesh->positions + 3 * (size_t)exi_human_find(human, name);
    return json_array_append_new(list,
                                 json_pack("{s:s, s:s, s:s, s:[f,f,f]}", "name", name, "title", s ? s->title : name,
                                           "where", s ? s->where : "See the picture.", "at", at[0], at[1], at[2])) == 0;
}

static ex_result write_landmarks(ex_file_writer *writer, const exi_human *human, ex_error *error) {
    json_t *list = json_array();
    bool good = list != NULL;
    for (int i = 0; good && i < SENTENCES; i++)
        if (exi_human_find(human, sentences[i].name) >= 0)
            good = add_landmark(list, human, sentences[i].name, &sentences[i]);
    for (int i = 0; good && i < human->landmark_count; i++)
        if (!find_sentence(human->landmarks[i].name))
            good = add_landmark(list, human, human->landmarks[i].name, NULL);
    if (!good) {
        json_decref(list);
        return ex_error_memory(error, "the page", 0);
    }
    return exi_page_json(writer, list, error);
}

static ex_result write_points(ex_file_writer *writer, const ex_scan_session *session, int scan, ex_error *error) {
    ex_labelled *rows = NULL;
    int count = 0;
    ex_result result = exi_label_read(session, "landmarks", scan, &rows, &count, error);
    if (result != EX_OK)
        return result;
    json_t *points = json_object();
    bool good = points != NULL;
    for (int i = 0; good && i < count; i++)
        good = json_object_set_new(
                   points, rows[i].name,
                   json_pack("[f,f,f]", rows[i].position[0], rows[i].position[1], rows[i].position[2])) == 0;
    ex_labels_free(rows, count);
    if (good)
        return exi_page_json(writer, points, error);
    json_decref(points);
    return ex_error_memory(error, "the page", 0);
}

/* ---- the page ---- */

static ex_result write_scan(ex_file_writer *writer, const ex_scan_session *session, int scan, int most,
                            ex_error *error) {
    const ex_scan_entry *entry = &session->scans[scan];
    ex_mesh **meshes = NULL;
    ex_result result = ex_scan_meshes(session, scan, &meshes, error);
    if (result == EX_OK) {
        ex_file_printf(writer, "{\"name\":");
        result = exi_page_json(writer, json_string(entry->name), error);
    }
    if (result == EX_OK) {
        ex_file_printf(writer, ",\"reference\":%s,\"points\":", scan == session->reference ? "true" : "false");
        result = write_points(writer, session, scan, error);
    }
    if (result == EX_OK) {
        ex_file_printf(writer, ",\"mesh\":");
        result = write_mesh(writer, meshes, entry->file_count, most, error);
        ex_file_printf(writer, "}");
    }
    for (int i = 0; meshes && i < entry->file_count; i++)
        ex_mesh_destroy(meshes[i]);
    free(meshes);
    return ex_error_within(error, result, "scan '%s'", entry->name);
}

static ex_result read_template(const ex_scan_session *session, exi_human **human, ex_error *error) {
    char *path = strcmp(session->person, "human") == 0 ? NULL : exi_scan_file(session->folder, session->person);
    ex_result result = exi_human_read(path, human, error);
    free(path);
    if (result == EX_OK && (*human)->landmark_count == 0)
        result = ex_error_set(error, EX_ERROR_DATA,
                              "the template '%s' has no landmarks: name joints on its skin 'landmark NAME'",
                              session->person);
    return result;
}

static ex_result write_all(ex_file_writer *writer, const ex_scan_session *session, const exi_human *human,
                           const int *scans, int count, const ex_progress *progress, ex_error *error) {
    ex_mesh *form = ex_mesh_copy(human->mesh);
    const int share = MOST_ALL / (count > 0 ? count : 1), most = share > MOST ? MOST : share < LEAST ? LEAST : share;
    ex_file_write(writer, exi_landmark_page_before, strlen(exi_landmark_page_before));
    ex_file_printf(writer, "{\"landmarks\":");
    ex_result result = write_landmarks(writer, human, error);
    ex_file_printf(writer, ",\n\"template\":");
    if (result == EX_OK)
        result = form ? write_mesh(writer, &form, 1, MOST_TEMPLATE, error) : ex_error_memory(error, "the page", 0);
    ex_mesh_destroy(form);
    ex_file_printf(writer, ",\n\"scans\":[");
    for (int i = 0; i < count && result == EX_OK; i++) {
        if (progress)
            progress->report(progress->user, "reading scans", (double)i / count);
        ex_file_printf(writer, i ? ",\n" : "\n");
        result = write_scan(writer, session, scans[i], most, error);
    }
    ex_file_printf(writer, "],\n\"files\":[");
    for (int i = 0; i < 3; i++) {
        double axis[3] = {i == 0, i == 1, i == 2};
        ex_scan_to_files(session, axis);
        ex_file_printf(writer, "%s[%.17g,%.17g,%.17g]", i ? "," : "", axis[0], axis[1], axis[2]);
    }
    ex_file_printf(writer, "]}");
    ex_file_write(writer, exi_landmark_page_after, strlen(exi_landmark_page_after));
    return result;
}

ex_result ex_scan_landmark_page(const ex_scan_session *session, const int *scans, int count, const char *path,
                                const ex_progress *progress, ex_error *error) {
    ex_file_writer writer;
    exi_human *human = NULL;
    if (!session || count < 1 || !scans || !path)
        return exi_misuse_error(error, "ex_scan_landmark_page", "no session, no scans, or no file");
    if (!session->person)
        return ex_error_set(error, EX_ERROR_DATA,
                            "%s: this session has a cage and no template person, so it has no landmarks: "
                            "\"template\": \"human\" in scan.json gives it one",
                            session->folder);
    ex_result result = read_template(session, &human, error);
    if (result == EX_OK)
        result = ex_file_open(&writer, path, error);
    if (result == EX_OK) {
        result = write_all(&writer, session, human, scans, count, progress, error);
        if (result == EX_OK)
            result = ex_file_commit(&writer, error);
        else
            ex_file_abandon(&writer);
    }
    exi_human_destroy(human);
    return result;
}
