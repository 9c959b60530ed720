/* exemplar drive keys, add, remove - lists and changes the keys, pairs of driver and driven forms, of a driven rig. */
#include "drive.h"

#include "cli/base/emit.h"
#include "cli/base/files.h"
#include "cli/base/lock.h"

#include "common/array.h"

#include <exemplar/author/base.h>
#include <exemplar/author/drive.h>
#include <exemplar/author/files.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *output, *driver, *driven, *at_text, *name, *driver_scale_text, *scale_text;
static ex_word_list database;
static bool force;

/* ---- a rig and its definition ---- */

typedef struct opened {
    int lock; /* lock.h */
    ex_rig *rig;
    ex_drive_set *set;
    const ex_drive_def *def;
} opened;

/* False after printing an error; call close_rig either way. */
static bool open_rig(opened *o, const char *path) {
    ex_error error = {.result = EX_OK};
    o->rig = exi_drive_load(path);
    if (!o->rig)
        return false;
    if (ex_drive_open(o->rig, &o->set, &error) != EX_OK) {
        exi_failed(&error);
        return false;
    }
    o->def = ex_drive_get_def(o->set);
    return true;
}

/* The same with the folder locked if the rig will be changed in place: another command that read it before this one
 * has written it would lose this change. */
static bool open_to_change(opened *o, const ex_call *call) {
    const char *path = call->arguments[0];
    if (!output || exi_file_is_same(output, path))
        o->lock = exi_lock_folder_of(path, call->quiet);
    return open_rig(o, path);
}

static void close_rig(opened *o) {
    exi_lock_release(o->lock);
    ex_drive_close(o->set);
    ex_rig_destroy(o->rig);
}

/* ---- keys ---- */

static void print_keys_json(const char *path, const ex_drive_def *def, const ex_key_distance *distances) {
    exi_emitter json = exi_emit_start(stdout);
    exi_emit_open(&json, NULL, '{');
    exi_emit_text(&json, "rig", path);
    exi_emit_text(&json, "driver", def->driver_name);
    exi_emit_number(&json, "driver_vertices", def->driver->vertex_count);
    exi_emit_number(&json, "vertices", def->driven->vertex_count);
    exi_emit_text(&json, "database", def->database_axis);
    exi_emit_open(&json, "keys", '[');
    for (int k = 0; k < def->key_count; k++) {
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "name", def->keys[k].name);
        if (def->database_axis)
            exi_emit_number(&json, "database", def->keys[k].database);
        exi_emit_number(&json, "from_mesh", distances[k].from_mesh);
        exi_emit_text(&json, "nearest", distances[k].nearest >= 0 ? def->keys[distances[k].nearest].name : NULL);
        exi_emit_number(&json, "distance", distances[k].nearest >= 0 ? distances[k].distance : NAN);
        exi_emit_close(&json, '}');
    }
    exi_emit_close(&json, ']');
    exi_emit_close(&json, '}');
    exi_emit_end(&json);
}

static void print_keys(const char *path, const ex_drive_def *def, const ex_key_distance *distances) {
    char count[EXI_TEXT_SIZE], length[EXI_TEXT_SIZE];
    int width = 3;
    for (int k = 0; k < def->key_count; k++)
        width = exi_plain_width(def->keys[k].name) > width ? exi_plain_width(def->keys[k].name) : width;
    exi_print("%s: %s of %d vertices, driven by '%s' of %d\n", path, exi_text_count(count, def->key_count, "key"),
              def->driven->vertex_count, def->driver_name, def->driver->vertex_count);
    exi_print("  %-*s  %10s  %10s  %s", width, "key", "from mesh", "from key", "nearest key");
    exi_print("%s%s\n", def->database_axis ? "  " : "", def->database_axis ? def->database_axis : "");
    for (int k = 0; k < def->key_count; k++) {
        const ex_key_distance *d = &distances[k];
        exi_print("  %-*s  %10s", width, def->keys[k].name, exi_text_length(length, d->from_mesh));
        exi_print("  %10s  %-*s", d->nearest < 0 ? "-" : exi_text_length(length, d->distance),
                  def->database_axis ? (width > 11 ? width : 11) : 0,
                  d->nearest < 0 ? "-" : def->keys[d->nearest].name);
        if (def->database_axis)
            exi_print("  %g", def->keys[k].database);
        exi_print("\n");
    }
}

