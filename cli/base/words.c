/* cli/base/words.c - parses values by name as people type them. */
#include "words.h"

#include "emit.h"

#include <exemplar/author/base.h>

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

/* Reads the text after '=' as the value of an axis of that kind; a joint's value is a rotation. The value of an unknown
 * name does not matter: the library refuses the name. */
static ex_result read_value(const char *word, const char *text, int kind, ex_setting *setting, ex_error *error) {
    const char *at = text, *end = text + strlen(text);
    setting->kind = EX_SETTING_NUMBER;
    char advice[300];
    if (kind == EX_AXIS_SCALAR && (!ex_parse_double(&at, end, &setting->number) || at != end))
        return exi_word_advice(advice, sizeof advice, word, NULL, NULL)
                   ? ex_error_set(error, EX_ERROR_DATA, "%s: %s", word, advice)
                   : ex_error_set(error, EX_ERROR_DATA, "%s: a number is needed after '='", word);
    if (kind == EX_AXIS_DRIVER) {
        setting->kind = EX_SETTING_FILE;
        setting->file = text;
    } else if (kind != EX_AXIS_SCALAR && kind != FREE && !parse_rotation(text, setting)) {
        return strchr(text, '=') && exi_word_advice(advice, sizeof advice, word, NULL, NULL)
                   ? ex_error_set(error, EX_ERROR_DATA, "%s: %s", word, advice)
                   : ex_error_set(error, EX_ERROR_DATA,
                                  "%s: a rotation is written with letters for the joint's axes, such as x90 or "
                                  "x30y-10z5 (degrees), or as q:0,0,0.38,0.92 (x, y, z, w)",
                                  word);
    }
    return EX_OK;
}

/* ---- places ---- */

static int axis_kind(const ex_project_view *view, const char *name) {
    for (int l = 0; l < view->layer_count; l++)
        for (int i = 0; i < view->layers[l].axis_count; i++)
            if (strcmp(view->layers[l].axes[i].name, name) == 0)
                return (int)view->layers[l].axes[i].axis.kind;
    return FREE;
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
        result = read_value(words[i], text, setting->joint ? (int)EX_AXIS_ROTATION : axis_kind(view, setting->name),
                            setting, error);
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
    const int kind = input >= 0 ? (int)ex_rig_input_axis(rig, input).kind : known ? (int)EX_AXIS_ROTATION : FREE;
    ex_result result = read_value(word, equals + 1, kind, &setting, error);
    if (result == EX_OK)
        result = ex_pose_set(rig, &setting, pose, error);
    free(name);
    return result;
}
