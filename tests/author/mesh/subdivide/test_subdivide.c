/*
 * Subdivision of meshes: the sixteen reference shapes, small cases by hand, attributes, errors, and properties of any
 * mesh: weights that sum up to 1, flat meshes that stay flat, numbers of vertices, the order of faces.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <exemplar/author/formats.h>
#include <exemplar/author/mesh.h>

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/skip.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ex_mesh *parse(const char *text) {
    ex_mesh *mesh = NULL;
    ex_error error = {.result = EX_OK};
    if (ex_obj_parse(text, strlen(text), "test", &mesh, &error) != EX_OK)
        fail_msg("%s", error.text);
    return mesh;
}

static ex_subdivision *subdivide(const ex_mesh *mesh, ex_scheme scheme, int levels, bool limit) {
    ex_subdivide_def def = {.scheme = scheme, .levels = levels, .limit = limit};
    ex_subdivision *s = NULL;
    ex_error error = {.result = EX_OK};
    if (ex_mesh_subdivide(mesh, &def, &s, &error) != EX_OK)
        fail_msg("%s", error.text);
    return s;
}

static ex_mesh *refined(const ex_subdivision *s, const ex_mesh *mesh, int level) {
    ex_mesh *out = NULL;
    assert_int_equal(ex_subdivision_mesh(s, mesh, level, &out, NULL), EX_OK);
    return out;
}

static void assert_point(const ex_mesh *mesh, int v, double x, double y, double z) {
    const double expected[3] = {x, y, z};
    for (int c = 0; c < 3; c++)
        assert_near(mesh->positions[3 * v + c], expected[c], 1e-6);
}

static const char cube[] = "v -1 -1 -1\nv 1 -1 -1\nv 1 1 -1\nv -1 1 -1\nv -1 -1 1\nv 1 -1 1\nv 1 1 1\nv -1 1 1\n"
                           "f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\n";
static const char square[] = "v 0 0 0\nv 4 0 0\nv 4 4 0\nv 0 4 0\nvt 0 0\nvt 1 0\nvt 1 1\nvt 0 1\nf 1/1 2/2 3/3 4/4\n";

/* ---- the reference shapes ---- */

/* The vertex of `mesh` at a place, among those not taken yet. */
static int find_vertex(const ex_mesh *mesh, const double *at, const char *taken, double tolerance) {
    for (int v = 0; v < mesh->vertex_count; v++) {
        const double *p = mesh->positions + 3 * (size_t)v;
        if (!taken[v] && fabs(p[0] - at[0]) <= tolerance && fabs(p[1] - at[1]) <= tolerance &&
            fabs(p[2] - at[2]) <= tolerance)
            return v;
    }
    return -1;
}

/* True if every reference face is one of ours with the same vertices in the same order, starting at any corner. */
static bool has_face(const ex_mesh *mesh, const int *corners, int count) {
    for (int f = 0; f < mesh->face_count; f++) {
        const int begin = mesh->face_offsets[f];
        if (mesh->face_offsets[f + 1] - begin != count)
            continue;
        for (int turn = 0; turn < count; turn++) {
            int same = 0;
            while (same < count && mesh->corners[begin + (same + turn) % count] == corners[same])
                same++;
            if (same == count)
                return true;
        }
    }
    return false;
}

/* Returns the number of vertices with the reference's numbers. */
static int assert_same_shape(const ex_mesh *ours, const ex_mesh *reference, const char *name) {
    assert_int_equal(ours->vertex_count, reference->vertex_count);
    assert_int_equal(ours->face_count, reference->face_count);
    char *taken = calloc((size_t)ours->vertex_count, 1);
    int *match = malloc((size_t)ours->vertex_count * sizeof *match), in_order = 0;
    for (int v = 0; v < reference->vertex_count; v++) {
        match[v] = find_vertex(ours, reference->positions + 3 * (size_t)v, taken, 1e-5);
        if (match[v] < 0)
            fail_msg("%s: nothing within 1e-5 of vertex %d", name, v);
        taken[match[v]] = 1;
        in_order += match[v] == v;
    }
    for (int f = 0; f < reference->face_count; f++) {
        int corners[8], begin = reference->face_offsets[f], count = reference->face_offsets[f + 1] - begin;
        assert_true(count <= 8);
        for (int i = 0; i < count; i++)
            corners[i] = match[reference->corners[begin + i]];
        if (!has_face(ours, corners, count))
            fail_msg("%s: face %d is not there", name, f);
    }
    free(taken);
    free(match);
    return in_order;
}

