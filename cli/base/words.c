/* cli/base/words.c - parses values by name as people type them. */
#include "words.h"

#include "emit.h"

#include <exemplar/author/base.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char joint_mark[] = "joint:";
enum { MARK = sizeof joint_mark - 1, FREE = EX_AXIS_KIND_COUNT }; /* FREE: kind of an unknown name */

/* ---- values ---- */

/* Parses q:x,y,z,w. */
static bool parse_quaternion(const char *text, double q[4]) {
    const char *at = text, *end = text + strlen(text);
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        if ((i > 0 && *at++ != ',') || !ex_parse_double(&at, end, &q[i]))
            return false;
        sum += q[i] * q[i];
    }
    return at == end && sum > 1e-20;
}

/* Parses x30y-10z5. */
static bool parse_turns(const char *text, ex_setting *setting) {
    const char *at = text, *end = text + strlen(text);
    setting->kind = EX_SETTING_TURNS;
    for (setting->turn_count = 0; at < end && setting->turn_count < EX_SETTING_TURN_MAX; setting->turn_count++) {
        ex_axis_turn *turn = &setting->turns[setting->turn_count];
        turn->axis = *at++ - 'x';
        if (turn->axis < 0 || turn->axis > 2 || !ex_parse_double(&at, end, &turn->degrees))
            return false;
    }
    return at == end && end > text;
}

static bool parse_rotation(const char *text, ex_setting *setting) {
    setting->kind = EX_SETTING_ROTATION;
    return strncmp(text, "q:", 2) == 0 ? parse_quaternion(text + 2, setting->rotation) : parse_turns(text, setting);
}

/* ---- what was meant ---- */

/* Length of the number at the start of a text, or 0. */
static size_t number_length(const char *text) {
    const char *at = text;
    double number;
    return ex_parse_double(&at, text + strlen(text), &number) ? (size_t)(at - text) : 0;
}

/* Numbers of axes beyond it are degrees or years, of which a percentage is no fraction. */
#define FRACTION_MAX 2

/* Writes "write a fraction: smile=0.5" for smile=50%. */
static bool advise_fraction(char *advice, size_t size, const char *word) {
    const char *value = strchr(word, '=') + 1, *at = value;
    char text[32];
    double percent;
    if (!ex_parse_double(&at, value + strlen(value), &percent))
        return false;
    at += strspn(at, " ");
    if (strcmp(at, "%") != 0)
        return false;
    ex_format_double(text, percent / 100);
    snprintf(advice, size, "write a fraction: %.*s=%s", (int)(value - 1 - word), word, text);
    return true;
}

/* Writes "write the letter first: z90" for 90z, and "write turns without commas: x90y10" for x90,y10. */
static bool advise_turns(char *advice, size_t size, const char *value) {
    char form[100];
    ex_setting turns;
    size_t used = 0;
    const bool swapped = number_length(value) > 0;
    if (strlen(value) >= sizeof form)
        return false;
    while (*value) {
        const size_t number = swapped ? number_length(value) : 0;
        if (swapped && *value != ',' && (number == 0 || !value[number]))
            return false;
        if (number > 0) {
            form[used++] = value[number];
            memcpy(form + used, value, number);
            used += number;
            value += number + 1;
        } else {
            form[used] = *value++;
            used += form[used] != ',';
        }
    }
    form[used] = '\0';
    if (!parse_turns(form, &turns))
        return false;
    snprintf(advice, size, swapped ? "write the letter first: %s" : "write turns without commas: %s", form);
    return true;
}

/* Copies the word, with one space in place of separators that another name=value follows. Returns their count. */
static int take_apart(char *form, size_t size, const char *word) {
    static const char separators[] = ",; +&";
    int parts = 0;
    size_t used = 0;
    while (*word && used + 1 < size) {
        const size_t run = strspn(word, separators), next = strcspn(word + run, separators);
        const char *equals = memchr(word + run, '=', next);
        if (run > 0 && equals && equals > word + run) {
            form[used++] = ' ';
            word += run;
            parts++;
        } else {
            form[used++] = *word++;
        }
    }
    form[used] = '\0';
    return parts;
}

bool exi_word_advice(char *advice, size_t size, const char *word, const char *next, const char *after) {
    const char *equals = strchr(word, '='), *value = equals ? equals + 1 : "";
    const size_t number = number_length(value), colon = strcspn(word, ":");
    const int name = (int)(equals ? equals - word : 0);
    char form[200];
    if (strlen(word) >= sizeof form)
        return false;
    if (equals && take_apart(form, sizeof form, word) > 0)
        snprintf(advice, size, "write each setting as a word of its own: %s", form);
    else if (number > 0 && value[number] == ',' && number_length(value + number + 1) == strlen(value + number + 1) &&
             value[number + 1])
        snprintf(advice, size, "write a decimal point: %.*s=%.*s.%s", name, word, (int)number, value,
                 value + number + 1);
    else if (number > 0 && value[number] && !strchr("eExX", value[number]))
        snprintf(advice, size, "write the number alone: %.*s=%.*s", name, word, (int)number, value);
    else if (!equals && next && next[0] == '=' && (next[1] || after))
        snprintf(advice, size, "write it without spaces: %s=%s", word, next[1] ? next + 1 : after);
    else if (!equals && next && number_length(next) == strlen(next) && *next)
        snprintf(advice, size, "write it with '=': %s=%s", word, next);
    else if (!equals && word[colon] && word[colon + 1] && strncmp(word, joint_mark, MARK) != 0)
        snprintf(advice, size, "write it with '=': %.*s=%s", (int)colon, word, word + colon + 1);
    else
        return false;
    return true;
}

