/* The table of demos, and their shared functions. */
#include "demos.h"
#include "demos/garment/garment.h"

#include "common/array.h"

#include <exemplar/author/files.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* They measure the body and use it. */
static const char *const scanned_next[] = {"scan report FOLDER", "pose RIG joint:elbow.L=y-60 -o OUT.obj",
                                           "render RIG joint:elbow.L=y-60 girth=0.3 -o OUT.png",
                                           "render RIG --motion @poses.csv -o @moving.png", NULL};
static const char *const body_next[] = {"scan report FOLDER", "pose RIG elbow.L=90 -o OUT.obj",
                                        "render RIG elbow.L=90 girth=0.3 -o OUT.png",
                                        "bake RIG --motion YOURS.bvh --map @motion_map.json -o @moving.glb", NULL};

static const char *const human_next[] = {
    "info RIG",
    "render RIG smile=1 age=70 --look-at head --zoom 0.7 -o OUT.png",
    "render RIG joint:upperleg01.L=x-90 joint:upperleg01.R=x-90 knee.L=90 knee.R=90 -o @sitting.png",
    "render RIG shoulder.L=z103 joint:clavicle.L=z20 -o @arm.png",
    "render RIG --clip walk -o @walk.png",
    NULL};

const ex_demo ex_demos[] = {
    {.name = "blob",
     .summary =
         "five forms over bend and thickness, and two pseudo-examples that keep the corners from crossing themselves",
     .write = exi_demo_blob},
    {.name = "arm",
     .summary = "eight arms over shoulder, elbow, wrist and gender, sculpted at their poses, and six pseudo-examples",
     .write = exi_demo_arm},
    {.name = "face",
     .summary = "eight heads over age, gender and build, skins with their own axes, a blink and a smile",
     .write = exi_demo_face},
    {.name = "elbow",
     .summary = "three sculpts that keep an elbow from collapsing, and three more for a heavy load in the hand",
     .write = exi_demo_elbow},
    {.name = "twist",
     .summary = "a forearm turned by up to 180 degrees, kept round by three sculpts in the skinned frame",
     .write = exi_demo_twist},
    {.name = "shoulder",
     .summary = "seven sculpts around a shoulder, over the direction of the arm",
     .write = exi_demo_shoulder},
    {.name = "emotion",
     .summary = "nine expressions over happiness and arousal, with a half-smile on the way to the smile",
     .write = exi_demo_emotion},
    {.name = "bar",
     .summary = "a bar bent by 90 and by 160 degrees, its vertices on curved paths",
     .write = exi_demo_bar},
    {.name = "stretch",
     .summary = "a short thick bar that becomes long, thin and bent, with and without the paper's gradient term",
     .write = exi_demo_stretch},
    {.name = "cylinder",
     .summary = "a chain of four links that folds up, with and without a basis for each joint",
     .write = exi_demo_cylinder},
    {.name = "creature",
     .summary = "an animal that stands, leaps, sits and kicks, and curls its tail, its vertices on curved paths",
     .write = exi_demo_creature},
    {.name = "heads",
     .summary = "from one head to another along curved paths, eyes and ears staying where they belong",
     .write = exi_demo_heads},
    {.name = "sleeve",
     .summary = "a simulated sleeve on an arm that bends, turns and moves about, and twelve keys learned from it",
     .garment = exi_sleeve_make},
    {.name = "shirt",
     .summary = "a simulated shirt of 5000 vertices on a moving figure, and twelve keys learned from it",
     .garment = exi_shirt_make},
    {.name = "outfit",
     .summary = "a loose shirt and trousers, simulated on the person of 'human', and twenty keys learned from it",
     .garment = exi_outfit_make},
    {.name = "human",
     .summary = "a dressed person over gender, age, muscle and weight, with skins, expressions, sculpts and a walk",
     .large = true,
     .write = exi_demo_human,
     .next = human_next},
    {.name = "strides",
     .summary = "the person of 'human' stands, strides, runs and kicks, her vertices on curved paths",
     .large = true,
     .write = exi_demo_strides},
    {.name = "scanned",
     .summary = "a whole body, made from 6 scans of a man in clothes by the program's own simulated scanner",
     .session = exi_demo_scanned,
     .next = scanned_next},
    {.name = "body",
     .summary = "an upper body, made from 96 scans of the program's own simulated scanner",
     .session = exi_demo_body,
     .next = body_next},
};
const int ex_demo_count = sizeof ex_demos / sizeof *ex_demos;

bool exi_demo_is_long(const ex_demo *demo) {
    return demo->garment || demo->session || demo->large;
}

ex_result exi_demo_write(const ex_demo *demo, const char *directory, const exi_demo_options *options, ex_error *error) {
    const exi_demo_options plain = {.quick = false}, *how = options ? options : &plain;
    if (demo->session)
        return demo->session(directory, how, error);
    if (!demo->garment)
        return demo->write(directory, error);
    exi_garment garment;
    ex_result result = demo->garment(&garment, error);
    if (result == EX_OK)
        result = exi_garment_write(&garment, how->takes, directory, how->progress, how->tasks, error);
    exi_garment_free(&garment);
    return result;
}

char *exi_demo_path(const char *directory, const char *name) {
    size_t size = strlen(directory) + strlen(name) + 2;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s/%s", directory, name);
    return path;
}