static void test_reference(void **state) {
    (void)state;
    static const char *const names[] = {"bilinear_cube",         "catmark_cube",          "catmark_cube_corner0",
                                        "catmark_cube_creases0", "catmark_dart_edgeonly", "catmark_edgecorner",
                                        "catmark_edgeonly",      "catmark_pyramid",       "catmark_pyramid_creases0",
                                        "catmark_tent",          "catmark_tent_creases0", "loop_cube",
                                        "loop_cube_creases0",    "loop_icosahedron",      "loop_saddle_edgeonly",
                                        "loop_triangle_edgeonly"};
    char path[200];
    int in_order = 0, all = 0;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        ex_mesh *cage = NULL;
        snprintf(path, sizeof path, "subdivision/%s_cage.obj", names[i]);
        assert_int_equal(ex_obj_read(need_data(path), &cage, NULL), EX_OK);
        ex_scheme scheme = names[i][0] == 'b'   ? EX_SCHEME_BILINEAR
                           : names[i][0] == 'l' ? EX_SCHEME_LOOP
                                                : EX_SCHEME_CATMULL_CLARK;
        ex_subdivision *s = subdivide(cage, scheme, 3, true);
        for (int level = 1; level <= 3; level++) {
            ex_mesh *reference = NULL, *ours = refined(s, cage, level);
            snprintf(path, sizeof path, "subdivision/%s_%d.obj", names[i], level);
            assert_int_equal(ex_obj_read(need_data(path), &reference, NULL), EX_OK);
            in_order += assert_same_shape(ours, reference, path);
            all += reference->vertex_count;
            ex_mesh_destroy(reference);
            ex_mesh_destroy(ours);
        }
        ex_subdivision_destroy(s);
        ex_mesh_destroy(cage);
    }
    print_message("%d of %d reference vertices have the same number here\n", in_order, all);
}

/* ---- by hand ---- */

static void test_cube_by_hand(void **state) {
    (void)state;
    ex_mesh *mesh = parse(cube);
    ex_subdivision *s = subdivide(mesh, EX_SCHEME_CATMULL_CLARK, 1, false);
    ex_mesh *out = refined(s, mesh, 1);
    assert_int_equal(out->vertex_count, 26);
    assert_int_equal(out->face_count, 24);
    /* v/3 + 3 neighbours/9 + 3 middles/9 = (-1/3) + (-1/9) + (-1/9) = -5/9 */
    assert_point(out, 0, -5 / 9.0, -5 / 9.0, -5 / 9.0);
    /* The first edge by its ends is 0-1: ((-1 1 …) + middles (0 0 -1), (0 -1 0)) / 4 */
    assert_point(out, 8, 0, -0.75, -0.75);
    /* The first face's middle. */
    assert_point(out, 20, 0, 0, -1);
    assert_int_equal(out->corners[0], 0);
    assert_int_equal(out->corners[2], 20);
    for (int f = 0; f < 24; f++)
        assert_int_equal(s->levels[1].face_sources[f], f / 4);
    ex_mesh_destroy(out);
    ex_subdivision_destroy(s);
    ex_mesh_destroy(mesh);
}

/* One square: with its corners kept, a square; without, a crease all around. */
static void test_square_by_hand(void **state) {
    (void)state;
    ex_mesh *mesh = parse(square);
    for (int k = 0; k < 2; k++) {
        ex_subdivide_def def = ex_subdivide_def_default();
        assert_true(def.scheme == EX_SCHEME_CATMULL_CLARK && def.levels == 2 && def.limit && !def.boundary);
        def.boundary = k ? EX_BOUNDARY_EDGES_AND_CORNERS : EX_BOUNDARY_EDGES;
        ex_subdivision *s = NULL;
        assert_int_equal(ex_mesh_subdivide(mesh, &def, &s, NULL), EX_OK);
        ex_mesh *out = refined(s, mesh, 1), *limit = refined(s, mesh, EX_LEVEL_LIMIT);
        assert_point(out, 0, k ? 0 : 0.5 + 0, k ? 0 : 0.5, 0);
        assert_point(out, 4, 2, 0, 0);
        assert_point(out, 8, 2, 2, 0);
        assert_point(limit, 0, k ? 0 : 2 / 3.0, k ? 0 : 2 / 3.0, 0);
        assert_int_equal(limit->vertex_count, 25);
        for (int v = 0; v < 25; v++)
            assert_near(limit->normals[3 * v + 2], 1, 1e-6);
        ex_mesh_destroy(out);
        ex_mesh_destroy(limit);
        ex_subdivision_destroy(s);
    }
    ex_mesh_destroy(mesh);
}

