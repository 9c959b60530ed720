/* cli/warp/warp_mixtures.c - measures mixtures of all forms, and says what would mend the worst. */
#include "warp.h"

#include "cli/base/emit.h"
#include "cli/base/files.h"
#include "cli/base/report.h"
#include "cli/pose/forms.h"

#include <exemplar/author/files.h>
#include <exemplar/author/picture.h>

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROW_MOST = 6, WORDS_SIZE = 400 };

typedef struct mixtures {
    const ex_rig_trajectories *paths;
    const exi_warp_wish *wish;
    const char *reference; /* its name */
    const ex_mixture_report *report;
} mixtures;

static bool has_pose(const ex_measured_mixture *m, int example) {
    return fabs(example < 0 ? m->rest : m->weights[example]) > 1e-9;
}

static const char *words_of(const mixtures *x, const ex_measured_mixture *m, char text[WORDS_SIZE]) {
    return ex_mixture_words(&x->paths->def, m->weights, x->reference, text, WORDS_SIZE);
}

static const char *pose_name(const mixtures *x, int example) {
    return example < 0 ? x->reference : x->paths->def.names[example];
}

/* ---- the table ---- */

/* True if an earlier row of the table has the same poses. With two poses, all rows do, and none counts as the same. */
static bool is_alike(const mixtures *x, const int *rows, int count, const ex_measured_mixture *m) {
    const int examples = x->report->example_count;
    for (int i = 0; i < count && examples > 1; i++) {
        int k = -1;
        while (k < examples && has_pose(&x->report->mixtures[rows[i]], k) == has_pose(m, k))
            k++;
        if (k == examples)
            return true;
    }
    return false;
}

static void print_table(const mixtures *x) {
    const ex_mixture_report *r = x->report;
    int rows[ROW_MOST], count = 0;
    char text[WORDS_SIZE];
    if (r->mixture_count == r->candidate_count)
        exi_print("mixtures: %d measured", r->mixture_count);
    else
        exi_print("mixtures: %d of %d measured", r->mixture_count, r->candidate_count);
    exi_print(", %d of them weak; stretch against the rigid form (99 %%): median %.2f times, worst %.2f times\n",
              r->weak_count, r->median, r->mixtures[0].ratio);
    exi_print("  %7s %8s %8s %8s %7s %7s  %s\n", "ratio", "path", "rigid", "linear", "folded", "(rigid)", "mixture");
    for (int i = 0; i < r->mixture_count && count < ROW_MOST; i++) {
        const ex_measured_mixture *m = &r->mixtures[i];
        if (i != r->worst && is_alike(x, rows, count, m))
            continue;
        rows[count++] = i;
        exi_print("  %7.2f %8.4f %8.4f %8.4f %7d %7d  %s\n", m->ratio, m->path.percentiles[2], m->rigid.percentiles[2],
                  m->linear.percentiles[2], m->path.flipped, m->rigid.flipped, words_of(x, m, text));
    }
}

/* ---- what would mend it ---- */

/* A command, written word by word; names that a shell would not take as they are get quotes. */
typedef struct command_line {
    char text[1024];
    size_t size;
} command_line;

static void put(command_line *line, const char *text) {
    const size_t length = strlen(text);
    if (line->size + length < sizeof line->text) {
        memcpy(line->text + line->size, text, length + 1);
        line->size += length;
    }
}

static void put_word(command_line *line, const char *word) {
    bool plain = *word != '\0';
    for (const char *c = word; *c; c++)
        plain = plain && (isalnum((unsigned char)*c) || (unsigned char)*c >= 0x80 || strchr("._-/=+,:@", *c));
    put(line, line->size > 0 ? " " : "");
    put(line, plain ? "" : "'");
    for (const char *c = word; *c; c++) {
        const char one[2] = {*c, '\0'};
        put(line, *c == '\'' ? "'\\''" : one);
    }
    put(line, plain ? "" : "'");
}

/* Adds the pose in words: kick=0.5 leap=0.3. */
static void put_pose(command_line *line, const mixtures *x, const ex_measured_mixture *m) {
    for (int k = 0; k < x->report->example_count; k++) {
        char word[300];
        if (!has_pose(m, k))
            continue;
        snprintf(word, sizeof word, "%.200s=%.4g", x->report->example_count == 1 ? "t" : x->paths->def.names[k],
                 m->weights[k]);
        put_word(line, word);
    }
}

enum { COMMAND_COUNT = 3 };

/* Writes the commands that add an example at the worst mixture; the second is empty if --rigid writes its form. False
 * if out of memory. */
