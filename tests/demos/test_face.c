/*
 * The demo `face`: eight heads of one connectivity that do not cross themselves, lids that close over the eyeballs on
 * every one of them and on heads between, and pass in front of them halfway; skins of one size without a seam; the same
 * bytes each time.
 */
#include "demos/face/face.h"
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static exi_face *face;
static ex_mesh *mean, *blink, *smile, *heads[FACE_HEADS];

static ex_mesh *read_form(const char *name) {
    char file[32];
    ex_mesh *mesh = NULL;
    snprintf(file, sizeof file, "%s.obj", name);
    return ex_mesh_read(scratch_path(file), &mesh, NULL) == EX_OK ? mesh : NULL;
}

static int set_up(void **state) {
    if (scratch_set_up(state) != 0 || exi_demo_face(scratch_path("."), NULL) != EX_OK)
        return -1;
    face = exi_face_create();
    mean = read_form("mean");
    blink = read_form("blink");
    smile = read_form("smile");
    bool read = face && mean && blink && smile;
    for (int k = 0; k < FACE_HEADS; k++) {
        heads[k] = read_form(exi_face_heads[k].name);
        read = read && heads[k];
    }
    return read ? 0 : -1;
}

static int tear_down(void **state) {
    exi_face_destroy(face);
    ex_mesh_destroy(mean);
    ex_mesh_destroy(blink);
    ex_mesh_destroy(smile);
    for (int k = 0; k < FACE_HEADS; k++)
        ex_mesh_destroy(heads[k]);
    return scratch_tear_down(state);
}

/* The heads with these weights, and these amounts of a blink and a smile, added up as in the rig. */
static ex_mesh *blended(const double weights[FACE_HEADS], double closed, double smiling) {
    ex_mesh *mesh = ex_mesh_copy(mean);
    assert_non_null(mesh);
    for (int i = 0; i < 3 * mesh->vertex_count; i++) {
        double x = mean->positions[i];
        for (int k = 0; k < FACE_HEADS; k++)
            x += weights[k] * (heads[k]->positions[i] - mean->positions[i]);
        x += closed * (blink->positions[i] - mean->positions[i]);
        mesh->positions[i] = x + smiling * (smile->positions[i] - mean->positions[i]);
    }
    return mesh;
}

static ex_mesh *one_head(int head, double closed, double smiling) {
    double weights[FACE_HEADS] = {0};
    if (head >= 0)
        weights[head] = 1;
    return blended(weights, closed, smiling);
}

static ex_mesh *limit_of(const ex_mesh *mesh) {
    ex_subdivide_def def = ex_subdivide_def_default();
    def.levels = 1;
    def.limit = true;
    ex_subdivision *subdivision = NULL;
    ex_mesh *limit = NULL;
    assert_int_equal(ex_mesh_subdivide(mesh, &def, &subdivision, NULL), EX_OK);
    assert_int_equal(ex_subdivision_mesh(subdivision, mesh, EX_LEVEL_LIMIT, &limit, NULL), EX_OK);
    ex_subdivision_destroy(subdivision);
    return limit;
}

/* ---- files ---- */

static void is_in_the_table(void **state) {
    (void)state;
    bool found = false;
    for (int i = 0; i < ex_demo_count; i++)
        found = found || (strcmp(ex_demos[i].name, "face") == 0 && ex_demos[i].write == exi_demo_face);
    assert_true(found);
    assert_int_equal(scratch_entry_count(), 1 + 3 + 2 * FACE_HEADS);
}

static void has_one_connectivity(void **state) {
    (void)state;
    assert_int_equal(mean->vertex_count, 3520);
    assert_int_equal(mean->face_count, 3428);
    assert_int_equal(ex_mesh_compare_connectivity(mean, blink, NULL), EX_OK);
    assert_int_equal(ex_mesh_compare_connectivity(mean, smile, NULL), EX_OK);
    for (int k = 0; k < FACE_HEADS; k++)
        assert_int_equal(ex_mesh_compare_connectivity(mean, heads[k], NULL), EX_OK);
    int triangles = 0;
    for (int f = 0; f < mean->face_count; f++)
        triangles += mean->face_offsets[f + 1] - mean->face_offsets[f] == 3;
    assert_int_equal(triangles, 2); /* at the corners of the mouth, inside */
    for (int i = 0; i < 2 * mean->texcoord_count; i++)
        assert_true(mean->texcoords[i] >= 0 && mean->texcoords[i] <= 1);
}