const char *exi_demo_number(char text[32], double value, int digits) {
    double whole = 1;
    for (int i = 0; i < digits; i++)
        whole *= 10;
    ex_format_double(text, round(value * whole) / whole + 0.0); /* + 0: not -0 */
    return text;
}

ex_result exi_demo_write_mesh(const char *directory, const char *name, const ex_mesh *mesh, ex_error *error) {
    char *path = exi_demo_path(directory, name);
    ex_result result = path ? ex_obj_write(path, mesh, error) : ex_error_memory(error, "a path", strlen(name));
    free(path);
    return result;
}

ex_result exi_demo_write_scene(const char *directory, const char *name, const ex_scene *scene, ex_error *error) {
    char *path = exi_demo_path(directory, name);
    ex_result result = path ? ex_scene_write(path, scene, error) : ex_error_memory(error, "a path", strlen(name));
    free(path);
    return result;
}

ex_result exi_demo_write_text(const char *directory, const char *name, const char *text, ex_error *error) {
    char *path = exi_demo_path(directory, name);
    ex_file_writer writer;
    ex_result result = path ? ex_file_open(&writer, path, error) : ex_error_memory(error, "a path", strlen(name));
    if (result == EX_OK) {
        ex_file_write(&writer, text, strlen(text));
        result = ex_file_commit(&writer, error);
    }
    free(path);
    return result;
}

/* ---- the sphere ---- */

/* Vertex at the middle of an edge, made when it is first needed. Edges are found by their lower vertex, which has
 * few. */
typedef struct edge {
    int other, middle;
} edge;

enum { EDGES = 6 }; /* at most six edges go from a vertex to higher ones */

static int middle_of(ex_mesh *mesh, edge *edges, int *counts, int a, int b) {
    int low = a < b ? a : b, high = a < b ? b : a;
    for (int i = 0; i < counts[low]; i++)
        if (edges[low * EDGES + i].other == high)
            return edges[low * EDGES + i].middle;
    int v = mesh->vertex_count++;
    double *p = mesh->positions + 3 * (size_t)v, length = 0;
    for (int c = 0; c < 3; c++) {
        p[c] = mesh->positions[3 * (size_t)a + (size_t)c] + mesh->positions[3 * (size_t)b + (size_t)c];
        length += p[c] * p[c];
    }
    for (int c = 0; c < 3; c++)
        p[c] /= sqrt(length);
    edges[low * EDGES + counts[low]++] = (edge){high, v};
    return v;
}

static bool refine(ex_mesh *mesh, int *next) {
    size_t count = (size_t)mesh->vertex_count;
    edge *edges = calloc(count * EDGES, sizeof *edges);
    int *counts = calloc(count, sizeof *counts), made = 0;
    for (int t = 0; edges && counts && t < mesh->face_count; t++) {
        const int *v = mesh->corners + 3 * t;
        int m[3];
        for (int i = 0; i < 3; i++)
            m[i] = middle_of(mesh, edges, counts, v[i], v[(i + 1) % 3]);
        const int four[4][3] = {{v[0], m[0], m[2]}, {v[1], m[1], m[0]}, {v[2], m[2], m[1]}, {m[0], m[1], m[2]}};
        memcpy(next + 3 * made, four, sizeof four);
        made += 4;
    }
    bool done = edges && counts;
    if (done) {
        memcpy(mesh->corners, next, 3 * (size_t)made * sizeof *next);
        mesh->face_count = made;
        mesh->corner_count = 3 * made;
    }
    free(edges);
    free(counts);
    return done;
}

static void icosahedron(ex_mesh *mesh) {
    static const int faces[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                     {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                     {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                     {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
    const double g = (1 + sqrt(5.0)) / 2, s = 1 / sqrt(1 + g * g);
    const double points[12][3] = {{-1, g, 0},  {1, g, 0},  {-1, -g, 0}, {1, -g, 0}, {0, -1, g},  {0, 1, g},
                                  {0, -1, -g}, {0, 1, -g}, {g, 0, -1},  {g, 0, 1},  {-g, 0, -1}, {-g, 0, 1}};
    for (int i = 0; i < 12; i++)
        for (int c = 0; c < 3; c++)
            mesh->positions[3 * i + c] = points[i][c] * s;
    memcpy(mesh->corners, faces, sizeof faces);
    mesh->vertex_count = 12;
    mesh->face_count = 20;
    mesh->corner_count = 60;
}

ex_mesh *exi_demo_sphere(int levels) {
    size_t triangles = (size_t)20 << (2 * levels);
    ex_mesh *mesh = ex_mesh_create();
    int *next = malloc(3 * triangles * sizeof *next);
    if (!mesh || !next) {
        free(next);
        ex_mesh_destroy(mesh);
        return NULL;
    }
    mesh->positions = array_allocate(3 * (triangles / 2 + 2), sizeof(double));
    mesh->corners = array_allocate(3 * triangles, sizeof(int));
    mesh->face_offsets = array_allocate(triangles + 1, sizeof(int));
    bool done = mesh->positions && mesh->corners && mesh->face_offsets;
    if (done)
        icosahedron(mesh);
    for (int i = 0; done && i < levels; i++)
        done = refine(mesh, next);
    for (int f = 0; done && f <= mesh->face_count; f++)
        mesh->face_offsets[f] = 3 * f;
    free(next);
    if (!done) {
        ex_mesh_destroy(mesh);
        return NULL;
    }
    return mesh;
}
