/* posed.h - shared by the tests of demos: a demo written and built, at poses in words and at those of its examples. */
#ifndef EXEMPLAR_TESTS_POSED_H
#define EXEMPLAR_TESTS_POSED_H

#include "author/project/projects.h"

#include "demos/demos.h"
#include "support/words.h"

/* A demo in the scratch folder, its rig, and the mesh it is measured from. */
typedef struct posed_demo {
    ex_project *project;
    ex_rig *rig;
    ex_mesh *mesh;
    ex_pose pose;
    float *positions; /* [vertex_count][3], of the last evaluation */
    void *scratch;
} posed_demo;

/* The example's complete pose: dials from its points in every layer's space, joints as given. */
static inline void pose_example(const ex_rig *rig, const ex_project_view *view, const ex_project_example *example,
                                const ex_pose *pose) {
    ex_rig_rest_pose(rig, pose);
    for (int j = 0; j < example->joint_count; j++) {
        const int joint = ex_skeleton_find(ex_rig_skeleton(rig), example->joints[j].name);
        const ex_transform rest = ex_skeleton_rest(ex_rig_skeleton(rig), joint);
        double rotation[4];
        for (int c = 0; c < 4; c++)
            rotation[c] = (double)example->joints[j].relative.rotation[c];
        const ex_reading whole = {.kind = EX_READING_ROTATION, .part = EX_AXIS_ROTATION};
        ex_reading_write(&whole, &rest, rotation, &pose->joints[joint]);
    }
    for (int l = 0; l < view->layer_count; l++) {
        const double *point = example->points[l];
        for (int i = 0; i < view->layers[l].axis_count; i++) {
            const ex_project_axis *axis = &view->layers[l].axes[i];
            if (!axis->joint)
                ex_rig_set_input(rig, ex_rig_input_find(rig, axis->name), point, pose);
            point += ex_axis_width(&axis->axis);
        }
    }
}

/* From a project in the scratch folder. */
static inline void posed_read(posed_demo *d, const char *file) {
    assert_int_equal(ex_project_read(scratch_path(file), &d->project, NULL), EX_OK);
    assert_int_equal(ex_mesh_read(scratch_path(ex_project_get(d->project)->mesh), &d->mesh, NULL), EX_OK);
    d->rig = build_project(d->project);
    d->pose = ex_pose_create(d->rig);
    d->positions = malloc(12 * (size_t)ex_rig_vertex_count(d->rig));
    d->scratch = malloc(ex_rig_scratch_size(d->rig, NULL, 1));
    assert_true(d->pose.inputs && d->positions && d->scratch);
}

static inline void posed_open(posed_demo *d, const char *name) {
    char file[64];
    int found = -1;
    for (int i = 0; i < ex_demo_count; i++)
        found = strcmp(ex_demos[i].name, name) == 0 ? i : found;
    assert_true(found >= 0);
    assert_int_equal(ex_demos[found].write(scratch_path("."), NULL), EX_OK);
    snprintf(file, sizeof file, "%s.json", name);
    posed_read(d, file);
}

static inline void posed_close(posed_demo *d) {
    free(d->scratch);
    free(d->positions);
    free(d->pose.inputs);
    ex_rig_destroy(d->rig);
    ex_mesh_destroy(d->mesh);
    ex_project_destroy(d->project);
}

/* Evaluates the demo's pose; without its layers: the mesh moved by the skeleton alone. */
static inline const float *posed_evaluate(posed_demo *d, bool layers) {
    static const bool muted[16] = {true, true, true, true, true, true, true, true,
                                   true, true, true, true, true, true, true, true};
    assert_true(ex_rig_layer_count(d->rig) <= 16);
    const ex_evaluation how = {.muted = layers ? NULL : muted};
    ex_rig_evaluate(d->rig, &d->pose, &(ex_output){.positions = d->positions}, &how, d->scratch);
    return d->positions;
}

/* Evaluates at a pose in words: "elbow=90 load=1". */
static inline const float *posed_at(posed_demo *d, bool layers, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static inline const float *posed_at(posed_demo *d, bool layers, const char *format, ...) {
    char words[256], word[64];
    int length = 0;
    va_list list;
    va_start(list, format);
    vsnprintf(words, sizeof words, format, list);
    va_end(list);
    ex_rig_rest_pose(d->rig, &d->pose);
    for (const char *at = words; sscanf(at, " %63s%n", word, &length) == 1; at += length)
        assert_int_equal(exi_pose_word(d->rig, word, &d->pose, NULL), EX_OK);
    return posed_evaluate(d, layers);
}

/* Checks that every sculpt comes back through all layers and the skin, within 1e-5 of its size; that none does without
 * them; and, if requested, that none crosses itself. */
static inline void check_sculpts(posed_demo *d, bool crossing) {
    const ex_project_view *view = ex_project_get(d->project);
    double worst = 0;
    for (int l = 0; l < view->layer_count; l++)
        for (int k = 0; view->layers[l].domain == EX_DOMAIN_OFFSETS && k < view->layers[l].example_count; k++) {
            const ex_project_example *example = &view->layers[l].examples[k];
            ex_mesh *sculpt = NULL;
            int crossings = 0;
            assert_int_equal(ex_mesh_read(scratch_path(example->mesh), &sculpt, NULL), EX_OK);
            assert_int_equal(ex_mesh_compare_connectivity(d->mesh, sculpt, NULL), EX_OK);
            pose_example(d->rig, view, example, &d->pose);
            for (int layers = 0; layers < 2; layers++) {
                const float *positions = posed_evaluate(d, layers);
                double off = 0;
                for (int i = 0; i < 3 * sculpt->vertex_count; i++)
                    off = fmax(off, fabs((double)positions[i] - sculpt->positions[i]) / ex_mesh_size(sculpt));
                /* Dual quaternions alone twist by 60 degrees nearly right: 2.4e-4. */
                assert_true(layers ? off < 1e-5 : off > 1e-4);
                worst = layers ? fmax(worst, off) : worst;
            }
            if (!crossing)
                assert_int_equal(ex_mesh_count_self_intersections(sculpt, NULL, &crossings, NULL), EX_OK);
            if (crossings > 0)
                fail_msg("%s crosses itself %d times", example->mesh, crossings);
            assert_true(ex_rig_example_offset_count(d->rig, l, k) > 0);
            assert_true(ex_rig_example_offset_count(d->rig, l, k) < sculpt->vertex_count);
            ex_mesh_destroy(sculpt);
        }
    print_message("sculpts come back within %.1e of their size\n", worst);
}

/* The sculpts of a demo with linear skinning, under dual quaternions: the offsets differ, the result is the same. */
static inline void check_sculpts_of_dual_quaternions(const char *name) {
    char file[64];
    size_t size = 0;
    snprintf(file, sizeof file, "%s.json", name);
    char *text = scratch_read(file, &size), *grown = malloc(size + 32);
    assert_true(text && grown);
    char *word = strstr(text, "\"linear\"");
    assert_non_null(word);
    const int before = (int)(word - text), after = before + (int)strlen("\"linear\"");
    const int length =
        snprintf(grown, size + 32, "%.*s\"dual_quaternion\"%.*s", before, text, (int)size - after, text + after);
    scratch_write("other.json", grown, (size_t)length);
    posed_demo other;
    posed_read(&other, "other.json");
    assert_int_equal(ex_rig_skinning(other.rig), EX_SKINNING_DUAL_QUATERNION);
    check_sculpts(&other, true);
    posed_close(&other);
    free(grown);
    free(text);
}

#endif
