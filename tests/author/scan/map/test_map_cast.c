/*
 * Rays from a template to scans: planes worked by hand, a posed limb against the truth, surfaces that face the other
 * way, are too far or behind another sheet, views that agree and that do not, edges of views, patches and folds,
 * parts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/limbs.h"

/* ---- scans ---- */

/* A square sheet of that many squares each way from -0.5 to 1.5, moved to z = height + slope x. */
static ex_mesh *plane(int squares, double height, double slope) {
    ex_mesh *mesh = limb_sheet(squares, 2);
    for (int v = 0; v < mesh->vertex_count; v++) {
        double *p = mesh->positions + 3 * (size_t)v;
        p[0] -= 0.5;
        p[1] -= 0.5;
        p[2] = height + slope * p[0];
    }
    return mesh;
}

static void turn_over(ex_mesh *mesh) {
    for (int f = 0; f < mesh->face_count; f++) {
        int *corners = mesh->corners + mesh->face_offsets[f];
        const int second = corners[1];
        corners[1] = corners[3];
        corners[3] = second;
    }
}

/* Both in one mesh; the second is destroyed. */
static void append(ex_mesh *mesh, ex_mesh *other) {
    mesh->positions =
        realloc(mesh->positions, 3 * (size_t)(mesh->vertex_count + other->vertex_count) * sizeof *mesh->positions);
    mesh->corners = realloc(mesh->corners, (size_t)(mesh->corner_count + other->corner_count) * sizeof(int));
    mesh->face_offsets = realloc(mesh->face_offsets, (size_t)(mesh->face_count + other->face_count + 1) * sizeof(int));
    assert_true(mesh->positions && mesh->corners && mesh->face_offsets);
    memcpy(mesh->positions + 3 * (size_t)mesh->vertex_count, other->positions,
           3 * (size_t)other->vertex_count * sizeof *mesh->positions);
    for (int c = 0; c < other->corner_count; c++)
        mesh->corners[mesh->corner_count + c] = other->corners[c] + mesh->vertex_count;
    for (int f = 0; f <= other->face_count; f++)
        mesh->face_offsets[mesh->face_count + f] = other->face_offsets[f] + mesh->corner_count;
    mesh->vertex_count += other->vertex_count;
    mesh->corner_count += other->corner_count;
    mesh->face_count += other->face_count;
    ex_mesh_destroy(other);
}

static ex_displacement_map *must_cast(const ex_displacement_map_def *def) {
    ex_displacement_map *map;
    ex_error error;
    if (ex_displacement_map_cast(def, &map, &error) != EX_OK)
        fail_msg("%s", error.text);
    return map;
}

/* One mesh, which is destroyed. */
static ex_displacement_map *cast_one(const ex_rig *rig, ex_mesh *mesh, double reach) {
    ex_displacement_map *map = must_cast(&(ex_displacement_map_def){
        .rig = rig, .level = EX_LEVEL_LIMIT, .meshes = &mesh, .mesh_count = 1, .reach = reach, .noise = 0.001});
    ex_mesh_destroy(mesh);
    return map;
}

static int count_states(const ex_displacement_map *map, int state) {
    int count = 0;
    for (int v = 0; v < map->vertex_count; v++)
        count += map->states[v] == state;
    return count;
}

/* ---- by hand ---- */

static void planes(void **state) {
    (void)state;
    ex_rig *rig = limb_sheet_rig(4, 1, 1);
    float *positions, *normals;
    limb_surface(rig, NULL, &positions, &normals);
    for (int sign = -1; sign <= 1; sign += 2) {
        ex_displacement_map *map = cast_one(rig, plane(1, sign * 0.02, sign * 0.01), 0.06);
        for (int v = 0; v < map->vertex_count; v++) {
            assert_int_equal(map->states[v], EX_DISPLACEMENT_MAP_HIT);
            assert_near((double)map->displacements[v], sign * (0.02 + 0.01 * (double)positions[3 * v]), 1e-7);
        }
        ex_displacement_map_destroy(map);
    }
    free(positions);
    free(normals);
    ex_rig_destroy(rig);
}