/* A ridge of sharpness s between two squares: midpoint where s >= 1, a blend below. */
static void test_crease_by_hand(void **state) {
    (void)state;
    const double sharpnesses[] = {0, 0.25, 1, 3};
    for (int i = 0; i < 4; i++) {
        char text[256];
        snprintf(
            text, sizeof text,
            "v 0 0 0\nv 0 1 0\nv 1 0 1\nv 1 1 1\nv -1 0 1\nv -1 1 1\nf 1 3 4 2\nf 5 1 2 6\nt crease 2/1/0 1 0 %g\n",
            sharpnesses[i]);
        ex_mesh *mesh = parse(text);
        ex_subdivision *s = subdivide(mesh, EX_SCHEME_CATMULL_CLARK, 1, false);
        ex_mesh *out = refined(s, mesh, 1);
        double part = sharpnesses[i] > 1 ? 1 : sharpnesses[i];
        /* smooth: (0 + 0 + 1/2 + 1/2) / 4 */
        assert_point(out, 6, 0, 0.5, (1 - part) * 0.25);
        ex_mesh_destroy(out);
        ex_subdivision_destroy(s);
        ex_mesh_destroy(mesh);
    }
}

static const char tent[] =
    "v 0 0 0\nv 0 1 0\nv 0 2 0\nv 0 3 0\nv 1 0 1\nv 1 1 1\nv 1 2 1\nv 1 3 1\nv -1 0 1\nv -1 1 1\n"
    "v -1 2 1\nv -1 3 1\nf 1 5 6 2\nf 2 6 7 3\nf 3 7 8 4\nf 9 1 2 10\nf 10 2 3 11\nf 11 3 4 12\n";

/* Chaikin: 2 next to 4 becomes 3/4 2 + 1/4 4 - 1 = 3/2, the other 3/4 4 + 1/4 2 - 1 = 5/2. Seen in the points: with
 * sharpness of 3/2 and 5/2 at level 1, the next level's edges are creases there; after it they are 3/8…, and smooth
 * with the uniform rule for the 2. */
static void test_chaikin(void **state) {
    (void)state;
    double heights[2];
    for (int k = 0; k < 2; k++) {
        char text[512];
        snprintf(text, sizeof text, "%st crease 2/1/0 0 1 1.5\nt crease 2/1/0 1 2 4\nt creasemethod 0/0/1 %s\n", tent,
                 k ? "chaikin" : "normal");
        ex_mesh *mesh = parse(text);
        ex_subdivision *s = subdivide(mesh, EX_SCHEME_CATMULL_CLARK, 2, false);
        /* The half edge 0-1 near vertex 1, found by its place: y between 0.5 and 1 on the ridge. */
        ex_mesh *one = refined(s, mesh, 1), *two = refined(s, mesh, 2);
        heights[k] = INFINITY;
        for (int v = one->vertex_count; v < two->vertex_count; v++)
            if (fabs(two->positions[3 * v]) < 1e-9 && fabs(two->positions[3 * v + 1] - 0.75) < 0.05)
                heights[k] = two->positions[3 * v + 2];
        ex_mesh_destroy(one);
        ex_mesh_destroy(two);
        ex_subdivision_destroy(s);
        ex_mesh_destroy(mesh);
    }
    /* Uniform: 1/2 of sharpness is left, half of the smooth rule. Chaikin: 3/4 1.5 + 1/4 4 - 1 = 1.125: none of it. */
    assert_true(isfinite(heights[0]) && isfinite(heights[1]));
    assert_near(heights[1], 0, 1e-6);
    assert_true(heights[0] > 0.01);
}

/* ---- any mesh ---- */

static const char *const texts[] = {
    cube,
    square,
    tent,
    /* a house with a pentagon, a triangle, a hexagon, open below; one vertex alone */
    "v 0 0 0\nv 2 0 0\nv 2 2 0\nv 1 3 0\nv 0 2 0\nv 0 0 2\nv 2 0 2\nv 2 2 2\nv 1 3 2\nv 0 2 2\nv 9 9 9\n"
    "f 5 4 3 2 1\nf 6 7 8 9 10\nf 2 3 8 7\nf 3 4 9 8\nf 4 5 10 9\nf 5 1 6 10\n",
    /* two fans that meet in vertex 1 */
    "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv -1 0 0.5\nv -1 -1 0\nv 0 -1 0\nf 1 2 3 4\nf 1 5 6 7\n",
    /* two faces around one vertex of two edges */
    "v 0 0 0\nv 1 0 0\nv 0.5 0.2 0.1\nv 0.4 1 0\nv 0.4 -1 0\nf 1 3 2 4\nf 2 3 1 5\n",
};
enum { TEXTS = sizeof texts / sizeof texts[0] };

