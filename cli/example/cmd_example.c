/*
 * exemplar example - turns sculpts into examples; moves, removes, mutes, mirrors and lists examples. A command whose
 * subcommands have a help page each (example_*.c); this file has their shared functions.
 */
#define _POSIX_C_SOURCE 200809L

#include "example.h"

#include "cli/base/emit.h"
#include "cli/base/files.h"
#include "cli/base/interrupt.h"
#include "cli/base/lock.h"
#include "cli/base/words.h"

#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

ex_result exi_said_read(const exi_change *change, const ex_word_list lists[4], const char *falloff, exi_said *said,
                        ex_error *error) {
    const ex_project_view *view = ex_project_get(change->project);
    *said = (exi_said){.at = {.count = 0}};
    ex_result result = exi_place_read(view, lists[0].words, lists[0].count, &said->at, error);
    if (result == EX_OK)
        result = exi_joints_read(lists[1].words, lists[1].count, &said->joints, error);
    if (result == EX_OK)
        result = exi_place_read(view, lists[2].words, lists[2].count, &said->from, error);
    if (result == EX_OK)
        result = exi_numbers_read(lists[3].words, lists[3].count, &said->weights, error);
    if (result == EX_OK && falloff)
        result = exi_falloff_read(falloff, &said->falloff, error);
    return result;
}

void exi_said_free(exi_said *said) {
    ex_place *places[] = {&said->at, &said->joints, &said->from, &said->weights, &said->falloff};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        exi_place_free(places[i]);
}

bool exi_words_check(const ex_command *command, const ex_word_list *list, const char *option) {
    for (int i = 0; i < list->count; i++) {
        const char *equals = strchr(list->words[i], '=');
        if (!equals || equals == list->words[i] || equals[1] == '\0') {
            char advice[300];
            const bool advised = exi_word_advice(advice, sizeof advice, list->words[i], NULL, NULL);
            exi_wrong_usage(command, "--%s: '%s' is not of the form name=value%s%s", option, list->words[i],
                            advised ? ": " : "", advised ? advice : "");
            return false;
        }
    }
    return true;
}

int exi_number_read(const ex_command *command, const char *option, const char *text) {
    char *end;
    const long number = strtol(text, &end, 10);
    if (end != text && *end == '\0' && number >= 1 && number < 1 << 30)
        return (int)number;
    exi_wrong_usage(command, "--%s needs a whole number from 1 up, not '%s'", option, text);
    return 0;
}

/* ---- the result ---- */

/* Smaller distances are rounding, and differ between machines; in metres. */
#define LEAST 1e-6

/* Formats "0.21 mm". */
static const char *text_length(char buffer[EXI_TEXT_SIZE], double metres) {
    const bool small = metres < 0.1;
    snprintf(buffer, EXI_TEXT_SIZE, "%.2g %s", small ? 1000 * metres : metres, small ? "mm" : "m");
    return buffer;
}

void exi_sculpted_emit(const exi_change *change, exi_emitter *json, const ex_sculpted *made) {
    const ex_project_layer *layer = &ex_project_get(change->project)->layers[made->layer];
    const ex_project_example *example = made->example >= 0 ? &layer->examples[made->example] : NULL;
    exi_emit_text(json, "layer", layer->name);
    exi_emit_bool(json, "new_layer", made->new_layer);
    exi_emit_text(json, "example", example ? example->name : NULL);
    exi_emit_text(json, "mesh", example ? example->mesh : NULL);
    exi_emit_bool(json, "reordered", made->reordered);
    exi_emit_number(json, "vertices", made->vertex_count);
    exi_emit_number(json, "moved", made->moved_count);
    exi_emit_number(json, "largest", made->largest);
    exi_emit_number(json, "damped", made->damped_count);
    exi_emit_number(json, "error", made->error);
    exi_emit_number(json, "farthest", made->farthest);
    exi_emit_number(json, "size", made->size);
    exi_emit_number(json, "lost_count", made->lost_count);
    if (made->lost_count > 0) {
        const ex_project_layer *lost = &ex_project_get(change->project)->layers[made->lost_layer];
        exi_emit_text(json, "lost_layer", lost->name);
        exi_emit_text(json, "lost_example", lost->examples[made->lost_example].name);
        exi_emit_number(json, "loss", made->loss);
    }
}

void exi_notes_emit(const exi_change *change, exi_emitter *json) {
    exi_emit_open(json, "notes", '[');
    for (int i = 0; i < change->notes.count; i++)
        exi_emit_text(json, NULL, change->notes.texts[i]);
    exi_emit_close(json, ']');
}

static void print_json(const exi_change *change, const char *path, const ex_sculpted *made) {
    exi_emitter json = exi_emit_start(stdout);
    exi_emit_open(&json, NULL, '{');
    exi_emit_text(&json, "project", path);
    exi_sculpted_emit(change, &json, made);
    exi_notes_emit(change, &json);
    exi_emit_close(&json, '}');
    exi_emit_end(&json);
}

