/*
 * Sheets: values along the axes, and how examples move or take them; the contents of the slice; one camera for all
 * forms, so that one twice as large covers four times as much; up is up and right is right; joints and textures; the
 * same bytes with any division of the work; each wrong argument with its sentence; failing memory.
 */
#include "support/characters.h"
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/pictures.h"
#include "support/rigs.h"

#include "author/picture/sheet/slice.h"
#include "support/words.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- rigs ---- */

enum { EXAMPLES_MAX = 8 };

typedef struct space {
    int axis_count, example_count;
    const double *points;
    const ex_pseudo *pseudos;
    int pseudo_count;
    bool clamp; /* the first axis */
} space;

/* A box about 0 whose examples are as much larger as their second number is above 10 (size, from 10 to 30); bend goes
 * from 0 to 1 and changes nothing. */
static ex_rig *rig_at(const space *s) {
    static const char *const axis_names[] = {"bend", "size", "third"}, *const axis_units[] = {NULL, "mm", NULL};
    static const char *const names[EXAMPLES_MAX] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    static const uint32_t sizes[6] = {4, 4, 4, 4, 4, 4};
    static const uint32_t corners[24] = {0, 2, 3, 1, 4, 5, 7, 6, 0, 1, 5, 4, 2, 6, 7, 3, 0, 4, 6, 2, 1, 3, 7, 5};
    uint32_t triangles[36];
    float positions[24], deltas[EXAMPLES_MAX][24];
    const float *list[EXAMPLES_MAX];
    ex_axis axes[3];
    for (int f = 0; f < 6; f++)
        for (int i = 0; i < 6; i++)
            triangles[6 * f + i] = corners[4 * f + (i < 3 ? i : i == 3 ? 0 : i - 2)];
    for (int i = 0; i < 24; i++)
        positions[i] = (i / 3 >> i % 3) & 1 ? 0.5f : -0.5f;
    for (int k = 0; k < s->example_count; k++) {
        list[k] = deltas[k];
        for (int i = 0; i < 24; i++)
            deltas[k][i] =
                s->axis_count > 1 && s->points ? positions[i] * (float)(s->points[s->axis_count * k + 1] - 10) / 20 : 0;
    }
    for (int i = 0; i < s->axis_count; i++)
        axes[i] = ex_axis_scalar(i == 1 ? 10 : 0, i == 1 ? 30 : 1, i == 1 ? 10 : 0);
    axes[0].clamp = s->clamp;
    ex_layer_def layer = {.name = "only",
                          .weigh = ex_weigher_def_default(),
                          .axis_names = axis_names,
                          .axis_units = axis_units,
                          .example_names = names,
                          .form.deltas = list};
    layer.weigh.axes = axes;
    layer.weigh.axis_count = s->axis_count;
    layer.weigh.example_count = s->example_count;
    layer.weigh.points = s->points;
    layer.weigh.pseudos = s->pseudos;
    layer.weigh.pseudo_count = s->pseudo_count;
    ex_rig_def def = ex_rig_def_default();
    def.mesh = (ex_rig_mesh){.vertex_count = 8,
                             .positions = positions,
                             .split_count = 8,
                             .face_count = 6,
                             .corner_count = 24,
                             .face_sizes = sizes,
                             .corners = corners,
                             .triangle_count = 12,
                             .triangles = triangles};
    def.layers = &layer;
    def.layer_count = 1;
    return rig_of(&def);
}

static ex_sheet_def def_of(const ex_rig *rig, int axis_count, int columns, int rows) {
    ex_sheet_def def = ex_sheet_def_default();
    def.rig = rig;
    def.axis_count = axis_count;
    def.axes[1] = 1;
    def.counts[0] = columns;
    def.counts[1] = rows;
    def.cell = EX_SHEET_CELL_MIN;
    memset(def.beyond, 0, sizeof def.beyond);
    return def;
}

static void open_slice(exi_slice *slice, const ex_sheet_def *def) {
    ex_error error = {.result = EX_OK};
    if (exi_slice_open(slice, def, &error) != EX_OK)
        fail_msg("%s", error.text);
}

static ex_image *sheet_of(const ex_sheet_def *def, ex_sheet_info *info) {
    ex_error error = {.result = EX_OK};
    ex_image *image = NULL;
    if (ex_sheet_image(def, &image, info, &error) != EX_OK)
        fail_msg("%s", error.text);
    return image;
}

/* ---- places ---- */

