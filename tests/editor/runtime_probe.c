/*
 * Results that @exemplar/runtime must match, by the library itself: runtime_probe RIG.glb LEVEL SPLIT. Reads lines,
 *   move LAYER EXAMPLE NUMBERS    moves an example
 *   pseudo LAYER NUMBERS NUMBERS  adds a pseudo-example at the first point, drawn from the second
 *   pose NUMBERS                  sets all inputs in their order, and evaluates
 * and writes for each pose: positions, normals, tangents where the level has texture coordinates, box (float), weights
 * (double), textures (bytes).
 */
#include "probe.h"

#include <string.h>

enum { NUMBERS_MAX = 256, LAYERS_MAX = 16, TEXTURES_MAX = 8 };

static void *room(size_t size) {
    void *memory = calloc(size + 1, 1);
    if (!memory)
        exit(1);
    return memory;
}

/* The rest of a line as numbers. */
static void read_numbers(char *text, double numbers[NUMBERS_MAX]) {
    int count = 0;
    for (char *word = strtok(text, " \n"); word && count < NUMBERS_MAX; word = strtok(NULL, " \n"))
        numbers[count++] = strtod(word, NULL);
}

static int edit(const ex_rig *rig, ex_weigher **edited, const double *numbers, bool pseudo) {
    const int layer = (int)numbers[0];
    const ex_weigher *old = edited[layer] ? edited[layer] : ex_rig_weigher(rig, layer);
    const int dimension = ex_weigher_dimension(old);
    const ex_edit move = {.kind = EX_EDIT_MOVE_EXAMPLE, .index = (int)numbers[1], .at = numbers + 2};
    const ex_edit add = {.kind = EX_EDIT_ADD_PSEUDO, .at = numbers + 1, .from = numbers + 1 + dimension};
    ex_weigher *changed = NULL;
    ex_error error;
    if (ex_weigher_edit(old, pseudo ? &add : &move, 1, NULL, &changed, &error) != EX_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    ex_weigher_destroy(edited[layer]);
    edited[layer] = changed;
    return 0;
}

int main(int argument_count, char **arguments) {
    ex_rig *rig = argument_count == 4 ? read_rig(arguments[1]) : NULL;
    if (!rig || ex_rig_layer_count(rig) > LAYERS_MAX || ex_rig_texture_count(rig) > TEXTURES_MAX)
        return 1;
    ex_weigher *edited[LAYERS_MAX] = {NULL};
    const ex_evaluation evaluation = {
        .weighers = (const ex_weigher *const *)edited, .level = atoi(arguments[2]), .split = atoi(arguments[3]) != 0};
    const ex_rig_mesh mesh = ex_rig_level_mesh(rig, evaluation.level);
    const size_t count =
        (size_t)(evaluation.split ? mesh.split_count : ex_rig_level_vertex_count(rig, evaluation.level));
    const size_t examples = (size_t)ex_rig_example_count(rig);
    float box[6];
    unsigned char *textures[TEXTURES_MAX] = {NULL};
    for (int t = 0; t < ex_rig_texture_count(rig); t++)
        textures[t] = room((size_t)ex_rig_texture(rig, t).width * (size_t)ex_rig_texture(rig, t).height * 4);
    const ex_output output = {.positions = room(count * 3 * sizeof(float)),
                              .normals = room(count * 3 * sizeof(float)),
                              .tangents = mesh.texcoords ? room(count * 4 * sizeof(float)) : NULL,
                              .box = box,
                              .weights = room(examples * sizeof(double)),
                              .textures = textures};
    const ex_pose pose = {.inputs = room((size_t)ex_rig_pose_size(rig) * sizeof(double)),
                          .joints = room((size_t)ex_rig_joint_count(rig) * sizeof(ex_transform))};
    void *scratch = room(ex_rig_scratch_size(rig, &evaluation, 1));
    char line[8000];
    double numbers[NUMBERS_MAX];
    int result = 0;
    while (result == 0 && fgets(line, sizeof line, stdin)) {
        char *rest = strchr(line, ' ');
        if (rest)
            read_numbers(rest, numbers);
        if (strncmp(line, "pose", 4) != 0) {
            result = edit(rig, edited, numbers, line[0] == 'p');
            continue;
        }
        ex_rig_rest_pose(rig, &pose);
        const double *next = numbers;
        for (int i = 0; i < ex_rig_input_count(rig); i++) {
            const ex_axis axis = ex_rig_input_axis(rig, i);
            ex_rig_set_input(rig, i, next, &pose);
            next += ex_axis_width(&axis);
        }
        ex_rig_evaluate(rig, &pose, &output, &evaluation, scratch);
        fwrite(output.positions, sizeof(float), count * 3, stdout);
        fwrite(output.normals, sizeof(float), count * 3, stdout);
        if (output.tangents)
            fwrite(output.tangents, sizeof(float), count * 4, stdout);
        fwrite(box, sizeof(float), 6, stdout);
        fwrite(output.weights, sizeof(double), examples, stdout);
        for (int t = 0; t < ex_rig_texture_count(rig); t++)
            fwrite(textures[t], 1, (size_t)ex_rig_texture(rig, t).width * (size_t)ex_rig_texture(rig, t).height * 4,
                   stdout);
    }
    for (int l = 0; l < LAYERS_MAX; l++)
        ex_weigher_destroy(edited[l]);
    for (int t = 0; t < TEXTURES_MAX; t++)
        free(textures[t]);
    free(output.positions);
    free(output.normals);
    free(output.tangents);
    free(output.weights);
    free(pose.inputs);
    free(pose.joints);
    free(scratch);
    ex_rig_destroy(rig);
    return result;
}
