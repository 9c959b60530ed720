/*
 * exemplar drive - clothes that follow a body: a command whose subcommands have a help page each (drive_*.c). This file
 * has their shared functions.
 */
#include "drive.h"

#include "cli/base/interrupt.h"
#include "cli/base/rigs.h"

#include <exemplar/author/base.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- words ---- */

bool exi_drive_length_read(const ex_call *call, const char *option, const char *text, double *metres) {
    double value = 0;
    const char *at = text, *end = text ? text + strlen(text) : NULL;
    if (!text)
        return true;
    if (ex_parse_double(&at, end, &value) && value >= 0 &&
        (at == end || strcmp(at, "m") == 0 || strcmp(at, "mm") == 0)) {
        *metres = strcmp(at, "mm") == 0 ? value / 1000 : value;
        return true;
    }
    exi_wrong_usage(call->command, "--%s needs a length in metres (0.005) or millimetres (5mm), not '%s'", option,
                    text);
    return false;
}

bool exi_drive_database_read(const ex_call *call, const char *text, size_t *name, double *value) {
    const char *equals = strchr(text, '='), *end = text + strlen(text), *at = equals ? equals + 1 : end;
    *name = equals ? (size_t)(equals - text) : 0;
    if (*name > 0 && ex_parse_double(&at, end, value) && at == end)
        return true;
    exi_wrong_usage(call->command, "--database needs NAME=NUMBER, such as stiffness=5, not '%s'", text);
    return false;
}

int exi_drive_database_find(const ex_call *call, const ex_rig *rig, const ex_word_list *words, double *value) {
    size_t size;
    *value = NAN;
    if (words->count == 0)
        return EX_EXIT_DONE;
    if (words->count > 1)
        return exi_wrong_usage(call->command, "--database is given twice");
    if (!exi_drive_database_read(call, words->words[0], &size, value))
        return EX_EXIT_USAGE;
    for (int i = 0; i < ex_rig_input_count(rig); i++) {
        const char *name = ex_rig_input_name(rig, i);
        if (ex_rig_input_axis(rig, i).kind == EX_AXIS_SCALAR && strlen(name) == size &&
            memcmp(name, words->words[0], size) == 0)
            return EX_EXIT_DONE;
    }
    return exi_failed_text("the rig has no databases along '%.*s': 'exemplar drive keys' shows what it has", (int)size,
                           words->words[0]);
}

/* ---- work ---- */

ex_rig *exi_drive_load(const char *path) {
    ex_rig *rig = exi_rig_load(path, &(ex_rig_options){.without_tangents = true});
    ex_rig_driver driver;
    if (rig && !ex_rig_get_driver(rig, &driver, NULL)) {
        exi_failed_text("'%s' does not follow a driver: 'exemplar drive learn' makes a rig that does", path);
        ex_rig_destroy(rig);
        return NULL;
    }
    return rig;
}

/* True if the keys have similar weights, so the driver's poses are similar as far as the keys can tell; without keys,
 * if the frames are less than half a second apart. */
static bool are_alike(const ex_drive_report *report, int a, int b) {
    if (report->by_motion)
        return fabs(report->frames[a].time - report->frames[b].time) < 0.5;
    const double *first = report->weights + (size_t)a * (size_t)report->key_count;
    const double *second = report->weights + (size_t)b * (size_t)report->key_count;
    double apart = 0;
    for (int k = 0; k < report->key_count; k++)
        apart += fabs(first[k] - second[k]);
    return apart < 0.5; /* out of at most 2 */
}

int exi_drive_worst(const ex_drive_report *report, bool by_error, int most, int *frames) {
    int count = 0;
    for (; count < most; count++) {
        int worst = -1;
        const double far = report->by_motion ? 1 : report->key_spread;
        double largest = by_error ? -1 : report->far_count > 0 ? far : -1;
        for (int i = 0; i < report->frame_count; i++) {
            const ex_drive_frame *f = &report->frames[i];
            const double value = by_error ? f->mean : report->by_motion ? f->unfamiliar : f->hull_distance;
            bool told = !(value > largest);
            for (int j = 0; j < count && !told; j++)
                told = are_alike(report, frames[j], i);
            if (told)
                continue;
            worst = i;
            largest = value;
        }
        if (worst < 0)
            break;
        frames[count] = worst;
    }
    return count;
}