/* Rows sum up to 1, tangents to 0; moved meshes move. */
static void test_sums(void **state) {
    (void)state;
    for (int i = 0; i < TEXTS; i++)
        for (int scheme = 0; scheme < EX_SCHEME_COUNT; scheme++) {
            ex_mesh *mesh = parse(texts[i]);
            ex_subdivision *s = subdivide(mesh, (ex_scheme)scheme, 3, true);
            for (int level = -1; level <= 3; level++) {
                if (level == 0)
                    continue;
                int count = ex_stencils_weight_count(s->stencils, level);
                int vertices = ex_stencils_vertex_count(s->stencils, level);
                int *offsets = malloc(((size_t)vertices + 1) * sizeof(int)),
                    *indices = malloc((size_t)count * sizeof(int));
                double *weights = malloc((size_t)count * sizeof(double)), *tangents = malloc((size_t)count * 16);
                ex_stencils_read(s->stencils, level, offsets, indices, weights, level < 0 ? tangents : NULL);
                for (int v = 0; v < vertices; v++) {
                    double sums[3] = {0, 0, 0};
                    for (int k = offsets[v]; k < offsets[v + 1]; k++) {
                        sums[0] += weights[k];
                        sums[1] += level < 0 ? tangents[2 * k] : 0;
                        sums[2] += level < 0 ? tangents[2 * k + 1] : 0;
                    }
                    assert_near(sums[0], 1, 1e-7);
                    assert_near(sums[1], 0, 1e-6);
                    assert_near(sums[2], 0, 1e-6);
                }
                free(offsets);
                free(indices);
                free(weights);
                free(tangents);
            }
            ex_subdivision_destroy(s);
            ex_mesh_destroy(mesh);
        }
}

/* Faces of a level: corners in range, edges shared by at most two faces that run opposite ways, Euler's number and the
 * number of boundary edges as they should be. */
static void count_surface(const ex_refined_level *level, int *edges, int *boundary) {
    size_t n = (size_t)level->vertex_count;
    signed char *runs = calloc(n * n, 1);
    *edges = *boundary = 0;
    for (int f = 0; f < level->face_count; f++)
        for (int c = level->face_offsets[f]; c < level->face_offsets[f + 1]; c++) {
            int next = c + 1 < level->face_offsets[f + 1] ? c + 1 : level->face_offsets[f];
            assert_in_range(level->corners[c], 0, level->vertex_count - 1);
            signed char *run = &runs[(size_t)level->corners[c] * n + (size_t)level->corners[next]];
            assert_int_equal(*run, 0);
            *run = 1;
        }
    for (size_t a = 0; a < n; a++)
        for (size_t b = a + 1; b < n; b++) {
            *edges += runs[a * n + b] || runs[b * n + a];
            *boundary += runs[a * n + b] != runs[b * n + a];
        }
    free(runs);
}

static void test_topology(void **state) {
    (void)state;
    for (int i = 0; i < TEXTS; i++)
        for (int scheme = 0; scheme < EX_SCHEME_COUNT; scheme++) {
            ex_mesh *mesh = parse(texts[i]);
            ex_subdivision *s = subdivide(mesh, (ex_scheme)scheme, 2, false);
            int euler = 0, border = 0;
            for (int l = 0; l <= 2; l++) {
                const ex_refined_level *level = &s->levels[l];
                int edges, boundary;
                count_surface(level, &edges, &boundary);
                if (l == 0) {
                    euler = level->vertex_count - edges + level->face_count;
                    border = boundary;
                }
                assert_int_equal(level->vertex_count - edges + level->face_count, euler);
                assert_int_equal(boundary, border << l);
                assert_int_equal(ex_stencils_vertex_count(s->stencils, l), level->vertex_count);
                assert_int_equal(level->face_offsets[level->face_count], level->corner_count);
            }
            ex_subdivision_destroy(s);
            ex_mesh_destroy(mesh);
        }
}