static void values_are_even_with_some_beyond(void **state) {
    (void)state;
    const double points[] = {0, 1}, five[] = {-0.25, 0, 0.25, 0.5, 0.75, 1, 1.25};
    const double three[] = {0, 0.5, 1, 1 + 0.9 / 2, 1.9};
    space s = {.axis_count = 1, .example_count = 2, .points = points};
    ex_rig *rig = rig_at(&s);
    ex_sheet_def def = def_of(rig, 1, 5, 5);
    exi_slice slice;
    def.beyond[0][0] = def.beyond[0][1] = 0.25;
    open_slice(&slice, &def);
    assert_int_equal(slice.axes[0].count, 7);
    assert_row_near(slice.axes[0].values, five, 7, 1e-15);
    assert_int_equal(slice.axes[1].count, 1);
    assert_int_equal(slice.cells[0].kind, EXI_CELL_BEYOND);
    assert_int_equal(slice.cells[1].kind, EXI_CELL_EXAMPLE);
    assert_int_equal(slice.cells[2].kind, EXI_CELL_BETWEEN);
    assert_int_equal(slice.cells[5].number, 1);
    assert_int_equal(slice.cells[6].kind, EXI_CELL_BEYOND);
    exi_slice_close(&slice);
    /* Only one end, as far as requested, with the same spacing as the others. */
    def.counts[0] = 3;
    def.beyond[0][0] = 0;
    def.beyond[0][1] = 0.9;
    open_slice(&slice, &def);
    assert_int_equal(slice.axes[0].count, 5);
    assert_row_near(slice.axes[0].values, three, 5, 1e-15);
    exi_slice_close(&slice);
    ex_rig_destroy(rig);
    /* Nothing changes beyond a clamped axis. */
    s.clamp = true;
    rig = rig_at(&s);
    def.rig = rig;
    open_slice(&slice, &def);
    assert_int_equal(slice.axes[0].count, 3);
    exi_slice_close(&slice);
    ex_rig_destroy(rig);
}

static void examples_move_columns_and_rows(void **state) {
    (void)state;
    const double points[] = {0, 10, 1, 10, 0.3, 22};
    ex_rig *rig = rig_at(&(space){.axis_count = 2, .example_count = 3, .points = points});
    const ex_sheet_def def = def_of(rig, 2, 3, 3);
    const double columns[] = {0, 0.3, 1}, rows[] = {10, 22, 30};
    exi_slice slice;
    open_slice(&slice, &def);
    assert_row_near(slice.axes[0].values, columns, 3, 1e-15);
    assert_row_near(slice.axes[1].values, rows, 3, 1e-15);
    assert_int_equal(slice.example_count, 3);
    assert_int_equal(slice.hidden_count, 0);
    const int wanted[] = {0, -1, 1, -1, 2, -1, -1, -1, -1}; /* rows from the lowest */
    for (int i = 0; i < 9; i++) {
        const exi_cell *cell = &slice.cells[i];
        assert_int_equal(cell->kind, wanted[i] >= 0 ? EXI_CELL_EXAMPLE : EXI_CELL_BETWEEN);
        assert_false(cell->moved);
        assert_near(cell->values[0], columns[i % 3], 1e-15);
        assert_near(cell->values[1], rows[i / 3], 1e-15);
        if (wanted[i] >= 0)
            assert_int_equal(cell->number, wanted[i]);
    }
    exi_slice_close(&slice);
    ex_rig_destroy(rig);
}

/* Two that disagree leave the column, and are in it with their own values; of two in one place, one does. */
static void examples_that_disagree_move_alone(void **state) {
    (void)state;
    const double points[] = {0.4, 10, 0.6, 30, 0.7, 29, 0, 10};
    ex_rig *rig = rig_at(&(space){.axis_count = 2, .example_count = 4, .points = points});
    const ex_sheet_def def = def_of(rig, 2, 3, 2);
    exi_slice slice;
    open_slice(&slice, &def);
    assert_near(slice.axes[0].values[1], 0.5, 1e-15);
    assert_true(slice.cells[1].moved);
    assert_near(slice.cells[1].values[0], 0.4, 1e-15);
    assert_true(slice.cells[4].moved);
    assert_near(slice.cells[4].values[0], 0.6, 1e-15);
    assert_int_equal(slice.example_count, 3);
    assert_int_equal(slice.hidden_count, 1);
    exi_slice_close(&slice);
    ex_rig_destroy(rig);
}