static int run_keys(const ex_call *call) {
    opened o = {.lock = -1};
    ex_error error = {.result = EX_OK};
    int exit_code = EX_EXIT_FAILED;
    if (open_rig(&o, call->arguments[0])) {
        ex_key_distance *distances = array_allocate((size_t)o.def->key_count, sizeof *distances);
        if (!distances)
            exi_failed_memory();
        else if (ex_key_distances(o.def, distances, &error) != EX_OK)
            exi_failed(&error);
        else
            exit_code = EX_EXIT_DONE;
        if (exit_code == EX_EXIT_DONE && call->json)
            print_keys_json(call->arguments[0], o.def, distances);
        else if (exit_code == EX_EXIT_DONE)
            print_keys(call->arguments[0], o.def, distances);
        free(distances);
    }
    close_rig(&o);
    return exit_code;
}

const ex_command cmd_drive_keys = {
    .name = "drive keys",
    .summary = "list the keys of a driven rig",
    .usage = "drive keys RIG.glb [--json]",
    .description = "For each key: the distance of its driver from the driver's mesh and from the\n"
                   "nearest other key, which is named. Distances are root mean squares over the\n"
                   "driver's surface, after both were moved to the same place. If two keys are\n"
                   "close to each other, one may be unnecessary.",
    .examples = "exemplar drive keys shirt.glb",
    .json = true,
    .argument_min = 1,
    .argument_max = 1,
    .run = run_keys,
};

/* ---- writing the changed rig ---- */

/* Keeps the file as FILE~. */
static ex_result keep_old(const char *path, ex_error *error) {
    char *bytes = NULL;
    size_t size = 0;
    ex_result result = ex_file_read(path, &bytes, &size, error);
    if (result == EX_OK)
        result = ex_file_back_up(path, bytes, size, error);
    free(bytes);
    return result;
}

/* Builds the changed rig and writes it; the caller prints the line about it. */
static int write_rig(const ex_call *call, const ex_drive_def *def) {
    ex_error error = {.result = EX_OK};
    ex_rig *rig = NULL;
    ex_result result = ex_drive_build(def, &rig, &error);
    if (result == EX_OK && !output)
        result = keep_old(call->arguments[0], &error);
    if (result == EX_OK)
        result = ex_rig_write(output ? output : call->arguments[0], rig, &error);
    ex_rig_destroy(rig);
    return result == EX_OK ? EX_EXIT_DONE : exi_failed(&error);
}

static bool check_output(const ex_call *call, int *exit_code) {
    *exit_code = EX_EXIT_USAGE;
    if (output && exi_is_standard_output(output)) {
        exi_wrong_usage(call->command, "the rig cannot go to standard output: name a file with -o");
        return false;
    }
    if (output && !exi_file_is_same(output, call->arguments[0]))
        return exi_output_check(call->command, output, ".glb", NULL, exit_code);
    *exit_code = EX_EXIT_FAILED;
    return !exi_file_exists(call->arguments[0]) || exi_output_writable(call->arguments[0]);
}

static int find_key(const ex_drive_def *def, const char *word) {
    for (int k = 0; k < def->key_count; k++)
        if (strcmp(def->keys[k].name, word) == 0)
            return k;
    return -1;
}

static void print_change(const ex_call *call, const ex_drive_def *def, const char *what, const char *of) {
    const char *path = output ? output : call->arguments[0];
    char count[EXI_TEXT_SIZE];
    if (call->json) {
        exi_emitter json = exi_emit_start(stdout);
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "rig", path);
        exi_emit_open(&json, "keys", '[');
        for (int k = 0; k < def->key_count; k++)
            exi_emit_text(&json, NULL, def->keys[k].name);
        exi_emit_close(&json, ']');
        exi_emit_close(&json, '}');
        exi_emit_end(&json);
    } else if (!call->quiet) {
        exi_print("%s: %s %s, %s\n", path, of, what, exi_text_count(count, def->key_count, "key"));
    }
}

