/*
 * Checking meshes: forms with their vertices in another order, surfaces that cannot be subdivided, images, and a mesh
 * that is missing while everything else is still looked at.
 */
#include "checks.h"

#include "support/arms.h"
#include "support/check.h"

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    write_square("m.obj", 0, 0, 0, 0);
    write_square("a.obj", 1, 0, 0, 0);
    double positions[3 * ARM_VERTICES];
    arm_form(1, 0.2, positions);
    arm_write_mesh("rest.obj", positions);
    return 0;
}

static const char one_example[] =
    "{'exemplar': 1, 'mesh': '%s', 'layers': [{'name': 'l', 'space': [{'name': 'x', 'min': 0, 'max': 1}],\n"
    "'weigh': {'kind': 'direct'}, 'examples': [{'name': 'e', 'mesh': '%s'}]}]%s}";

static char *pair_text(const char *mesh, const char *form, const char *more) {
    static char text[600];
    snprintf(text, sizeof text, one_example, mesh, form, more);
    return text;
}

/* ---- another order ---- */

/* A form of the arm with its vertices in another order: vertex v becomes to[v], and none keeps its number. */
static ex_mesh *reordered_arm(const double *positions, int to[ARM_VERTICES]) {
    uint64_t state = 7;
    for (int v = 0; v < ARM_VERTICES; v++)
        to[v] = v;
    for (int v = ARM_VERTICES - 1; v > 0; v--) {
        const int other = (int)(random_bits(&state) % (uint64_t)v), swap = to[v];
        to[v] = to[other];
        to[other] = swap;
    }
    ex_mesh *mesh = arm_mesh(positions);
    for (int v = 0; v < ARM_VERTICES; v++)
        memcpy(mesh->positions + 3 * to[v], positions + 3 * v, 3 * sizeof *positions);
    for (int c = 0; c < mesh->corner_count; c++)
        mesh->corners[c] = to[mesh->corners[c]];
    return mesh;
}

/* Makes every face begin at its third corner. */
static void turn_faces(ex_mesh *mesh) {
    for (int f = 0; f < mesh->face_count; f++)
        for (int i = 0; i < 2; i++) {
            int *corners = mesh->corners + 4 * f + i, *texcoords = mesh->corner_texcoords + 4 * f + i;
            const int corner = corners[0], texcoord = texcoords[0];
            corners[0] = corners[2];
            corners[2] = corner;
            texcoords[0] = texcoords[2];
            texcoords[2] = texcoord;
        }
}

static void write_mesh(const char *name, ex_mesh *mesh) {
    assert_int_equal(ex_obj_write(scratch_path(name), mesh, NULL), EX_OK);
    ex_mesh_destroy(mesh);
}

static void finds_another_order(void **state) {
    (void)state;
    int to[ARM_VERTICES];
    double rest[3 * ARM_VERTICES], moved[3 * ARM_VERTICES];
    uint64_t random = 3;
    arm_form(1, 0.2, rest);
    for (int i = 0; i < 3 * ARM_VERTICES; i++)
        moved[i] = rest[i] + random_between(&random, -0.1, 0.1);
    /* Every vertex moved: texture coordinates identify them, at the seam too, and faces may begin anywhere. */
    ex_mesh *mesh = reordered_arm(moved, to);
    turn_faces(mesh);
    write_mesh("by_texcoord.obj", mesh);
    expect_one(pair_text("rest.obj", "by_texcoord.obj", ""), "connectivity", EX_SEVERITY_ERROR, "layers[0].examples[0]",
               "it is the same mesh with its vertices in another order: export it again with the vertex order kept, or "
               "match it by texture coordinates");
    /* No texture coordinates, and a third of the vertices moved: the faces identify these. */
    for (int i = 0; i < 3 * ARM_VERTICES; i++)
        moved[i] = i / 3 % 3 == 0 ? moved[i] : rest[i] + 1e-9;
    mesh = reordered_arm(moved, to);
    free(mesh->corner_texcoords);
    mesh->corner_texcoords = NULL;
    write_mesh("by_place.obj", mesh);
    expect_one(pair_text("rest.obj", "by_place.obj", ""), "connectivity", EX_SEVERITY_ERROR, "layers[0].examples[0]",
               "or match it by rest position");
    /* The same with one different face: no order repairs that. */
    mesh = reordered_arm(rest, to);
    int *corners = mesh->corners + 40, first = corners[0];
    corners[0] = corners[1];
    corners[1] = first;
    write_mesh("spoilt.obj", mesh);
    expect_one(pair_text("rest.obj", "spoilt.obj", ""), "connectivity", EX_SEVERITY_ERROR, "layers[0].examples[0]",
               "no other order of its vertices");
    /* Only the faces. */
    mesh = arm_mesh(rest);
    turn_faces(mesh);
    write_mesh("turned.obj", mesh);
    expect_one(pair_text("rest.obj", "turned.obj", ""), "connectivity", EX_SEVERITY_ERROR, "layers[0].examples[0]",
               "its vertices are in the mesh's order, but its faces are not");
    expect_good(pair_text("rest.obj", "rest.obj", ""));
}