/* In a plane everything stays in the plane, and limit normals are perpendicular to it. */
static void test_flat(void **state) {
    (void)state;
    uint64_t random = 4;
    for (int scheme = 0; scheme < EX_SCHEME_COUNT; scheme++) {
        char text[4096] = "";
        size_t used = 0;
        for (int v = 0; v < 36; v++) {
            double x = v % 6 + random_between(&random, -0.2, 0.2), y = v / 6 + random_between(&random, -0.2, 0.2);
            used +=
                (size_t)snprintf(text + used, sizeof text - used, "v %.9f %.9f %.9f\n", x, y, 0.3 * x - 0.2 * y + 7);
        }
        for (int f = 0; f < 25; f++) {
            int a = f / 5 * 6 + f % 5 + 1;
            used += (size_t)snprintf(text + used, sizeof text - used, "f %d %d %d %d\n", a, a + 1, a + 7, a + 6);
        }
        snprintf(text + used, sizeof text - used, "t crease 3/1/0 14 15 21 1.3\nt corner 1/1/0 22 3\n");
        ex_mesh *mesh = parse(text);
        ex_subdivision *s = subdivide(mesh, (ex_scheme)scheme, 3, true);
        double length = sqrt(1 + 0.3 * 0.3 + 0.2 * 0.2);
        for (int level = -1; level <= 3; level++) {
            ex_mesh *out = refined(s, mesh, level);
            for (int v = 0; v < out->vertex_count; v++) {
                const double *p = out->positions + 3 * v;
                assert_near(p[2], 0.3 * p[0] - 0.2 * p[1] + 7, 3e-6);
                if (level == -1) {
                    assert_near(out->normals[3 * v], -0.3 / length, 1e-5);
                    assert_near(out->normals[3 * v + 1], 0.2 / length, 1e-5);
                    assert_near(out->normals[3 * v + 2], 1 / length, 1e-5);
                }
            }
            ex_mesh_destroy(out);
        }
        ex_subdivision_destroy(s);
        ex_mesh_destroy(mesh);
    }
}

/* ---- attributes ---- */

/* Two squares that share an edge: in the first mesh also their texture coordinates, in the others not, at both ends of
 * the edge or at one. */
static void test_seams(void **state) {
    (void)state;
    for (int seam = 0; seam < 4; seam++)
        for (int scheme = 0; scheme < EX_SCHEME_COUNT; scheme++) {
            char text[512];
            snprintf(text, sizeof text,
                     "v 0 0 0\nv 1 0 0\nv 2 0 0\nv 0 1 0\nv 1 1 0\nv 2 1 0\nvt 0 0\nvt .5 0\nvt 1 0\nvt 0 1\nvt .5 "
                     "1\nvt 1 1\n"
                     "vt .7 0\nvt .7 1\ng left\nf 1/1 2/2 5/5 4/4\ng right\nusemtl red\nf 2/%d 3/3 6/6 5/%d\n",
                     seam & 1 ? 7 : 2, seam & 2 ? 8 : 5);
            ex_mesh *mesh = parse(text);
            ex_subdivision *s = subdivide(mesh, (ex_scheme)scheme, 2, false);
            const ex_refined_level *one = &s->levels[1];
            /* 8 before; quads 7 edges + 2 faces, triangles 9 edges; and one more edge along the seam. */
            assert_int_equal(one->texcoord_count, 8 + 9 + (seam > 0));
            ex_mesh *out = refined(s, mesh, 2);
            assert_int_equal(out->group_count, 2);
            for (int f = 0; f < out->face_count; f++)
                for (int c = out->face_offsets[f]; c < out->face_offsets[f + 1]; c++) {
                    const double *uv = out->texcoords + 2 * out->corner_texcoords[c];
                    bool left = strcmp(out->group_names[out->face_groups[f]], "left") == 0;
                    assert_int_equal(out->face_materials[f], left ? -1 : 0);
                    assert_true(left ? uv[0] <= 0.5 : uv[0] >= (seam == 3 ? 0.7 : 0.5));
                    if (scheme == EX_SCHEME_BILINEAR && (left || seam % 3 == 0)) { /* texture follows the surface */
                        const double *p = out->positions + 3 * out->corners[c];
                        double u = left ? p[0] / 2 : seam ? 0.7 + 0.3 * (p[0] - 1) : p[0] / 2;
                        assert_near(uv[0], u, 1e-6);
                        assert_near(uv[1], p[1], 1e-6);
                    }
                }
            ex_mesh_destroy(out);
            ex_subdivision_destroy(s);
            ex_mesh_destroy(mesh);
        }
}

/* Faces without texture coordinates among others, and colours. */
static void test_partial(void **state) {
    (void)state;
    ex_mesh *mesh = parse("v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 1 1 0 0 0 1\nv 0 1 0 1 1 1\nv 2 0 0 0 0 0\nv 2 1 0 0 0 0\n"
                          "vt 0 0\nvt 1 1\nf 1/1 2/2 3/2 4/1\nf 2 5 6 3\n");
    ex_subdivision *s = subdivide(mesh, EX_SCHEME_CATMULL_CLARK, 1, false);
    ex_mesh *out = refined(s, mesh, 1);
    for (int f = 0; f < 8; f++)
        for (int c = out->face_offsets[f]; c < out->face_offsets[f + 1]; c++)
            assert_true(f < 4 ? out->corner_texcoords[c] >= 0 : out->corner_texcoords[c] == -1);
    int middle = s->levels[1].corners[2];
    for (int c = 0; c < 3; c++)
        assert_near((double)out->colours[3 * middle + c], 0.5, 1e-6);
    ex_mesh_destroy(out);
    ex_subdivision_destroy(s);
    ex_mesh_destroy(mesh);
}