static void only_examples_of_the_slice_are_marked(void **state) {
    (void)state;
    const double points[] = {0, 10, 0, 1, 10, 0, 0, 30, 0.5, 1, 30, 0.5 + 4e-7};
    ex_rig *rig = rig_at(&(space){.axis_count = 3, .example_count = 4, .points = points});
    ex_pose pose = ex_pose_create(rig);
    ex_sheet_def def = def_of(rig, 2, 2, 2);
    exi_slice slice;
    open_slice(&slice, &def);
    assert_int_equal(slice.example_count, 2);
    assert_int_equal(slice.cells[0].kind, EXI_CELL_EXAMPLE);
    assert_int_equal(slice.cells[2].kind, EXI_CELL_BETWEEN);
    exi_slice_close(&slice);
    assert_int_equal(exi_pose_word(rig, "third=0.5", &pose, NULL), EX_OK);
    def.pose = &pose;
    open_slice(&slice, &def);
    assert_int_equal(slice.example_count, 2);
    assert_int_equal(slice.cells[0].kind, EXI_CELL_BETWEEN);
    assert_int_equal(slice.cells[2].number, 2);
    assert_int_equal(slice.cells[3].number, 3);
    exi_slice_close(&slice);
    free(pose.inputs);
    ex_rig_destroy(rig);
}

static void pseudo_examples_know_where_they_come_from(void **state) {
    (void)state;
    const double points[] = {0, 10, 1, 10, 0, 30}, at[] = {1, 30}, from[] = {0.7, 25}, given[] = {1, 0, 0};
    const double other[] = {0.5, 20};
    const ex_pseudo pseudos[] = {{.at = at, .from = from}, {.at = other, .weights = given}};
    ex_rig *rig =
        rig_at(&(space){.axis_count = 2, .example_count = 3, .points = points, .pseudos = pseudos, .pseudo_count = 2});
    const ex_sheet_def def = def_of(rig, 2, 3, 3);
    exi_slice slice;
    open_slice(&slice, &def);
    assert_int_equal(slice.pseudo_count, 2);
    assert_int_equal(slice.cells[8].kind, EXI_CELL_PSEUDO);
    assert_true(slice.cells[8].has_from);
    assert_row_near(slice.cells[8].from, from, 2, 1e-15);
    assert_int_equal(slice.cells[4].kind, EXI_CELL_PSEUDO);
    assert_int_equal(slice.cells[4].number, 1);
    assert_false(slice.cells[4].has_from);
    exi_slice_close(&slice);
    ex_rig_destroy(rig);
}

/* ---- weights outside the bounds ---- */

/* Every cell knows the weight farthest below -0.1 or above 1.1, and the sheet the farthest of all. */
static void weights_outside_are_found(void **state) {
    (void)state;
    const double points[] = {0, 0.2, 1};
    ex_rig *rig = rig_at(&(space){.axis_count = 1, .example_count = 3, .points = points});
    ex_sheet_def def = def_of(rig, 1, 11, 2);
    ex_sheet_info info;
    exi_slice slice;
    def.beyond[0][0] = def.beyond[0][1] = 0.5;
    open_slice(&slice, &def);
    assert_int_equal(exi_slice_weigh(&slice, NULL), EX_OK);
    int marked = 0, beyond = 0;
    double farthest = 0, most = 0;
    for (int i = 0; i < exi_slice_cell_count(&slice); i++) {
        double weights[3], far = 0, weight = 0;
        ex_weigher_evaluate(ex_rig_weigher(rig, 0), slice.cells[i].values, weights);
        for (int k = 0; k < 3; k++) {
            const double out = fmax(-0.1 - weights[k], weights[k] - 1.1);
            if (out > far) {
                far = out;
                weight = weights[k];
                assert_true(weight != 0);
            }
        }
        assert_near(slice.cells[i].far.weight, weight, 1e-12);
        if (far > 0) {
            assert_near(weights[slice.cells[i].far.example], weight, 1e-12);
            beyond += slice.cells[i].kind == EXI_CELL_BEYOND;
            marked++;
        }
        if (far > most) {
            most = far;
            farthest = weight;
        }
    }
    assert_true(marked > 0 && beyond > 0 && marked < exi_slice_cell_count(&slice));
    assert_int_equal(slice.outside_count, marked);
    exi_slice_close(&slice);
    ex_image *image = sheet_of(&def, &info);
    assert_int_equal(info.outside_count, marked);
    assert_near(info.outside_weight, farthest, 1e-12);
    ex_image_destroy(image);
    ex_rig_destroy(rig);
}