static ex_result refuse_number(const char *word, const ex_axis *axis, ex_error *error) {
    char advice[300];
    const bool fraction = fmax(fabs(axis->min), fabs(axis->max)) <= FRACTION_MAX;
    if ((fraction && advise_fraction(advice, sizeof advice, word)) ||
        (!strchr(word, '%') && exi_word_advice(advice, sizeof advice, word, NULL, NULL)))
        return ex_error_set(error, EX_ERROR_DATA, "%s: %s", word, advice);
    return ex_error_set(error, EX_ERROR_DATA, "%s: a number is needed after '=', from %g to %g", word, axis->min,
                        axis->max);
}

static ex_result refuse_rotation(const char *word, const char *text, ex_error *error) {
    char advice[300];
    if (advise_turns(advice, sizeof advice, text) ||
        (strchr(text, '=') && exi_word_advice(advice, sizeof advice, word, NULL, NULL)))
        return ex_error_set(error, EX_ERROR_DATA, "%s: %s", word, advice);
    return ex_error_set(error, EX_ERROR_DATA,
                        "%s: a rotation is written with letters for the joint's axes, such as x90 or x30y-10z5 "
                        "(degrees), or as q:0,0,0.38,0.92 (x, y, z, w)",
                        word);
}

/* A joint's value is a rotation. */
static const ex_axis joint_axis = {.kind = EX_AXIS_ROTATION};

/* Reads the text after '=' as the value of that axis. NULL: of an unknown name, and its value does not matter, because
 * the library refuses the name. */
static ex_result read_value(const char *word, const char *text, const ex_axis *axis, ex_setting *setting,
                            ex_error *error) {
    const int kind = axis ? (int)axis->kind : FREE;
    const char *at = text, *end = text + strlen(text);
    setting->kind = EX_SETTING_NUMBER;
    if (kind == EX_AXIS_SCALAR && (!ex_parse_double(&at, end, &setting->number) || at != end))
        return refuse_number(word, axis, error);
    if (kind == EX_AXIS_DRIVER) {
        setting->kind = EX_SETTING_FILE;
        setting->file = text;
    } else if (kind != EX_AXIS_SCALAR && kind != FREE && !parse_rotation(text, setting)) {
        return refuse_rotation(word, text, error);
    }
    return EX_OK;
}

/* ---- places ---- */

/* The axis of that name in any layer, or NULL. */
static const ex_axis *find_axis(const ex_project_view *view, const char *name) {
    for (int l = 0; l < view->layer_count; l++)
        for (int i = 0; i < view->layers[l].axis_count; i++)
            if (strcmp(view->layers[l].axes[i].name, name) == 0)
                return &view->layers[l].axes[i].axis;
    return NULL;
}

/* Allocates the settings and all their names, as long as all words together, in one block. */
static ex_result make_room(int count, size_t size, ex_place *place, char **names, ex_error *error) {
    ex_setting *settings = calloc(1, (size_t)count * sizeof *settings + size + 1);
    *place = (ex_place){.settings = settings};
    *names = settings ? (char *)(settings + count) : NULL;
    return settings ? EX_OK : ex_error_memory(error, "a place", (size_t)count * sizeof *settings);
}

void exi_place_free(ex_place *place) {
    free((void *)place->settings);
    *place = (ex_place){.settings = NULL};
}

/* Gives the next setting the name before '=' in the first `length` bytes of the word; *text becomes the part after
 * '='. */
static ex_result split(const char *word, size_t length, const char *example, ex_place *place, char **names,
                       const char **text, ex_setting **setting, ex_error *error) {
    const char *equals = memchr(word, '=', length);
    if (!equals || equals == word)
        return ex_error_set(error, EX_ERROR_DATA, "'%.*s' is not of the form %s", (int)length, word, example);
    *setting = (ex_setting *)&place->settings[place->count++];
    memcpy(*names, word, (size_t)(equals - word));
    (*setting)->name = *names;
    *names += equals - word + 1;
    *text = equals + 1;
    return EX_OK;
}

static size_t sum_lengths(const char *const *words, int count) {
    size_t size = 0;
    for (int i = 0; i < count; i++)
        size += strlen(words[i]) + 1;
    return size;
}