/* Holes and unbounded boundaries remove faces and move nothing. */
static void test_left_out(void **state) {
    (void)state;
    char text[1024];
    snprintf(text, sizeof text, "%st hole 2/0/0 1 4\n", cube);
    ex_mesh *mesh = parse(cube), *with_hole = parse(text);
    for (int scheme = 0; scheme < EX_SCHEME_COUNT; scheme++) {
        ex_subdivision *a = subdivide(mesh, (ex_scheme)scheme, 1, true),
                       *b = subdivide(with_hole, (ex_scheme)scheme, 1, true);
        assert_int_equal(b->levels[1].face_count * 6, a->levels[1].face_count * 4);
        for (int f = 0; f < b->levels[1].face_count; f++)
            assert_true(b->levels[1].face_sources[f] != 1 && b->levels[1].face_sources[f] != 4);
        assert_memory_equal(a->stencils, b->stencils, ex_stencils_size(a->stencils));
        ex_subdivision_destroy(a);
        ex_subdivision_destroy(b);
    }
    ex_mesh_destroy(mesh);
    ex_mesh_destroy(with_hole);
    char grid[4096] = "";
    size_t used = 0;
    for (int v = 0; v < 25; v++)
        used += (size_t)snprintf(grid + used, sizeof grid - used, "v %d %d 0\n", v % 5, v / 5);
    for (int f = 0; f < 16; f++) {
        int a = f / 4 * 5 + f % 4 + 1;
        used += (size_t)snprintf(grid + used, sizeof grid - used, "f %d %d %d %d\n", a, a + 1, a + 6, a + 5);
    }
    snprintf(grid + used, sizeof grid - used, "t interpolateboundary 1/0/0 0\n");
    mesh = parse(grid);
    ex_subdivision *s = subdivide(mesh, EX_SCHEME_CATMULL_CLARK, 1, false);
    assert_int_equal(s->levels[0].face_count, 4);
    assert_int_equal(s->levels[1].face_count, 16);
    ex_mesh *out = refined(s, mesh, 1);
    for (int c = 0; c < out->corner_count; c++) {
        const double *p = out->positions + 3 * out->corners[c];
        assert_true(p[0] >= 1 - 1e-6 && p[0] <= 3 + 1e-6 && p[1] >= 1 - 1e-6 && p[1] <= 3 + 1e-6);
    }
    ex_mesh_destroy(out);
    ex_subdivision_destroy(s);
    ex_mesh_destroy(mesh);
}

/* Vertices that stay where they are: alone, and where fans meet. */
static void test_pinched(void **state) {
    (void)state;
    ex_mesh *mesh = parse(texts[4]);
    ex_subdivision *s = subdivide(mesh, EX_SCHEME_CATMULL_CLARK, 2, true);
    assert_int_equal(s->pinched_count, 1);
    assert_int_equal(s->pinched[0], 0);
    for (int level = -1; level < 3; level++) {
        ex_mesh *out = refined(s, mesh, level);
        assert_point(out, 0, 0, 0, 0);
        ex_mesh_destroy(out);
    }
    ex_subdivision_destroy(s);
    ex_mesh_destroy(mesh);
    mesh = parse(texts[3]);
    s = subdivide(mesh, EX_SCHEME_LOOP, 2, true);
    assert_int_equal(s->pinched_count, 0);
    ex_mesh *out = refined(s, mesh, EX_LEVEL_LIMIT);
    assert_point(out, 10, 9, 9, 9);
    assert_true(out->normals[30] == 0 && out->normals[31] == 0 && out->normals[32] == 0);
    ex_mesh_destroy(out);
    ex_subdivision_destroy(s);
    ex_mesh_destroy(mesh);
    mesh = parse("v 1 2 3\n");
    s = subdivide(mesh, EX_SCHEME_LOOP, 1, true);
    assert_int_equal(s->levels[1].face_count, 0);
    ex_subdivision_destroy(s);
    ex_mesh_destroy(mesh);
}

