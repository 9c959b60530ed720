/* cli/info/layers.c - prints a layer's space, and its examples and pseudo-examples with their points, for `exemplar
 * info`. */
#include "layers.h"

#include "cli/base/report.h"

#include <stdlib.h>
#include <string.h>

const char *const exi_axis_kinds[EX_AXIS_KIND_COUNT] = {
    [EX_AXIS_SCALAR] = "scalar", [EX_AXIS_ROTATION] = "rotation", [EX_AXIS_SWING] = "swing",
    [EX_AXIS_TWIST] = "twist",   [EX_AXIS_DRIVER] = "driver",
};

const char *const exi_reading_kinds[EX_READING_KIND_COUNT] = {
    [EX_READING_NONE] = "none",   [EX_READING_ANGLE] = "angle",     [EX_READING_ROTATION] = "rotation",
    [EX_READING_SLIDE] = "slide", [EX_READING_STRETCH] = "stretch",
};

/* ---- gathering ---- */

static bool allocate(exi_layer *layer, bool files) {
    size_t axes = (size_t)layer->weigh.axis_count, examples = (size_t)layer->weigh.example_count;
    size_t pseudos = (size_t)layer->weigh.pseudo_count;
    layer->axes = calloc(axes + 1, sizeof *layer->axes);
    layer->axis_names = calloc(axes + 1, sizeof *layer->axis_names);
    layer->axis_units = calloc(axes + 1, sizeof *layer->axis_units);
    layer->axis_joints = calloc(axes + 1, sizeof *layer->axis_joints);
    layer->readings = calloc(axes + 1, sizeof *layer->readings);
    layer->skeletons = calloc(examples + 1, sizeof *layer->skeletons);
    layer->example_names = calloc(examples + 1, sizeof *layer->example_names);
    layer->example_files = files ? calloc(examples + 1, sizeof *layer->example_files) : NULL;
    layer->driver_files = files ? calloc(examples + 1, sizeof *layer->driver_files) : NULL;
    layer->pseudos = calloc(pseudos + 1, sizeof *layer->pseudos);
    return layer->axes && layer->axis_names && layer->axis_units && layer->axis_joints && layer->readings &&
           layer->skeletons && layer->example_names && layer->pseudos &&
           (!files || (layer->example_files && layer->driver_files));
}

void exi_layer_free(exi_layer *layer) {
    free(layer->axes);
    free(layer->axis_names);
    free(layer->axis_units);
    free(layer->axis_joints);
    free(layer->readings);
    free(layer->skeletons);
    free(layer->example_names);
    free(layer->example_files);
    free(layer->driver_files);
    free(layer->pseudos);
    free(layer->moved);
    free(layer->paths);
    free(layer->muted_names);
    *layer = (exi_layer){.name = NULL};
}

bool exi_layer_of_project(exi_layer *layer, const ex_project_layer *source) {
    static const char *const participations[] = {
#define NAME(id, text) text,
        EX_PARTICIPATION_LIST(NAME)
#undef NAME
    };
    const bool offsets = source->domain == EX_DOMAIN_OFFSETS;
    *layer = (exi_layer){.name = source->name,
                         .shape = ex_project_layer_shape(source),
                         .texture = source->pixels.texture,
                         .frame = offsets ? ex_offset_frame_name(source->offsets.frame) : NULL,
                         .participation = offsets ? participations[source->offsets.participation] : NULL,
                         .mode = source->trajectory.options ? ex_trajectory_mode_name(source->trajectory.options->mode)
                                                            : NULL,
                         .reference = -1,
                         .muted = source->muted,
                         .auto_falloff = source->auto_falloff,
                         .predictor_file = source->predictor,
                         .weigh = source->weigh,
                         .ridge = {.ridge = source->weigh.ridge, .point = -1},
                         .muted_names = calloc((size_t)source->muted_count + 1, sizeof *layer->muted_names)};
    if (!allocate(layer, true) || !layer->muted_names)
        return false;
    for (int k = 0; k < source->muted_count; k++)
        layer->muted_names[layer->muted_count++] = source->muted_examples[k].name;
    for (int a = 0; a < source->axis_count; a++) {
        layer->axes[a] = source->axes[a].axis;
        layer->axis_names[a] = source->axes[a].name;
        layer->axis_units[a] = source->axes[a].unit ? source->axes[a].unit : "";
        layer->axis_joints[a] = source->axes[a].joint;
        layer->readings[a] = source->axes[a].reading;
    }
    for (int k = 0; k < source->example_count; k++) {
        layer->example_names[k] = source->examples[k].name;
        layer->example_files[k] = source->pixels.texture    ? source->examples[k].image
                                  : source->examples[k].map ? source->examples[k].map
                                                            : source->examples[k].mesh;
        layer->driver_files[k] = source->examples[k].driver;
        layer->skeletons[k] = source->examples[k].skeleton;
        layer->reference = source->examples[k].reference ? k : layer->reference;
    }
    for (int p = 0; p < source->weigh.pseudo_count; p++)
        layer->pseudos[p] = source->weigh.pseudos[p];
    return true;
}