/* A ring in the upper left corner of the marked cells, and only there; a sheet without any has no line about them. */
static void forms_with_such_weights_have_a_ring(void **state) {
    (void)state;
    const double points[] = {0, 0.2, 1}, even[] = {0, 1};
    ex_rig *rig = rig_at(&(space){.axis_count = 1, .example_count = 3, .points = points});
    ex_rig *calm = rig_at(&(space){.axis_count = 1, .example_count = 2, .points = even});
    ex_sheet_def def = def_of(rig, 1, 6, 2);
    exi_slice slice;
    ex_sheet_info info, other;
    def.cell = 220; /* one pixel per point */
    def.title = "";
    def.beyond[0][1] = 0.5;
    open_slice(&slice, &def);
    assert_int_equal(exi_slice_weigh(&slice, NULL), EX_OK);
    const int count = exi_slice_cell_count(&slice);
    ex_image *image = sheet_of(&def, &info);
    int rings = 0;
    for (int i = 0; i < count; i++) {
        const int left = 22 + i * ((image->width - 44) / count), top = 22;
        bool ring = false;
        for (int y = top + 3; y < top + 18; y++)
            for (int x = left + 3; x < left + 16; x++) {
                const unsigned char *pixel = image->pixels + 4 * (y * image->width + x);
                ring |= pixel[0] < 150 && pixel[0] == pixel[1] && pixel[1] == pixel[2];
            }
        assert_int_equal(ring, exi_outside(slice.cells[i].far.weight) > 0);
        rings += ring;
    }
    assert_true(rings > 0 && rings < count);
    exi_slice_close(&slice);
    def.rig = calm;
    def.beyond[0][1] = 0;
    ex_image *without = sheet_of(&def, &other);
    assert_int_equal(other.outside_count, 0);
    /* A line below the legend, and room above the forms, so that no mark lies on one. */
    assert_int_equal(image->height, without->height + 20 + 14);
    ex_image_destroy(image);
    ex_image_destroy(without);
    ex_rig_destroy(rig);
    ex_rig_destroy(calm);
}

/* Values that do not fit beside a name go below it, if the cell is small. */
static void names_have_room(void **state) {
    (void)state;
    const double points[] = {0.4, 10, 0.6, 30, 0.7, 29, 0, 10};
    ex_rig *rig = rig_at(&(space){.axis_count = 2, .example_count = 4, .points = points});
    ex_sheet_def def = def_of(rig, 2, 3, 2);
    def.unmarked = true;
    for (int i = 0; i < 2; i++) {
        exi_slice slice;
        char name[EXI_NAME_SIZE], values[EXI_NAME_SIZE];
        def.cell = i ? 400 : EX_SHEET_CELL_MIN;
        open_slice(&slice, &def);
        assert_int_equal(exi_slice_weigh(&slice, NULL), EX_OK);
        assert_int_equal(exi_slice_frame(&slice, NULL), EX_OK);
        assert_true(slice.two_lines == !i);
        assert_near(slice.cell_height - slice.picture_height, 13 * (i ? 1 : 2) * slice.scale, 1);
        exi_cell_name(&slice, &slice.cells[1], name, values);
        assert_string_equal(values, "(0.4, 10 mm)");
        exi_cell_name(&slice, &slice.cells[0], name, values);
        assert_string_equal(values, "");
        exi_slice_close(&slice);
    }
    ex_rig_destroy(rig);
}

/* A line around a square with a hole: on both borders, and nowhere else. */
static void outlines_follow_the_border(void **state) {
    (void)state;
    ex_image *square = ex_image_create(40, 40), *drawn = NULL;
    ex_canvas *canvas;
    for (int y = 10; y < 30; y++)
        for (int x = 10; x < 30; x++)
            square->pixels[4 * (40 * y + x) + 3] = x >= 17 && x < 23 && y >= 17 && y < 23 ? 0 : 255;
    assert_int_equal(ex_canvas_create_image(100, 100, 1, ex_colour_grey(255), &canvas, NULL), EX_OK);
    assert_true(exi_outline_draw(canvas, square, 50, 20, 1, &(ex_pen){ex_colour_grey(0), 2, 0, 0}));
    assert_int_equal(ex_canvas_take_image(canvas, &drawn, NULL), EX_OK);
    for (int i = 13; i < 28; i++) {
        assert_true(light_at(drawn, 60, 20 + i) < 60 && light_at(drawn, 79, 20 + i) < 60);
        assert_true(light_at(drawn, 50 + i, 30) < 60 && light_at(drawn, 50 + i, 49) < 60);
    }
    assert_true(light_at(drawn, 67, 40) < 120 && light_at(drawn, 72, 40) < 120);
    assert_true(light_at(drawn, 63, 40) > 250 && light_at(drawn, 70, 40) > 200);
    assert_true(light_at(drawn, 55, 40) > 250 && light_at(drawn, 85, 40) > 250);
    ex_image_destroy(square);
    ex_image_destroy(drawn);
}