#define OUTPUT_OPTION                                                                                                  \
    {                                                                                                                  \
        .name = "output", .letter = 'o', .argument = "NEW.glb",                                                        \
        .help = "output file (default: the rig is changed in place, and the previous version kept as RIG.glb~)",       \
        .text = &output                                                                                                \
    }

/* ---- add ---- */

static const ex_option add_options[] = {
    {.name = "driver",
     .argument = "FORM",
     .help = "form of the driver: .obj, .ply, .off, .glb; or a cache with --at",
     .text = &driver},
    {.name = "driven", .argument = "FORM", .help = "form of the driven mesh, likewise", .text = &driven},
    {.name = EXI_DRIVER_SCALE,
     .argument = "FACTOR",
     .help = "multiply the positions of --driver by this, as for 'drive learn' (default: 1)",
     .text = &driver_scale_text},
    {.name = EXI_DRIVEN_SCALE,
     .argument = "FACTOR",
     .help = "multiply the positions of --driven by this, as for 'drive learn' (default: 1)",
     .text = &scale_text},
    {.name = "at", .argument = "FRAME", .help = "frame of the caches, counting from 1", .text = &at_text},
    {.name = "name",
     .argument = "NAME",
     .help = "name of the key (default: its file's name, or frame_NNN)",
     .text = &name},
    {.name = "database",
     .argument = "NAME=VALUE",
     .help = "the cloth of the key, if the rig has several",
     .words = &database},
    {.name = "force",
     .letter = 'f',
     .help = "take forms that look 10, 100 or 1000 times too large or too small, or are far from each other",
     .flag = &force},
    OUTPUT_OPTION,
};

/* Reads a form of a mesh with that number of vertices, from a file or from a frame of a cache. */
static ex_result read_form(const char *path, const char *what, const ex_mesh *own, int frame, float *form,
                           ex_error *error) {
    ex_cache_reader *reader = NULL;
    ex_mesh *mesh = NULL;
    const int vertex_count = own->vertex_count;
    ex_result result = frame < 0 ? ex_mesh_read(path, &mesh, error)
                                 : ex_drive_open_cache(path, what, vertex_count, own, &reader, error);
    if (result == EX_OK && mesh && mesh->vertex_count != vertex_count)
        result = ex_error_set(error, EX_ERROR_DATA,
                              "'%s' has %d vertices, but the %s mesh has %d: they are not the same mesh", path,
                              mesh->vertex_count, what, vertex_count);
    else if (result == EX_OK && mesh && mesh->face_count == own->face_count) /* a .glb has split its quads */
        result = ex_error_within(error, ex_mesh_compare_connectivity(own, mesh, error), "'%s' and the %s mesh differ",
                                 path, what);
    if (result == EX_OK && mesh)
        for (size_t i = 0; i < 3 * (size_t)vertex_count; i++)
            form[i] = (float)mesh->positions[i];
    if (result == EX_OK && reader && frame >= ex_cache_get_info(reader).frame_count)
        result = ex_error_set(error, EX_ERROR_ARGUMENT, "'%s' has frames 1 to %d: there is no frame %d", path,
                              ex_cache_get_info(reader).frame_count, frame + 1);
    else if (result == EX_OK && reader)
        result = ex_cache_read(reader, frame, form, error);
    ex_mesh_destroy(mesh);
    ex_cache_close(reader);
    return result;
}

/* Checks that a frame of two caches is the same one. */
static ex_result check_pair(int frame, ex_error *error) {
    ex_cache_reader *readers[2] = {NULL, NULL};
    ex_result result = frame < 0 ? EX_OK : ex_cache_open(driver, &readers[0], error);
    if (result == EX_OK && frame >= 0)
        result = ex_cache_open(driven, &readers[1], error);
    if (result == EX_OK && frame >= 0)
        result = ex_drive_check_pair(readers[0], driver, readers[1], driven, error);
    ex_cache_close(readers[0]);
    ex_cache_close(readers[1]);
    return result;
}