/* Two halves that share their texture coordinates, one the mirror image of the other: the direction of its faces shows
 * the half of a vertex. */
static void finds_mirrored_halves(void **state) {
    (void)state;
    write_text("halves.obj", "v 0 0 0\nv 0 1 0\nv 1 0 0\nv 1 1 1\nv -1 0 0\nv -1 1 1\nv 0 0.5 2\nvt 0 0\nvt 0 1\nvt 1 "
                             "0\nvt 1 1\nvt 0 2\n"
                             "f 1/1 3/3 4/4 2/2\nf 2/2 6/4 5/3 1/1\nf 2/2 4/4 7/5\nf 7/5 6/4 2/2\n");
    write_text("shuffled.obj", "v 9 0 0\nv 9 1 0\nv 9 9 1\nv 8 0 0\nv 8 1 1\nv 7 0 0\nv 7 1 2\nvt 0 0\nvt 0 1\nvt 1 "
                               "0\nvt 1 1\nvt 0 2\n"
                               "f 6/1 5/3 3/4 1/2\nf 1/2 4/4 2/3 6/1\nf 1/2 3/4 7/5\nf 7/5 4/4 1/2\n");
    expect_one(pair_text("halves.obj", "shuffled.obj", ""), "connectivity", EX_SEVERITY_ERROR, "layers[0].examples[0]",
               "match it by texture coordinates");
}

static void finds_split_vertices(void **state) {
    (void)state;
    write_text("two.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 1 3 4\n");
    write_text("split.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3\nf 4 5 6\n");
    expect_one(pair_text("two.obj", "split.obj", ""), "connectivity", EX_SEVERITY_ERROR, "layers[0].examples[0]",
               "merging vertices at the same position would leave as many as the mesh has");
}

/* ---- surfaces ---- */

static const char subdivide[] = ", 'subdivide': {'scheme': 'catmull_clark', 'levels': 1}";