/* ---- pictures ---- */

static void one_camera_sees_all(void **state) {
    (void)state;
    const double points[] = {0, 10, 1, 10, 0, 30};
    ex_rig *rig = rig_at(&(space){.axis_count = 2, .example_count = 3, .points = points});
    ex_sheet_def def = def_of(rig, 2, 2, 2);
    exi_slice slice;
    double x[2], y[2];
    def.cell = 100;
    open_slice(&slice, &def);
    assert_int_equal(exi_slice_frame(&slice, NULL), EX_OK);
    assert_int_equal(exi_slice_render(&slice, 0, exi_slice_cell_count(&slice), NULL), EX_OK);
    /* size 30 is a box of twice the width; both are in the middle, and the large one fills its place. */
    const double small = covered(slice.cells[0].picture, &x[0], &y[0]);
    const double large = covered(slice.cells[2].picture, &x[1], &y[1]);
    assert_near(large / small, 4, 0.1);
    assert_near(sqrt(large), 84, 2);
    for (int i = 0; i < 2; i++) {
        assert_near(x[i], slice.cell_width / 2.0, 0.6);
        assert_near(y[i], slice.picture_height / 2.0, 0.6);
    }
    exi_slice_close(&slice);
    ex_rig_destroy(rig);
}

/* Distances of the covered pixels from the picture's edges: left, top, right, bottom, in pixels; the least of
 * several. */
static void narrow_margins(const ex_image *image, int margins[4]) {
    for (int i = 0; i < image->width * image->height; i++) {
        const int x = i % image->width, y = i / image->width;
        const int to[4] = {x, y, image->width - 1 - x, image->height - 1 - y};
        for (int k = 0; k < 4 && channel_at(image, x, y, 3) > 127; k++)
            margins[k] = to[k] < margins[k] ? to[k] : margins[k];
    }
}

/* From any side the camera is as near as possible: the forms together reach the margin, equally on both sides. */
static void the_camera_is_near_from_all_sides(void **state) {
    (void)state;
    character c;
    character_open(&c, 5, 4, EX_SKINNING_LINEAR);
    ex_rig *rig = rig_of(&c.def);
    ex_sheet_def def = def_of(rig, 1, 3, 2);
    def.axes[0] = ex_rig_input_find(rig, "elbow");
    def.cell = 100;
    for (int side = 0; side < 4; side++) {
        exi_slice slice;
        int margins[4] = {1000, 1000, 1000, 1000};
        def.yaw = 35 * side - 50;
        def.pitch = 45 - 30 * side;
        open_slice(&slice, &def);
        assert_int_equal(exi_slice_frame(&slice, NULL), EX_OK);
        assert_int_equal(exi_slice_render(&slice, 0, exi_slice_cell_count(&slice), NULL), EX_OK);
        for (int i = 0; i < exi_slice_cell_count(&slice); i++)
            narrow_margins(slice.cells[i].picture, margins);
        assert_near(margins[0], margins[2], 2);
        assert_near(margins[1], margins[3], 2);
        const double across = margins[0] / (double)slice.cell_width, along = margins[1] / (double)slice.picture_height;
        assert_near(across < along ? across : along, 0.08, 0.025);
        exi_slice_close(&slice);
    }
    ex_rig_destroy(rig);
    character_close(&c);
}

/* The middle of the blue pixels, the colour of examples, as fractions of the picture. */
static void find_blue(const ex_image *image, double middle[2]) {
    double count = 0;
    middle[0] = middle[1] = 0;
    for (int y = 0; y < image->height; y++)
        for (int x = 0; x < image->width; x++)
            if (channel_at(image, x, y, 2) > channel_at(image, x, y, 0) + 25) {
                middle[0] += x;
                middle[1] += y;
                count++;
            }
    assert_true(count > 100);
    middle[0] /= count * image->width;
    middle[1] /= count * image->height;
}