/* Smoothed triangles: (0.5 - f)(a + b) + f (middles), f = (0.47 + 0.25)/2 next to a quad. */
static void test_smooth_triangles(void **state) {
    (void)state;
    ex_mesh *mesh =
        parse("v 0 0 0\nv 1 0 0\nv 1 1 3\nv 0 1 3\nv .5 -1 6\nf 1 2 3 4\nf 2 1 5\nt smoothtriangles 0/0/0\n");
    ex_subdivision *s = subdivide(mesh, EX_SCHEME_CATMULL_CLARK, 1, false);
    ex_mesh *out = refined(s, mesh, 1);
    assert_near(out->positions[3 * 5 + 2], 0.36 * (1.5 + 2), 1e-6);
    ex_mesh_destroy(out);
    ex_subdivision_destroy(s);
    ex_mesh_destroy(mesh);
}

/* ---- errors ---- */

static void test_refused(void **state) {
    (void)state;
    static const struct {
        const char *text, *word, *word_2;
        int change, to; /* the integer of the tag at this distance from the end: a file's reader would refuse it */
    } cases[] = {
        {"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\nt crease 2/1/0 0 2 1\n", "vertex 0", "vertex 2", 0, 0},
        {"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\nt crease 2/1/0 0 1 1\n", "crease", "vertex 4", 1, 4},
        {"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\nt crease 3/3/0 0 1 2 1 2 3\n", "crease", "3 sharpness values",
         0, 0},
        {"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\nt corner 1/1/0 1 1\n", "corner", "vertex -1", 1, -1},
        {"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\nt corner 1/0/0 1\n", "corner", "0 sharpness values", 0, 0},
        {"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\nt hole 1/0/0 0\n", "hole", "face 1", 1, 1},
        {"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\nt interpolateboundary 1/0/0 3\n", "interpolateboundary",
         "mode", 0, 0},
        {"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\nt creasemethod 0/0/1 soft\n", "creasemethod", "soft", 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ex_mesh *mesh = parse(cases[i].text);
        if (cases[i].change)
            mesh->tags[0].ints[mesh->tags[0].int_count - cases[i].change] = cases[i].to;
        ex_subdivide_def def = ex_subdivide_def_default();
        ex_subdivision *s = (ex_subdivision *)1;
        ex_error error = {.result = EX_OK};
        assert_int_equal(ex_mesh_subdivide(mesh, &def, &s, &error), EX_ERROR_DATA);
        assert_null(s);
        assert_sentence(&error, EX_ERROR_DATA, cases[i].word);
        assert_sentence(&error, EX_ERROR_DATA, cases[i].word_2);
        ex_mesh_destroy(mesh);
    }
    ex_mesh *mesh = parse(cube);
    const ex_subdivide_def bad[] = {
        {.levels = -1}, {.levels = 11}, {.scheme = EX_SCHEME_COUNT}, {.boundary = EX_BOUNDARY_COUNT}};
    for (int i = 0; i < 4; i++) {
        ex_subdivision *s;
        ex_error error = {.result = EX_OK};
        assert_int_equal(ex_mesh_subdivide(mesh, &bad[i], &s, &error), EX_ERROR_ARGUMENT);
        assert_sentence(&error, EX_ERROR_ARGUMENT, "subdivision");
    }
    mesh->corners[3] = 8;
    ex_subdivide_def def = ex_subdivide_def_default();
    ex_subdivision *s;
    ex_error error = {.result = EX_OK};
    assert_int_equal(ex_mesh_subdivide(mesh, &def, &s, &error), EX_ERROR_DATA);
    ex_mesh_destroy(mesh);
}

static int misuses;
static void count_misuse(const char *function, const char *what) {
    (void)function;
    (void)what;
    misuses++;
}

static void test_misuse(void **state) {
    (void)state;
    ex_mesh *mesh = parse(cube), *out;
    ex_subdivision *s = subdivide(mesh, EX_SCHEME_LOOP, 1, false), *none;
    ex_set_misuse_hook(count_misuse);
    misuses = 0;
    ex_mesh_subdivide(NULL, NULL, &none, NULL);
    ex_subdivision_mesh(s, mesh, 2, &out, NULL);
    ex_subdivision_mesh(s, mesh, EX_LEVEL_LIMIT, &out, NULL);
    assert_int_equal(misuses, 3);
    ex_set_misuse_hook(NULL);
    ex_subdivision_destroy(s);
    ex_subdivision_destroy(NULL);
    ex_mesh_destroy(mesh);
}

static ex_result attempt(void *context) {
    const ex_mesh *mesh = context;
    ex_subdivide_def def = {.scheme = EX_SCHEME_LOOP, .levels = 2, .limit = true};
    ex_subdivision *s = NULL;
    ex_mesh *out = NULL;
    ex_result result = ex_mesh_subdivide(mesh, &def, &s, NULL);
    if (result == EX_OK)
        result = ex_subdivision_mesh(s, mesh, EX_LEVEL_LIMIT, &out, NULL);
    ex_mesh_destroy(out);
    ex_subdivision_destroy(s);
    return result;
}

/* A fan with a large valence, so that rows grow beyond what was reserved for them. */
static void test_memory(void **state) {
    (void)state;
    char text[8192] = "v 0 0 1 1 1 1\nvt 0 0\n";
    size_t used = strlen(text);
    for (int i = 0; i < 60; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "v %.4f %.4f 0 0 0 0\n", cos(i * 0.1047),
                                 sin(i * 0.1047));
    used += (size_t)snprintf(text + used, sizeof text - used, "g all\nusemtl one\n");
    for (int i = 0; i < 60; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "f 1/1 %d/1 %d/1\n", i + 2, (i + 1) % 60 + 2);
    ex_mesh *mesh = parse(text);
    assert_true(fail_alloc_sweep(attempt, mesh) > 50);
    ex_mesh_destroy(mesh);
}

/* A vertex with very many edges, and a face with very many corners: the time is not quadratic. */
static void test_poles(void **state) {
    (void)state;
    enum { COUNT = 20000 };
    ex_mesh *mesh = ex_mesh_create();
    mesh->vertex_count = COUNT + 1;
    mesh->positions = calloc(3 * (COUNT + 1), sizeof(double));
    mesh->face_count = COUNT;
    mesh->corner_count = 3 * COUNT;
    mesh->face_offsets = malloc((COUNT + 1) * sizeof(int));
    mesh->corners = malloc(3 * COUNT * sizeof(int));
    for (int i = 0; i < COUNT; i++) {
        mesh->face_offsets[i] = 3 * i;
        mesh->corners[3 * i] = COUNT; /* the last vertex, so that no order by the lower end helps */
        mesh->corners[3 * i + 1] = i;
        mesh->corners[3 * i + 2] = (i + 1) % COUNT;
    }
    mesh->face_offsets[COUNT] = 3 * COUNT;
    ex_subdivision *s = subdivide(mesh, EX_SCHEME_LOOP, 1, false);
    assert_int_equal(s->levels[1].face_count, 4 * COUNT);
    ex_subdivision_destroy(s);
    ex_mesh_destroy(mesh);
}

/* Refused from counts alone: the work would take gigabytes before it fails. */
static void refuses_what_is_too_large(void **state) {
    (void)state;
    static char polygon[40000];
    size_t size = 0;
    for (int i = 0; i < 1000; i++)
        size += (size_t)snprintf(polygon + size, sizeof polygon - size, "v %g %g 0\n", cos(i * 0.006283),
                                 sin(i * 0.006283));
    size += (size_t)snprintf(polygon + size, sizeof polygon - size, "f");
    for (int i = 1; i <= 1000; i++)
        size += (size_t)snprintf(polygon + size, sizeof polygon - size, " %d", i);
    const struct {
        const char *text;
        ex_subdivide_def def;
        const char *words[2];
    } large[] = {
        {cube,
         {.scheme = EX_SCHEME_CATMULL_CLARK, .levels = 10, .limit = true},
         {"6 faces subdivided 10 times would have about 6.3e+06 vertices", "at most 9 levels fit"}},
        {polygon,
         {.scheme = EX_SCHEME_CATMULL_CLARK, .levels = 6},
         {"1 face subdivided 6 times", "at most 4 levels fit"}},
    };
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        ex_mesh *mesh = parse(large[i].text);
        ex_subdivision *s = NULL;
        ex_error error = {.result = EX_OK};
        assert_int_equal(ex_mesh_subdivide(mesh, &large[i].def, &s, &error), EX_ERROR_LIMIT);
        for (int w = 0; w < 2; w++)
            assert_sentence(&error, EX_ERROR_LIMIT, large[i].words[w]);
        assert_null(s);
        ex_mesh_destroy(mesh);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_what_is_too_large),
        cmocka_unit_test(test_reference),
        cmocka_unit_test(test_cube_by_hand),
        cmocka_unit_test(test_square_by_hand),
        cmocka_unit_test(test_crease_by_hand),
        cmocka_unit_test(test_chaikin),
        cmocka_unit_test(test_sums),
        cmocka_unit_test(test_topology),
        cmocka_unit_test(test_flat),
        cmocka_unit_test(test_seams),
        cmocka_unit_test(test_partial),
        cmocka_unit_test(test_left_out),
        cmocka_unit_test(test_pinched),
        cmocka_unit_test(test_smooth_triangles),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_misuse),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_poles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
