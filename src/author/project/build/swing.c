/*
 * Weights of a layer all over its range (swing.h).
 */
#include "author/project/build/swing.h"

#include "author/base/array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- samples of the space ---- */

/* Returns numbers in [0, 1) that fill space evenly: the fractional parts of multiples of powers of 1/g, g the root of
 * x^(d+1) = x + 1 (Roberts' R-sequence), for coordinate `coordinate` of `dimension`. */
static double even_number(int sample, int coordinate, int dimension) {
    double g = 2;
    for (int i = 0; i < 40; i++)
        g = pow(1 + g, 1.0 / (dimension + 1));
    double x = 0.5 + (sample + 1) * pow(1 / g, coordinate + 1);
    return x - floor(x);
}

void exi_axes_sample(const ex_axis *axes, int axis_count, int sample, double *point) {
    int coordinate = 0, dimension = 0;
    for (int i = 0; i < axis_count; i++)
        dimension += ex_axis_width(&axes[i]);
    for (int i = 0; i < axis_count; i++) {
        const ex_axis *axis = &axes[i];
        if (axis->kind == EX_AXIS_SCALAR) {
            *point++ = axis->min + (axis->max - axis->min) * even_number(sample, coordinate++, dimension);
            continue;
        }
        /* Uniform rotation from three numbers (Shoemake). */
        double u = even_number(sample, coordinate, dimension);
        double a = 6.283185307179586 * even_number(sample, coordinate + 1, dimension);
        double b = 6.283185307179586 * even_number(sample, coordinate + 2, dimension);
        coordinate += 4;
        *point++ = sqrt(1 - u) * sin(a);
        *point++ = sqrt(1 - u) * cos(a);
        *point++ = sqrt(u) * sin(b);
        *point++ = sqrt(u) * cos(b);
    }
}

void exi_space_sample(const ex_project_layer *layer, int sample, double *point) {
    exi_axes_sample(layer->weigh.axes, layer->axis_count, sample, point);
}

void exi_space_words(const ex_project_layer *layer, const double *point, char *text, size_t size) {
    size_t used = 0;
    for (int i = 0; i < layer->axis_count && used < size; i++) {
        const bool scalar = layer->axes[i].axis.kind == EX_AXIS_SCALAR;
        char turns[EX_ROTATION_SIZE];
        int length = scalar ? snprintf(text + used, size - used, "%s%s=%.3g", i ? " " : "", layer->axes[i].name, *point)
                            : snprintf(text + used, size - used, "%s%s=%s", i ? " " : "", layer->axes[i].name,
                                       ex_format_rotation(turns, sizeof turns, point, 1));
        used += (size_t)length;
        point += scalar ? 1 : 4;
    }
}

/* ---- weights ---- */

static void take(exi_swing *swing, const ex_project_layer *layer, const double *point, int example, double weight) {
    swing->example = example;
    swing->weight = weight;
    exi_space_words(layer, point, swing->place, sizeof swing->place);
}

bool exi_measure_extent(const ex_project_layer *layer, const ex_weigher *weigher, int samples, exi_extent *extent) {
    const int n = ex_weigher_example_count(weigher);
    double *point = exi_array_allocate((size_t)layer->dimension, sizeof *point);
    double *weights = exi_array_allocate((size_t)n, sizeof *weights);
    const bool good = point && weights;
    *extent = (exi_extent){.high.weight = 1};
    for (int i = 0; good && i < samples && ex_weigher_get_info(weigher)->has_points && !layer->driven; i++) {
        exi_space_sample(layer, i, point);
        ex_weigher_evaluate(weigher, point, weights);
        for (int k = 0; k < n; k++) {
            if (layer->examples[k].reference) /* adds nothing, whatever its weight */
                continue;
            if (weights[k] < extent->low.weight)
                take(&extent->low, layer, point, k, weights[k]);
            if (weights[k] > extent->high.weight)
                take(&extent->high, layer, point, k, weights[k]);
        }
    }
    free(point);
    free(weights);
    return good;
}

bool exi_measure_calm(const ex_project_layer *layer, const ex_weigher_def *def, int samples, exi_extent *extent,
                      bool *possible) {
    const ex_weigher_info *info = ex_weigher_kind_info(def->kind);
    ex_weigher_def calm = *def;
    ex_weigher *weigher = NULL;
    calm.kind = EX_WEIGHER_CALM;
    calm.falloffs = calm.metrics = NULL;
    calm.sets = NULL;
    calm.set_count = 0;
    calm.overshoot = ex_weigher_def_default().overshoot;
    calm.linear = true;
    *possible = false;
    if (!info->has_points || info->is_driven || layer->offsets.participation == EX_PARTICIPATION_MOVED)
        return true;
    const ex_result result = ex_weigher_create(&calm, NULL, &weigher, NULL);
    *possible = result == EX_OK;
    const bool good = *possible ? exi_measure_extent(layer, weigher, samples, extent) : result != EX_ERROR_MEMORY;
    ex_weigher_destroy(weigher);
    return good;
}

const exi_swing *exi_extent_worst(const exi_extent *extent) {
    return -extent->low.weight > extent->high.weight - 1 ? &extent->low : &extent->high;
}