static void the_first_axis_goes_right_the_second_up(void **state) {
    (void)state;
    ex_sheet_info info;
    double middle[2];
    for (int corner = 0; corner < 4; corner++) {
        const double points[] = {corner & 1, corner & 2 ? 30 : 10};
        ex_rig *rig = rig_at(&(space){.axis_count = 2, .example_count = 1, .points = points});
        ex_sheet_def def = def_of(rig, 2, 3, 3);
        def.title = "";
        ex_image *image = sheet_of(&def, &info);
        find_blue(image, middle);
        assert_true(corner & 1 ? middle[0] > 0.6 : middle[0] < 0.5);
        assert_true(corner & 2 ? middle[1] < 0.35 : middle[1] > 0.5);
        assert_int_equal(info.columns * info.rows, 9);
        assert_int_equal(info.example_count, 1);
        assert_int_equal(info.width, image->width);
        ex_image_destroy(image);
        ex_rig_destroy(rig);
    }
}

static void cut_oddly(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)user;
    (void)grain;
    for (int end = count; end > 0;) {
        const int begin = end > 3 ? end - 3 : 0;
        body(context, begin, end);
        end = begin;
    }
}

static bool note_progress(void *user, const char *what, double fraction) {
    double *last = user;
    assert_non_null(what);
    assert_true(fraction >= *last && fraction <= 1);
    *last = fraction;
    return true;
}

/* A rig with a joint, a texture and a refined level; the elbow reads its joint. */
static void bytes_do_not_depend_on_tasks(void **state) {
    (void)state;
    character c;
    character_open(&c, 5, 4, EX_SKINNING_LINEAR);
    ex_rig *rig = rig_of(&c.def);
    const ex_tasks tasks = {.run = cut_oddly};
    for (int textures = 0; textures < 2; textures++) {
        double last = 0;
        const ex_progress progress = {note_progress, &last};
        ex_sheet_def def = def_of(rig, 2, 3, 2);
        ex_sheet_info info;
        def.axes[0] = ex_rig_input_find(rig, "elbow");
        def.axes[1] = ex_rig_input_find(rig, "size");
        def.beyond[0][1] = 0.25;
        def.textures = textures > 0;
        ex_image *first = sheet_of(&def, &info);
        assert_int_equal(info.columns, 4);
        assert_true(info.example_count > 1);
        def.tasks = &tasks;
        def.progress = &progress;
        ex_image *second = sheet_of(&def, NULL);
        assert_near(last, 1, 0);
        assert_int_equal(first->width, second->width);
        assert_int_equal(first->height, second->height);
        assert_memory_equal(first->pixels, second->pixels, 4 * (size_t)first->width * (size_t)first->height);
        ex_image_destroy(first);
        ex_image_destroy(second);
    }
    ex_rig_destroy(rig);
    character_close(&c);
}

/* The drawing shows the joint's rotation: a bent tube reaches higher than a straight one. */
static void joints_turn(void **state) {
    (void)state;
    character c;
    character_open(&c, 5, 4, EX_SKINNING_LINEAR);
    ex_rig *rig = rig_of(&c.def);
    ex_sheet_def def = def_of(rig, 1, 2, 2);
    exi_slice slice;
    double x[2], y[2];
    def.axes[0] = ex_rig_input_find(rig, "elbow");
    open_slice(&slice, &def);
    assert_string_equal(slice.axes[0].unit, "\xC2\xB0");
    assert_int_equal(exi_slice_frame(&slice, NULL), EX_OK);
    assert_int_equal(exi_slice_render(&slice, 0, exi_slice_cell_count(&slice), NULL), EX_OK);
    covered(slice.cells[0].picture, &x[0], &y[0]);
    covered(slice.cells[1].picture, &x[1], &y[1]);
    assert_true(fabs(x[0] - x[1]) + fabs(y[0] - y[1]) > 5);
    exi_slice_close(&slice);
    ex_rig_destroy(rig);
    character_close(&c);
}

/* ---- wrong arguments, memory ---- */

static void stay_calm(const char *function, const char *what) {
    (void)function;
    (void)what;
}