static void finds_what_cannot_be_subdivided(void **state) {
    (void)state;
    const struct {
        const char *text, *kind;
        ex_severity severity;
        const char *words;
        int value;
    } cases[] = {
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 0 -1 0\nv 1 1 1\nf 1 2 3\nf 2 1 4\nf 1 2 5\nf 2 1 6\n", "non_manifold",
         EX_SEVERITY_WARNING, "the edge between vertices 0 and 1 (counting from 0) has more than two faces", 1},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\n", "flipped_face", EX_SEVERITY_WARNING,
         "face 1 (counting from 0) runs against its neighbours: subdividing turns it round", 1},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 1 1 0\nv 2 1 0\nv 0 2 0\nf 1 2 3\nf 1 2 4\nf 5 3 2\nf 5 6 2\nf 5 7 3\n",
         "flipped_face", EX_SEVERITY_WARNING,
         "2 faces, the first is face 1 (counting from 0), run against their neighbours: subdividing turns them round",
         2},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 3 2 4\nf 2 2 4\n", "degenerate_face", EX_SEVERITY_WARNING,
         "face 2 (counting from 0) has a vertex more than once", 1},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 1 1 0\nf 1 2 3\nf 3 2 4\nf 3 1 2\n", "duplicate_face", EX_SEVERITY_WARNING,
         "face 2 (counting from 0) has the same vertices as another: subdividing leaves it out", 1},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 2 2 2\nf 1 2 3\nf 3 2 4\nt crease 2/1/0 0 3 2\nt crease 3/1/0 0 1 4 "
         "2\n",
         "crease", EX_SEVERITY_ERROR, "", -1},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nv -1 0 0\nv 0 -1 0\nf 1 2 3\nf 1 4 5\n", "pinched", EX_SEVERITY_WARNING,
         "separate fans of faces touch at vertex 0 (counting from 0)", 1},
        {"v 0 0 0\nv 1 0 0\nv 1 1 0\nv 1 0 0\nv 2 0 0\nv 1 1 0\nf 1 2 3\nf 4 5 6\n", "seam", EX_SEVERITY_WARNING,
         "1 edge is cut in two, such as the one between vertices 1 and 2 (counting from 0)", 1},
        {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\nt corner 1/2/0 0 1 2\n", "subdivide", EX_SEVERITY_ERROR,
         "sharpness values", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_text("bad.obj", cases[i].text);
        ex_check *check = check_text(pair_text("bad.obj", "bad.obj", subdivide));
        const ex_finding *finding = NULL;
        if (strcmp(cases[i].kind, "crease") == 0) { /* both are found */
            assert_int_equal(count_kind(check, "crease", EX_SEVERITY_ERROR, &finding), 2);
            expect_words(&check->findings[0], "mesh", "from vertex 0 to vertex 3");
            expect_words(finding, "mesh", "from vertex 1 to vertex 4");
        } else {
            finding = only(check, cases[i].kind, cases[i].severity);
            expect_words(finding, "mesh", cases[i].words);
            check_near(finding->value, cases[i].value, 0);
        }
        ex_check_destroy(check);
        /* Without subdivision, none of it matters. */
        expect_good(pair_text("bad.obj", "bad.obj", ""));
    }
    expect_good(pair_text("m.obj", "a.obj", subdivide));
    ex_mesh *rest = NULL, *refined = NULL;
    ex_subdivision *fine = NULL;
    ex_error error = {0};
    assert_int_equal(ex_mesh_read(scratch_path("rest.obj"), &rest, &error), EX_OK);
    ex_subdivide_def twice = ex_subdivide_def_default();
    twice.levels = 2;
    assert_int_equal(ex_mesh_subdivide(rest, &twice, &fine, &error), EX_OK);
    assert_int_equal(ex_subdivision_mesh(fine, rest, 2, &refined, &error), EX_OK);
    write_mesh("fine.obj", refined);
    ex_subdivision_destroy(fine);
    ex_mesh_destroy(rest);
    expect_one(pair_text("rest.obj", "fine.obj", subdivide), "connectivity", EX_SEVERITY_ERROR, "layers[0].examples[0]",
               "it is as fine as the mesh once it is subdivided");
    expect_one(pair_text("rest.obj", "fine.obj", ""), "connectivity", EX_SEVERITY_ERROR, "layers[0].examples[0]",
               "it is another mesh");
    expect_one(pair_text("rest.obj", "rest.obj", ", 'subdivide': {'scheme': 'catmull_clark', 'levels': 10}"), "levels",
               EX_SEVERITY_WARNING, "subdivide", "10 levels make about 7.5e+07 faces from the mesh's 72");
}

/* ---- images ---- */

static void write_image(const char *name, int width, int height, unsigned char grey) {
    ex_image *image = ex_image_create(width, height);
    assert_non_null(image);
    memset(image->pixels, grey, (size_t)width * (size_t)height * 4);
    assert_int_equal(ex_image_write(scratch_path(name), image, NULL), EX_OK);
    ex_image_destroy(image);
}

static const char pictures[] =
    "{'exemplar': 1, 'mesh': '%s', 'layers': [{'name': 'tan', 'shape': 'pixels', 'texture': 'base_color',\n"
    "'space': [{'name': 'x', 'min': 0, 'max': 1}], 'examples': [{'name': 'one', 'image': '%s', 'at': {}},\n"
    "{'name': 'two', 'image': '%s', 'at': {'x': 0.5}}, {'name': 'three', 'image': '%s', 'at': {'x': 1}}]}]}";

static char *pictures_text(const char *mesh, const char *one, const char *two, const char *three) {
    static char text[700];
    snprintf(text, sizeof text, pictures, mesh, one, two, three);
    return text;
}

