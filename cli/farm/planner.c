/*
 * Items, stages and results of a plan in the making.
 *
 * A stage is cut like this: its items lie one after the other on a line, each as long as it takes. N pieces are N equal
 * parts of the line. A run of frames is cut where parts meet; an item that cannot be cut belongs to the part that its
 * middle is in. So there are never more than N tasks, all about as long, whatever the items are.
 */
#define _GNU_SOURCE

#include "planner.h"

#include "cli/base/files.h"
#include "hash.h"

#include <exemplar/author/cache.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define PIECES_MOST 1000000

static ex_result out_of_memory(exi_planner *p) {
    return ex_error_memory(p->error, "a plan", 1024);
}

static bool append(json_t *array, json_t *value) {
    return json_array_append_new(array, value) == 0;
}

/* ---- inputs ---- */

int exi_planner_input(exi_planner *p, const char *path) {
    const json_t *known = json_object_get(p->input_numbers, path);
    struct stat info;
    if (known)
        return (int)json_integer_value(known);
    errno = 0;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) {
        ex_file_error(p->error, "read", path, errno ? errno : EISDIR);
        return -1;
    }
    const int number = (int)json_array_size(p->inputs);
    const double time = (double)info.st_mtim.tv_sec + 1e-9 * (double)info.st_mtim.tv_nsec;
    if (!append(p->inputs, json_pack("{s:s, s:f, s:f}", "path", path, "size", (double)info.st_size, "time", time)) ||
        json_object_set_new(p->input_numbers, path, json_integer(number)) != 0) {
        out_of_memory(p);
        return -1;
    }
    return number;
}

/* Adds the files that a .gltf file has its buffers and pictures in. */
static ex_result add_gltf_parts(exi_planner *p, json_t *inputs, const char *path) {
    static const char *const lists[] = {"buffers", "images"};
    json_t *scene = json_load_file(path, 0, NULL);
    ex_result result = EX_OK;
    for (int k = 0; k < 2; k++) {
        const json_t *list = json_object_get(scene, lists[k]);
        for (size_t i = 0; result == EX_OK && i < json_array_size(list); i++) {
            const char *uri = exi_farm_text(json_array_get(list, i), "uri");
            char *name = uri[0] && strncmp(uri, "data:", 5) != 0 ? strdup(uri) : NULL, *to = name;
            for (const char *c = name; c && *c; to++) { /* %20 */
                unsigned code = 0;
                const bool escape = *c == '%' && sscanf(c + 1, "%2x", &code) == 1;
                *to = escape ? (char)code : *c;
                c += escape ? 3 : 1;
            }
            if (to)
                *to = 0;
            char *part = name ? ex_path_join(path, name) : NULL;
            if (part && exi_file_exists(part))
                result = exi_planner_add_input(p, inputs, part);
            free(part);
            free(name);
        }
    }
    json_decref(scene);
    return result;
}

ex_result exi_planner_add_input(exi_planner *p, json_t *inputs, const char *path) {
    const int number = exi_planner_input(p, path);
    if (number < 0)
        return p->error->result;
    if (!append(inputs, json_integer(number)))
        return out_of_memory(p);
    return ex_path_ends_with(path, ".gltf") ? add_gltf_parts(p, inputs, path) : EX_OK;
}

ex_result exi_planner_add_folder(exi_planner *p, json_t *inputs, const char *path) {
    const json_t *known = json_object_get(p->input_numbers, path);
    int number = known ? (int)json_integer_value(known) : (int)json_array_size(p->inputs);
    exi_folder_facts facts;
    if (!known) {
        const ex_result result = exi_hash_folder(path, &facts, NULL, p->error);
        if (result != EX_OK)
            return result;
        if (!append(p->inputs, json_pack("{s:s, s:f, s:f, s:i}", "path", path, "size", facts.size, "time", facts.time,
                                         "files", facts.count)) ||
            json_object_set_new(p->input_numbers, path, json_integer(number)) != 0)
            return out_of_memory(p);
    }
    return append(inputs, json_integer(number)) ? EX_OK : out_of_memory(p);
}

ex_result exi_planner_add_cache(exi_planner *p, json_t *inputs, const char *path) {
    ex_cache_reader *reader = NULL;
    if (ex_cache_kind_of(path) != EX_CACHE_OBJ) {
        char *file = strndup(path, ex_cache_file_length(path));
        const ex_result result = file ? exi_planner_add_input(p, inputs, file) : out_of_memory(p);
        free(file);
        return result;
    }
    ex_result result = ex_cache_open(path, &reader, p->error);
    for (int i = 0; result == EX_OK && i < ex_cache_get_info(reader).frame_count; i++)
        result = exi_planner_add_input(p, inputs, ex_cache_path(reader, i));
    ex_cache_close(reader);
    return result;
}