/* Too far, reversed, or behind something reversed: holes, all 0. */
static void nothing_to_hit(void **state) {
    (void)state;
    ex_rig *rig = limb_sheet_rig(4, 1, 1);
    for (int kind = 0; kind < 5; kind++) {
        ex_mesh *mesh = plane(1, kind == 0 ? 0.07 : kind == 1 ? -0.07 : 0.02, kind == 4 ? 20 : 0);
        if (kind == 2)
            turn_over(mesh);
        if (kind == 3) { /* a sheet that faces down in front of the one that faces up */
            ex_mesh *before = plane(1, 0.01, 0);
            turn_over(before);
            append(mesh, before);
        }
        ex_displacement_map *map = cast_one(rig, mesh, 0.06);
        assert_int_equal(count_states(map, EX_DISPLACEMENT_MAP_FILLED),
                         map->vertex_count); /* 4: steeper than 78 degrees */
        for (int v = 0; v < map->vertex_count; v++)
            assert_true(map->displacements[v] == 0);
        ex_displacement_map_destroy(map);
    }
    ex_rig_destroy(rig);
}

/* Of two surfaces the nearer. */
static void nearer(void **state) {
    (void)state;
    ex_rig *rig = limb_sheet_rig(4, 1, 1);
    for (int sign = -1; sign <= 1; sign += 2) {
        ex_mesh *mesh = plane(1, 0.02, 0);
        append(mesh, plane(1, sign * 0.01, 0));
        ex_displacement_map *map = cast_one(rig, mesh, 0.06);
        for (int v = 0; v < map->vertex_count; v++)
            assert_near((double)map->displacements[v], sign * 0.01, 1e-7);
        ex_displacement_map_destroy(map);
    }
    ex_rig_destroy(rig);
}

/* Two sheets one above the other, both facing up: a surface above both belongs to the upper, one below to the lower;
 * one that faces up between them belongs to both. */
static void another_sheet(void **state) {
    (void)state;
    ex_mesh *cage = limb_sheet(4, 1), *upper = limb_sheet(4, 1);
    for (int v = 0; v < upper->vertex_count; v++)
        upper->positions[3 * v + 2] = 0.02;
    append(cage, upper);
    ex_rig *rig = limb_rig_of(cage, NULL, NULL, 1);
    float *positions, *normals;
    limb_surface(rig, NULL, &positions, &normals);
    const double heights[3] = {0.03, -0.01, 0.005};
    for (int i = 0; i < 3; i++) {
        ex_displacement_map *map = cast_one(rig, plane(1, heights[i], 0), 0.06);
        for (int v = 0; v < map->vertex_count; v++) {
            const double own = (double)positions[3 * v + 2];
            const bool hit = i == 0 ? own > 0.01 : true; /* a way down leaves no sheet that looks up */
            assert_int_equal(map->states[v], hit ? EX_DISPLACEMENT_MAP_HIT : EX_DISPLACEMENT_MAP_FILLED);
            assert_near((double)map->displacements[v], hit ? heights[i] - own : 0, 1e-6);
        }
        ex_displacement_map_destroy(map);
    }
    free(positions);
    free(normals);
    ex_rig_destroy(rig);
    ex_mesh_destroy(cage);
}

static void parts(void **state) {
    (void)state;
    ex_rig *rig = limb_sheet_rig(4, 1, 1);
    const int count = ex_rig_level_vertex_count(rig, EX_LEVEL_LIMIT);
    unsigned char *covered = calloc((size_t)count, 1);
    assert_non_null(covered);
    for (int v = 0; v < count; v += 2)
        covered[v] = 1;
    ex_mesh *mesh = plane(1, 0.02, 0);
    ex_displacement_map *map = must_cast(&(ex_displacement_map_def){.rig = rig,
                                                                    .level = EX_LEVEL_LIMIT,
                                                                    .meshes = &mesh,
                                                                    .mesh_count = 1,
                                                                    .covered = covered,
                                                                    .reach = 0.06,
                                                                    .noise = 0.001});
    for (int v = 0; v < count; v++) {
        assert_int_equal(map->states[v], covered[v] ? EX_DISPLACEMENT_MAP_HIT : EX_DISPLACEMENT_MAP_OUTSIDE);
        assert_near((double)map->displacements[v], covered[v] ? 0.02 : 0, 1e-7);
    }
    ex_displacement_map_destroy(map);
    ex_mesh_destroy(mesh);
    free(covered);
    ex_rig_destroy(rig);
}

/* ---- views ---- */

static ex_displacement_map *cast_two(const ex_rig *rig, ex_mesh *a, ex_mesh *b, double noise) {
    ex_mesh *meshes[2] = {a, b};
    ex_displacement_map *map = must_cast(&(ex_displacement_map_def){
        .rig = rig, .level = EX_LEVEL_LIMIT, .meshes = meshes, .mesh_count = 2, .reach = 0.06, .noise = noise});
    ex_mesh_destroy(a);
    ex_mesh_destroy(b);
    return map;
}

static bool left_of(const double middle[3], void *user) {
    return middle[0] < *(double *)user;
}

