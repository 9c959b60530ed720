/*
 * Every example of every demo comes back from the built rig at its pose: through un-posing, blending, skinning and
 * later layers, within 1e-5 of its size, except damped vertices; images to the bit.
 */
#include "posed.h"

#include <math.h>

static void count_damped(void *user, int layer, int example, const ex_damped *list, int count) {
    (void)list;
    print_message("layers[%d].examples[%d]: %d vertices damped\n", layer, example, count);
    *(int *)user += count;
}

static double check_form(const ex_rig *rig, const ex_project_example *example, const ex_pose *pose, bool unskinned) {
    ex_mesh *sculpt = NULL;
    assert_int_equal(ex_mesh_read(scratch_path(example->mesh), &sculpt, NULL), EX_OK);
    const int count = ex_rig_vertex_count(rig);
    float *positions = malloc(12 * (size_t)count);
    ex_evaluation how = {.unskinned = unskinned};
    void *scratch = malloc(ex_rig_scratch_size(rig, &how, 1));
    ex_rig_evaluate(rig, pose, &(ex_output){.positions = positions}, &how, scratch);
    double worst = 0;
    for (int i = 0; i < 3 * count; i++)
        worst = fmax(worst, fabs((double)positions[i] - sculpt->positions[i]));
    worst /= ex_mesh_size(sculpt);
    free(scratch);
    free(positions);
    ex_mesh_destroy(sculpt);
    return worst;
}

static void check_image(const ex_rig *rig, const ex_project_layer *layer, const ex_project_example *example,
                        const ex_pose *pose) {
    ex_image *image = NULL;
    assert_int_equal(ex_image_read(scratch_path(example->image), &image, NULL), EX_OK);
    const size_t size = (size_t)image->width * (size_t)image->height * 4;
    unsigned char *list[16] = {NULL}, *out = malloc(size);
    assert_true(ex_rig_texture_count(rig) <= 16);
    for (int i = 0; i < ex_rig_texture_count(rig); i++)
        if (strcmp(ex_rig_texture(rig, i).name, layer->pixels.texture) == 0)
            list[i] = out;
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1));
    ex_rig_evaluate(rig, pose, &(ex_output){.textures = list}, NULL, scratch);
    assert_memory_equal(out, image->pixels, size);
    free(scratch);
    free(out);
    ex_image_destroy(image);
}

static void check_demo(const ex_demo *demo) {
    char name[64];
    ex_project *project = NULL;
    ex_rig *rig = NULL;
    ex_error error = {.result = EX_OK};
    assert_int_equal(demo->write(scratch_path("."), NULL), EX_OK);
    snprintf(name, sizeof name, "%s.json", demo->name);
    assert_int_equal(ex_project_read(scratch_path(name), &project, NULL), EX_OK);
    int damped = 0;
    ex_build_options how = {.damped = &(ex_damped_report){count_damped, &damped}};
    ex_project_build(project, &how, &rig, &error);
    assert_string_equal(error.text, "");
    const ex_project_view *view = ex_project_get(project);
    ex_pose pose = ex_pose_create(rig);
    double worst = 0;
    for (int l = 0; l < view->layer_count; l++) {
        const ex_project_layer *layer = &view->layers[l];
        for (int k = 0; k < layer->example_count; k++) {
            pose_example(rig, view, &layer->examples[k], &pose);
            if (layer->domain == EX_DOMAIN_PIXELS) {
                check_image(rig, layer, &layer->examples[k], &pose);
                continue;
            }
            double off =
                check_form(rig, &layer->examples[k], &pose, layer->domain == EX_DOMAIN_FORM && !layer->unposed);
            worst = fmax(worst, off);
            assert_true(off < 1e-5);
        }
    }
    print_message("%s: every example comes back within %.1e of its size\n", demo->name, worst);
    assert_int_equal(damped, 0);
    free(pose.inputs);
    ex_rig_destroy(rig);
    ex_project_destroy(project);
}

/* Long to build: demos.creature has the first with larger triangles, and the others' figures show the forms between
 * their ends. Long to simulate or to scan: demos.garment_files has a short one, cli.scan_run a quick one. */
static bool is_long(const ex_demo *demo) {
    return exi_demo_is_long(demo) || strcmp(demo->name, "creature") == 0 || strcmp(demo->name, "heads") == 0 ||
           strcmp(demo->name, "cylinder") == 0;
}

static void every_example_comes_back(void **state) {
    (void)state;
    for (int i = 0; i < ex_demo_count; i++)
        if (!is_long(&ex_demos[i]))
            check_demo(&ex_demos[i]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_example_comes_back, scratch_set_up, scratch_tear_down),
    };
    return cmocka_run_group_tests_name("demos.examples", tests, NULL, NULL);
}
