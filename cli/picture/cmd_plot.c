/* exemplar plot - draws weights as curves along one axis, or as contour maps over two. */
#include "axes.h"
#include "cli/base/command.h"
#include "cli/base/files.h"
#include "cli/base/report.h"
#include "cli/base/rigs.h"
#include "cli/base/words.h"
#include "common/pool.h"

#include <exemplar/author/base.h>
#include <exemplar/author/picture.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *output, *axes_text, *layer_name, *size_text, *scale_text, *compare_text;
static ex_weigher_kind kinds[EX_PLOT_KIND_MAX];

/* Name of the index-th kind that weighs points, or NULL after the last. */
static const char *kind_name(int index) {
    for (int kind = 0; kind < ex_weigher_kind_count(); kind++) {
        const ex_weigher_info *info = ex_weigher_kind_info((ex_weigher_kind)kind);
        if (info->has_points && !info->is_driven && index-- == 0)
            return ex_weigher_kind_name((ex_weigher_kind)kind);
    }
    return NULL;
}

static const ex_option options[] = {
    {.name = "output",
     .values = ".svg|.png",
     .letter = 'o',
     .argument = "FILE",
     .help = "output file: .svg or .png",
     .text = &output},
    {.name = "axes",
     .argument = "A[,B]",
     .help = "the axis to plot along, or the two to plot over (default: the first two scalar axes of the layer that "
             "are not set, or the only one)",
     .text = &axes_text},
    {.name = "layer",
     .argument = "NAME",
     .help = "the layer whose examples are plotted (default: the first that has the axes)",
     .text = &layer_name},
    {.name = "compare",
     .argument = "KIND[,KIND...]",
     .value_name = kind_name,
     .help = "a panel for each of these weighers (cardinal, shepard, nearest, gaussian, calm), with the layer's own "
             "points: the layer's own kind keeps its parameters, the others have their defaults",
     .text = &compare_text},
    {.name = "size",
     .argument = "WxH",
     .help = "size of the picture in points, such as 900x600, or 600 for a square (default: chosen to fit)",
     .text = &size_text},
    {.name = "scale",
     .argument = "S",
     .help = "pixels per point in a PNG (default: 2); with 1, --size is in pixels",
     .text = &scale_text},
};

/* ---- options ---- */

static bool read_size(const ex_call *call, ex_plot_def *def) {
    double size[2];
    if (!size_text)
        return true;
    if (!exi_size_read(size_text, size)) {
        exi_wrong_usage(call->command, "--size needs numbers such as 900x600, or 600 for a square, not '%s'",
                        size_text);
        return false;
    }
    def->width = size[0];
    def->height = size[1];
    return true;
}

static bool read_scale(const ex_call *call, ex_plot_def *def) {
    const char *at = scale_text, *end = scale_text ? scale_text + strlen(scale_text) : NULL;
    def->scale = 2;
    if (!scale_text || (ex_parse_double(&at, end, &def->scale) && at == end && def->scale > 0 && def->scale <= 16))
        return true;
    exi_wrong_usage(call->command, "--scale needs a number above 0 and at most 16, not '%s'", scale_text);
    return false;
}

/* Lists the kinds that weigh points: "cardinal, shepard, ...". */
static void list_kinds(char *text, size_t size) {
    text[0] = '\0';
    for (int i = 0; kind_name(i); i++) {
        const size_t length = strlen(text);
        snprintf(text + length, size - length, "%s%s", length > 0 ? ", " : "", kind_name(i));
    }
}