static int add(const ex_call *call, const opened *o, int frame, const double scales[2]) {
    ex_drive_def def = *o->def;
    ex_error error = {.result = EX_OK};
    ex_drive_key *keys = array_allocate((size_t)def.key_count + 1, sizeof *keys);
    float *driver_form = array_allocate((size_t)def.driver->vertex_count, 3 * sizeof(float));
    float *driven_form = array_allocate((size_t)def.driven->vertex_count, 3 * sizeof(float));
    char *stem = exi_path_stem(driven), of_frame[24], said[300];
    double value = NAN;
    int exit_code = EX_EXIT_FAILED;
    snprintf(of_frame, sizeof of_frame, "frame_%03d", frame + 1);
    const char *called = name ? name : frame >= 0 ? of_frame : stem;
    if (!keys || !driver_form || !driven_form || !stem) {
        exi_failed_memory();
    } else if ((exit_code = exi_drive_database_find(call, o->rig, &database, &value)) != EX_EXIT_DONE) {
        /* the error is printed already */
    } else if (def.database_axis && isnan(value)) {
        exit_code = exi_failed_text("the rig has databases along '%s': give this key's with --database %s=VALUE",
                                    def.database_axis, def.database_axis);
    } else if (find_key(&def, called) >= 0) {
        exit_code = exi_failed_text("there is already a key '%s': give this one another name with --name", called);
    } else if (read_form(driver, "driver", def.driver, frame, driver_form, &error) != EX_OK ||
               read_form(driven, "driven", def.driven, frame, driven_form, &error) != EX_OK ||
               check_pair(frame, &error) != EX_OK) {
        exit_code = exi_failed(&error);
    } else {
        for (size_t i = 0; i < 3 * (size_t)def.driver->vertex_count; i++)
            driver_form[i] = (float)(scales[0] * (double)driver_form[i]);
        for (size_t i = 0; i < 3 * (size_t)def.driven->vertex_count; i++)
            driven_form[i] = (float)(scales[1] * (double)driven_form[i]);
        memcpy(keys, def.keys, (size_t)def.key_count * sizeof *keys);
        keys[def.key_count++] = (ex_drive_key){
            .name = called, .driver = driver_form, .driven = driven_form, .database = isnan(value) ? 0 : value};
        def.keys = keys;
        exit_code = !force && ex_drive_check_fit(&def, &keys[def.key_count - 1], driver, driven, &error) != EX_OK
                        ? exi_failed(&error)
                        : write_rig(call, &def);
    }
    snprintf(said, sizeof said, "'%.250s'", called ? called : "");
    if (exit_code == EX_EXIT_DONE)
        print_change(call, &def, "added", said);
    free(keys);
    free(driver_form);
    free(driven_form);
    free(stem);
    return exit_code;
}

static int run_add(const ex_call *call) {
    opened o = {.lock = -1};
    double scales[2];
    int exit_code, frame = -1;
    const char *at = at_text, *end = at_text ? at + strlen(at_text) : NULL;
    if (!driver || !driven)
        return exi_wrong_usage(call->command, "--driver and --driven are required: a key is a pair of forms");
    if (!exi_drive_scale_read(call, EXI_DRIVER_SCALE, driver_scale_text, &scales[0]) ||
        !exi_drive_scale_read(call, EXI_DRIVEN_SCALE, scale_text, &scales[1]))
        return EX_EXIT_USAGE;
    if (at_text && (!ex_parse_int(&at, end, &frame) || at != end || frame < 1))
        return exi_wrong_usage(call->command, "--at needs a frame, counting from 1, not '%s'", at_text);
    frame -= at_text != NULL; /* the library counts from 0 */
    for (int i = 0; !at_text && i < 2; i++) {
        const ex_cache_kind kind = ex_cache_kind_of(i ? driven : driver);
        if (kind == EX_CACHE_PC2 || kind == EX_CACHE_MDD || kind == EX_CACHE_ABC)
            return exi_wrong_usage(call->command, "'%s' is a cache: give the frame with --at", i ? driven : driver);
    }
    if (!check_output(call, &exit_code))
        return exit_code;
    exit_code = open_to_change(&o, call) ? add(call, &o, frame, scales) : EX_EXIT_FAILED;
    close_rig(&o);
    return exit_code;
}