/* Views that agree are averaged; near its edge a view counts less and less, and beyond it not at all. */
static void views_agree(void **state) {
    (void)state;
    ex_rig *rig = limb_sheet_rig(8, 1, 2);
    float *positions, *normals;
    limb_surface(rig, NULL, &positions, &normals);
    double edge = 0.5; /* of squares 0.05 wide */
    ex_mesh *whole = plane(40, 0.012, 0), *part = limb_cut(whole, left_of, &edge);
    ex_mesh_destroy(whole);
    ex_displacement_map *map = cast_two(rig, plane(40, 0.010, 0), part, 0.001);
    for (int v = 0; v < map->vertex_count; v++) {
        const double x = (double)positions[3 * v], rings = (edge - x) / 0.05, d = (double)map->displacements[v];
        const double counts = rings >= 3 ? 1 : rings > 0.06 ? rings / 3 : 0.02;
        assert_int_equal(map->states[v], EX_DISPLACEMENT_MAP_HIT);
        assert_near(d, x > edge ? 0.010 : 0.010 + 0.002 * counts / (1 + counts), 2e-6);
    }
    ex_displacement_map_destroy(map);
    free(positions);
    free(normals);
    ex_rig_destroy(rig);
}

/* Of views that disagree, only the better one counts: that which sees the surface more squarely. */
static void views_disagree(void **state) {
    (void)state;
    ex_rig *rig = limb_sheet_rig(4, 1, 1);
    for (int order = 0; order < 2; order++) {
        ex_mesh *square = plane(40, 0.010, 0), *oblique = plane(40, 0.020, 0);
        for (int v = 0; v < oblique->vertex_count; v++) /* the rest of its view is on a slope */
            if (oblique->positions[3 * v] > 1.2)
                oblique->positions[3 * v + 2] += 5 * (oblique->positions[3 * v] - 1.2);
        ex_displacement_map *map =
            order ? cast_two(rig, oblique, square, 0.001) : cast_two(rig, square, oblique, 0.001);
        for (int v = 0; v < map->vertex_count; v++)
            assert_near((double)map->displacements[v], 0.010, 1e-7);
        ex_displacement_map_destroy(map);
    }
    ex_rig_destroy(rig);
}

/* More than half of a scan's noise is removed, and nothing if no noise is given. */
static void noise(void **state) {
    (void)state;
    ex_rig *rig = limb_sheet_rig(8, 1, 1);
    for (int said = 0; said < 2; said++) {
        uint64_t seed = 9;
        ex_mesh *mesh = plane(100, 0.02, 0);
        double before = 0, after = 0;
        for (int v = 0; v < mesh->vertex_count; v++) {
            const double off = random_between(&seed, -0.005, 0.005);
            mesh->positions[3 * v + 2] += off;
            before += off * off / mesh->vertex_count;
        }
        ex_displacement_map *map = must_cast(&(ex_displacement_map_def){.rig = rig,
                                                                        .level = EX_LEVEL_LIMIT,
                                                                        .meshes = &mesh,
                                                                        .mesh_count = 1,
                                                                        .reach = 0.06,
                                                                        .noise = said ? 0.003 : 0});
        for (int v = 0; v < map->vertex_count; v++) {
            const double off = (double)map->displacements[v] - 0.02;
            after += off * off / map->vertex_count;
        }
        assert_true(said ? after < 0.25 * before : after > 0.3 * before);
        ex_displacement_map_destroy(map);
        ex_mesh_destroy(mesh);
    }
    ex_rig_destroy(rig);
}

/* ---- implausible surfaces ---- */

static bool around_middle(const double middle[3], void *user) {
    return !(fabs(middle[0] - 0.5) < *(double *)user && fabs(middle[1] - 0.5) < *(double *)user);
}

static bool near_middle(const double middle[3], void *user) {
    return !around_middle(middle, user);
}

/* A tile that floats above a hole: 9 vertices of 4225 that are separate from the rest. One that lies in it is as good
 * as the rest, and so is a large one. */
