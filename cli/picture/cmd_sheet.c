/* exemplar sheet - draws forms over one or two axes of a rig's space in one picture. */
#include "axes.h"
#include "cli/base/command.h"
#include "cli/base/files.h"
#include "cli/base/report.h"
#include "cli/base/rigs.h"
#include "cli/base/span.h"
#include "common/pool.h"
#include "focus.h"
#include "sheet_parts.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>
#include <exemplar/author/picture.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *output, *axes_text, *grid_text, *beyond_text, *yaw_text, *pitch_text, *title, *cells_text;
static int cell;
static bool textures, no_marks, join;
static exi_focus_words focus_words;

static const ex_option options[] = {
    {.name = "output",
     .letter = 'o',
     .argument = "P.png",
     .help = "output file (- is standard output)",
     .text = &output},
    {.name = "axes",
     .argument = "A[,B]",
     .help = "the axis to the right, and the one upwards; with one axis, the sheet is a row",
     .text = &axes_text},
    {.name = "grid",
     .argument = "NxM",
     .help = "forms along the range of each axis (default: 5x5)",
     .text = &grid_text},
    {.name = "beyond",
     .argument = "B[,B]",
     .help = "how far to go beyond the range of each axis, as a part of it: one number for all, or one for each axis, "
             "or LOW:HIGH for its two ends (default: 0.25; 0 for none)",
     .text = &beyond_text},
    {.name = "cell",
     .argument = "PIXELS",
     .help = "size of one form, along its longer side (default: 240)",
     .count = &cell,
     .count_min = EX_SHEET_CELL_MIN,
     .count_max = EX_SHEET_CELL_MAX},
    {.name = "yaw",
     .argument = "DEGREES",
     .help = "angle of the camera around the forms, from their front (default: 0)",
     .text = &yaw_text},
    {.name = "pitch", .argument = "DEGREES", .help = "angle of the camera downwards (default: 0)", .text = &pitch_text},
    EXI_FOCUS_OPTIONS(focus_words),
    {.name = "textures",
     .help = "draw the rig's materials or base colour; frames then mark the examples",
     .flag = &textures},
    {.name = "no-marks",
     .help = "leave out the rings at forms with a weight below -0.1 or above 1.1",
     .flag = &no_marks},
    {.name = "title", .argument = "TEXT", .help = "title above the sheet (default: the axes)", .text = &title},
    {.name = "cells",
     .argument = "A:B",
     .help = "draw only forms A to B as a part of the sheet, counting from 1 row by row from the top; A: and :B work "
             "too (default: all)",
     .text = &cells_text},
    {.name = "join",
     .help = "make the sheet of the parts PART.png that are named, instead of drawing forms",
     .flag = &join},
};

/* The words that are not of the definition: --cells, and the arguments without the parts that --join is for. */
typedef struct wish {
    int first, last;
    const char **parts, **others; /* [part_count], [other_count] */
    int part_count, other_count;
} wish;

/* ---- words into numbers ---- */

static bool read_number(const char **at, const char *end, double *value) {
    return ex_parse_double(at, end, value);
}

/* Reads "7x3", or "7" for a row. */
static bool read_grid(const ex_call *call, ex_sheet_def *def) {
    int end = 0;
    if (!grid_text)
        return true;
    int found = sscanf(grid_text, "%4d%n", &def->counts[0], &end);
    if (found == 1 && grid_text[end] == 'x') {
        int more = 0;
        found = sscanf(grid_text + end + 1, "%4d%n", &def->counts[1], &more);
        end += 1 + more;
    }
    if (found == 1 && grid_text[end] == '\0' && def->counts[0] > 1 && def->counts[1] > 1)
        return true;
    exi_wrong_usage(call->command, "--grid needs two numbers of at least 2 such as 7x3, not '%s'", grid_text);
    return false;
}

/* Reads "0.25" or "0:0.25". */
static bool read_ends(const char **at, const char *end, double ends[2]) {
    if (!read_number(at, end, &ends[0]))
        return false;
    ends[1] = ends[0];
    if (*at == end || **at != ':')
        return true;
    (*at)++;
    return read_number(at, end, &ends[1]);
}

