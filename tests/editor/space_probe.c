/*
 * Contents and measures of a rig's layers, by the library itself: space_probe RIG.glb. Reads lines, and answers each
 * by a line of numbers, which is empty where there is nothing of that kind:
 *   edit LAYER EDITS...      all at once, answered by nothing or by the sentence of the refusal; an edit is one of
 *                            move K AT, shift I AT, from AT FROM, given AT WEIGHTS, remove I, falloff I FALLOFF
 *   weights LAYER POINT      of the examples
 *   measures LAYER A B       distance; condition number; ridge, condition without it, point to blame, its falloff
 *   falloffs LAYER
 *   mask LAYER
 *   delta LAYER EXAMPLE      and so image, driver, joints
 *   rest                     the mesh
 *   worlds INPUTS JOINTS     matrices of the joints of a pose, row after row; the examples' own skeletons count
 */
#include "probe.h"

#include <string.h>

enum { LAYERS_MAX = 16, EDITS_MAX = 64, NUMBERS_MAX = 4096 };

static ex_rig *rig;
static ex_weigher *edited[LAYERS_MAX];

static void *room(size_t size) {
    void *memory = calloc(size + 1, 1);
    if (!memory)
        exit(1);
    return memory;
}

static const ex_weigher *weigher_of(int layer) {
    return edited[layer] ? edited[layer] : ex_rig_weigher(rig, layer);
}

/* ---- reading: the words of the line that is being looked at ---- */

static const char *next_word(void) {
    const char *word = strtok(NULL, " \n");
    return word ? word : "0";
}
static int next_int(void) {
    return atoi(next_word());
}
static double pool[NUMBERS_MAX];
static int pool_used;
static const double *next_numbers(int count) {
    double *numbers = pool + pool_used;
    if (pool_used + count > NUMBERS_MAX)
        exit(1);
    for (int i = 0; i < count; i++)
        numbers[i] = strtod(next_word(), NULL);
    pool_used += count;
    return numbers;
}

/* ---- answering ---- */

static void print_doubles(const double *numbers, size_t count) {
    for (size_t i = 0; numbers && i < count; i++)
        printf("%.17g ", numbers[i]);
}
static void print_floats(const float *numbers, size_t count) {
    for (size_t i = 0; numbers && i < count; i++)
        printf("%.9g ", (double)numbers[i]);
}

static ex_edit next_edit(const char *kind, const ex_weigher *weigher) {
    const int dimension = ex_weigher_dimension(weigher);
    ex_edit edit = {.kind = EX_EDIT_ADD_PSEUDO};
    if (strcmp(kind, "from") == 0 || strcmp(kind, "given") == 0) {
        edit.at = next_numbers(dimension);
        if (kind[0] == 'f')
            edit.from = next_numbers(dimension);
        else
            edit.weights = next_numbers(ex_weigher_example_count(weigher));
        return edit;
    }
    edit.index = next_int();
    if (strcmp(kind, "falloff") == 0) {
        edit.kind = EX_EDIT_FALLOFF;
        edit.falloff = next_numbers(ex_weigher_axis_count(weigher));
    } else if (strcmp(kind, "remove") == 0) {
        edit.kind = EX_EDIT_REMOVE_PSEUDO;
    } else {
        edit.kind = kind[0] == 'm' ? EX_EDIT_MOVE_EXAMPLE : EX_EDIT_MOVE_PSEUDO;
        edit.at = next_numbers(dimension);
    }
    return edit;
}

static void answer_edit(int layer) {
    const ex_weigher *old = weigher_of(layer);
    ex_edit edits[EDITS_MAX];
    int count = 0;
    for (const char *kind = strtok(NULL, " \n"); kind && count < EDITS_MAX; kind = strtok(NULL, " \n"))
        edits[count++] = next_edit(kind, old);
    ex_weigher *changed = NULL;
    ex_error error;
    if (ex_weigher_edit(old, edits, count, NULL, &changed, &error) != EX_OK) {
        printf("%s", error.text);
        return;
    }
    ex_weigher_destroy(edited[layer]);
    edited[layer] = changed;
}

static void answer_weights(const ex_weigher *weigher) {
    const int count = ex_weigher_example_count(weigher);
    double *weights = room((size_t)count * sizeof *weights);
    ex_weigher_evaluate(weigher, next_numbers(ex_weigher_dimension(weigher)), weights);
    print_doubles(weights, (size_t)count);
    free(weights);
}

static void answer_measures(const ex_weigher *weigher) {
    const double *a = next_numbers(ex_weigher_dimension(weigher)), *b = next_numbers(ex_weigher_dimension(weigher));
    const ex_ridge ridge = ex_weigher_get_ridge(weigher);
    double condition = -1;
    (void)ex_weigher_condition(weigher, NULL, &condition, NULL);
    const double numbers[6] = {
        ex_weigher_distance(weigher, a, b), condition, ridge.ridge, ridge.condition, ridge.point, ridge.falloff};
    print_doubles(numbers, 6);
}

static void answer_falloffs(const ex_weigher *weigher) {
    ex_weigher_def def;
    ex_weigher_describe(weigher, &def, NULL, NULL);
    print_doubles(def.falloffs, (size_t)(def.example_count + def.pseudo_count) * (size_t)def.axis_count);
}