bool exi_drive_far_text(const ex_drive_report *report, char text[EXI_DRIVE_FAR_SIZE]) {
    enum { NAMED = 5 };
    int worst[NAMED];
    char spread[EXI_TEXT_SIZE], names[NAMED * 16] = "";
    if (report->far_count == 0)
        return false;
    const int count = exi_drive_worst(report, false, NAMED, worst);
    for (int i = 0; i < count; i++) {
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%d", i ? ", " : "", report->first + worst[i] + 1);
    }
    if (report->by_motion) {
        snprintf(text, EXI_DRIVE_FAR_SIZE,
                 "%d of %d frames move in a way that is far from what was learned, worst frame%s %s: simulate like "
                 "motion and learn from it too ('exemplar drive suggest')",
                 report->far_count, report->frame_count, count == 1 ? "" : "s", names);
        return true;
    }
    snprintf(text, EXI_DRIVE_FAR_SIZE,
             "%d of %d frames are farther from any blend of the keys than keys are from each other (%s), worst frame%s "
             "%s: add keys there",
             report->far_count, report->frame_count, exi_text_length(spread, report->key_spread), count == 1 ? "" : "s",
             names);
    return true;
}

void exi_drive_warn(const ex_drive_report *report) {
    char text[EXI_DRIVE_FAR_SIZE];
    if (exi_drive_far_text(report, text))
        exi_failed_text("%s", text);
}

/* ---- the command ---- */

static const ex_command *const commands[] = {&cmd_drive_learn,  &cmd_drive_gather, &cmd_drive_apply,
                                             &cmd_drive_report, &cmd_drive_keys,   &cmd_drive_add,
                                             &cmd_drive_remove, &cmd_drive_suggest};
enum { COMMAND_COUNT = sizeof commands / sizeof commands[0] };

static int run(const ex_call *call) {
    const char *words[COMMAND_COUNT], *word = call->arguments[0];
    for (int i = 0; i < COMMAND_COUNT; i++)
        words[i] = commands[i]->name + strlen("drive ");
    const char *near = ex_suggest(word, words, COMMAND_COUNT);
    if (near)
        return exi_wrong_usage(call->command, "there is no '%s' here: did you mean 'drive %s'?", word, near);
    return exi_wrong_usage(
        call->command, "there is no '%s' here: use learn, gather, apply, report, suggest, keys, add or remove", word);
}

const ex_command cmd_drive = {
    .name = "drive",
    .summary = "make clothes follow a body, learned from a simulation",
    .usage = "drive learn --driver CACHE --driven CACHE --keys N -o RIG.glb ...\n"
             "drive gather --driver CACHE --driven CACHE -o FILE.gathered ...\n"
             "drive apply RIG.glb --driver NEW.pc2 -o OUT.pc2\n"
             "drive report|suggest|keys|add|remove RIG.glb ...",
    .description = "Learns a rig from an animation of a body (the driver) with its simulated\n"
                   "clothes (the driven mesh). The rig holds a few pairs of the two, the keys. It\n"
                   "then follows a new animation of the body at once: each frame is expressed as a\n"
                   "blend of the keys' bodies, the keys' clothes are blended in the same way,\n"
                   "moved along, and pushed out of the body. Or it learns from how the body moves\n"
                   "(--method motion), so that clothes swing. Each command has its own help page:\n"
                   "'exemplar drive learn -h'.\n"
                   "\n"
                   "Animations are point caches: .pc2, .mdd, .abc (Alembic; FILE.abc:/A/B names one\n"
                   "of several meshes), or numbered NAME_0001.obj files. They are read frame by\n"
                   "frame, so they may be larger than memory. Frames count from 1, as such files\n"
                   "do.",
    .examples = "exemplar drive learn -h\n"
                "exemplar drive keys shirt.glb",
    .argument_min = 1,
    .argument_max = -1,
    .run = run,
    .commands = commands,
    .command_count = COMMAND_COUNT,
};