const ex_command cmd_drive_add = {
    .name = "drive add",
    .summary = "add a key to a driven rig",
    .usage = "drive add RIG.glb --driver FORM --driven FORM [-o NEW.glb]\n"
             "drive add RIG.glb --driver CACHE --driven CACHE --at FRAME ...",
    .description = "Adds a pair of forms, or a frame of a pair of caches, as a key: a missing one,\n"
                   "or one that was sculpted. The animation that the other keys were learned from\n"
                   "is not needed. Forms in another unit, or far from each other, are refused.",
    .examples = "exemplar drive add shirt.glb --driver arms_up.obj --driven shirt_up.obj\n"
                "exemplar drive add shirt.glb --driver b.pc2 --driven s.pc2 --at 37 -o n.glb",
    .options = add_options,
    .option_count = sizeof add_options / sizeof add_options[0],
    .json = true,
    .argument_min = 1,
    .argument_max = 1,
    .run = run_add,
};

/* ---- remove ---- */

static const ex_option remove_options[] = {OUTPUT_OPTION};

static void no_such_key(const ex_drive_def *def, const char *word) {
    const char **names = array_allocate((size_t)def->key_count, sizeof *names);
    for (int k = 0; names && k < def->key_count; k++)
        names[k] = def->keys[k].name;
    const char *near = names ? ex_suggest(word, names, def->key_count) : NULL;
    if (near)
        exi_failed_text("the rig has no key '%s': did you mean '%s'?", word, near);
    else
        exi_failed_text("the rig has no key '%s': 'exemplar drive keys' lists them", word);
    free(names);
}

static int take_out(const ex_call *call, const opened *o) {
    ex_drive_def def = *o->def;
    int exit_code = EX_EXIT_DONE;
    char said[EXI_TEXT_SIZE];
    ex_drive_key *keys = array_copy(def.keys, (size_t)def.key_count, sizeof *keys);
    if (!keys)
        return exi_failed_memory();
    def.keys = keys;
    for (int i = 1; exit_code == EX_EXIT_DONE && i < call->argument_count; i++) {
        const int k = find_key(&def, call->arguments[i]);
        for (int j = 1; k < 0 && exit_code == EX_EXIT_DONE && j < i; j++)
            if (strcmp(call->arguments[i], call->arguments[j]) == 0)
                exit_code = exi_failed_text("key '%s' is given twice", call->arguments[i]);
        if (exit_code != EX_EXIT_DONE)
            break;
        if (k < 0) {
            no_such_key(&def, call->arguments[i]);
            exit_code = EX_EXIT_FAILED;
            break;
        }
        memmove(keys + k, keys + k + 1, (size_t)(def.key_count - k - 1) * sizeof *keys);
        def.key_count--;
    }
    if (exit_code == EX_EXIT_DONE && def.key_count == 0)
        exit_code = exi_failed_text("a rig needs at least one key, and these are all it has");
    if (exit_code == EX_EXIT_DONE)
        exit_code = write_rig(call, &def);
    if (exit_code == EX_EXIT_DONE)
        print_change(call, &def, "removed", exi_text_count(said, call->argument_count - 1, "key"));
    free(keys);
    return exit_code;
}

static int run_remove(const ex_call *call) {
    opened o = {.lock = -1};
    int exit_code;
    if (!check_output(call, &exit_code))
        return exit_code;
    exit_code = open_to_change(&o, call) ? take_out(call, &o) : EX_EXIT_FAILED;
    close_rig(&o);
    return exit_code;
}

const ex_command cmd_drive_remove = {
    .name = "drive remove",
    .summary = "remove keys from a driven rig",
    .usage = "drive remove RIG.glb NAME... [-o NEW.glb]",
    .description = "Removes keys by name. 'exemplar drive keys' lists them.",
    .examples = "exemplar drive remove shirt.glb frame_037 -o new.glb",
    .options = remove_options,
    .option_count = sizeof remove_options / sizeof remove_options[0],
    .json = true,
    .argument_min = 2,
    .argument_max = -1,
    .run = run_remove,
};