static void patches(void **state) {
    (void)state;
    ex_rig *rig = limb_sheet_rig(16, 1, 2);
    const struct {
        double size, height;
        int holes;
    } cases[] = {{0.024, 0.09, 1}, {0.024, 0.01, 0}, {0.2, 0.09, 0}};
    for (int i = 0; i < 3; i++) {
        double size = cases[i].size + 0.001, ring = cases[i].size + 0.005;
        ex_mesh *whole = plane(100, 0.01, 0), *high = plane(100, cases[i].height, 0);
        ex_mesh *mesh = limb_cut(whole, around_middle, i == 1 ? &size : &ring),
                *tile = limb_cut(high, near_middle, &size);
        append(mesh, tile);
        ex_displacement_map *map = cast_one(rig, mesh, 0.1);
        int high_count = 0;
        for (int v = 0; v < map->vertex_count; v++)
            high_count += map->displacements[v] > 0.03F;
        if (cases[i].holes)
            assert_int_equal(high_count, 0);
        else
            assert_true(i == 1 || high_count > 500);
        assert_true(i != 1 || count_states(map, EX_DISPLACEMENT_MAP_FILLED) == 0);
        assert_true(i != 0 || count_states(map, EX_DISPLACEMENT_MAP_FILLED) >= 9);
        ex_displacement_map_destroy(map);
        ex_mesh_destroy(whole);
        ex_mesh_destroy(high);
    }
    ex_rig_destroy(rig);
}

/* A gutter of radius 0.05 about the y axis: rays converge to the axis, and behind it the surface comes out mirrored. In
 * a bowl it comes out turned half round instead. */
static void folds(void **state) {
    (void)state;
    for (int bowl = 0; bowl < 2; bowl++) {
        ex_mesh *cage = limb_sheet(8, 1);
        for (int v = 0; v < cage->vertex_count; v++) {
            double *p = cage->positions + 3 * (size_t)v;
            const double turn = 2.4 * (p[0] - 0.5), other = bowl ? 2.4 * (p[1] - 0.5) : 0;
            p[0] = 0.05 * sin(turn) * cos(other);
            p[1] = bowl ? 0.05 * sin(other) : 0.4 * p[1];
            p[2] = -0.05 * cos(turn) * cos(other);
        }
        ex_rig *rig = limb_rig_of(cage, NULL, NULL, 2);
        const struct {
            double height;
            bool hit;
        } cases[] = {{-0.03, true}, {-0.02, true}, {0.02, false}};
        for (int i = 0; i < 3; i++) {
            ex_displacement_map *map = cast_one(rig, plane(20, cases[i].height, 0), 0.1);
            const int hits = count_states(map, EX_DISPLACEMENT_MAP_HIT),
                      holes = count_states(map, EX_DISPLACEMENT_MAP_FILLED);
            assert_int_equal(hits + holes, map->vertex_count);
            if (cases[i].hit) /* the bowl's edge is too steep to be hit */
                assert_true(bowl ? hits > map->vertex_count / 2 : hits == map->vertex_count);
            else
                assert_int_equal(hits, 0);
            ex_displacement_map_destroy(map);
        }
        ex_rig_destroy(rig);
        ex_mesh_destroy(cage);
    }
}

/* ---- a limb ---- */

/* A body with bumps at a pose: the map gives back the bumps put on the template. */
static void bent_limb(void **state) {
    (void)state;
    ex_mesh *cage = limb_cage();
    ex_rig *coarse = limb_rig(cage, 2), *fine = limb_rig(cage, 3);
    ex_transform joints[LIMB_JOINTS];
    limb_bend(50, joints);
    ex_mesh *body = limb_body(fine, joints, 0.004);
    ex_displacement_map *expected = limb_map(coarse, 0.004);
    ex_displacement_map *map = must_cast(&(ex_displacement_map_def){
        .rig = coarse, .level = EX_LEVEL_LIMIT, .joints = joints, .meshes = &body, .mesh_count = 1, .reach = 0.03});
    int holes = 0;
    for (int v = 0; v < map->vertex_count; v++) {
        holes += map->states[v] != EX_DISPLACEMENT_MAP_HIT;
        if (map->states[v] == EX_DISPLACEMENT_MAP_HIT)
            assert_near((double)map->displacements[v], (double)expected->displacements[v], 2e-6);
    }
    assert_true(holes <= map->vertex_count / 20); /* rays at the open ends may miss the body by a rounding */
    ex_displacement_map_destroy(map);
    ex_displacement_map_destroy(expected);
    ex_mesh_destroy(body);
    ex_rig_destroy(fine);
    ex_rig_destroy(coarse);
    ex_mesh_destroy(cage);
}

static void run_in_pieces(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)grain;
    for (int end = count; end > 0; end -= *(int *)user)
        body(context, end > *(int *)user ? end - *(int *)user : 0, end);
}