/* Every edge occurs once in each direction, except at the neck, inside the lids and at the eyeballs' rims. */
static void is_open_where_it_should_be(void **state) {
    (void)state;
    enum { OUT = 16 };
    int *others = malloc((size_t)mean->vertex_count * OUT * sizeof *others);
    int *counts = calloc((size_t)mean->vertex_count, sizeof *counts), open = 0;
    assert_true(others && counts);
    for (int f = 0; f < mean->face_count; f++) {
        const int first = mean->face_offsets[f], n = mean->face_offsets[f + 1] - first;
        for (int i = 0; i < n; i++) {
            int a = mean->corners[first + i], b = mean->corners[first + (i + 1) % n];
            for (int j = 0; j < counts[a]; j++)
                assert_int_not_equal(others[a * OUT + j], b);
            assert_true(counts[a] < OUT);
            others[a * OUT + counts[a]++] = b;
        }
    }
    for (int a = 0; a < mean->vertex_count; a++)
        for (int i = 0; i < counts[a]; i++) {
            int b = others[a * OUT + i];
            bool back = false;
            for (int j = 0; j < counts[b]; j++)
                back = back || others[b * OUT + j] == a;
            open += !back;
        }
    assert_int_equal(open, 56 + 2 * 20 + 2 * 40);
    free(others);
    free(counts);
}

/* ---- forms ---- */

/* Crossings of the skin with itself; ears are in it and lids close to eyeballs on purpose. */
static int crossings_of_skin(const ex_mesh *mesh) {
    ex_mesh *skin = ex_mesh_copy(mesh);
    int faces = 0, corners = 0, count = -1;
    assert_non_null(skin);
    for (int f = 0; f < mesh->face_count; f++) {
        if (mesh->face_groups[f] != FACE_HEAD)
            continue;
        for (int c = mesh->face_offsets[f]; c < mesh->face_offsets[f + 1]; c++)
            skin->corners[corners++] = mesh->corners[c];
        skin->face_offsets[++faces] = corners;
    }
    skin->face_count = faces;
    skin->corner_count = corners;
    assert_int_equal(ex_mesh_count_self_intersections(skin, NULL, &count, NULL), EX_OK);
    ex_mesh_destroy(skin);
    return count;
}

static void does_not_cross_itself(void **state) {
    (void)state;
    static const double poses[3][2] = {{0, 0}, {0.5, 0}, {0, 1}}; /* closed lids touch */
    for (int k = -1; k < FACE_HEADS; k++)
        for (int i = 0; i < 3; i++) {
            ex_mesh *mesh = one_head(k, poses[i][0], poses[i][1]), *limit = limit_of(mesh);
            assert_int_equal(crossings_of_skin(mesh), 0);
            assert_int_equal(crossings_of_skin(limit), 0);
            ex_mesh_destroy(limit);
            ex_mesh_destroy(mesh);
        }
}

/* In the middle of the space the heads give the mean, to the micrometre to which files are rounded. */
static void rests_at_its_mean(void **state) {
    (void)state;
    double weights[FACE_HEADS], sum = 0;
    assert_int_equal(exi_face_rest_weights(weights, NULL), EX_OK);
    for (int k = 0; k < FACE_HEADS; k++)
        sum += weights[k];
    assert_near(sum, 1, 1e-12);
    for (int i = 0; i < 3 * mean->vertex_count; i++) {
        double x = 0;
        for (int k = 0; k < FACE_HEADS; k++)
            x += weights[k] * heads[k]->positions[i];
        assert_near(x, mean->positions[i], 1.5e-6);
    }
}

/* An eyeball is the generic one moved and scaled: its middle and radius. */
typedef struct ball {
    point middle;
    double radius;
} ball;

static point vertex(const ex_mesh *mesh, int v) {
    return (point){mesh->positions[3 * v], mesh->positions[3 * v + 1], mesh->positions[3 * v + 2]};
}

static ball eyeball(const ex_mesh *mesh, bool right) {
    int first = -1, last = -1;
    for (int v = 0; v < face->mesh->vertex_count; v++)
        if (face->paint[v * FACE_PAINT_COUNT + FACE_EYE] > 0 && (face->mesh->positions[3 * v] < 0) == right) {
            first = first < 0 ? v : first;
            last = v;
        }
    double scale = point_length(point_subtract(vertex(mesh, last), vertex(mesh, first))) /
                   point_length(point_subtract(vertex(face->mesh, last), vertex(face->mesh, first)));
    point generic = {right ? -FACE_EYE_X : FACE_EYE_X, 0, FACE_EYE_Z};
    point arm = point_subtract(generic, vertex(face->mesh, first));
    return (ball){point_add(vertex(mesh, first), point_scale(arm, scale)), FACE_EYE_RADIUS * scale};
}