static bool write_commands(const mixtures *x, command_line lines[COMMAND_COUNT]) {
    const ex_measured_mixture *worst = &x->report->mixtures[x->report->worst];
    const char *rig = x->wish->rig ? x->wish->rig : "RIG.glb";
    char *stem = exi_path_stem(rig), *project = stem ? exi_path_inside("mend", stem, ".json") : NULL;
    for (int i = 0; i < COMMAND_COUNT; i++)
        lines[i] = (command_line){.size = 0};
    if (project) {
        put(&lines[0], "exemplar unpack");
        put_word(&lines[0], rig);
        put(&lines[0], " -o mend");
        if (!x->wish->rigid) {
            put(&lines[1], "exemplar pose");
            put_word(&lines[1], rig);
            put_pose(&lines[1], x, worst);
            put(&lines[1], " --level cage --no-normals -o between.obj");
        }
        put(&lines[2], "exemplar example add");
        put_word(&lines[2], project);
        put(&lines[2], " --name between --at");
        put_pose(&lines[2], x, worst);
        put_word(&lines[2], x->wish->rigid ? x->wish->rigid : "between.obj");
    }
    free(stem);
    free(project);
    return project != NULL;
}

static bool takes_example(const ex_mixture_report *r) {
    return r->remedy == EX_MIXTURE_TO_SCULPT || r->remedy == EX_MIXTURE_TO_BETWEEN;
}

static void print_remedy(const mixtures *x) {
    const ex_mixture_report *r = x->report;
    switch (r->remedy) {
    case EX_MIXTURE_TO_GUIDED:
        exi_print("To mend it, use --mode guided, which follows as-rigid-as-possible forms.\n");
        break;
    case EX_MIXTURE_TO_BETWEEN:
        exi_print("Parts turn by %.0f degrees between %s and %s. To mend it, add a pose between these two, or sculpt "
                  "this mixture:\n",
                  r->turn, pose_name(x, r->turned[0]), pose_name(x, r->turned[1]));
        break;
    case EX_MIXTURE_TO_LAYERS:
        exi_print("These poses move different parts. To mend it, put each into a layer of its own, in the project "
                  "that 'exemplar unpack' makes.\n");
        break;
    case EX_MIXTURE_TO_CORRECT:
        exi_print("To mend it, use more than %d correctors: --correctors auto finds how many it takes.\n",
                  x->paths->def.options.corrector_count);
        break;
    case EX_MIXTURE_TO_SCULPT:
        exi_print("To mend it, %s as an example:\n",
                  x->wish->rigid ? "add its as-rigid-as-possible form" : "sculpt this mixture and add it");
        break;
    default:
        break;
    }
}

static bool print_worst(const mixtures *x) {
    const ex_mixture_report *r = x->report;
    const ex_measured_mixture *m = &r->mixtures[r->worst];
    command_line lines[COMMAND_COUNT];
    char text[WORDS_SIZE];
    if (r->weak_count == 0) {
        exi_print("All mixtures hold. The worst is %s, with %.2f times the stretch of the as-rigid-as-possible form.\n",
                  words_of(x, m, text), m->ratio);
        return true;
    }
    exi_print("The worst mixture is %s: 99 of 100 triangles are stretched by up to %.3g, %.3g times as much as in the "
              "as-rigid-as-possible form.\n",
              words_of(x, m, text), m->path.percentiles[2], m->ratio);
    if (m->path.flipped > m->rigid.flipped + EX_MIXTURE_FOLD_MAX)
        exi_print("It has %d folded triangles, the rigid form %d.\n", m->path.flipped, m->rigid.flipped);
    print_remedy(x);
    if (!takes_example(r))
        return true;
    if (!write_commands(x, lines))
        return false;
    for (int i = 0; i < COMMAND_COUNT; i++) {
        if (lines[i].size > 0)
            exi_print("  %s\n", lines[i].text);
        if (i == 1 && !x->wish->rigid)
            exi_print("  # sculpt between.obj, or let --rigid between.obj write the as-rigid-as-possible form\n");
    }
    if (!x->wish->rig)
        exi_print("RIG.glb is the rig that -o writes.\n");
    return true;
}

/* ---- JSON ---- */

static void emit_stretch(exi_emitter *json, const char *key, const ex_stretch *stretch) {
    exi_emit_open(json, key, '{');
    exi_emit_numbers(json, "stretch", stretch->percentiles, 4);
    exi_emit_number(json, "flipped", stretch->flipped);
    exi_emit_close(json, '}');
}

static void emit_mixture(exi_emitter *json, const char *key, const mixtures *x, const ex_measured_mixture *m) {
    exi_emit_open(json, key, '{');
    exi_emit_text(json, "kind", ex_mixture_kind_name(m->kind));
    exi_emit_open(json, "weights", '{');
    for (int k = 0; k < x->report->example_count; k++)
        if (has_pose(m, k))
            exi_emit_number(json, x->paths->def.names[k], m->weights[k]);
    exi_emit_close(json, '}');
    exi_emit_number(json, "reference", m->rest);
    exi_emit_number(json, "ratio", m->ratio);
    exi_emit_number(json, "ratio_999", m->ratio_999);
    exi_emit_bool(json, "weak", ex_mixture_is_weak(m));
    emit_stretch(json, "path", &m->path);
    emit_stretch(json, "rigid", &m->rigid);
    emit_stretch(json, "linear", &m->linear);
    exi_emit_close(json, '}');
}