/* ---- items ---- */

static json_t *copy_list(const json_t *list) {
    return list ? json_deep_copy(list) : json_array();
}

/* Length of a text that is cut to `most` bytes, between two characters. */
static int fit(const char *text, int most) {
    int length = (int)strnlen(text, (size_t)most + 1);
    if (length <= most)
        return length;
    for (length = most; length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80;)
        length--;
    return length;
}

/* A name for the folder of an item that follows from its words: pieces of other items keep theirs if one is added. Of
 * equal items, the second gets another one. */
static void make_key(exi_planner *p, const json_t *words, char key[EXI_HASH_DIGITS + 1]) {
    char *text = json_dumps(words, JSON_COMPACT);
    exi_hash hash = exi_hash_start();
    exi_hash_add_text(&hash, text ? text : "");
    free(text);
    for (exi_hash_text(key, exi_hash_value(&hash)); json_object_get(p->keys, key);
         exi_hash_text(key, exi_hash_value(&hash)))
        exi_hash_add_text(&hash, "again");
    json_object_set_new(p->keys, key, json_true());
}

json_t *exi_planner_add(exi_planner *p, const exi_farm_item *item) {
    const exi_farm_cost *cost = &item->cost;
    char key[EXI_HASH_DIGITS + 1];
    make_key(p, item->words, key);
    char name[EXI_FARM_NAME + 1];
    snprintf(name, sizeof name, "%.*s", fit(item->name, EXI_FARM_NAME), item->name);
    json_t *made = json_pack(
        "{s:s, s:o, s:o, s:o, s:s, s:o, s:o, s:i, s:s, s:i, s:i, s:b, s:s, s:f, s:f, s:f, s:f, s:s, s:[], s:[]}",
        "name", name, "words", json_deep_copy(item->words), "inputs", copy_list(item->inputs), "needs",
        copy_list(item->needs), "session", item->session ? item->session : "", "links", copy_list(item->links),
        "folders", copy_list(item->folders), "frames", item->frames, "range", item->range ? item->range : "--frames",
        "offset", item->offset, "grain", item->grain, "whole", item->whole, "file", item->file ? item->file : "",
        "start", cost->start, "each", cost->each, "memory", cost->memory, "disk", cost->disk, "key", key, "tasks",
        "parts");
    if (made && append(p->items, made))
        return made;
    out_of_memory(p);
    return NULL;
}

const json_t *exi_planner_tasks_of(const json_t *item) {
    return json_object_get(item, "tasks");
}

/* ---- cutting ---- */

/* Adds what a list lacks. */
static bool unite(json_t *list, const json_t *more) {
    bool whole = true;
    if (json_array_size(list) == 0)
        return json_array_extend(list, (json_t *)more) == 0;
    json_t *known = json_object(), *value;
    size_t i;
    json_array_foreach(list, i, value) {
        char *key = json_dumps(value, JSON_ENCODE_ANY);
        whole = whole && key && json_object_set_new(known, key, json_true()) == 0;
        free(key);
    }
    json_array_foreach((json_t *)more, i, value) {
        char *key = json_dumps(value, JSON_ENCODE_ANY);
        whole = whole && key;
        if (whole && !json_object_get(known, key))
            whole = json_object_set_new(known, key, json_true()) == 0 && json_array_append(list, value) == 0;
        free(key);
    }
    json_decref(known);
    return whole;
}

static void add_number(json_t *object, const char *key, double value) {
    json_object_set_new(object, key, json_real(exi_farm_number(object, key) + value));
}

static json_t *new_task(exi_planner *p, const json_t *item) {
    json_t *task = json_pack("{s:i, s:s, s:[], s:[], s:[], s:s, s:[], s:[], s:f, s:f, s:f, s:i}", "stage",
                             (int)json_array_size(p->stages), "name", exi_farm_text(item, "name"), "commands", "inputs",
                             "needs", "session", exi_farm_text(item, "session"), "links", "folders", "seconds", 0.0,
                             "memory", 0.0, "disk", 0.0, "items", 0);
    return task && append(p->tasks, task) ? task : NULL;
}

