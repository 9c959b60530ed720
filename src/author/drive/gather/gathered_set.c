/*
 * Several gathered files that one rig is learned from. All must have the same meshes, and have been gathered with the
 * same options; the first one says which.
 */
#include "author/drive/gather/gathered.h"

#include <stdlib.h>
#include <string.h>

static ex_result differ(const ex_gathered *a, const ex_gathered *b, const char *what, ex_error *error) {
    return ex_error_set(error, EX_ERROR_DATA, "'%s' was gathered with another %s than '%s': gather one of them again",
                        b->path, what, a->path);
}

static bool same_text(const char *a, const char *b) {
    return a && b ? strcmp(a, b) == 0 : !a && !b;
}

/* The name of the first option that differs. */
static const char *find_option(const ex_gathered *a, const ex_gathered *b) {
    const ex_drive_options *o = &a->options, *p = &b->options;
    if (o->frame != p->frame || !same_text(o->frame_group, p->frame_group) || o->frame_joint != p->frame_joint)
        return "--frame";
    if (o->frames != p->frames || o->fit != p->fit || o->influences != p->influences)
        return "number of moving frames (--frames)";
    if (!o->driver_weights != !p->driver_weights ||
        (o->driver_weights && memcmp(o->driver_weights, p->driver_weights,
                                     (size_t)a->driver->vertex_count * sizeof *o->driver_weights) != 0))
        return "choice of --weights";
    return "file of --bind";
}

static ex_result compare_content(const ex_gathered *a, const ex_gathered *b, ex_error *error) {
    if (a->checksum == b->checksum && a->view.size == b->view.size)
        return strcmp(a->path, b->path) == 0
                   ? ex_error_set(error, EX_ERROR_DATA, "'%s' is given twice: give each gathered file once", a->path)
                   : ex_error_set(error, EX_ERROR_DATA, "'%s' and '%s' hold the same frames: give one of them", a->path,
                                  b->path);
    return EX_OK;
}

static ex_result compare_origin(const ex_gathered *a, const ex_gathered *b, ex_error *error) {
    static const char *const blocks[2] = {"driver mesh", "driven mesh"};
    if (a->info.method != b->info.method)
        return ex_error_set(error, EX_ERROR_DATA,
                            "'%s' was gathered with --method %s, and '%s' with --method %s: gather one of them again",
                            a->path, ex_learn_method_name(a->info.method), b->path,
                            ex_learn_method_name(b->info.method));
    if (a->driver_scale != b->driver_scale)
        return differ(a, b, "--driver-scale", error);
    if (a->driven_scale != b->driven_scale)
        return differ(a, b, "--driven-scale", error);
    for (int i = 0; i < 2; i++)
        if (a->block_sizes[i] != b->block_sizes[i] || memcmp(a->blocks[i], b->blocks[i], a->block_sizes[i]) != 0)
            return differ(a, b, blocks[i], error);
    if (!same_text(a->info.database_axis, b->info.database_axis))
        return differ(a, b, "name in --database", error);
    if (a->block_sizes[2] != b->block_sizes[2] || memcmp(a->blocks[2], b->blocks[2], a->block_sizes[2]) != 0)
        return differ(a, b, find_option(a, b), error);
    if (a->info.method == EX_LEARN_MOTION && a->motion.moving_count != b->motion.moving_count)
        return differ(a, b, "number of moving frames (--frames)", error);
    return EX_OK;
}

/* Options that gathering used replace those of the definition. */
static void take_options(const ex_gathered *g, ex_drive_options *options) {
    const ex_drive_options *from = &g->options;
    options->frame = from->frame;
    options->frame_group = from->frame_group;
    options->frame_joint = from->frame_joint;
    options->driver_weights = from->driver_weights;
    if (g->info.method != EX_LEARN_MOTION)
        return;
    options->frames = from->frames;
    options->fit = from->fit;
    options->influences = from->influences;
    options->bind_count = from->bind_count;
    options->binds = from->binds;
    options->vertex_binds = from->vertex_binds;
}

static ex_result complete(exi_gathered_set *set, ex_error *error) {
    const ex_gathered *first = set->files[0];
    ex_learn_def *def = &set->def;
    if (def->method != first->info.method)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "'%s' was gathered with --method %s, not %s: gather it again",
                            first->path, ex_learn_method_name(first->info.method), ex_learn_method_name(def->method));
    for (int i = 0; i < set->count; i++) {
        const ex_gathered *g = set->files[i];
        set->references[i] = (ex_drive_reference){.driver = g->info.driver_path,
                                                  .driven = g->info.driven_path,
                                                  .database = g->info.database,
                                                  .first = g->info.first,
                                                  .count = g->info.count,
                                                  .rate = g->info.rate};
        if (def->method == EX_LEARN_MOTION && g->motion.reduced && def->form_count > g->given_form_count)
            return ex_error_set(error, EX_ERROR_ARGUMENT,
                                "'%s' was gathered for at most %d forms: gather it again with --forms %d", g->path,
                                g->given_form_count, def->form_count);
    }
    def->driver = first->driver;
    def->driven = first->driven;
    def->references = set->references;
    def->reference_count = set->count;
    def->database_axis = first->info.database_axis;
    def->driver_scale = def->driven_scale = 1; /* forms are scaled already */
    def->any_fit = true;                       /* and were checked */
    take_options(first, &def->options);
    return EX_OK;
}

ex_result exi_gathered_set_open(exi_gathered_set *set, const ex_learn_def *def, ex_error *error) {
    const size_t count = (size_t)(def->gathered_count > 0 ? def->gathered_count : 0);
    *set = (exi_gathered_set){.files = calloc(count + 1, sizeof *set->files),
                              .references = calloc(count + 1, sizeof *set->references),
                              .def = *def};
    if (!set->files || !set->references)
        return ex_error_memory(error, "gathered files", count * sizeof *set->references);
    if (count == 0 || !def->gathered || def->reference_count > 0 || def->driver || def->driven)
        return exi_misuse_error(error, __func__, "learning from gathered files takes no references and no meshes");
    for (int i = 0; i < def->gathered_count; i++) {
        ex_result result = ex_gathered_open(def->gathered[i], &set->files[i], error);
        set->count = i + (result == EX_OK);
        for (int j = 0; result == EX_OK && j < i; j++)
            result = compare_content(set->files[j], set->files[i], error);
        if (result == EX_OK && i > 0)
            result = compare_origin(set->files[0], set->files[i], error);
        if (result != EX_OK)
            return result;
    }
    return complete(set, error);
}

void exi_gathered_set_close(exi_gathered_set *set) {
    for (int i = 0; i < set->count; i++)
        ex_gathered_close(set->files[i]);
    free(set->files);
    free(set->references);
    *set = (exi_gathered_set){0};
}
