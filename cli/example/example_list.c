/* exemplar example list - lists the examples of a project and their places. */
#include "example.h"

#include "cli/base/emit.h"
#include "cli/base/files.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *layer_name;
static bool moved;

static const ex_option options[] = {
    {.name = "layer", .argument = "LAYER", .help = "list only this layer", .text = &layer_name},
    {.name = "moved", .help = "build, and print the number of vertices that each example moves", .flag = &moved},
};

/* ---- places as text ---- */

typedef struct text {
    char words[600];
    size_t size;
} text;

static void append(text *t, const char *word) {
    const size_t length = strlen(word);
    if (t->size + length >= sizeof t->words)
        return;
    memcpy(t->words + t->size, word, length + 1);
    t->size += length;
}

static void append_number(text *t, double value) {
    char number[40];
    snprintf(number, sizeof number, "%.6g", value);
    append(t, number);
}

/* Appends x30z-40, as 'exemplar pose' reads it. */
static void append_rotation(text *t, const double q[4]) {
    char turns[EX_ROTATION_SIZE];
    append(t, ex_format_rotation(turns, sizeof turns, q, 4));
}

/* driver: file of the driver's form, or NULL */
static void append_point(text *t, const ex_project_layer *layer, const double *point, const char *driver) {
    for (int i = 0; point && i < layer->axis_count; i++) {
        if (layer->axes[i].axis.kind == EX_AXIS_DRIVER && !driver)
            continue;
        append(t, t->size ? " " : "");
        append(t, layer->axes[i].name);
        append(t, "=");
        if (layer->axes[i].axis.kind == EX_AXIS_DRIVER)
            append(t, driver ? driver : "");
        else if (layer->axes[i].axis.kind == EX_AXIS_SCALAR)
            append_number(t, *point);
        else
            append_rotation(t, point);
        point += ex_axis_width(&layer->axes[i].axis);
    }
}

/* True if the joint is not turned, or an axis of the layer reads it. */
static bool is_told(const ex_project_layer *layer, const ex_project_joint *joint) {
    const float *r = joint->relative.rotation;
    bool told = r[0] == 0 && r[1] == 0 && r[2] == 0;
    for (int k = 0; k < layer->axis_count; k++)
        told = told || (layer->axes[k].joint && strcmp(layer->axes[k].joint, joint->name) == 0);
    return told;
}

/* Appends joints that no axis of the layer reads. */
static void append_joints(text *t, const ex_project_layer *layer, const ex_project_example *example) {
    for (int i = 0; i < example->joint_count; i++) {
        const float *r = example->joints[i].relative.rotation;
        const double q[4] = {(double)r[0], (double)r[1], (double)r[2], (double)r[3]};
        if (is_told(layer, &example->joints[i]))
            continue;
        append(t, t->size ? " joint:" : "joint:");
        append(t, example->joints[i].name);
        append(t, "=");
        append_rotation(t, q);
    }
}

/* Falloff of the point, one number per axis in scaled units; NULL if the layer has none. */
static const double *falloff_of(const ex_project_layer *layer, int point) {
    return layer->weigh.falloffs ? layer->weigh.falloffs + (size_t)point * (size_t)layer->axis_count : NULL;
}

/* ---- places as JSON, as a project has them ---- */

static void emit_point(exi_emitter *json, const char *key, const ex_project_layer *layer, const double *point,
                       const char *driver) {
    exi_emit_open(json, key, '{');
    for (int i = 0; point && i < layer->axis_count; i++) {
        const ex_project_axis *axis = &layer->axes[i];
        if (axis->axis.kind == EX_AXIS_SCALAR)
            exi_emit_number(json, axis->name, *point);
        else if (axis->axis.kind != EX_AXIS_DRIVER)
            exi_emit_numbers(json, axis->name, point, 4);
        else if (driver)
            exi_emit_text(json, axis->name, driver);
        point += ex_axis_width(&axis->axis);
    }
    exi_emit_close(json, '}');
}

