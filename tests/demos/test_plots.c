/*
 * The demos' plots: along every axis and over every two of them, in several slices, no label overlaps another, none
 * leaves the picture, and every drawn example is named.
 */
#include "author/picture/canvas/labels.h"
#include "author/project/projects.h"

#include "author/picture/plot/plot.h"
#include "demos/demos.h"
#include "support/words.h"

static int label_count;

static void check_plot(const ex_plot_def *def) {
    const ex_rig *rig = def->rig;
    const int examples = ex_weigher_example_count(ex_rig_weigher(rig, def->layer));
    ex_plot_info info;
    ex_canvas *canvas = NULL;
    ex_error error = {.result = EX_OK};
    if (exi_plot_make(def, true, &canvas, &info, &error) != EX_OK)
        fail_msg("%s", error.text);
    const int count = exi_canvas_text_count(canvas);
    for (int i = 0; i < count; i++) {
        const char *a, *b;
        const ex_box box = exi_canvas_text(canvas, i, &a);
        assert_true(box.x0 >= 0 && box.y0 >= 0 && box.x1 <= ex_canvas_width(canvas) &&
                    box.y1 <= ex_canvas_height(canvas));
        for (int k = 0; k < i; k++)
            if (exi_box_overlaps(box, exi_canvas_text(canvas, k, &b)))
                fail_msg("'%s' lies upon '%s'", a, b);
    }
    for (int k = 0; k < examples && info.drawn_count == examples; k++) {
        bool named = false;
        for (int i = 0; i < count && !named; i++) {
            const char *text;
            exi_canvas_text(canvas, i, &text);
            named = strcmp(text, ex_rig_example_name(rig, def->layer, k)) == 0;
        }
        assert_true(named);
    }
    label_count += count;
    ex_canvas_destroy(canvas);
}

/* Along every axis of a layer and over every two, at a pose. */
static void check_layer(const ex_rig *rig, int layer, const ex_pose *pose) {
    const int axes = ex_weigher_axis_count(ex_rig_weigher(rig, layer));
    for (int a = 0; a < axes; a++) {
        for (int b = a; b < axes; b++) {
            ex_plot_def def = ex_plot_def_default();
            def.rig = rig;
            def.layer = layer;
            def.axis_count = a == b ? 1 : 2;
            def.axes[0] = ex_rig_layer_input(rig, layer, a);
            def.axes[1] = ex_rig_layer_input(rig, layer, b);
            def.pose = pose;
            /* A rotation has no single value to plot along. */
            if (ex_rig_input_axis(rig, def.axes[0]).kind == EX_AXIS_SCALAR &&
                ex_rig_input_axis(rig, def.axes[1]).kind == EX_AXIS_SCALAR)
                check_plot(&def);
        }
    }
}

static void labels_do_not_overlap(void **state) {
    (void)state;
    static const char *const poses[] = {NULL, "thickness=1", "gender=1"};
    for (int d = 0; d < ex_demo_count; d++) {
        char name[64];
        ex_project *project = NULL;
        if (exi_demo_is_long(&ex_demos[d])) /* a driver has no axis to plot along */
            continue;
        assert_int_equal(ex_demos[d].write(scratch_path("."), NULL), EX_OK);
        snprintf(name, sizeof name, "%s.json", ex_demos[d].name);
        assert_int_equal(ex_project_read(scratch_path(name), &project, NULL), EX_OK);
        ex_rig *rig = build_project(project);
        for (size_t p = 0; p < sizeof poses / sizeof poses[0]; p++) {
            ex_pose pose = ex_pose_create(rig);
            /* Not every demo has every axis. */
            if (!poses[p] || exi_pose_word(rig, poses[p], &pose, NULL) == EX_OK)
                for (int layer = 0; layer < ex_rig_layer_count(rig); layer++)
                    check_layer(rig, layer, &pose);
            free(pose.inputs);
        }
        ex_rig_destroy(rig);
        ex_project_destroy(project);
    }
    assert_true(label_count > 1000);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(labels_do_not_overlap)};
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}