static bool count_moved(exi_layer *layer, const ex_rig *rig, int index) {
    if (!layer->frame)
        return true;
    layer->moved = calloc((size_t)layer->weigh.example_count + 1, sizeof *layer->moved);
    for (int k = 0; layer->moved && k < layer->weigh.example_count; k++)
        layer->moved[k] = ex_rig_example_offset_count(rig, index, k);
    return layer->moved != NULL;
}

static bool take_paths(exi_layer *layer, const ex_rig *rig, int index) {
    if (ex_rig_layer_is_sum(rig, index))
        return true;
    float *turns = malloc(3 * (size_t)ex_rig_vertex_count(rig) * sizeof *turns + 1);
    layer->paths = calloc((size_t)layer->weigh.example_count + 1, sizeof *layer->paths);
    for (int k = 0; turns && layer->paths && k < layer->weigh.example_count; k++)
        if (k != layer->reference)
            layer->paths[k] =
                (exi_layer_path){.turns = ex_rig_example_turns(rig, index, k, turns),
                                 .corrector_count = ex_rig_example_trajectory(rig, index, k).corrector_count};
    free(turns);
    return turns && layer->paths;
}

/* Finds the examples that have their own skeletons. */
static bool find_skeletons(exi_layer *layer, const ex_rig *rig, int index) {
    float *shifts = malloc(3 * (size_t)ex_rig_joint_count(rig) * sizeof *shifts + 1);
    for (int k = 0; shifts && ex_rig_joint_count(rig) > 0 && k < layer->weigh.example_count; k++)
        layer->skeletons[k] = !layer->texture && ex_rig_example_shifts(rig, index, k, shifts) ? "own skeleton" : NULL;
    free(shifts);
    return shifts != NULL;
}

bool exi_layer_of_rig(exi_layer *layer, const ex_rig *rig, int index) {
    const ex_weigher *weigher = ex_rig_weigher(rig, index);
    const int texture = ex_rig_layer_texture(rig, index);
    const bool offsets = ex_rig_layer_domain(rig, index) == EX_DOMAIN_OFFSETS;
    *layer = (exi_layer){.name = ex_rig_layer_name(rig, index),
                         .shape = ex_domain_name(ex_rig_layer_domain(rig, index)),
                         .texture = texture >= 0 ? ex_rig_texture(rig, texture).name : NULL,
                         .frame = offsets ? ex_offset_frame_name(ex_rig_layer_frame(rig, index)) : NULL,
                         .participation = offsets ? ex_rig_layer_moved(rig, index) ? "moved" : "layer" : NULL,
                         .reference = ex_rig_layer_reference(rig, index),
                         .segment_count = ex_rig_layer_segments(rig, index).count,
                         .mixture = ex_rig_layer_mixture(rig, index),
                         .muted = ex_rig_layer_muted(rig, index),
                         .region_count = ex_rig_layer_regions(rig, index, NULL, NULL),
                         .predictor = ex_rig_layer_predictor(rig, index),
                         .ridge = ex_weigher_get_ridge(weigher)};
    ex_weigher_describe(weigher, &layer->weigh, NULL, NULL);
    if (!allocate(layer, false))
        return false;
    ex_weigher_describe(weigher, &layer->weigh, layer->axes, layer->pseudos);
    if (ex_weigher_get_info(weigher)->raises_ridge)
        layer->weigh.ridge = layer->ridge.ridge;
    for (int a = 0; a < layer->weigh.axis_count; a++) {
        int input = ex_rig_layer_input(rig, index, a);
        layer->axis_names[a] = ex_rig_input_name(rig, input);
        layer->axis_units[a] = ex_rig_input_unit(rig, input);
        const ex_axis_source source = ex_rig_input_source(rig, input);
        layer->axis_joints[a] = source.joint >= 0 ? ex_skeleton_name(ex_rig_skeleton(rig), source.joint) : NULL;
        layer->readings[a] = source.reading;
    }
    for (int k = 0; k < layer->weigh.example_count; k++)
        layer->example_names[k] = ex_rig_example_name(rig, index, k);
    return find_skeletons(layer, rig, index) && count_moved(layer, rig, index) && take_paths(layer, rig, index);
}