static void any_cut_of_the_work(void **state) {
    (void)state;
    int piece = 7;
    const ex_tasks tasks = {run_in_pieces, &piece};
    ex_mesh *cage = limb_cage();
    ex_rig *rig = limb_rig(cage, 1);
    ex_mesh *body = limb_body(rig, NULL, 0.004);
    ex_displacement_map_def def = {
        .rig = rig, .level = EX_LEVEL_LIMIT, .meshes = &body, .mesh_count = 1, .reach = 0.03, .noise = 0.001};
    ex_displacement_map *a = must_cast(&def);
    def.tasks = &tasks;
    ex_displacement_map *b = must_cast(&def);
    assert_memory_equal(a->displacements, b->displacements, (size_t)a->vertex_count * sizeof *a->displacements);
    assert_memory_equal(a->states, b->states, (size_t)a->vertex_count);
    ex_displacement_map_destroy(a);
    ex_displacement_map_destroy(b);
    ex_mesh_destroy(body);
    ex_rig_destroy(rig);
    ex_mesh_destroy(cage);
}

/* ---- errors ---- */

static void invalid(void **state) {
    (void)state;
    ex_rig *rig = limb_sheet_rig(2, 1, 1);
    ex_mesh *good = plane(1, 0, 0), *empty = ex_mesh_create(), *broken = plane(1, 0, 0);
    broken->positions[4] = NAN;
    const struct {
        int level, mesh_count;
        ex_mesh *mesh;
        double reach, noise;
        ex_result result;
        const char *word;
    } cases[] = {
        {2, 1, good, 0.1, 0, EX_ERROR_ARGUMENT, "level 2"},   {1, 0, good, 0.1, 0, EX_ERROR_ARGUMENT, "meshes"},
        {1, 99, good, 0.1, 0, EX_ERROR_ARGUMENT, "99"},       {1, 1, good, 0, 0, EX_ERROR_ARGUMENT, "reach"},
        {1, 1, good, NAN, 0, EX_ERROR_ARGUMENT, "reach"},     {1, 1, good, INFINITY, 0, EX_ERROR_ARGUMENT, "reach"},
        {1, 1, good, 0.1, -1, EX_ERROR_ARGUMENT, "noise"},    {1, 1, good, 0.1, NAN, EX_ERROR_ARGUMENT, "noise"},
        {1, 1, empty, 0.1, 0, EX_ERROR_DATA, "has no faces"}, {1, 1, broken, 0.1, 0, EX_ERROR_DATA, "vertex 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_displacement_map *map = (ex_displacement_map *)rig;
        ex_error error;
        ex_mesh *mesh = cases[i].mesh;
        const ex_displacement_map_def def = {.rig = rig,
                                             .level = cases[i].level,
                                             .meshes = &mesh,
                                             .mesh_count = cases[i].mesh_count,
                                             .reach = cases[i].reach,
                                             .noise = cases[i].noise};
        assert_int_equal(ex_displacement_map_cast(&def, &map, &error), cases[i].result);
        assert_sentence(&error, cases[i].result, cases[i].word);
        assert_null(map);
    }
    ex_mesh_destroy(good);
    ex_mesh_destroy(empty);
    ex_mesh_destroy(broken);
    ex_rig_destroy(rig);
}

static ex_result attempt(void *context) {
    ex_displacement_map *map;
    ex_error error;
    const ex_result result = ex_displacement_map_cast(context, &map, &error);
    if (result == EX_OK)
        ex_displacement_map_destroy(map);
    else
        assert_null(map);
    return result;
}

/* With a fold in it, so that holes are filled too. */
static void memory_runs_out(void **state) {
    (void)state;
    ex_mesh *cage = limb_sheet(4, 1);
    for (int v = 0; v < cage->vertex_count; v++) {
        double *p = cage->positions + 3 * (size_t)v;
        const double turn = 2 * (p[0] - 0.5);
        p[0] = 0.05 * sin(turn);
        p[2] = -0.05 * cos(turn);
    }
    ex_rig *rig = limb_rig_of(cage, NULL, NULL, 0);
    ex_mesh *meshes[2] = {plane(1, 0.02, 0), plane(1, 0.02, 0)};
    ex_displacement_map_def def = {
        .rig = rig, .level = 0, .meshes = meshes, .mesh_count = 2, .reach = 0.1, .noise = 0.001};
    assert_true(fail_alloc_sweep(attempt, &def) > 30);
    ex_mesh_destroy(meshes[0]);
    ex_mesh_destroy(meshes[1]);
    ex_rig_destroy(rig);
    ex_mesh_destroy(cage);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(planes),         cmocka_unit_test(nothing_to_hit),  cmocka_unit_test(nearer),
        cmocka_unit_test(another_sheet),  cmocka_unit_test(parts),           cmocka_unit_test(views_agree),
        cmocka_unit_test(views_disagree), cmocka_unit_test(noise),           cmocka_unit_test(patches),
        cmocka_unit_test(folds),          cmocka_unit_test(bent_limb),       cmocka_unit_test(any_cut_of_the_work),
        cmocka_unit_test(invalid),        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