/* Adds the words for the output, and for frames first to last, of an item with a file. */
static bool put_file(json_t *task, json_t *item, int index, int first, int last, json_t *words) {
    char folder[64], text[640], range[64];
    const bool cut = !json_is_true(json_object_get(item, "whole")) && last > 0;
    const int offset = (int)exi_farm_number(item, "offset");
    snprintf(folder, sizeof folder, "%s-%d", exi_farm_text(item, "key"), first);
    snprintf(text, sizeof text, "@/%s/%.512s", folder, exi_farm_text(item, "file"));
    snprintf(range, sizeof range, "%d:%d", first + offset, last + offset);
    json_t *part = json_pack("[i, s]", index, text + 2);
    return part && append(json_object_get(item, "parts"), part) &&
           append(json_object_get(task, "folders"), json_string(folder)) &&
           (!cut || (append(words, json_string(exi_farm_text(item, "range"))) && append(words, json_string(range)))) &&
           append(words, json_string("-o")) && append(words, json_string(text));
}

/* Adds an item, or its frames first to last, to a task, which is the last one. */
static bool put(exi_planner *p, json_t *task, json_t *item, int first, int last) {
    const int index = (int)json_array_size(p->tasks) - 1, frames = (int)exi_farm_number(item, "frames"),
              share = frames ? last - first + 1 : 1, items = (int)exi_farm_number(task, "items");
    const double memory = exi_farm_number(item, "memory");
    json_t *words = json_deep_copy(json_object_get(item, "words")), *tasks = json_object_get(item, "tasks");
    bool whole = words != NULL;
    if (whole && exi_farm_text(item, "file")[0])
        whole = put_file(task, item, index, first, last, words);
    if (items == 0 && share < frames) {
        char text[320];
        const int offset = (int)exi_farm_number(item, "offset");
        snprintf(text, sizeof text, "%s, frames %d:%d", exi_farm_text(item, "name"), first + offset, last + offset);
        json_object_set_new(task, "name", json_string(text));
    }
    json_object_set_new(task, "items", json_integer(items + 1));
    add_number(task, "seconds", exi_farm_number(item, "start") + share * exi_farm_number(item, "each"));
    add_number(task, "disk", share * exi_farm_number(item, "disk"));
    if (memory > exi_farm_number(task, "memory"))
        json_object_set_new(task, "memory", json_real(memory));
    json_t *commands = json_object_get(task, "commands");
    whole = whole && (json_is_array(json_array_get(words, 0)) ? json_array_extend(commands, words) == 0
                                                              : json_array_append(commands, words) == 0);
    json_decref(words);
    return whole && append(tasks, json_integer(index)) &&
           unite(json_object_get(task, "inputs"), json_object_get(item, "inputs")) &&
           unite(json_object_get(task, "needs"), json_object_get(item, "needs")) &&
           unite(json_object_get(task, "links"), json_object_get(item, "links")) &&
           unite(json_object_get(task, "folders"), json_object_get(item, "folders"));
}

/* Seconds of an item; if they are not known, all frames count alike. */
static double length_of(const json_t *item, bool known) {
    const double frames = exi_farm_number(item, "frames");
    if (!known)
        return frames > 0 ? frames : 1;
    return exi_farm_number(item, "start") + frames * exi_farm_number(item, "each");
}

typedef struct cutter {
    double length, pieces; /* of the line */
    int part;              /* the present one */
    bool grain;            /* true to cut where cuts are free */
    json_t *task;
} cutter;

/* The task for a part of the line; a new one if the part is another, or the folder that it works on. */
static json_t *task_for(exi_planner *p, cutter *c, int part, const json_t *item) {
    if (!c->task || part != c->part || strcmp(exi_farm_text(c->task, "session"), exi_farm_text(item, "session")) != 0) {
        c->task = new_task(p, item);
        c->part = part;
    }
    return c->task;
}

static int part_at(const cutter *c, double place) {
    const int part = (int)floor(place * c->pieces / c->length + 1e-9);
    return part < (int)c->pieces ? part : (int)c->pieces - 1;
}

static int next_multiple(int frame, int grain) {
    return grain > 1 ? (frame + grain - 1) / grain * grain : frame;
}

/* Puts one item, which begins at `from` and is `size` long, into the parts that it is in. */
static bool place_item(exi_planner *p, cutter *c, json_t *item, double from, double size) {
    const int frames = (int)exi_farm_number(item, "frames"), offset = (int)exi_farm_number(item, "offset"),
              grain = (int)exi_farm_number(item, "grain");
    if (frames == 0 || json_is_true(json_object_get(item, "whole"))) {
        json_t *task = task_for(p, c, part_at(c, from + size / 2), item);
        return task && put(p, task, item, frames > 0, frames);
    }
    for (int first = 1; first <= frames;) {
        /* A frame belongs to the part that its middle is in. */
        const int part = part_at(c, from + size * (first - 0.5) / frames);
        int last = (int)floor(((part + 1) * c->length / c->pieces - from) / size * frames + 0.5);
        last = last < first ? first : last;
        if (c->grain)
            last = next_multiple(last + offset, grain) - offset;
        last = last > frames || part + 1 >= (int)c->pieces ? frames : last;
        json_t *task = task_for(p, c, part, item);
        if (!task || !put(p, task, item, first, last))
            return false;
        first = last + 1;
    }
    return true;
}