static bool read_beyond(const ex_call *call, ex_sheet_def *def) {
    if (!beyond_text)
        return true;
    const char *at = beyond_text, *end = beyond_text + strlen(beyond_text);
    bool good = read_ends(&at, end, def->beyond[0]);
    memcpy(def->beyond[1], def->beyond[0], sizeof def->beyond[1]);
    if (good && at < end && *at == ',') {
        at++;
        good = read_ends(&at, end, def->beyond[1]);
    }
    for (int i = 0; good && i < 4; i++)
        good = def->beyond[i / 2][i % 2] >= 0 && def->beyond[i / 2][i % 2] <= 10;
    if (good && at == end)
        return true;
    exi_wrong_usage(
        call->command,
        "--beyond needs a number from 0 to 10, or two with a comma between them, each optionally as LOW:HIGH, not '%s'",
        beyond_text);
    return false;
}

static bool read_one(const ex_call *call, const char *option, const char *text, double low, double high,
                     double *value) {
    const char *at = text, *end = text ? text + strlen(text) : NULL;
    if (!text || (read_number(&at, end, value) && at == end && *value >= low && *value <= high))
        return true;
    exi_wrong_usage(call->command, "--%s needs a number from %g to %g, not '%s'", option, low, high, text);
    return false;
}

static bool read_words(const ex_call *call, ex_sheet_def *def) {
    if (!read_grid(call, def) || !read_beyond(call, def) ||
        !read_one(call, "yaw", yaw_text, -36000, 36000, &def->yaw) ||
        !read_one(call, "pitch", pitch_text, -90, 90, &def->pitch))
        return false;
    def->cell = cell > 0 ? cell : def->cell;
    def->textures = textures;
    def->unmarked = no_marks;
    def->title = title;
    return true;
}

/* ---- the picture ---- */

/* Prints "2 forms have a weight below -0.1 or above 1.1; the farthest is -2.05 of bump at elbow=124". */
static void report_outside(FILE *file, const ex_sheet_def *def, const ex_sheet_info *info) {
    char forms[EXI_TEXT_SIZE];
    exi_print_to(file, "%s %s a weight below -0.1 or above 1.1; the farthest is %.2f of %s at %s=%.6g",
                 exi_text_count(forms, info->outside_count, "form"), info->outside_count == 1 ? "has" : "have",
                 info->outside_weight, ex_rig_example_name(def->rig, info->outside_layer, info->outside_example),
                 ex_rig_input_name(def->rig, def->axes[0]), info->outside_at[0]);
    if (def->axis_count == 2)
        exi_print_to(file, " %s=%.6g", ex_rig_input_name(def->rig, def->axes[1]), info->outside_at[1]);
    exi_print_to(file, "\n");
}

static void report(const ex_call *call, const ex_sheet_def *def, const ex_sheet_info *info, double seconds) {
    const bool to_stdout = exi_is_standard_output(output);
    char forms[EXI_TEXT_SIZE], examples[EXI_TEXT_SIZE], pseudos[EXI_TEXT_SIZE], time[EXI_TEXT_SIZE];
    if (call->quiet)
        return;
    FILE *file = to_stdout ? stderr : stdout;
    exi_print_to(file, "%s: %s (%d by %d), %s, %s, %d x %d pixels, %s\n", to_stdout ? "standard output" : output,
                 exi_text_count(forms, info->columns * info->rows, "form"), info->columns, info->rows,
                 exi_text_count(examples, info->example_count, "example"),
                 exi_text_count(pseudos, info->pseudo_count, "pseudo-example"), info->width, info->height,
                 exi_text_seconds(time, seconds));
    if (info->outside_count > 0)
        report_outside(file, def, info);
    if (info->hidden_count > 0)
        exi_print_to(stderr,
                     "exemplar: %s of this slice not shown: outside the sheet, or too near to another; a finer "
                     "--grid may show more\n",
                     exi_text_count(examples, info->hidden_count, "example"));
}

/* Prints "part.png: cells 3 to 7 of 20, 480 x 96 pixels, 12 ms". */
static void report_part(const ex_call *call, const ex_sheet_part *part, const ex_sheet_info *info, double seconds) {
    const bool to_stdout = exi_is_standard_output(output);
    char time[EXI_TEXT_SIZE];
    if (!call->quiet)
        exi_print_to(to_stdout ? stderr : stdout, "%s: cells %d to %d of %d, %d x %d pixels, %s\n",
                     to_stdout ? "standard output" : output, part->first + 1, part->first + part->count,
                     info->columns * info->rows, info->width, info->height, exi_text_seconds(time, seconds));
}

static const char *output_path(void) {
    return strcmp(output, "-") == 0 ? "/dev/stdout" : output;
}