/* Emits joints that no axis of the layer reads, if there are any. */
static void emit_joints(exi_emitter *json, const ex_project_layer *layer, const ex_project_example *example) {
    bool any = false;
    for (int i = 0; i < example->joint_count; i++) {
        const float *r = example->joints[i].relative.rotation;
        if (is_told(layer, &example->joints[i]))
            continue;
        if (!any)
            exi_emit_open(json, "joints", '{');
        any = true;
        exi_emit_numbers(json, example->joints[i].name,
                         (const double[]){(double)r[0], (double)r[1], (double)r[2], (double)r[3]}, 4);
    }
    if (any)
        exi_emit_close(json, '}');
}

static void emit_weights(exi_emitter *json, const ex_project_layer *layer, const double *weights) {
    exi_emit_open(json, "weights", '{');
    for (int k = 0; k < layer->example_count; k++)
        if (weights[k] != 0)
            exi_emit_number(json, layer->examples[k].name, weights[k]);
    exi_emit_close(json, '}');
}

/* ---- printing ---- */

typedef struct listing {
    const ex_call *call;
    const ex_project_view *view;
    const ex_rig *rig; /* or NULL */
    exi_emitter json;
    int width; /* width of names */
} listing;

static void emit_falloff(listing *l, const ex_project_layer *layer, int point) {
    const double *falloff = point >= 0 ? falloff_of(layer, point) : NULL;
    if (falloff)
        exi_emit_numbers(&l->json, "falloff", falloff, layer->axis_count);
}

/* Prints the falloff in the axes' units, degrees for rotations, as --falloff reads it. An axis with the default is
 * omitted; one with a chord longer than any rotation's is given in scaled units. */
static void print_falloff(const ex_project_layer *layer, int point) {
    const double *falloff = point >= 0 ? falloff_of(layer, point) : NULL;
    text words = {.size = 0};
    for (int i = 0; falloff && i < layer->axis_count; i++) {
        const ex_axis *axis = &layer->axes[i].axis;
        const bool scalar = axis->kind == EX_AXIS_SCALAR;
        const double scale = axis->scale > 0 ? axis->scale : scalar ? 1 / (axis->max - axis->min) : 0.5;
        const double own = falloff[i] / scale;
        char number[40];
        if (falloff[i] <= 0)
            continue;
        if (scalar || own <= 2)
            snprintf(number, sizeof number, "=%.4g", scalar ? own : 2 * asin(own / 2) * (180 / 3.14159265358979323846));
        else
            snprintf(number, sizeof number, "=%.4g scaled", falloff[i]);
        append(&words, words.size ? "," : "");
        append(&words, layer->axes[i].name);
        append(&words, number);
    }
    if (words.size)
        exi_print("  falloff %s", words.words);
}

/* point: its number among those that are built, or -1. */
static void list_example(listing *l, int number, const ex_project_example *example, int point) {
    const ex_project_layer *layer = &l->view->layers[number];
    const char *file = example->mesh ? example->mesh : example->map ? example->map : example->image;
    text place = {.size = 0};
    append_point(&place, layer, example->at, example->driver);
    append_joints(&place, layer, example);
    const int count = l->rig && point >= 0 && layer->domain == EX_DOMAIN_OFFSETS
                          ? ex_rig_example_offset_count(l->rig, number, point)
                          : -1;
    if (l->call->json) {
        exi_emit_open(&l->json, NULL, '{');
        exi_emit_text(&l->json, "name", example->name);
        emit_point(&l->json, "at", layer, example->at, example->driver);
        emit_joints(&l->json, layer, example);
        exi_emit_text(&l->json, example->image ? "image" : example->map ? "map" : "mesh", file);
        exi_emit_bool(&l->json, "muted", point < 0);
        emit_falloff(l, layer, point);
        if (count >= 0)
            exi_emit_number(&l->json, "moved", count);
        if (example->reference)
            exi_emit_bool(&l->json, "reference", true);
        exi_emit_close(&l->json, '}');
        return;
    }
    exi_print("  %-*s  %s%s%s", l->width, example->name, place.words, place.size ? "  " : "", file);
    if (count >= 0)
        exi_print("  %d moved", count);
    if (example->reference)
        exi_print("  reference");
    print_falloff(layer, point);
    exi_print("%s\n", point < 0 ? "  (muted)" : "");
}

