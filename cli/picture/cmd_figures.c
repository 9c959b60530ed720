/* exemplar figures - computes the papers' figures and tables from the demos, and writes a page that shows them. */
#include "cli/base/command.h"
#include "cli/base/files.h"
#include "common/pool.h"
#include "cli/base/report.h"
#include "figures/figures.h"

#include <exemplar/author/files.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *output = "figures", *only;
static bool all, force, list, join;
static int cell = 200;

static const ex_option options[] = {
    {.name = "output", .letter = 'o', .argument = "DIR", .help = "output folder (default: ./figures)", .text = &output},
    {.name = "all",
     .help = "also the slow ones: tables that measure long solves, simulated cloth, a scanned body",
     .flag = &all},
    {.name = "only",
     .argument = "NAME",
     .help = "one figure, or all of one paper, by the names that --list prints: pose-space-6, pose-space",
     .text = &only},
    {.name = "list", .help = "print the names of the figures, one per line, and make none", .flag = &list},
    {.name = "join",
     .help = "write the page of figures that are in DIR already, made one at a time, and make none",
     .flag = &join},
    {.name = "cell",
     .argument = "PIXELS",
     .help = "size of one form in the pictures (default: 200, at least 48)",
     .count = &cell,
     .count_min = EX_SHEET_CELL_MIN,
     .count_max = EX_SHEET_CELL_MAX},
    {.name = "force",
     .letter = 'f',
     .help = "write into a folder that is not empty, and overwrite files of the same names",
     .flag = &force},
};

static int count_figures(void) {
    int count = 0;
    for (int i = 0; i < exi_paper_count; i++)
        count += exi_papers[i].figure_count;
    return count;
}

/* True if a figure can be computed and was requested. */
static bool is_wanted(const exi_paper *paper, const exi_figure *figure) {
    char name[EXI_FIGURE_NAME];
    if (!figure->make || (figure->slow && !all))
        return false;
    exi_figure_name(paper, figure, name);
    return !only || strcmp(paper->id, only) == 0 || strcmp(name, only) == 0;
}

static int count_wanted(void) {
    int count = 0;
    for (int i = 0; i < exi_paper_count; i++)
        for (int k = 0; k < exi_papers[i].figure_count; k++)
            count += is_wanted(&exi_papers[i], &exi_papers[i].figures[k]);
    return count;
}

/* Notes a picture's size, so that the page does not jump while it loads; nothing for an SVG, which has its size. */
static void note_size(const char *path, exi_figure_result *result) {
    ex_image_facts image;
    if (ex_path_ends_with(path, ".png") && ex_image_measure(path, &image, NULL) == EX_OK) {
        result->width = image.width;
        result->height = image.height;
    }
}

static bool make_one(exi_figures *figures, const char *name, const exi_figure *figure, exi_figure_result *result) {
    char *path = figure->file ? exi_path_inside(figures->folder, figure->file, "") : NULL;
    figures->fact_count = 0;
    if (figure->file && !path) {
        exi_failed_memory();
        return false;
    }
    result->made = figure->make(figures, path) == EX_OK;
    if (result->made) {
        memcpy(result->facts, figures->facts, sizeof result->facts);
        result->fact_count = figures->fact_count;
        if (path)
            note_size(path, result);
    }
    free(path);
    return result->made && exi_figures_note_write(figures, name, result) == EX_OK;
}

static bool make_all(const ex_call *call, exi_figures *figures, exi_figure_result *results, int *made) {
    exi_progress progress;
    const int count = count_figures();
    int at = 0;
    bool good = true;
    exi_progress_start(&progress, call);
    for (int i = 0; good && i < exi_paper_count; i++)
        for (int k = 0; good && k < exi_papers[i].figure_count; k++, at++) {
            const exi_figure *figure = &exi_papers[i].figures[k];
            char what[160], name[EXI_FIGURE_NAME];
            if (!is_wanted(&exi_papers[i], figure))
                continue;
            snprintf(what, sizeof what, "%s, %s", exi_papers[i].title, figure->number);
            exi_progress_step(&progress, what, (double)at / count);
            exi_figure_name(&exi_papers[i], figure, name);
            good = join ? exi_figures_note_read(figures, name, figure, &results[at]) == EX_OK
                        : make_one(figures, name, figure, &results[at]);
            *made += good;
        }
    exi_progress_end(&progress);
    return good && exi_figures_page(figures, results, figures->error) == EX_OK;
}