static ex_result check_words(const char *const *words, int count, ex_error *error) {
    for (int i = 0; i < count; i++)
        if (!exi_is_readable(words[i]))
            return ex_error_set(error, EX_ERROR_DATA, "a setting is not valid UTF-8 text");
    return EX_OK;
}

/* view: NULL if all are joints. */
static ex_result read_words(const ex_project_view *view, const char *example, const char *const *words, int count,
                            ex_place *place, ex_error *error) {
    char *names = NULL;
    const char *text = NULL;
    ex_setting *setting = NULL;
    ex_result result = make_room(count, sum_lengths(words, count), place, &names, error);
    if (result == EX_OK)
        result = check_words(words, count, error);
    for (int i = 0; result == EX_OK && i < count; i++) {
        result = split(words[i], strlen(words[i]), example, place, &names, &text, &setting, error);
        if (result != EX_OK)
            break;
        const bool marked = strncmp(setting->name, joint_mark, MARK) == 0 && setting->name[MARK];
        setting->joint = marked || !view;
        setting->name += marked ? MARK : 0;
        result =
            read_value(words[i], text, setting->joint ? &joint_axis : find_axis(view, setting->name), setting, error);
    }
    return result;
}

ex_result exi_place_read(const ex_project_view *view, const char *const *words, int count, ex_place *place,
                         ex_error *error) {
    return read_words(view, "axis=value", words, count, place, error);
}

ex_result exi_joints_read(const char *const *words, int count, ex_place *place, ex_error *error) {
    return read_words(NULL, "joint:NAME=x20", words, count, place, error);
}

/* ---- numbers ---- */

static ex_result read_lists(const char *example, const char *const *words, int count, ex_place *place,
                            ex_error *error) {
    char *names = NULL;
    int parts = count;
    for (int i = 0; i < count; i++)
        for (const char *c = words[i]; *c; c++)
            parts += *c == ',';
    ex_result result = make_room(parts, sum_lengths(words, count), place, &names, error);
    if (result == EX_OK)
        result = check_words(words, count, error);
    for (int i = 0; i < count; i++)
        for (const char *part = words[i]; result == EX_OK && *part;) {
            const size_t length = strcspn(part, ",");
            const char *text = NULL, *end = part + length;
            ex_setting *setting = NULL;
            result = split(part, length, example, place, &names, &text, &setting, error);
            if (result == EX_OK && (!ex_parse_double(&text, end, &setting->number) || text != end))
                result = ex_error_set(error, EX_ERROR_DATA, "%.*s: a number is needed after '='", (int)length, part);
            part = end + (*end == ',');
        }
    return result;
}

ex_result exi_numbers_read(const char *const *words, int count, ex_place *place, ex_error *error) {
    return read_lists("example=weight", words, count, place, error);
}

ex_result exi_falloff_read(const char *text, ex_place *place, ex_error *error) {
    const char *at = text, *end = text + strlen(text);
    char *names = NULL;
    ex_setting one = {.kind = EX_SETTING_NUMBER};
    if (!ex_parse_double(&at, end, &one.number) || at != end)
        return ex_error_within(error, read_lists("NUMBER or AXIS=NUMBER,...", &text, 1, place, error), "falloff");
    const ex_result result = make_room(1, 0, place, &names, error);
    if (result == EX_OK) {
        *(ex_setting *)place->settings = one;
        place->count = 1;
    }
    return result;
}

bool exi_size_read(const char *text, double size[2]) {
    const char *at = text, *end = text + strlen(text);
    bool good = ex_parse_double(&at, end, &size[0]);
    size[1] = size[0];
    if (good && at < end)
        good = strchr("xX*", *at++) && ex_parse_double(&at, end, &size[1]) && at == end;
    return good && size[0] > 0 && size[1] > 0;
}

/* ---- poses ---- */

ex_result exi_pose_word(const ex_rig *rig, const char *word, const ex_pose *pose, ex_error *error) {
    const char *equals = strchr(word, '=');
    if (!equals || equals == word)
        return ex_error_set(error, EX_ERROR_DATA, "'%s' is not of the form axis=value", word);
    ex_setting setting = {.kind = EX_SETTING_NUMBER};
    char *name = malloc((size_t)(equals - word) + 1);
    if (!name)
        return ex_error_memory(error, "an axis name", strlen(word));
    memcpy(name, word, (size_t)(equals - word));
    name[equals - word] = '\0';
    const int input = ex_rig_input_find(rig, name);
    setting.joint = input < 0 && strncmp(name, joint_mark, MARK) == 0;
    setting.name = name + (setting.joint ? MARK : 0);
    const bool known = setting.joint && ex_rig_skeleton(rig) && setting.name[0] &&
                       ex_skeleton_find(ex_rig_skeleton(rig), setting.name) >= 0;
    const ex_axis axis = input >= 0 ? ex_rig_input_axis(rig, input) : joint_axis;
    ex_result result = read_value(word, equals + 1, input >= 0 || known ? &axis : NULL, &setting, error);
    if (result == EX_OK)
        result = ex_pose_set(rig, &setting, pose, error);
    free(name);
    return result;
}