static void append_weights(text *t, const ex_project_layer *layer, const double *weights) {
    for (int k = 0; k < layer->example_count; k++)
        if (weights[k] != 0) {
            append(t, t->size ? " " : "");
            append(t, layer->examples[k].name);
            append(t, "=");
            append_number(t, weights[k]);
        }
}

static void list_pseudo(listing *l, const ex_project_layer *layer, int index) {
    const ex_pseudo *pseudo = &layer->weigh.pseudos[index];
    text at = {.size = 0}, source = {.size = 0};
    append_point(&at, layer, pseudo->at, NULL);
    if (pseudo->from)
        append_point(&source, layer, pseudo->from, NULL);
    else
        append_weights(&source, layer, pseudo->weights);
    if (l->call->json) {
        exi_emit_open(&l->json, NULL, '{');
        emit_point(&l->json, "at", layer, pseudo->at, NULL);
        if (pseudo->from)
            emit_point(&l->json, "from", layer, pseudo->from, NULL);
        else
            emit_weights(&l->json, layer, pseudo->weights);
        emit_falloff(l, layer, layer->example_count + index);
        exi_emit_close(&l->json, '}');
        return;
    }
    exi_print("  pseudo %d  %s  %s %s", index + 1, at.words, pseudo->from ? "from" : "weights",
              source.size ? source.words : "none");
    print_falloff(layer, layer->example_count + index);
    exi_print("\n");
}

/* Lists the places where the layer is zero because of `rest` or `protect`: the file does not list them. */
static void list_zeros(listing *l, const ex_project_layer *layer) {
    if (l->call->json)
        exi_emit_open(&l->json, "zeros", '[');
    for (int i = 0; i < layer->zero_count; i++) {
        text at = {.size = 0};
        append_point(&at, layer, layer->weigh.pseudos[layer->pseudo_count + i].at, NULL);
        if (l->call->json)
            emit_point(&l->json, NULL, layer, layer->weigh.pseudos[layer->pseudo_count + i].at, NULL);
        else
            exi_print("  zero      %s\n", at.words);
    }
    if (l->call->json)
        exi_emit_close(&l->json, ']');
}

/* Lists examples in the order of the file, including muted ones. */
static void list_examples(listing *l, int number) {
    const ex_project_layer *layer = &l->view->layers[number];
    for (int built = 0, muted = 0; built < layer->example_count || muted < layer->muted_count;) {
        const bool next_is_muted =
            built == layer->example_count ||
            (muted < layer->muted_count && layer->muted_examples[muted].place < layer->examples[built].place);
        if (next_is_muted)
            list_example(l, number, &layer->muted_examples[muted], -1);
        else
            list_example(l, number, &layer->examples[built], built);
        muted += next_is_muted;
        built += !next_is_muted;
    }
}

static void list_layer(listing *l, int number) {
    const ex_project_layer *layer = &l->view->layers[number];
    char count[EXI_TEXT_SIZE];
    const int total = layer->example_count + layer->muted_count;
    if (l->call->json) {
        exi_emit_open(&l->json, NULL, '{');
        exi_emit_text(&l->json, "name", layer->name);
        exi_emit_text(&l->json, "shape", ex_project_layer_shape(layer));
        exi_emit_bool(&l->json, "muted", layer->muted);
        exi_emit_open(&l->json, "examples", '[');
    } else {
        exi_print("layer '%s' (%s%s): %s\n", layer->name, ex_project_layer_shape(layer), layer->muted ? ", muted" : "",
                  exi_text_count(count, total, "example"));
    }
    list_examples(l, number);
    if (l->call->json) {
        exi_emit_close(&l->json, ']');
        exi_emit_open(&l->json, "pseudo", '[');
    }
    for (int i = 0; i < layer->pseudo_count; i++)
        list_pseudo(l, layer, i);
    if (l->call->json)
        exi_emit_close(&l->json, ']');
    list_zeros(l, layer);
    if (l->call->json)
        exi_emit_close(&l->json, '}');
}