static int make(const ex_call *call) {
    const double start = exi_clock();
    ex_error error = {.result = EX_OK};
    exi_pool *pool = exi_pool_create(call->threads);
    exi_figures figures = {.folder = output, .cell = cell, .tasks = exi_pool_tasks(pool), .error = &error};
    exi_figure_result *results = calloc((size_t)count_figures(), sizeof *results);
    int made = 0;
    bool good = results && ex_make_directory(output, &error) == EX_OK && make_all(call, &figures, results, &made);
    if (!good && results)
        exi_failed(&error);
    else if (!good)
        exi_failed_memory();
    for (int i = 0; i < EXI_FIGURE_RIGS; i++)
        ex_rig_destroy(figures.rigs[i].rig);
    free(results);
    exi_pool_destroy(pool);
    if (good && !call->quiet) {
        char time[EXI_TEXT_SIZE];
        exi_print("%s%sindex.html: %d of %d figures and tables, %s\n", output,
                  output[0] && output[strlen(output) - 1] == '/' ? "" : "/", made, count_figures(),
                  exi_text_seconds(time, exi_clock() - start));
    }
    return good ? EX_EXIT_DONE : EX_EXIT_FAILED;
}

static int print_names(void) {
    for (int i = 0; i < exi_paper_count; i++)
        for (int k = 0; k < exi_papers[i].figure_count; k++) {
            char name[EXI_FIGURE_NAME];
            exi_figure_name(&exi_papers[i], &exi_papers[i].figures[k], name);
            if (is_wanted(&exi_papers[i], &exi_papers[i].figures[k]))
                exi_print("%s\n", name);
        }
    return EX_EXIT_DONE;
}

static int run(const ex_call *call) {
    if (list && join)
        return exi_wrong_usage(call->command, "--list prints names, and --join writes the page: give one of them");
    if (count_wanted() == 0)
        return exi_wrong_usage(call->command,
                               "no figure '%s' can be computed: name a figure or a paper, such as --only "
                               "trajectory-warping-6 or --only trajectory-warping",
                               only ? only : "");
    if (list)
        return print_names();
    if (join ? !exi_output_folder_check(output) : !exi_output_new_folder_check(output, force))
        return EX_EXIT_FAILED;
    return make(call);
}

const ex_command cmd_figures = {
    .name = "figures",
    .summary = "compute the papers' figures and tables",
    .usage = "figures [-o DIR] [--all] [--only NAME] [--cell PIXELS] [--force]\n"
             "figures --list [--all] [--only NAME]\n"
             "figures --join [-o DIR] [--all] [--only NAME] [--cell PIXELS]",
    .description = "Makes the figures and tables of the papers that can be computed, from the\n"
                   "demos that the program writes itself, and index.html, a page that shows them\n"
                   "with captions in our words and the papers' numbers beside ours.\n"
                   "docs/figures.md lists them, and says why others are missing. The projects and\n"
                   "rigs of the demos go to DIR/demos.\n"
                   "\n"
                   "Pictures have the same bytes on every run; speeds are measured anew.\n"
                   "\n"
                   "Several machines can share the work: --list names the figures, and each can be\n"
                   "made alone with --only. It leaves a note of its numbers beside it, NAME.figure.\n"
                   "With all of them and demos in one folder, --join writes the page that one run\n"
                   "with the same options would write.",
    .examples = "exemplar figures\n"
                "exemplar figures --only pose-space-6\n"
                "exemplar figures --list --all\n"
                "exemplar figures -o figures --cell 300 --force",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .argument_max = 0,
    .run = run,
};