static int dimension(const exi_layer *layer) {
    int sum = 0;
    for (int a = 0; a < layer->weigh.axis_count; a++)
        sum += ex_axis_width(&layer->axes[a]);
    return sum;
}

const double *exi_layer_point(const exi_layer *layer, int example) {
    return layer->weigh.points ? layer->weigh.points + (size_t)example * (size_t)dimension(layer) : NULL;
}

/* ---- text ---- */

static int name_width(const char *const *names, int count) {
    int width = 0;
    for (int i = 0; i < count; i++)
        width = exi_plain_width(names[i]) > width ? exi_plain_width(names[i]) : width;
    return width > 40 ? 40 : width;
}

static void print_reading(const char *joint, const ex_reading *reading) {
    const double *about = reading->about;
    if (reading->kind == EX_READING_ROTATION)
        exi_print(", of joint '%s'", joint);
    else
        exi_print(", %s of joint '%s' %s %g %g %g", exi_reading_kinds[reading->kind], joint,
                  reading->kind == EX_READING_ANGLE ? "about" : "along", about[0], about[1], about[2]);
    if (reading->kind == EX_READING_SLIDE && reading->unit != 0 && reading->unit != 1)
        exi_print(" in units of %g m", reading->unit);
}

static void print_axis(const exi_layer *layer, int a, int width) {
    const ex_axis *axis = &layer->axes[a];
    const char *unit = layer->axis_units[a];
    exi_print("    %-*s  ", width, layer->axis_names[a]);
    if (axis->kind == EX_AXIS_SCALAR)
        exi_print("%g to %g, rest %g%s%s%s", axis->min, axis->max, axis->rest, *unit ? ", in " : "", unit,
                  axis->clamp ? ", clamped" : "");
    else if (axis->kind == EX_AXIS_DRIVER)
        exi_print("the %s of the driver", layer->predictor || layer->predictor_file ? "motion" : "form");
    else if (axis->kind == EX_AXIS_ROTATION)
        exi_print("rotation");
    else
        exi_print("%s about %g %g %g", exi_axis_kinds[axis->kind], axis->about[0], axis->about[1], axis->about[2]);
    if (layer->axis_joints[a])
        print_reading(layer->axis_joints[a], &layer->readings[a]);
    exi_print("\n");
}

/* file: the driver's form, or NULL */
static void print_point(const exi_layer *layer, const double *point, const char *file) {
    char turns[EX_ROTATION_SIZE];
    for (int a = 0; (point || file) && a < layer->weigh.axis_count; a++) {
        if (layer->axes[a].kind == EX_AXIS_DRIVER)
            exi_print("%s%s%s%s", file ? "  " : "", file ? layer->axis_names[a] : "", file ? "=" : "",
                      file ? file : "");
        else if (!point)
            continue;
        else if (layer->axes[a].kind == EX_AXIS_SCALAR)
            exi_print("  %s=%g", layer->axis_names[a], point[0]);
        else
            exi_print("  %s=%s", layer->axis_names[a], ex_format_rotation(turns, sizeof turns, point, 4));
        point += point ? ex_axis_width(&layer->axes[a]) : 0;
    }
}