static void finds_images(void **state) {
    (void)state;
    write_image("black.png", 40, 8, 0);
    write_image("grey.png", 40, 8, 51);
    write_image("white.png", 40, 8, 255);
    write_image("small.png", 20, 8, 0);
    write_text("part.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nvt 0 0\nf 1/1 2/1 3/1\nf 1 3 4\n");
    ex_check *check = check_text(pictures_text("rest.obj", "black.png", "grey.png", "white.png"));
    assert_int_equal(check->error_count + check->warning_count, 0);
    /* Without grey, the middle between black and white is guessed: 0.5 for 0.2. */
    const ex_finding *finding = NULL;
    assert_int_equal(count_kind(check, "leave_one_out", EX_SEVERITY_NOTE, &finding), 3);
    expect_words(
        finding - 1, "layers[0].examples[1]",
        "without 'two', its image would be predicted with an error of up to 30.00 % of the way from black to white");
    check_near((finding - 1)->value, 0.3, 1e-6);
    ex_check_destroy(check);

    expect_one(pictures_text("rest.obj", "black.png", "small.png", "white.png"), "image_size", EX_SEVERITY_ERROR,
               "layers[0].examples[1]",
               "small.png is 20 x 8 pixels, but black.png is 40 x 8: the images of a texture must have the same size");
    expect_one(pictures_text("m.obj", "black.png", "grey.png", "white.png"), "no_texcoords", EX_SEVERITY_WARNING,
               "layers[0]", "'m.obj' has no texture coordinates");
    expect_one(pictures_text("part.obj", "black.png", "grey.png", "white.png"), "no_texcoords", EX_SEVERITY_WARNING,
               "layers[0]", "1 faces of 'part.obj', the first of them 1");
    /* All of it at once, and the first that can be read sets the size. */
    check = check_text(pictures_text("none.obj", "none.png", "small.png", "white.png"));
    assert_int_equal(count_kind(check, "unreadable", EX_SEVERITY_ERROR, NULL), 2);
    expect_words(only(check, "image_size", EX_SEVERITY_ERROR), "layers[0].examples[2]", "but small.png is 20 x 8");
    assert_int_equal(check->error_count, 3);
    ex_check_destroy(check);
}

/* ---- findings in spite of a missing mesh ---- */

static void looks_on_without_a_mesh(void **state) {
    (void)state;
    ex_check *check = check_text(
        "{'exemplar': 1, 'mesh': 'none.obj', 'skeleton': 'none.glb', 'layers': [{'name': 'l', 'space': [{'name': 'x', "
        "'min': 0, 'max': 1}], 'examples': [{'name': 'a', 'mesh': 'gone.obj', 'at': {}}, {'name': 'b', 'mesh': "
        "'m.obj', 'at': {}}]}]}");
    assert_int_equal(count_kind(check, "unreadable", EX_SEVERITY_ERROR, NULL), 3);
    assert_int_equal(count_kind(check, "same_place", EX_SEVERITY_ERROR, NULL), 1);
    assert_int_equal(check->error_count, 4);
    ex_check_destroy(check);
}

/* ---- layers ---- */

static const char layers[] =
    "{'exemplar': 1, 'mesh': 'm.obj', 'layers': [{'name': 'first', 'space': [{'name': 'x', 'min': 0, 'max': 1}],\n"
    "'examples': [{'name': 'm', 'mesh': 'm.obj', 'at': {}}, {'name': 'a', 'mesh': 'a.obj', 'at': {'x': 1}}]%s},\n"
    "{'name': 'second', 'space': [{'name': 'x', 'min': 0, 'max': 1}, {'name': 'y', 'min': 0, 'max': 1}],\n"
    "'examples': [{'name': 'm', 'mesh': 'm.obj', 'at': {}}, {'name': 'both', 'mesh': '%s', 'at': {'x': 1, 'y': 1}}]}]}";

/* The second layer lifts vertex 3 by 0.3 at x = 1, y = 1, and halfway there, by symmetry, at x = 1 alone. */
static void finds_sculpts_that_are_disturbed(void **state) {
    (void)state;
    char text[1000];
    write_square("both.obj", 1, 0, 0, 0.3);
    write_square("same.obj", 1, 0, 0, 0);
    write_text("corner.txt", "0 1\n");
    snprintf(text, sizeof text, layers, "", "both.obj");
    ex_check *check = check_text(text);
    const ex_finding *finding = only(check, "disturbed", EX_SEVERITY_WARNING);
    expect_words(finding, "layers[0].examples[1]",
                 "layer 'second' moves the form of 'a' by up to 0.15 m, 11 % of the mesh's "
                 "size (vertex 3), at its own pose");
    check_near(finding->value, 0.15 / sqrt(2.0), 1e-6);
    ex_check_destroy(check);
    /* Not if the second has nothing to add, nor for vertices that the first does not move. */
    snprintf(text, sizeof text, layers, "", "same.obj");
    expect_good(text);
    snprintf(text, sizeof text, layers, ", 'mask': {'file': 'corner.txt'}", "both.obj");
    expect_good(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_another_order),
        cmocka_unit_test(finds_mirrored_halves),
        cmocka_unit_test(finds_split_vertices),
        cmocka_unit_test(finds_what_cannot_be_subdivided),
        cmocka_unit_test(finds_images),
        cmocka_unit_test(looks_on_without_a_mesh),
        cmocka_unit_test(finds_sculpts_that_are_disturbed),
    };
    return cmocka_run_group_tests_name("author.project.check_mesh", tests, set_up, scratch_tear_down);
}
