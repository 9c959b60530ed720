/*
 * Fuzzes what people type (clang -fsanitize=fuzzer,address,undefined). The input is lines, each a word. The first word
 * chooses: "place", "joints", "numbers" and "falloff" read the rest as settings, "pose" sets them in a pose of a rig,
 * "space" takes them as the values of --space and --at of init. Any words give values or an error with a sentence.
 */
#include <exemplar/author.h>

#include "cli/base/command.h"
#include "cli/base/words.h"
#include "cli/project/init_forms.h"
#include "fuzz/rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { WORDS_MOST = 40 };

static const char project_text[] =
    "{\"exemplar\": 1, \"mesh\": \"m.obj\", \"skeleton\": \"s.glb\", \"layers\": [{\"name\": \"l\", \"space\": "
    "[{\"name\": \"d\", \"min\": 0, \"max\": 1}, {\"name\": \"aim\", \"joint\": \"arm\", \"rotation\": \"full\"}], "
    "\"examples\": [{\"name\": \"e\", \"mesh\": \"m.obj\", \"at\": {}}]}]}";

static const ex_project *the_project(void) {
    static ex_project *project;
    if (!project && ex_project_parse(project_text, sizeof project_text - 1, "p.json", &project, NULL) != EX_OK)
        abort();
    return project;
}

/* The tool prints why it refuses words; nothing needs to read that here. */
static void keep_quiet(void) {
#ifdef __GLIBC__
    static FILE *nowhere;
    if (!nowhere)
        stderr = nowhere = fopen("/dev/null", "w");
#endif
}

static void check_place(ex_result result, const ex_error *error, ex_place *place, int word_count) {
    if (result != EX_OK && error->text[0] == 0)
        abort();
    for (int i = 0; result == EX_OK && i < place->count; i++)
        if (!isfinite(place->settings[i].number) || place->settings[i].turn_count > EX_SETTING_TURN_MAX)
            abort();
    if (result == EX_OK && word_count == 0 && place->count != 0)
        abort();
    exi_place_free(place);
}

static void read_place(const char *kind, const char *const *words, int count) {
    ex_place place = {0};
    ex_error error = {0};
    ex_result result = EX_OK;
    if (strcmp(kind, "place") == 0)
        result = exi_place_read(ex_project_get(the_project()), words, count, &place, &error);
    else if (strcmp(kind, "joints") == 0)
        result = exi_joints_read(words, count, &place, &error);
    else if (strcmp(kind, "numbers") == 0)
        result = exi_numbers_read(words, count, &place, &error);
    else if (count > 0)
        result = exi_falloff_read(words[0], &place, &error);
    check_place(result, &error, &place, count);
}

static void set_pose(const char *const *words, int count) {
    const ex_rig *rig = the_rig();
    const ex_pose pose = ex_pose_create(rig);
    if (!pose.inputs)
        abort();
    for (int i = 0; i < count; i++) {
        char advice[300];
        ex_error error = {0};
        exi_word_advice(advice, sizeof advice, words[i], i + 1 < count ? words[i + 1] : NULL,
                        i + 2 < count ? words[i + 2] : NULL);
        if (exi_pose_word(rig, words[i], &pose, &error) != EX_OK && error.text[0] == 0)
            abort();
    }
    for (int i = 0; i < ex_rig_pose_size(rig); i++)
        if (!isfinite(pose.inputs[i]))
            abort();
    free(pose.inputs);
}

static void read_space(const char *const *words, int count) {
    static const char *const files[] = {"rest.obj", "smile.obj", "a:b.obj"};
    const ex_call call = {.command = &cmd_init, .arguments = files, .argument_count = 3, .quiet = true};
    ex_word_list places = {.count = 0};
    exi_forms forms;
    int exit_code = 0;
    for (int i = 1; i < count && places.count < EX_WORDS_MAX; i++)
        places.words[places.count++] = words[i];
    keep_quiet();
    const bool read = exi_forms_read(&call, count > 0 ? words[0] : NULL, &places, false, &forms, &exit_code);
    if (!read && exit_code == 0)
        abort();
    for (int i = 0; read && forms.places && i < forms.path_count * forms.forms.axis_count; i++)
        if (!isfinite(forms.places[i]))
            abort();
    exi_forms_free(&forms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > 4000)
        return 0;
    char *text = malloc(size + 1);
    const char *words[WORDS_MOST];
    int count = 0;
    if (!text)
        abort();
    memcpy(text, data, size);
    text[size] = '\0';
    for (char *at = text; at && count < WORDS_MOST;) {
        char *end = strchr(at, '\n');
        words[count++] = at;
        if (end)
            *end++ = '\0';
        at = end;
    }
    if (strcmp(words[0], "pose") == 0)
        set_pose(words + 1, count - 1);
    else if (strcmp(words[0], "space") == 0)
        read_space(words + 1, count - 1);
    else
        read_place(words[0], words + 1, count - 1);
    free(text);
    return 0;
}