const double *exi_layer_falloff(const exi_layer *layer, int point) {
    const ex_weigher_def *def = &layer->weigh;
    const double *row = def->falloffs ? def->falloffs + (size_t)point * (size_t)def->axis_count : NULL;
    for (int a = 0; row && a < def->axis_count; a++)
        if (row[a] != 0)
            return row;
    return NULL;
}

int exi_layer_scalar_count(const exi_layer *layer) {
    int count = 0;
    for (int a = 0; a < layer->weigh.axis_count; a++)
        count += layer->axes[a].kind == EX_AXIS_SCALAR;
    return count;
}

const double *exi_layer_metric(const exi_layer *layer, int point) {
    const size_t size = (size_t)exi_layer_scalar_count(layer) * (size_t)exi_layer_scalar_count(layer);
    const double *metric = layer->weigh.metrics ? layer->weigh.metrics + (size_t)point * size : NULL;
    for (size_t i = 0; metric && i < size; i++)
        if (metric[i] != 0)
            return metric;
    return NULL;
}

/* Prints one number if all axes have the same falloff. */
static void print_falloff(const exi_layer *layer, int point) {
    const double *falloff = exi_layer_falloff(layer, point);
    bool same = true;
    for (int a = 1; falloff && a < layer->weigh.axis_count; a++)
        same = same && falloff[a] == falloff[0];
    if (falloff)
        exi_print("  falloff");
    for (int a = 0; falloff && a < (same ? 1 : layer->weigh.axis_count); a++) {
        if (falloff[a] != 0)
            exi_print(" %g", falloff[a]);
        else
            exi_print(" default");
    }
    if (exi_layer_metric(layer, point))
        exi_print("  own metric");
}

static void print_pseudo(const exi_layer *layer, int p) {
    const ex_pseudo *pseudo = &layer->pseudos[p];
    exi_print("    at");
    print_point(layer, pseudo->at, NULL);
    if (pseudo->from) {
        exi_print("  as at");
        print_point(layer, pseudo->from, NULL);
    } else {
        bool any = false;
        for (int k = 0; k < layer->weigh.example_count; k++)
            if (pseudo->weights[k] != 0) {
                exi_print("%s  %s=%g", any ? "" : "  given weights", layer->example_names[k], pseudo->weights[k]);
                any = true;
            }
        exi_print("%s", any ? "" : "  nothing");
    }
    print_falloff(layer, layer->weigh.example_count + p);
    exi_print("\n");
}

/* Prints why the ridge had to be raised. */
static void print_blame(const exi_layer *layer) {
    const ex_ridge *ridge = &layer->ridge;
    const int examples = layer->weigh.example_count;
    if (ridge->point >= 0 && ridge->point < examples)
        exi_print(" for the falloff of %g of '%s'", ridge->falloff, layer->example_names[ridge->point]);
    else if (ridge->point >= 0)
        exi_print(" for the falloff of %g of pseudo-example %d", ridge->falloff, ridge->point - examples + 1);
}

/* Prints words and switches, and numbers that differ from their default. */
static void print_weigher(const exi_layer *layer) {
    const ex_weigher_info *info = ex_weigher_kind_info(layer->weigh.kind);
    exi_print("%s", ex_weigher_kind_name(layer->weigh.kind));
    for (int i = 0; i < info->parameter_count; i++) {
        const ex_parameter *parameter = &info->parameters[i];
        const double value = ex_parameter_get(parameter, &layer->weigh);
        char text[EXI_TEXT_SIZE];
        if (parameter->type == EX_PARAMETER_NUMBER && value == parameter->preset)
            continue;
        ex_parameter_text(parameter, value, text, sizeof text);
        exi_print(", %s", text);
    }
    print_blame(layer);
    if (layer->weigh.set_count > 0)
        exi_print(", %d set%s of examples", layer->weigh.set_count, layer->weigh.set_count == 1 ? "" : "s");
    if (layer->region_count > 0) {
        char regions[EXI_TEXT_SIZE];
        exi_print(", %s", exi_text_count(regions, layer->region_count, "region"));
    }
}