static void wrong_arguments_are_refused(void **state) {
    (void)state;
    sample_rig s;
    sample_rig_open(&s, 8);
    ex_rig *rig = rig_of(&s.def);
    const int bend = ex_rig_input_find(rig, "bend"), turn = ex_rig_input_find(rig, "turn");
    const int smile = ex_rig_input_find(rig, "smile");
    const struct {
        ex_result result;
        int axis_count, first, second, columns, rows, cell;
        double beyond, pitch;
        bool textures;
        const char *word;
    } wrong[] = {
        {EX_ERROR_ARGUMENT, 0, bend, 0, 3, 3, 100, 0, 0, false, "one axis or two"},
        {EX_ERROR_ARGUMENT, 3, bend, 0, 3, 3, 100, 0, 0, false, "one axis or two"},
        {EX_ERROR_ARGUMENT, 1, 99, 0, 3, 3, 100, 0, 0, false, "axis 99"},
        {EX_ERROR_ARGUMENT, 2, bend, -1, 3, 3, 100, 0, 0, false, "axis -1"},
        {EX_ERROR_ARGUMENT, 2, bend, turn, 3, 3, 100, 0, 0, false, "'turn' is a rotation"},
        {EX_ERROR_ARGUMENT, 2, bend, bend, 3, 3, 100, 0, 0, false, "'bend' is given twice"},
        {EX_ERROR_ARGUMENT, 1, bend, 0, 1, 3, 100, 0, 0, false, "1 forms along the axis 'bend'"},
        {EX_ERROR_ARGUMENT, 2, bend, smile, 3, 2000, 100, 0, 0, false, "2000 forms"},
        {EX_ERROR_ARGUMENT, 1, bend, 0, 3, 3, 10, 0, 0, false, "forms of 10 pixels"},
        {EX_ERROR_ARGUMENT, 1, bend, 0, 3, 3, 3000, 0, 0, false, "forms of 3000 pixels"},
        {EX_ERROR_ARGUMENT, 1, bend, 0, 3, 3, 100, -1, 0, false, "-1 ranges beyond"},
        {EX_ERROR_ARGUMENT, 1, bend, 0, 3, 3, 100, NAN, 0, false, "ranges beyond"},
        {EX_ERROR_ARGUMENT, 1, bend, 0, 3, 3, 100, 0, 91, false, "pitch 91"},
        {EX_ERROR_ARGUMENT, 1, bend, 0, 3, 3, 100, 0, 0, true, "no texture 'base_color'"},
        {EX_ERROR_LIMIT, 2, bend, smile, 100, 100, 48, 0, 0, false, "100 by 100 forms"},
        {EX_ERROR_LIMIT, 1, bend, 0, 100, 2, 2000, 0, 0, false, "pixels is too large"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ex_sheet_def def = def_of(rig, wrong[i].axis_count, wrong[i].columns, wrong[i].rows);
        ex_error error = {.result = EX_OK};
        ex_image *image = NULL;
        def.axes[0] = wrong[i].first;
        def.axes[1] = wrong[i].second;
        def.cell = wrong[i].cell;
        def.beyond[0][0] = wrong[i].beyond;
        def.pitch = wrong[i].pitch;
        def.textures = wrong[i].textures;
        assert_int_equal(ex_sheet_image(&def, &image, NULL, &error), wrong[i].result);
        assert_null(image);
        assert_sentence(&error, wrong[i].result, wrong[i].word);
    }
    ex_rig_destroy(rig);
    sample_rig_close(&s);
    ex_set_misuse_hook(stay_calm);
    ex_sheet_def def = ex_sheet_def_default();
    ex_image *image = NULL;
    assert_int_equal(ex_sheet_image(&def, &image, NULL, NULL), EX_ERROR_ARGUMENT);
    assert_int_equal(ex_sheet_image(&def, NULL, NULL, NULL), EX_ERROR_ARGUMENT);
    ex_set_misuse_hook(NULL);
}

/* ---- parts ---- */

static ex_image *forms_of(const ex_sheet_def *def, int first, int count) {
    ex_error error = {.result = EX_OK};
    ex_image *image = NULL;
    if (ex_sheet_forms(def, &(ex_sheet_part){.first = first, .count = count}, &image, NULL, &error) != EX_OK)
        fail_msg("%s", error.text);
    return image;
}

static void parts_make_the_sheet(void **state) {
    (void)state;
    const double points[] = {0, 0, 1, 0, 0, 1};
    ex_rig *rig = rig_at(&(space){.axis_count = 2, .example_count = 3, .points = points});
    const ex_sheet_def def = def_of(rig, 2, 4, 3);
    ex_sheet_info infos[2];
    ex_error error = {.result = EX_OK};
    ex_image *whole = sheet_of(&def, &infos[0]), *joined = NULL;
    const int all = infos[0].columns * infos[0].rows;
    ex_sheet_part parts[3] = {{.first = 5, .count = 0}, {.first = 0, .count = 2}, {.first = 2, .count = 3}};
    for (int i = 0; i < 3; i++)
        parts[i].image = forms_of(&def, parts[i].first, parts[i].count);
    assert_int_equal(parts[1].image->width * 2, parts[0].image->width); /* two cells, and rows of four */
    assert_int_equal(ex_sheet_join(&def, 3, parts, &joined, &infos[1], &error), EX_OK);
    assert_int_equal(joined->width, whole->width);
    assert_int_equal(joined->height, whole->height);
    assert_memory_equal(joined->pixels, whole->pixels, 4 * (size_t)whole->width * (size_t)whole->height);
    assert_memory_equal(&infos[0], &infos[1], sizeof infos[0]);
    ex_image_destroy(joined);
    const struct {
        ex_sheet_part parts[2];
        int count;
    } wrong[] = {{{parts[0]}, 1},
                 {{parts[1], parts[1]}, 2},
                 {{{.first = 0, .count = all + 1, .image = parts[0].image}}, 1},
                 {{{.first = -1, .count = 1, .image = parts[0].image}}, 1},
                 {{{.first = 0, .count = 1, .image = parts[0].image}}, 1},
                 {{{.first = 0, .count = 1}}, 1},
                 {{{.first = 0}}, 0}};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(ex_sheet_join(&def, wrong[i].count, wrong[i].parts, &joined, NULL, &error), EX_ERROR_ARGUMENT);
        assert_null(joined);
    }
    assert_int_equal(ex_sheet_forms(&def, &(ex_sheet_part){.first = all}, &joined, NULL, &error), EX_ERROR_ARGUMENT);
    for (int i = 0; i < 3; i++)
        ex_image_destroy((ex_image *)(uintptr_t)parts[i].image);
    ex_image_destroy(whole);
    ex_rig_destroy(rig);
}