/* Length of the longest listed name, up to a limit. */
static int name_width(const ex_project_view *view, int only) {
    int width = 0;
    for (int n = 0; n < view->layer_count; n++) {
        const ex_project_layer *layer = &view->layers[n];
        for (int k = 0; (only < 0 || n == only) && k < layer->example_count + layer->muted_count; k++) {
            const ex_project_example *example =
                k < layer->example_count ? &layer->examples[k] : &layer->muted_examples[k - layer->example_count];
            const int length = exi_plain_width(example->name);
            width = length > width && length <= 24 ? length : width;
        }
    }
    return width;
}

static void list_layers(listing *l, int only) {
    if (l->call->json) {
        l->json = exi_emit_start(stdout);
        exi_emit_open(&l->json, NULL, '{');
        exi_emit_text(&l->json, "project", l->call->arguments[0]);
        exi_emit_open(&l->json, "layers", '[');
    }
    for (int n = 0; n < l->view->layer_count; n++)
        if (only < 0 || n == only)
            list_layer(l, n);
    if (l->call->json) {
        exi_emit_close(&l->json, ']');
        exi_emit_close(&l->json, '}');
        exi_emit_end(&l->json);
    } else if (l->view->layer_count == 0) {
        exi_print("%s: no layers yet\n", l->call->arguments[0]);
    }
}

/* Index of the requested layer, -1 for all; -2 after printing an error. */
static int find_layer(const ex_project_view *view) {
    const char **names = calloc((size_t)view->layer_count + 1, sizeof *names);
    int found = layer_name ? -2 : -1;
    for (int n = 0; names && layer_name && n < view->layer_count; n++) {
        names[n] = view->layers[n].name;
        if (strcmp(names[n], layer_name) == 0)
            found = n;
    }
    const char *near = names && found == -2 ? ex_suggest(layer_name, names, view->layer_count) : NULL;
    if (near)
        exi_failed_text("this project has no layer '%s'; did you mean '%s'?", layer_name, near);
    else if (found == -2)
        exi_failed_text("this project has no layer '%s'", layer_name);
    free(names);
    return found;
}

static ex_rig *build(const ex_call *call, const ex_project *project) {
    ex_error error = {.result = EX_OK};
    ex_rig *rig = NULL;
    exi_progress progress;
    exi_progress_start(&progress, call);
    const ex_build_options how = {.rig = {.without_levels = true, .without_normals = true, .without_tangents = true},
                                  .progress = &progress.hook};
    const ex_result result = ex_project_build(project, &how, &rig, &error);
    exi_progress_end(&progress);
    if (result != EX_OK)
        exi_failed(&error);
    return rig;
}

static int run(const ex_call *call) {
    const char *path = call->arguments[0];
    ex_error error = {.result = EX_OK};
    ex_project *project = NULL;
    if (!exi_expect_kind(path, EXI_FILE_PROJECT))
        return EX_EXIT_FAILED;
    if (ex_project_read(path, &project, &error) != EX_OK)
        return exi_failed(&error);
    const int only = find_layer(ex_project_get(project));
    ex_rig *rig = only >= -1 && moved ? build(call, project) : NULL;
    const bool sound = only >= -1 && (rig || !moved);
    if (sound) {
        listing l = {.call = call, .view = ex_project_get(project), .rig = rig};
        l.width = name_width(l.view, only);
        list_layers(&l, only);
    }
    ex_rig_destroy(rig);
    ex_project_destroy(project);
    return sound ? EX_EXIT_DONE : EX_EXIT_FAILED;
}

const ex_command cmd_example_list = {
    .name = "example list",
    .summary = "list the examples of a project and their places",
    .usage = "example list PROJECT.json [--layer LAYER] [--moved]",
    .description = "Prints every layer with its examples: name, place in the layer's space, other\n"
                   "joints that are turned, file, reach if the layer is gaussian, and if it is\n"
                   "muted; then the pseudo-examples with their numbers; then zeros, the places\n"
                   "where the layer does nothing: its rest and, with \"protect\", the places of\n"
                   "earlier layers' examples. Places are written as for 'exemplar pose', falloffs\n"
                   "as for --falloff; in JSON they are in scaled units.",
    .examples = "exemplar example list blob/blob.json\n"
                "exemplar example list blob/blob.json --json",
    .options = options,
    .option_count = sizeof options / sizeof options[0],
    .json = true,
    .argument_min = 1,
    .argument_max = 1,
    .run = run,
};