static void print_shape(const exi_layer *layer) {
    char segments[EXI_TEXT_SIZE];
    if (strcmp(layer->shape, "positions") != 0)
        exi_print(", %s%s%s", layer->shape, layer->texture ? " of " : "", layer->texture ? layer->texture : "");
    if (layer->frame)
        exi_print(" in the frame %s, participation %s", layer->frame, layer->participation);
    if (layer->mode)
        exi_print(", %s", layer->mode);
    if (layer->segment_count > 0)
        exi_print(" of %s", exi_text_count(segments, layer->segment_count, "segment"));
    if (layer->auto_falloff)
        exi_print(", falloff chosen by the build");
    if (layer->muted)
        exi_print(", muted");
}

int exi_layer_path_bytes(const exi_layer_path *path) {
    return 12 * (1 + path->turns + path->corrector_count);
}

int exi_layer_mixture_bytes(const exi_layer *layer) {
    const int examples = layer->weigh.example_count - (layer->reference >= 0 ? 1 : 0);
    return EX_NODE_SHARES * 6 + 12 * (examples + layer->mixture.corrector_count);
}

static void print_mixture(const exi_layer *layer) {
    const ex_mixture *m = &layer->mixture;
    char nodes[EXI_TEXT_SIZE], edges[EXI_TEXT_SIZE], correctors[EXI_TEXT_SIZE];
    if (m->node_count > 0)
        exi_print("  mixture of %s, %s and %s, %d bytes a vertex\n", exi_text_count(nodes, m->node_count, "node"),
                  exi_text_count(edges, m->edge_count, "edge"),
                  exi_text_count(correctors, m->corrector_count, "corrector"), exi_layer_mixture_bytes(layer));
}

/* Prints the contents of an example's path. */
static void print_path(const exi_layer *layer, int k) {
    char correctors[EXI_TEXT_SIZE];
    if (k == layer->reference)
        exi_print("  reference");
    else if (layer->paths && layer->mixture.node_count == 0)
        exi_print("  %s%s, %d bytes a vertex", exi_text_count(correctors, layer->paths[k].corrector_count, "corrector"),
                  layer->paths[k].turns ? ", turns" : "", exi_layer_path_bytes(&layer->paths[k]));
}

void exi_layer_print(const exi_layer *layer) {
    const ex_weigher_def *def = &layer->weigh;
    char axes[EXI_TEXT_SIZE], examples[EXI_TEXT_SIZE], pseudos[EXI_TEXT_SIZE], moved[EXI_TEXT_SIZE];
    exi_print("layer %s: ", layer->name);
    print_weigher(layer);
    print_shape(layer);
    exi_print("\n  %s\n", exi_text_count(axes, def->axis_count, "axis"));
    int width = name_width(layer->axis_names, def->axis_count);
    for (int a = 0; a < def->axis_count; a++)
        print_axis(layer, a, width);
    print_mixture(layer);
    exi_layer_print_predictor(layer);
    exi_print("  %s\n", exi_text_count(examples, def->example_count, "example"));
    width = name_width(layer->example_names, def->example_count);
    for (int k = 0; k < def->example_count; k++) {
        exi_print("    %-*s", width, layer->example_names[k]);
        print_point(layer, exi_layer_point(layer, k), layer->driver_files ? layer->driver_files[k] : NULL);
        print_falloff(layer, k);
        if (layer->moved)
            exi_print("  moves %s", exi_text_count(moved, layer->moved[k], "vertex"));
        print_path(layer, k);
        exi_print("%s%s", layer->example_files ? "  " : "", layer->example_files ? layer->example_files[k] : "");
        exi_print("%s%s\n", layer->skeletons[k] ? "  " : "", layer->skeletons[k] ? layer->skeletons[k] : "");
    }
    for (int k = 0; k < layer->muted_count; k++)
        exi_print("    %-*s  muted\n", width, layer->muted_names[k]);
    if (def->pseudo_count > 0)
        exi_print("  %s\n", exi_text_count(pseudos, def->pseudo_count, "pseudo-example"));
    for (int p = 0; p < def->pseudo_count; p++)
        print_pseudo(layer, p);
}