/* The sheet at once, or of parts, paths [count]. */
static ex_result make_sheet(const char *rig_path, const ex_sheet_def *def, const char *const *paths, int count,
                            ex_sheet_info *info, ex_error *error) {
    exi_sheet_source source;
    exi_sheet_parts parts = {.parts = NULL};
    ex_image *image = NULL;
    ex_result result = join ? exi_sheet_source_find(rig_path, def, &source, error) : EX_OK;
    if (result == EX_OK && join)
        result = exi_sheet_parts_read(paths, count, &source, &parts, error);
    if (result == EX_OK)
        result = join ? ex_sheet_join(def, parts.count, parts.parts, &image, info, error)
                      : ex_sheet_image(def, &image, info, error);
    if (result == EX_OK)
        result = ex_image_write(output_path(), image, error);
    exi_sheet_parts_close(&parts);
    ex_image_destroy(image);
    return result;
}

/* Forms first to last; each 0 if it was not given. */
static ex_result make_part(const char *rig_path, const ex_sheet_def *def, int first, int last, ex_sheet_part *part,
                           ex_sheet_info *info, ex_error *error) {
    exi_sheet_source source;
    ex_image *image = NULL;
    *part = (ex_sheet_part){.first = first > 0 ? first - 1 : 0};
    part->count = last > 0 ? last - part->first : 0;
    ex_result result = exi_sheet_source_find(rig_path, def, &source, error);
    if (result == EX_OK)
        result = ex_sheet_forms(def, part, &image, info, error);
    if (result == EX_OK) {
        part->image = image;
        part->count = part->count > 0 ? part->count : info->columns * info->rows - part->first;
        result = exi_sheet_part_write(output_path(), part, info->columns * info->rows, &source, error);
    }
    ex_image_destroy(image);
    part->image = NULL;
    return result;
}

static int make(const ex_call *call, ex_sheet_def *def, const wish *w) {
    const double start = exi_clock();
    ex_error error = {.result = EX_OK};
    ex_sheet_info info;
    ex_sheet_part part;
    exi_progress progress;
    exi_pool *pool = exi_pool_create(call->threads);
    exi_progress_start(&progress, call);
    def->tasks = exi_pool_tasks(pool);
    def->progress = &progress.hook;
    const ex_result result = cells_text ? make_part(call->arguments[0], def, w->first, w->last, &part, &info, &error)
                                        : make_sheet(call->arguments[0], def, w->parts, w->part_count, &info, &error);
    exi_progress_end(&progress);
    exi_pool_destroy(pool);
    if (result != EX_OK)
        return exi_failed(&error);
    if (cells_text)
        report_part(call, &part, &info, exi_clock() - start);
    else
        report(call, def, &info, exi_clock() - start);
    return EX_EXIT_DONE;
}

/* Finds the vertices of --look-at, --around or --fit. */
static bool find_focus(const ex_rig *rig, exi_focus *focus) {
    ex_error error = {.result = EX_OK};
    const int level = ex_rig_level(rig);
    ex_mesh *mesh = NULL;
    *focus = (exi_focus){.vertices = NULL};
    if (!focus_words.joint && !focus_words.group && !focus_words.example)
        return true;
    float *positions = calloc(3 * (size_t)ex_rig_level_vertex_count(rig, level) + 1, sizeof *positions);
    const ex_surface surface = {.level = level, .positions = positions};
    bool good = positions != NULL;
    if (!good)
        exi_failed_memory();
    else if (ex_rig_to_mesh(rig, &surface, &mesh, &error) != EX_OK)
        exi_failed(&error);
    good = mesh && exi_focus_find(&focus_words, rig, level, mesh, focus);
    ex_mesh_destroy(mesh);
    free(positions);
    return good;
}

/* Tells parts from settings; false without memory. */
static bool sort_arguments(const ex_call *call, wish *w) {
    w->parts = calloc((size_t)call->argument_count + 1, sizeof *w->parts);
    w->others = calloc((size_t)call->argument_count + 1, sizeof *w->others);
    for (int i = 0; w->parts && w->others && i < call->argument_count; i++) {
        if (join && i > 0 && ex_path_ends_with(call->arguments[i], ".png"))
            w->parts[w->part_count++] = call->arguments[i];
        else
            w->others[w->other_count++] = call->arguments[i];
    }
    return w->parts && w->others;
}

/* Checks the words and reads them. */
static bool check(const ex_call *call, const wish *w, ex_sheet_def *def, int *exit_code) {
    *exit_code = EX_EXIT_USAGE;
    if (join && cells_text)
        exi_wrong_usage(call->command, "--cells draws a part, and --join makes the sheet of parts: give one of them");
    else if (join && w->part_count == 0)
        exi_wrong_usage(call->command, "--join needs parts, PART.png, which --cells draws");
    else if (exi_focus_check(call, &focus_words) && exi_assignments_check(call) && read_words(call, def))
        *exit_code = EX_EXIT_DONE;
    if (*exit_code != EX_EXIT_DONE || !exi_output_check(call->command, output, ".png", call->arguments[0], exit_code))
        return false;
    for (int i = 0; i < w->part_count; i++)
        if (!exi_output_check(call->command, output, ".png", w->parts[i], exit_code))
            return false;
    return true;
}