static double how_many(const exi_planner *p, double length, bool known, double units) {
    double pieces = p->pieces > 0 ? p->pieces
                    : known       ? ceil(length / (60 * p->minutes))
                                  : (double)json_array_size(p->items);
    pieces = pieces < units ? pieces : units;
    return pieces < 1 ? 1 : pieces < PIECES_MOST ? pieces : PIECES_MOST;
}

/* Ends names of tasks of several items, and sums the stage up. */
static bool close_stage(exi_planner *p, const char *name, size_t first) {
    double seconds = 0, longest = 0, memory = 0, disk = 0;
    const size_t count = json_array_size(p->tasks);
    for (size_t i = first; i < count; i++) {
        json_t *task = json_array_get(p->tasks, i);
        const int items = (int)exi_farm_number(task, "items");
        if (items > 1) {
            char text[320];
            snprintf(text, sizeof text, "%s and %d more", exi_farm_text(task, "name"), items - 1);
            json_object_set_new(task, "name", json_string(text));
        }
        json_object_del(task, "items");
        const double takes = exi_farm_number(task, "seconds"), needs = exi_farm_number(task, "memory");
        seconds += takes;
        longest = takes > longest ? takes : longest;
        memory = needs > memory ? needs : memory;
        disk += exi_farm_number(task, "disk");
    }
    return append(p->stages, json_pack("{s:s, s:i, s:i, s:f, s:f, s:f, s:f}", "name", name, "first", (int)first,
                                       "count", (int)(count - first), "seconds", seconds, "longest", longest, "memory",
                                       memory, "disk", disk));
}

ex_result exi_planner_end_stage(exi_planner *p, const char *name) {
    const size_t first = json_array_size(p->tasks);
    bool known = true, whole = true;
    double length = 0, units = 0, blocks = 0, place = 0;
    json_t *item;
    size_t i;
    json_array_foreach(p->items, i, item) known =
        known && exi_farm_number(item, "start") + exi_farm_number(item, "each") > 0;
    json_array_foreach(p->items, i, item) {
        const double frames = exi_farm_number(item, "frames");
        length += length_of(item, known);
        const bool cut = frames > 0 && !json_is_true(json_object_get(item, "whole"));
        units += cut ? frames : 1;
        blocks += cut ? ceil(frames / fmax(exi_farm_number(item, "grain"), 1)) : 1;
    }
    /* More pieces than places where cuts are free: only if they were asked for. */
    const bool grain = p->pieces <= blocks;
    cutter c = {.length = length, .pieces = how_many(p, length, known, grain ? blocks : units), .grain = grain};
    json_array_foreach(p->items, i, item) {
        const double size = length_of(item, known);
        whole = whole && place_item(p, &c, item, place, size);
        place += size;
    }
    if (!whole || !close_stage(p, name, first))
        return out_of_memory(p);
    if (json_array_extend(p->kept, p->items) != 0 || json_array_clear(p->items) != 0)
        return out_of_memory(p);
    return EX_OK;
}

/* ---- results ---- */

ex_result exi_planner_result(exi_planner *p, const char *kind, const char *output, const json_t *tasks,
                             const json_t *parts, json_t *more) {
    json_t *result = json_pack("{s:s, s:s, s:O, s:O}", "kind", kind, "output", output, "tasks", tasks, "parts", parts);
    if (result && more && json_object_update(result, more) != 0) {
        json_decref(result);
        result = NULL;
    }
    json_decref(more);
    if (!result)
        return out_of_memory(p);
    if (json_object_get(p->outputs, output)) {
        json_decref(result);
        return exi_job_wrong(p,
                             "two results would be '%s': put a {name} into \"output\" that tells them apart; if two "
                             "inputs have the same file name, rename one",
                             output);
    }
    return json_object_set_new(p->outputs, output, json_true()) == 0 && append(p->results, result) ? EX_OK
                                                                                                   : out_of_memory(p);
}

ex_result exi_planner_item_result(exi_planner *p, const char *kind, const char *output, const json_t *item,
                                  json_t *more) {
    return exi_planner_result(p, kind, output, json_object_get(item, "tasks"), json_object_get(item, "parts"), more);
}