/* True if the ray from p along d meets the mesh's skin. */
static bool covered(const ex_mesh *mesh, point p, point d) {
    for (int f = 0; f < mesh->face_count; f++)
        for (int half = 0; mesh->face_groups[f] == FACE_HEAD && half < 2; half++) {
            const int *c = mesh->corners + mesh->face_offsets[f]; /* all quads, once refined */
            point a = vertex(mesh, c[0]), u = point_subtract(vertex(mesh, c[1 + half]), a);
            point v = point_subtract(vertex(mesh, c[2 + half]), a), w = point_subtract(p, a);
            point n = {u.y * v.z - u.z * v.y, u.z * v.x - u.x * v.z, u.x * v.y - u.y * v.x};
            point q = {w.y * d.z - w.z * d.y, w.z * d.x - w.x * d.z, w.x * d.y - w.y * d.x};
            double along = point_dot(n, d);
            if (along == 0)
                continue;
            double t = -point_dot(n, w) / along, s = -point_dot(v, q) / along, r = point_dot(u, q) / along;
            if (t > 0 && s >= 0 && r >= 0 && s + r <= 1)
                return true;
        }
    return false;
}

/* With a blink, no part of an eyeball is visible from in front, from above or from below; without, the pupil is. */
static void check_blink(const double weights[FACE_HEADS], const char *what) {
    static const point views[3] = {{0, 0, 1}, {0, 0.42, 0.91}, {0, -0.42, 0.91}};
    for (int closed = 0; closed < 2; closed++) {
        ex_mesh *mesh = blended(weights, closed, 0), *limit = limit_of(mesh);
        for (int right = 0; right < 2; right++) {
            ball eye = eyeball(mesh, right);
            for (int i = 0; i < FACE_LID && closed; i++) {
                double gap = vertex(mesh, face->lids[right][0][i]).y - vertex(mesh, face->lids[right][1][i]).y;
                if (gap > 1e-4)
                    fail_msg("%s: a gap of %g mm at %d", what, 1000 * gap, i);
            }
            for (int up = -24; up <= 32; up += closed ? 2 : 56)
                for (int side = -40; side <= 40; side += 16) {
                    point at = point_subtract(exi_face_about_eye(1, side, up), (point){FACE_EYE_X, 0, FACE_EYE_Z});
                    point p = point_add(eye.middle, point_scale(at, eye.radius));
                    for (int v = 0; v < 3 && closed; v++)
                        if (!covered(limit, p, views[v]))
                            fail_msg("%s: eye %d seen at %d, %d from view %d", what, right, side, up, v);
                }
            point pupil = point_add(eye.middle, (point){0, 0, eye.radius});
            assert_int_equal(covered(limit, pupil, views[0]), closed);
        }
        ex_mesh_destroy(limit);
        ex_mesh_destroy(mesh);
    }
}

static void closes_its_eyes_on_every_head(void **state) {
    (void)state;
    for (int k = 0; k < FACE_HEADS; k++) {
        double weights[FACE_HEADS] = {0};
        weights[k] = 1;
        check_blink(weights, exi_face_heads[k].name);
    }
}

/* Weights like those of the space: they sum to 1, and some are slightly negative. */
static void random_weights(uint64_t *random, double weights[FACE_HEADS]) {
    double sum = 0;
    for (int k = 0; k < FACE_HEADS; k++)
        sum += weights[k] = random_between(random, -0.15, 0.6);
    for (int k = 0; k < FACE_HEADS; k++)
        weights[k] += (1 - sum) / FACE_HEADS;
}

static void closes_its_eyes_on_heads_between(void **state) {
    (void)state;
    uint64_t random = 5;
    for (int i = 0; i < 4; i++) {
        double weights[FACE_HEADS];
        random_weights(&random, weights);
        check_blink(weights, "a blend");
    }
}

/* From open to closed, lids' edges are always in front of the eyeball. */
static void lids_pass_in_front_of_the_eyeballs(void **state) {
    (void)state;
    uint64_t random = 6;
    for (int k = 0; k < FACE_HEADS + 4; k++) {
        double weights[FACE_HEADS] = {0};
        if (k < FACE_HEADS)
            weights[k] = 1;
        else
            random_weights(&random, weights);
        for (int step = 0; step <= 4; step++) {
            ex_mesh *mesh = blended(weights, step / 4.0, 0), *limit = limit_of(mesh);
            for (int i = 0; i < 4 * FACE_LID; i++) {
                int right = i / (2 * FACE_LID), v = face->lids[right][i / FACE_LID % 2][i % FACE_LID];
                ball eye = eyeball(mesh, right);
                double clear = point_length(point_subtract(vertex(limit, v), eye.middle)) - eye.radius;
                if (clear < 0.0002)
                    fail_msg("head %d: %g mm at %d, step %d", k, 1000 * clear, i % FACE_LID, step);
            }
            ex_mesh_destroy(limit);
            ex_mesh_destroy(mesh);
        }
    }
}