static void answer_image(int layer, int example) {
    const unsigned char *image = ex_rig_example_image(rig, layer, example);
    const ex_texture texture = image ? ex_rig_texture(rig, ex_rig_layer_texture(rig, layer)) : (ex_texture){0};
    for (int i = 0; i < 4 * texture.width * texture.height; i++)
        printf("%d ", image[i]);
}

static void answer_driver(int layer, int example) {
    ex_rig_driver driver = {0};
    (void)ex_rig_get_driver(rig, &driver, NULL);
    print_floats(ex_rig_example_driver(rig, layer, example), (size_t)driver.driver.vertex_count * 3);
}

static void answer_form(const char *what, int layer, int example) {
    const size_t vertices = (size_t)ex_rig_vertex_count(rig), joints = (size_t)ex_rig_joint_count(rig);
    float *numbers = room((vertices * 3 + joints * 10) * sizeof *numbers);
    size_t count = 0;
    if (strcmp(what, "rest") == 0)
        ex_rig_rest_mesh(rig, numbers), count = vertices * 3;
    else if (strcmp(what, "mask") == 0)
        count = ex_rig_layer_mask(rig, layer, numbers) ? vertices : 0;
    else if (strcmp(what, "delta") == 0)
        ex_rig_example_delta(rig, layer, example, numbers), count = vertices * 3;
    else if (strcmp(what, "joints") == 0)
        count = ex_rig_example_joints(rig, layer, example, (ex_transform *)numbers) ? joints * 10 : 0;
    print_floats(numbers, count);
    free(numbers);
}

/* Shifts of the joints: each example's own, times its weight. */
static void sum_shifts(const ex_pose *pose, float *shifts) {
    const size_t count = 3 * (size_t)ex_rig_joint_count(rig);
    float *one = room(count * sizeof *one);
    const ex_output output = {.weights = room((size_t)ex_rig_example_count(rig) * sizeof(double))};
    void *scratch = room(ex_rig_scratch_size(rig, NULL, 1));
    ex_rig_evaluate(rig, pose, &output, NULL, scratch);
    for (int l = 0; l < ex_rig_layer_count(rig); l++)
        for (int k = 0; k < ex_weigher_example_count(ex_rig_weigher(rig, l)); k++)
            if (ex_rig_example_shifts(rig, l, k, one))
                for (size_t c = 0; c < count; c++)
                    shifts[c] += (float)output.weights[ex_rig_first_example(rig, l) + k] * one[c];
    free(scratch);
    free(output.weights);
    free(one);
}

static void answer_worlds(void) {
    const ex_skeleton *skeleton = ex_rig_skeleton(rig);
    const int joints = ex_rig_joint_count(rig), inputs = ex_rig_pose_size(rig);
    ex_transform *locals = room((size_t)joints * sizeof *locals);
    double *dials = room((size_t)inputs * sizeof *dials);
    float *shifts = room((size_t)joints * 3 * sizeof *shifts), *worlds = room((size_t)joints * 12 * sizeof *worlds);
    void *scratch = room(ex_skeleton_scratch_size(skeleton));
    memcpy(dials, next_numbers(inputs), (size_t)inputs * sizeof *dials);
    const double *numbers = next_numbers(joints * 10);
    for (int i = 0; i < joints * 10; i++)
        ((float *)locals)[i] = (float)numbers[i];
    const ex_pose pose = {.inputs = dials, .joints = locals};
    sum_shifts(&pose, shifts);
    const ex_skeleton_input input = {.locals = locals, .shifts = shifts};
    const ex_skeleton_output output = {.worlds = worlds};
    ex_skeleton_evaluate(skeleton, &input, &output, scratch);
    print_floats(worlds, (size_t)joints * 12);
    free(scratch);
    free(worlds);
    free(shifts);
    free(dials);
    free(locals);
}

static void answer(const char *what) {
    pool_used = 0;
    if (strcmp(what, "worlds") == 0) {
        answer_worlds();
        putchar('\n');
        return;
    }
    const int layer = strcmp(what, "rest") == 0 ? 0 : next_int();
    if (strcmp(what, "edit") == 0)
        answer_edit(layer);
    else if (strcmp(what, "weights") == 0)
        answer_weights(weigher_of(layer));
    else if (strcmp(what, "measures") == 0)
        answer_measures(weigher_of(layer));
    else if (strcmp(what, "falloffs") == 0)
        answer_falloffs(weigher_of(layer));
    else if (strcmp(what, "image") == 0)
        answer_image(layer, next_int());
    else if (strcmp(what, "driver") == 0)
        answer_driver(layer, next_int());
    else
        answer_form(what, layer, next_int());
    putchar('\n');
}

int main(int argument_count, char **arguments) {
    rig = argument_count == 2 ? read_rig(arguments[1]) : NULL;
    if (!rig || ex_rig_layer_count(rig) > LAYERS_MAX)
        return 1;
    static char line[100000];
    while (fgets(line, sizeof line, stdin)) {
        const char *what = strtok(line, " \n");
        if (what)
            answer(what);
    }
    for (int l = 0; l < LAYERS_MAX; l++)
        ex_weigher_destroy(edited[l]);
    ex_rig_destroy(rig);
    return 0;
}