static int run_rig(const ex_call *call, const wish *w, ex_sheet_def *def) {
    int exit_code = EX_EXIT_FAILED;
    ex_rig *rig = exi_rig_load(call->arguments[0], NULL);
    if (!rig)
        return EX_EXIT_FAILED;
    ex_pose pose = {.inputs = NULL};
    if (exi_axes_find(rig, axes_text, &def->axis_count, def->axes) && exi_assignments_read(call, rig, &pose)) {
        def->rig = rig;
        def->pose = &pose;
        exi_focus focus = {.vertices = NULL};
        if (!exi_axes_are_assigned(call, rig, def->axis_count, def->axes, "an axis of the sheet") &&
            find_focus(rig, &focus)) {
            def->framed = focus.vertices;
            def->framed_count = focus.count;
            exit_code = make(call, def, w);
        }
        free(focus.vertices);
        free(pose.inputs);
    }
    ex_rig_destroy(rig);
    return exit_code;
}

static int run(const ex_call *call) {
    int exit_code = EX_EXIT_USAGE;
    ex_sheet_def def = ex_sheet_def_default();
    wish w = {.first = 0};
    if (!output)
        return exi_wrong_usage(call->command, "-o is required: it names the output");
    if (!axes_text)
        return exi_wrong_usage(call->command, "--axes is required: one or two axes of the rig");
    if (!exi_span_read(call, "cells", "cell", cells_text, &w.first, &w.last))
        return EX_EXIT_USAGE;
    if (!sort_arguments(call, &w)) {
        exit_code = exi_failed_memory();
    } else {
        ex_call own = *call;
        own.arguments = w.others;
        own.argument_count = w.other_count;
        if (check(&own, &w, &def, &exit_code))
            exit_code = run_rig(&own, &w, &def);
    }
    free(w.parts);
    free(w.others);
    return exit_code;
}

const ex_command cmd_sheet = {
    .name = "sheet",
    .summary = "draw a grid of forms over one or two axes",
    .usage = "sheet RIG.glb --axes A[,B] [axis=value...] -o P.png [--cells A:B]\n"
             "sheet RIG.glb --join PART.png... --axes A[,B] [...] -o P.png",
    .description = "Draws one picture with a form at every point of a grid: the first axis to the\n"
                   "right, the second upwards. All forms have the same camera and scale, so you\n"
                   "can compare sizes. Examples in this slice of the space are blue and named.\n"
                   "Pseudo-examples are pale, with a dashed outline and an arrow from the place\n"
                   "whose weights they borrow. Forms beyond the range of an axis are lighter,\n"
                   "outside the dashed frame. Other axes stay at rest or at the value you give.\n"
                   "A ring marks forms with a weight below -0.1 or above 1.1, with the example and\n"
                   "the weight beside it: they take more of it than was sculpted, or its opposite.\n"
                   "\n"
                   "If an example is not on the grid, its column and row move to it; if other\n"
                   "examples are elsewhere, it takes the nearest place instead. The numbers at the\n"
                   "edge, or beside its name, are its own. Axes of joints work too: --axes\n"
                   "elbow,gender.\n"
                   "\n"
                   "Several machines can share a large sheet: --cells draws a part of its forms,\n"
                   "and --join makes the sheet of all parts, with the bytes that it has when it is\n"
                   "drawn at once. Give both the same rig and options. A part knows what it was\n"
                   "made from, and is refused if that differs; title and marks belong to --join.",
    .examples = "exemplar sheet blob/blob.glb --axes bend,thickness -o blob.png\n"
                "exemplar sheet blob/blob.glb --axes bend --grid 7 thickness=0.5 -o row.png\n"
                "exemplar sheet blob/blob.glb --axes bend,thickness --grid 3x3 -o few.png\n"
                "exemplar sheet blob/blob.glb --axes bend,thickness --cells :20 -o a.png\n"
                "exemplar sheet blob/blob.glb --axes bend,thickness --cells 21: -o b.png\n"
                "exemplar sheet blob/blob.glb --axes bend,thickness --join a.png b.png -o s.png",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .argument_min = 1,
    .argument_max = -1,
    .run = run,
};