/* Warns about a sculpt that is not reproduced exactly; it is kept all the same. */
static void print_loss(const ex_project_layer *layer, const ex_sculpted *made) {
    char off[EXI_TEXT_SIZE], count[EXI_TEXT_SIZE];
    if (made->damped_count > 0)
        exi_failed_text("%s cannot be un-posed exactly, because skinning makes the surface collapse there: \"frame\": "
                        "\"skinned\" in the layer avoids it",
                        exi_text_count(count, made->damped_count, "vertex"));
    if (made->error > 1e-5 * made->size)
        exi_failed_text("the sculpt is not reproduced exactly: vertex %d is off by %s%s", made->farthest,
                        text_length(off, made->error),
                        made->damped_count > 0 ? ""
                        : layer->offsets.participation == EX_PARTICIPATION_MOVED
                            ? "; with \"participation\": \"moved\" other examples move what this one does not"
                            : "; a mask, or a later layer without \"protect\", changes it ('exemplar "
                              "check' says more)");
}

/* The end of the line: the sculpts that are not as before at their own poses. */
static void text_lost(const exi_change *change, const ex_sculpted *made, char *text, size_t size) {
    char loss[EXI_TEXT_SIZE], others[64] = "";
    text[0] = '\0';
    if (made->lost_count == 0)
        return;
    const ex_project_layer *layer = &ex_project_get(change->project)->layers[made->lost_layer];
    if (made->lost_count > 1)
        snprintf(others, sizeof others, ", and %d other%s less", made->lost_count - 1, made->lost_count > 2 ? "s" : "");
    snprintf(text, size, "; '%s' of layer '%s' changes by up to %s at its own pose%s",
             layer->examples[made->lost_example].name, layer->name, text_length(loss, made->loss), others);
}

void exi_sculpted_print(const exi_change *change, const char *path, const ex_sculpted *made) {
    const ex_project_layer *layer = &ex_project_get(change->project)->layers[made->layer];
    const ex_project_example *example = made->example >= 0 ? &layer->examples[made->example] : NULL;
    char largest[EXI_TEXT_SIZE], off[EXI_TEXT_SIZE], lost[700];
    if (change->call->json) {
        print_json(change, path, made);
        return;
    }
    if (change->call->quiet)
        return;
    if (!example) {
        exi_print("%s: layer '%s': the example is muted, and was not built\n", path, layer->name);
        return;
    }
    print_loss(layer, made);
    text_lost(change, made, lost, sizeof lost);
    exi_print("%s: layer '%s', example '%s' (%s): %d of %d vertices moved, by up to %s; reproduced within %s%s\n", path,
              layer->name, example->name, example->mesh, made->moved_count, made->vertex_count,
              text_length(largest, made->largest), text_length(off, made->error > LEAST ? made->error : LEAST), lost);
}

/* ---- the command ---- */

static const ex_command *const commands[] = {&cmd_example_add,    &cmd_example_move, &cmd_example_rename,
                                             &cmd_example_remove, &cmd_example_mute, &cmd_example_mirror,
                                             &cmd_example_list};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

/* Words of other tools, and the command that does it here. */
static const char *synonym(const char *word) {
    static const char *const synonyms[][2] = {
        {"delete", "remove"},         {"rm", "remove"},    {"new", "add"}, {"insert", "add"}, {"import", "add"},
        {"replace", "add --replace"}, {"disable", "mute"}, {"ls", "list"}, {"show", "list"},  {"flip", "mirror"},
        {"enable", "mute --off"}};
    for (size_t i = 0; i < sizeof synonyms / sizeof *synonyms; i++)
        if (strcmp(word, synonyms[i][0]) == 0)
            return synonyms[i][1];
    return NULL;
}

static int run(const ex_call *call) {
    const char *words[COMMAND_COUNT], *word = call->arguments[0];
    for (int i = 0; i < COMMAND_COUNT; i++)
        words[i] = commands[i]->name + strlen("example ");
    const char *same = synonym(word), *near = same ? same : ex_suggest(word, words, COMMAND_COUNT);
    if (near)
        return exi_wrong_usage(call->command, "there is no '%s' here: did you mean 'example %s'?", word, near);
    return exi_wrong_usage(call->command, "there is no '%s' here: use add, move, rename, remove, mute, mirror or list",
                           word);
}

const ex_command cmd_example = {
    .name = "example",
    .summary = "add sculpts to a project; move, rename, mirror, list examples",
    .usage = "example add PROJECT.json --name NAME --at axis=value... SCULPT\n"
             "example move|rename|remove|mute|mirror|list PROJECT.json ...",
    .description = "Pose the skeleton, sculpt the shape that should be there, save. 'exemplar\n"
                   "pose' writes the form to sculpt on, and 'exemplar example add' adds the sculpt\n"
                   "at its pose: to the layer whose space has those axes, or to a new layer of\n"
                   "offsets. The other commands change examples. Each has its own help page:\n"
                   "'exemplar example add -h'.\n"
                   "\n"
                   "A change is made completely or not at all: the changed project is built first,\n"
                   "then the file is replaced. 'exemplar undo' takes changes back, one by one.",
    .examples = "exemplar example list blob/blob.json\n"
                "exemplar example add -h",
    .argument_min = 1,
    .argument_max = -1,
    .run = run,
    .commands = commands,
    .command_count = COMMAND_COUNT,
};