static ex_result attempt_parts(void *context) {
    ex_image *part = NULL, *image = NULL;
    ex_result result = ex_sheet_forms(context, &(ex_sheet_part){.first = 0}, &part, NULL, NULL);
    if (result == EX_OK)
        result = ex_sheet_join(context, 1, &(ex_sheet_part){.first = 0, .image = part}, &image, NULL, NULL);
    ex_image_destroy(part);
    ex_image_destroy(image);
    return result;
}

static ex_result attempt(void *context) {
    ex_image *image = NULL;
    const ex_result result = ex_sheet_image(context, &image, NULL, NULL);
    ex_image_destroy(image);
    return result;
}

static void memory_may_run_out(void **state) {
    (void)state;
    const double points[] = {0, 1}, at[] = {0.5}, from[] = {0.3};
    const ex_pseudo pseudo = {.at = at, .from = from};
    ex_rig *rig =
        rig_at(&(space){.axis_count = 1, .example_count = 2, .points = points, .pseudos = &pseudo, .pseudo_count = 1});
    ex_sheet_def def = def_of(rig, 1, 3, 2);
    assert_true(fail_alloc_sweep(attempt, &def) > 50);
    assert_true(fail_alloc_sweep(attempt_parts, &def) > 50);
    ex_rig_destroy(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_even_with_some_beyond),
        cmocka_unit_test(examples_move_columns_and_rows),
        cmocka_unit_test(examples_that_disagree_move_alone),
        cmocka_unit_test(only_examples_of_the_slice_are_marked),
        cmocka_unit_test(pseudo_examples_know_where_they_come_from),
        cmocka_unit_test(one_camera_sees_all),
        cmocka_unit_test(the_camera_is_near_from_all_sides),
        cmocka_unit_test(the_first_axis_goes_right_the_second_up),
        cmocka_unit_test(weights_outside_are_found),
        cmocka_unit_test(forms_with_such_weights_have_a_ring),
        cmocka_unit_test(names_have_room),
        cmocka_unit_test(outlines_follow_the_border),
        cmocka_unit_test(bytes_do_not_depend_on_tasks),
        cmocka_unit_test(joints_turn),
        cmocka_unit_test(parts_make_the_sheet),
        cmocka_unit_test(wrong_arguments_are_refused),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