/* Reads "gaussian,calm". */
static bool read_kinds(const ex_call *call, ex_plot_def *def) {
    char text[200];
    const char *at = compare_text;
    while (at) {
        const size_t length = strcspn(at, ",");
        int kind = 0;
        while (kind < ex_weigher_kind_count() &&
               (strlen(ex_weigher_kind_name((ex_weigher_kind)kind)) != length ||
                strncmp(ex_weigher_kind_name((ex_weigher_kind)kind), at, length) != 0))
            kind++;
        if (kind == ex_weigher_kind_count() || def->kind_count == EX_PLOT_KIND_MAX) {
            list_kinds(text, sizeof text);
            exi_wrong_usage(call->command, "--compare needs kinds of weigher with commas between them (%s), not '%s'",
                            text, compare_text);
            return false;
        }
        kinds[def->kind_count++] = (ex_weigher_kind)kind;
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    def->kinds = kinds;
    return true;
}

static bool reads_axes(const ex_rig *rig, int layer, const ex_plot_def *def) {
    const int count = ex_weigher_axis_count(ex_rig_weigher(rig, layer));
    int found = 0;
    for (int a = 0; a < count; a++)
        for (int i = 0; i < def->axis_count; i++)
            found += ex_rig_layer_input(rig, layer, a) == def->axes[i];
    return found == def->axis_count;
}

/* Finds the named layer, or the first that has the axes; if none has them, the first, and the error says so. */
static bool find_layer(const ex_rig *rig, ex_plot_def *def) {
    for (int i = 0; !layer_name && axes_text && i < ex_rig_layer_count(rig); i++)
        if (reads_axes(rig, i, def)) {
            def->layer = i;
            return true;
        }
    if (!layer_name)
        return true;
    def->layer = exi_rig_find_layer(rig, layer_name, strlen(layer_name));
    if (def->layer < 0)
        exi_rig_no_layer(rig, layer_name, strlen(layer_name));
    return def->layer >= 0;
}

/* ---- the picture ---- */

/* Prints "bend.svg: weights of 5 examples of layer blob along bend, 28 kB, 12 ms", with "gaussian -0.51 to 1.2" for
 * each kind that is compared. */
static void report(const ex_rig *rig, const ex_plot_def *def, const ex_plot_info *info, double seconds) {
    char examples[EXI_TEXT_SIZE], size[EXI_TEXT_SIZE], time[EXI_TEXT_SIZE];
    exi_print("%s: weights of ", output);
    if (info->drawn_count < info->example_count)
        exi_print("%d of ", info->drawn_count);
    exi_print("%s of layer %s %s %s", exi_text_count(examples, info->example_count, "example"),
              ex_rig_layer_name(rig, def->layer), info->axis_count == 1 ? "along" : "over",
              ex_rig_input_name(rig, info->axes[0]));
    if (info->axis_count == 2)
        exi_print(" and %s", ex_rig_input_name(rig, info->axes[1]));
    for (int i = 0; i < def->kind_count; i++)
        exi_print(", %s %.2f to %.2f", ex_weigher_kind_name(def->kinds[i]), info->lows[i], info->highs[i]);
    exi_print(", %s, %s\n", exi_text_bytes(size, exi_file_size(output)), exi_text_seconds(time, seconds));
}

static int plot(const ex_call *call, const ex_rig *rig, ex_plot_def *def) {
    const double start = exi_clock();
    ex_pose pose = {.inputs = NULL};
    if (!exi_axes_find(rig, axes_text, &def->axis_count, def->axes) || !find_layer(rig, def) ||
        (!axes_text && !exi_axes_choose(call, rig, def->layer, &def->axis_count, def->axes)) ||
        !exi_assignments_read(call, rig, &pose))
        return EX_EXIT_FAILED;
    def->rig = rig;
    def->pose = &pose;
    int exit_code = EX_EXIT_FAILED;
    if (!exi_axes_are_assigned(call, rig, def->axis_count, def->axes, "plotted")) {
        ex_error error = {.result = EX_OK};
        ex_plot_info info;
        exi_progress progress;
        exi_pool *pool = exi_pool_create(call->threads);
        exi_progress_start(&progress, call);
        def->tasks = exi_pool_tasks(pool);
        def->progress = &progress.hook;
        const ex_result result = ex_plot_write(def, strcmp(output, "-") == 0 ? "/dev/stdout" : output, &info, &error);
        exi_progress_end(&progress);
        exi_pool_destroy(pool);
        exit_code = result == EX_OK ? EX_EXIT_DONE : exi_failed(&error);
        if (result == EX_OK && !call->quiet && !exi_is_standard_output(output))
            report(rig, def, &info, exi_clock() - start);
    }
    free(pose.inputs);
    return exit_code;
}

static int run(const ex_call *call) {
    int exit_code;
    ex_plot_def def = ex_plot_def_default();
    if (!output)
        return exi_wrong_usage(call->command, "-o is required: it names the output");
    if (!exi_assignments_check(call) || !read_size(call, &def) || !read_scale(call, &def) || !read_kinds(call, &def))
        return EX_EXIT_USAGE;
    if (!exi_output_check(call->command, output, ".svg or .png", call->arguments[0], &exit_code))
        return exit_code;
    /* Weights need no surface. */
    const ex_rig_options how = {.without_normals = true, .without_levels = true};
    ex_rig *rig = exi_rig_load(call->arguments[0], &how);
    if (!rig)
        return EX_EXIT_FAILED;
    exit_code = plot(call, rig, &def);
    ex_rig_destroy(rig);
    return exit_code;
}

const ex_command cmd_plot = {
    .name = "plot",
    .summary = "plot the weights along one axis or over two",
    .usage = "plot RIG.glb [axis=value...] [--axes A[,B]] [--layer NAME] -o FILE\n"
             "plot RIG.glb --compare KIND,KIND [...] -o FILE",
    .description = "Along one axis: a curve for each example of the layer, which is 1 at the\n"
                   "example. Over two axes: a contour map for each example, hatched where a weight\n"
                   "is below -0.1 or above 1.1. Examples and pseudo-examples are marked. The plot\n"
                   "also shows a fifth of the range beyond its ends, paler. Other axes stay at\n"
                   "rest or at the value you give. You cannot plot along a rotation, but you can\n"
                   "set it (shoulder=x30y-10z5).\n"
                   "\n"
                   "--compare gaussian,calm draws how other weighers would weigh the same points,\n"
                   "side by side on one scale: a panel for each kind along one axis, a column of\n"
                   "maps over two. Above each are its lowest and highest weight in the range.\n"
                   "\n"
                   "If there are more than 32 examples (24 for maps, 8 for maps that compare),\n"
                   "those with the largest weights are drawn. Standard output (-o -) gets SVG.",
    .examples = "exemplar plot blob/blob.glb --axes bend -o bend.svg\n"
                "exemplar plot blob/blob.glb --axes bend,thickness -o blob.png\n"
                "exemplar plot blob/blob.glb thickness=1 --axes bend --size 600x400 -o top.svg\n"
                "exemplar plot blob/blob.glb --compare gaussian,calm,cardinal -o blob.svg",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .argument_min = 1,
    .argument_max = -1,
    .run = run,
};