static void expressions_leave_the_rest_alone(void **state) {
    (void)state;
    for (int v = 0; v < mean->vertex_count; v++) {
        point p = vertex(mean, v), shut = vertex(blink, v), happy = vertex(smile, v);
        bool eye = face->paint[v * FACE_PAINT_COUNT + FACE_EYE] > 0;
        if (eye || p.z < 0 || p.y < -0.03 || p.y > 0.03)
            assert_near(point_length(point_subtract(shut, p)), 0, 0);
        if (eye || p.z < -0.02 || p.y > 0.04)
            assert_near(point_length(point_subtract(happy, p)), 0, 2e-5);
    }
}

/* ---- skins ---- */

/* A channel at a texture coordinate, interpolated between texels as renderers do. */
static double sample(const ex_image *image, const double uv[2], int channel) {
    double x = uv[0] * FACE_TEXELS - 0.5, y = (1 - uv[1]) * FACE_TEXELS - 0.5, sum = 0;
    for (int i = 0; i < 4; i++) {
        int a = (int)x + (i & 1), b = (int)y + (i >> 1);
        double weight = (1 - fabs(x - a)) * (1 - fabs(y - b));
        sum += weight * image->pixels[4 * (b * FACE_TEXELS + a) + channel];
    }
    return sum;
}

static void skins_have_one_size_and_no_seam(void **state) {
    (void)state;
    for (int k = 0; k < FACE_HEADS; k++) {
        char file[32];
        ex_image *image = NULL;
        snprintf(file, sizeof file, "%s.png", exi_face_heads[k].name);
        assert_int_equal(ex_image_read(scratch_path(file), &image, NULL), EX_OK);
        assert_int_equal(image->width, FACE_TEXELS);
        assert_int_equal(image->height, FACE_TEXELS);
        /* The two texture coordinates of a vertex on the seam, from which colours are read. */
        int *first = malloc((size_t)mean->vertex_count * sizeof *first), seam = 0;
        double difference = 0;
        assert_non_null(first);
        memset(first, 0xFF, (size_t)mean->vertex_count * sizeof *first);
        for (int c = 0; c < mean->corner_count; c++) {
            int v = mean->corners[c], t = mean->corner_texcoords[c];
            if (first[v] < 0)
                first[v] = t;
            if (first[v] == t || mean->positions[3 * v] != 0)
                continue;
            for (int i = 0; i < 3; i++)
                difference +=
                    fabs(sample(image, mean->texcoords + 2 * first[v], i) - sample(image, mean->texcoords + 2 * t, i)) /
                    3;
            seam++;
        }
        assert_true(seam > 40);
        if (difference / seam > 4)
            fail_msg("%s: %g of 255 across the seam", file, difference / seam);
        free(first);
        ex_image_destroy(image);
    }
}

static void gives_the_same_bytes_again(void **state) {
    (void)state;
    static const char *const files[] = {"face.json", "mean.obj", "blink.obj", "smile.obj", "gus.obj", "ada.png"};
    enum { FILES = sizeof files / sizeof *files };
    char *before[FILES];
    size_t sizes[FILES], size;
    for (int i = 0; i < FILES; i++)
        before[i] = scratch_read(files[i], &sizes[i]);
    assert_int_equal(exi_demo_face(scratch_path("."), NULL), EX_OK);
    for (int i = 0; i < FILES; i++) {
        char *after = scratch_read(files[i], &size);
        assert_int_equal(size, sizes[i]);
        assert_memory_equal(after, before[i], size);
        free(after);
        free(before[i]);
    }
}

static ex_result make_face(void *context) {
    (void)context;
    exi_face *made = exi_face_create();
    exi_face_canvas *canvas = made ? exi_face_canvas_create(made) : NULL;
    ex_result result = canvas ? EX_OK : EX_ERROR_MEMORY;
    exi_face_canvas_destroy(canvas);
    exi_face_destroy(made);
    return result;
}

static void survives_without_memory(void **state) {
    (void)state;
    assert_true(fail_alloc_sweep(make_face, NULL) > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_in_the_table),
        cmocka_unit_test(has_one_connectivity),
        cmocka_unit_test(is_open_where_it_should_be),
        cmocka_unit_test(rests_at_its_mean),
        cmocka_unit_test(does_not_cross_itself),
        cmocka_unit_test(closes_its_eyes_on_every_head),
        cmocka_unit_test(closes_its_eyes_on_heads_between),
        cmocka_unit_test(lids_pass_in_front_of_the_eyeballs),
        cmocka_unit_test(expressions_leave_the_rest_alone),
        cmocka_unit_test(skins_have_one_size_and_no_seam),
        cmocka_unit_test(gives_the_same_bytes_again),
        cmocka_unit_test(survives_without_memory),
    };
    return cmocka_run_group_tests_name("demos.face", tests, set_up, tear_down);
}