static bool emit(exi_emitter *json, const mixtures *x) {
    const ex_mixture_report *r = x->report;
    command_line lines[COMMAND_COUNT];
    if (takes_example(r) && !write_commands(x, lines))
        return false;
    exi_emit_open(json, "mixtures", '{');
    exi_emit_number(json, "mixture_count", r->mixture_count);
    exi_emit_number(json, "candidate_count", r->candidate_count);
    exi_emit_number(json, "weak_count", r->weak_count);
    exi_emit_number(json, "median", r->median);
    emit_mixture(json, "worst", x, &r->mixtures[r->worst]);
    exi_emit_text(json, "remedy", ex_mixture_remedy_name(r->remedy));
    exi_emit_number(json, "turn", r->turn);
    exi_emit_open(json, "turned", '[');
    for (int i = 0; i < 2; i++)
        exi_emit_text(json, NULL, pose_name(x, r->turned[i]));
    exi_emit_close(json, ']');
    exi_emit_open(json, "commands", '[');
    for (int i = 0; takes_example(r) && i < COMMAND_COUNT; i++)
        if (lines[i].size > 0)
            exi_emit_text(json, NULL, lines[i].text);
    exi_emit_close(json, ']');
    exi_emit_open(json, "rows", '[');
    for (int i = 0; i < r->mixture_count; i++)
        emit_mixture(json, NULL, x, &r->mixtures[i]);
    exi_emit_close(json, ']');
    exi_emit_close(json, '}');
    return true;
}

/* ---- the whole ---- */

/* True if the mixtures are more than one point, so that there is something to draw. */
static bool has_size(const ex_trajectories_def *def) {
    for (int k = -1; k < def->example_count; k++) {
        const double *form = k < 0 ? def->reference : def->examples[k];
        for (size_t i = 3; form && i < 3 * (size_t)def->vertex_count; i++)
            if (form[i] != form[i % 3])
                return true;
    }
    return false;
}

static ex_result draw_worst(const mixtures *x, ex_error *error) {
    const char *picture = x->wish->picture;
    const ex_measured_mixture *worst = &x->report->mixtures[x->report->worst];
    char *path =
        exi_path_with_ending(picture, ex_path_ends_with(picture, ".svg") ? "-worst-mixture.svg" : "-worst-mixture.png");
    char text[WORDS_SIZE];
    if (!path) {
        *error = (ex_error){.result = EX_ERROR_MEMORY, .text = "not enough memory"};
        return EX_ERROR_MEMORY;
    }
    const ex_result result =
        ex_mixture_draw(&x->paths->def, &x->paths->found, worst, words_of(x, worst, text), path, error);
    free(path);
    return result;
}

/* Writes the as-rigid-as-possible form of the worst mixture. */
static ex_result write_rigid(const mixtures *x, ex_error *error) {
    const exi_form_wish how = {.level = 0};
    const ex_rig *rig = x->wish->built;
    const size_t count = 3 * (size_t)x->paths->def.vertex_count;
    double *forms = malloc(2 * count * sizeof *forms);
    exi_form form = {.positions = NULL};
    ex_result result = forms && exi_form_open(&form, rig, &how) ? EX_OK : EX_ERROR_MEMORY;
    if (result != EX_OK)
        *error = (ex_error){.result = result, .text = "not enough memory"};
    else
        result = ex_mixture_forms(&x->paths->def, &x->paths->found, x->report->mixtures[x->report->worst].weights,
                                  forms, NULL, forms + count, NULL, error);
    for (size_t i = 0; result == EX_OK && i < count; i++)
        form.positions[i] = (float)forms[count + i];
    if (result == EX_OK)
        result = exi_form_write(&form, rig, &how, x->wish->rigid, error);
    exi_form_close(&form, rig);
    free(forms);
    return result;
}

ex_result exi_warp_mixtures(const ex_call *call, ex_rig_trajectories *paths, const exi_warp_wish *wish,
                            exi_emitter *json, ex_error *error) {
    ex_mixture_options options = ex_mixture_options_default();
    ex_mixture_report *report = NULL;
    exi_progress progress;
    char *reference = exi_path_stem(wish->reference);
    if (!reference) {
        *error = (ex_error){.result = EX_ERROR_MEMORY, .text = "not enough memory"};
        return EX_ERROR_MEMORY;
    }
    options.random_count = wish->mixtures;
    exi_progress_start(&progress, call);
    paths->def.progress = &progress.hook;
    ex_result result = ex_mixture_report_create(&paths->def, &paths->found, &options, &report, error);
    paths->def.progress = NULL;
    exi_progress_end(&progress);
    const mixtures x = {.paths = paths, .wish = wish, .reference = reference, .report = report};
    if (result == EX_OK && !call->json)
        print_table(&x);
    if (result == EX_OK && !(call->json ? emit(json, &x) : print_worst(&x))) {
        *error = (ex_error){.result = EX_ERROR_MEMORY, .text = "not enough memory"};
        result = EX_ERROR_MEMORY;
    }
    if (result == EX_OK && wish->picture && has_size(&paths->def))
        result = draw_worst(&x, error);
    if (result == EX_OK && wish->rigid)
        result = write_rigid(&x, error);
    ex_mixture_report_destroy(report);
    free(reference);
    return result;
}
