/* exemplar weights - prints the weight of each example at a pose. */
#include "cli/base/command.h"
#include "cli/base/emit.h"
#include "cli/base/report.h"
#include "cli/base/rigs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_json(const ex_rig *rig, const double *weights) {
    exi_emitter json = exi_emit_start(stdout);
    exi_emit_open(&json, NULL, '{');
    exi_emit_open(&json, "layers", '[');
    for (int layer = 0; layer < ex_rig_layer_count(rig); layer++) {
        int first = ex_rig_first_example(rig, layer);
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "name", ex_rig_layer_name(rig, layer));
        exi_emit_open(&json, "weights", '{');
        for (int k = 0; k < ex_weigher_example_count(ex_rig_weigher(rig, layer)); k++)
            exi_emit_number(&json, ex_rig_example_name(rig, layer, k), weights[first + k]);
        exi_emit_close(&json, '}');
        exi_emit_close(&json, '}');
    }
    exi_emit_close(&json, ']');
    exi_emit_close(&json, '}');
    exi_emit_end(&json);
}

/* Weights are near 1 in every sensible pose; far outside the space they grow beyond the column. */
static void print_weight(const char *name, int width, double weight) {
    if (fabs(weight) < 100)
        /* Adding 0 removes the sign of a negative weight that rounds to zero. */
        exi_print("  %-*s  %10.6f\n", width, name, round(weight * 1e6) / 1e6 + 0.0);
    else
        exi_print("  %-*s  %10g\n", width, name, weight);
}

static void print_layer(const ex_rig *rig, int layer, const double *weights) {
    int count = ex_weigher_example_count(ex_rig_weigher(rig, layer));
    int width = 3;
    for (int k = 0; k < count; k++) {
        int length = exi_plain_width(ex_rig_example_name(rig, layer, k));
        width = length > width ? length : width;
    }
    double sum = 0;
    exi_print("%s\n", ex_rig_layer_name(rig, layer));
    for (int k = 0; k < count; k++) {
        print_weight(ex_rig_example_name(rig, layer, k), width, weights[k]);
        sum += weights[k];
    }
    print_weight("sum", width, sum);
}

static int print_weights(const ex_call *call, const ex_rig *rig, const ex_pose *pose) {
    int count = ex_rig_example_count(rig);
    double *weights = calloc(count > 0 ? (size_t)count : 1, sizeof *weights);
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1) + 1);
    int exit_code = EX_EXIT_DONE;
    if (!weights || !scratch) {
        exit_code = exi_failed_memory();
    } else {
        ex_rig_evaluate(rig, pose, &(ex_output){.weights = weights}, NULL, scratch);
        if (ex_rig_layer_count(rig) == 0 && !call->quiet)
            exi_print_to(stderr, "exemplar: %s has no layers, and so no weights\n", call->arguments[0]);
        if (call->json)
            print_json(rig, weights);
        else
            for (int layer = 0; layer < ex_rig_layer_count(rig); layer++)
                print_layer(rig, layer, weights + ex_rig_first_example(rig, layer));
    }
    free(scratch);
    free(weights);
    return exit_code;
}

static int run(const ex_call *call) {
    if (!exi_assignments_check(call))
        return EX_EXIT_USAGE;
    /* Weights need no surface. */
    const ex_rig_options how = {.without_normals = true, .without_levels = true};
    ex_rig *rig = exi_rig_load(call->arguments[0], &how);
    ex_pose pose = {.inputs = NULL};
    int exit_code = EX_EXIT_FAILED;
    if (rig && exi_assignments_read(call, rig, &pose)) {
        exit_code = print_weights(call, rig, &pose);
        free(pose.inputs);
    }
    ex_rig_destroy(rig);
    return exit_code;
}

const ex_command cmd_weights = {
    .name = "weights",
    .summary = "print the weights of the examples at a pose",
    .usage = "weights RIG.glb [axis=value...] [--json]",
    .description = "Axes that you do not name stay at rest. Write a rotation as turns in degrees,\n"
                   "one after the other (shoulder=x30y-10z5), or as a quaternion\n"
                   "(shoulder=q:0,0,.38,.92). You can turn any joint from its rest:\n"
                   "joint:wrist=x20. A driver's form is a file, in metres with y up:\n"
                   "body=FILE.obj. A note on stderr says when a value is outside the range of its\n"
                   "axis.\n"
                   "\n"
                   "With --json: {\"layers\":[{\"name\":...,\"weights\":{example: weight, ...}}, ...]},\n"
                   "with enough digits to read the same numbers back.",
    .examples = "exemplar weights blob/blob.glb bend=0.5\n"
                "exemplar weights blob/blob.glb bend=0.5 --json",
    .json = true,
    .argument_min = 1,
    .argument_max = -1,
    .run = run,
};
