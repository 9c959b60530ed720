/*
 * Kinds of weigher, and everything made from their tables of parameters: defaults, checks, text, and the place of a
 * value in a block. The oldest parameters have a field in the head; all others are doubles after the features, in the
 * order of the kind's table, so that a new kind adds nothing to the head.
 */
#include "runtime/base/result.h"
#include "runtime/weigh/weigher.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

const exi_weigher_kind *const exi_weigher_kinds[EX_WEIGHER_COUNT] = {
#define KIND(id, word) [id] = &exi_weigher_##word,
    EX_WEIGHER_LIST(KIND)
#undef KIND
};

const char *ex_weigher_kind_name(ex_weigher_kind kind) {
    static const char *const names[] = {
#define NAME(id, word) #word,
        EX_WEIGHER_LIST(NAME)
#undef NAME
    };
    return (unsigned)kind < EX_WEIGHER_COUNT ? names[kind] : "unknown weigher";
}

const ex_weigher_info *ex_weigher_kind_info(ex_weigher_kind kind) {
    static const ex_weigher_info none = {.help = ""};
    return (unsigned)kind < EX_WEIGHER_COUNT ? &exi_weigher_kinds[kind]->info : &none;
}

int ex_weigher_kind_count(void) {
    return EX_WEIGHER_COUNT;
}

const ex_weigher_info *ex_weigher_get_info(const ex_weigher *weigher) {
    return exi_is_given(weigher, __func__, "no weigher") ? &exi_weigher_kinds[weigher->kind]->info
                                                         : ex_weigher_kind_info(EX_WEIGHER_COUNT);
}

/* ---- values ---- */

/* Inline, instead of the public functions: solving again after an edit takes only microseconds. */
static inline double get_value(const ex_parameter *parameter, const ex_weigher_def *def) {
    const char *field = (const char *)def + parameter->offset;
    double number;
    int32_t whole;
    if (parameter->type == EX_PARAMETER_NUMBER) {
        memcpy(&number, field, sizeof number);
        return number;
    }
    if (parameter->size == sizeof(bool))
        return *(const bool *)(const void *)field;
    memcpy(&whole, field, sizeof whole);
    return whole;
}

static inline void set_value(const ex_parameter *parameter, ex_weigher_def *def, double value) {
    char *field = (char *)def + parameter->offset;
    const int32_t whole = parameter->type == EX_PARAMETER_NUMBER ? 0 : (int32_t)value;
    if (parameter->type == EX_PARAMETER_NUMBER)
        memcpy(field, &value, sizeof value);
    else if (parameter->size == sizeof(bool))
        *(bool *)(void *)field = value != 0;
    else
        memcpy(field, &whole, sizeof whole);
}

double ex_parameter_get(const ex_parameter *parameter, const ex_weigher_def *def) {
    return get_value(parameter, def);
}

void ex_parameter_set(const ex_parameter *parameter, ex_weigher_def *def, double value) {
    set_value(parameter, def, value);
}

ex_weigher_def ex_weigher_def_default(void) {
    ex_weigher_def def = {.kind = EX_WEIGHER_CARDINAL};
    for (int kind = 0; kind < EX_WEIGHER_COUNT; kind++) {
        const ex_weigher_info *info = &exi_weigher_kinds[kind]->info;
        for (int i = 0; i < info->parameter_count; i++)
            set_value(&info->parameters[i], &def, info->parameters[i].preset);
    }
    return def;
}

int ex_parameter_text(const ex_parameter *parameter, double value, char *text, size_t size) {
    if (parameter->type == EX_PARAMETER_SWITCH)
        return snprintf(text, size, "%s%s", value != 0 ? "" : "not ", parameter->name);
    if (parameter->type == EX_PARAMETER_CHOICE && value >= 0 && value < parameter->word_count)
        return snprintf(text, size, "%s", parameter->words[(int)value].name);
    return snprintf(text, size, "%s %g", parameter->name, value);
}

/* ---- checks ---- */

static bool is_in_range(const ex_parameter *p, double value) {
    if (p->type == EX_PARAMETER_SWITCH)
        return value == 0 || value == 1;
    if (p->type == EX_PARAMETER_CHOICE)
        return value >= 0 && value < p->word_count && value == floor(value);
    if (p->type == EX_PARAMETER_WHOLE && !(value == floor(value)))
        return false;
    return isfinite(value) && value <= p->most && (p->above ? value > p->least : value >= p->least);
}

ex_result ex_parameter_check(const ex_parameter *parameter, double value, ex_error *error) {
    const ex_parameter *p = parameter;
    if (is_in_range(p, value))
        return EX_OK;
    if (p->type == EX_PARAMETER_SWITCH)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "must be true or false");
    if (p->type == EX_PARAMETER_CHOICE)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "must be one of %d words, from '%s' to '%s'", p->word_count,
                            p->words[0].name, p->words[p->word_count - 1].name);
    const char *number = p->type == EX_PARAMETER_WHOLE ? "a whole number " : "";
    if (isfinite(p->most))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            p->above ? "must be %sabove %g and at most %g" : "must be %s%g to %g", number, p->least,
                            p->most);
    if (!p->above && p->least == 0)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "must not be negative%s",
                            p->type == EX_PARAMETER_WHOLE ? ", and be whole" : "");
    return ex_error_set(error, EX_ERROR_ARGUMENT, "must be %s%s %g", number, p->above ? "above" : "at least", p->least);
}

const ex_parameter *ex_weigher_check_parameters(const ex_weigher_def *def, ex_error *error) {
    const exi_weigher_kind *kind = exi_weigher_kind_of((uint32_t)def->kind);
    for (int i = 0; kind && i < kind->info.parameter_count; i++) {
        const ex_parameter *parameter = &kind->info.parameters[i];
        const double value = get_value(parameter, def);
        if (!is_in_range(parameter, value)) {
            (void)ex_parameter_check(parameter, value, error);
            return parameter;
        }
    }
    return kind && kind->check_parameters ? kind->check_parameters(def, error) : NULL;
}

/* ---- storage in a block ---- */

/* Place of a parameter in the head: a number at an offset, or a flag; neither: after the features. */
typedef struct head_place {
    size_t place;
    uint32_t flag;
} head_place;

static head_place find_place(const ex_parameter *parameter) {
    switch (parameter->offset) {
    case offsetof(ex_weigher_def, kernel):
        return (head_place){offsetof(ex_weigher, kernel), 0};
    case offsetof(ex_weigher_def, linear):
        return (head_place){0, EXI_WEIGHER_LINEAR};
    case offsetof(ex_weigher_def, radius):
        return (head_place){offsetof(ex_weigher, radius), 0};
    case offsetof(ex_weigher_def, ridge):
        return (head_place){offsetof(ex_weigher, ridge), 0};
    case offsetof(ex_weigher_def, power):
        return (head_place){offsetof(ex_weigher, power), 0};
    case offsetof(ex_weigher_def, neighbours):
        return (head_place){offsetof(ex_weigher, neighbours), 0};
    case offsetof(ex_weigher_def, paper_form):
        return (head_place){0, EXI_WEIGHER_PAPER_FORM};
    default:
        return (head_place){0, 0};
    }
}

static bool is_in_head(head_place place) {
    return place.place > 0 || place.flag != 0;
}

static void head_set(ex_weigher *head, head_place place, const ex_parameter *parameter, double value) {
    char *field = (char *)head + place.place;
    const int32_t whole = (int32_t)value;
    if (place.flag)
        head->flags |= value != 0 ? place.flag : 0;
    else if (parameter->type == EX_PARAMETER_NUMBER)
        memcpy(field, &value, sizeof value);
    else
        memcpy(field, &whole, sizeof whole);
}

static double head_get(const ex_weigher *head, head_place place, const ex_parameter *parameter) {
    const char *field = (const char *)head + place.place;
    double value;
    int32_t whole;
    if (place.flag)
        return (head->flags & place.flag) != 0;
    if (parameter->type == EX_PARAMETER_NUMBER) {
        memcpy(&value, field, sizeof value);
        return value;
    }
    memcpy(&whole, field, sizeof whole);
    return whole;
}

int exi_own_parameter_count(uint32_t kind) {
    const ex_weigher_info *info = &exi_weigher_kinds[kind]->info;
    int count = 0;
    for (int i = 0; i < info->parameter_count; i++)
        count += !is_in_head(find_place(&info->parameters[i]));
    return count;
}

uint32_t exi_weigher_flags(uint32_t kind) {
    const ex_weigher_info *info = &exi_weigher_kinds[kind]->info;
    uint32_t flags = exi_weigher_kinds[kind]->flags;
    for (int i = 0; i < info->parameter_count; i++)
        flags |= find_place(&info->parameters[i]).flag;
    return flags;
}

void exi_parameters_to_head(ex_weigher *head, const ex_weigher_def *def) {
    const ex_weigher_info *info = &exi_weigher_kinds[def->kind]->info;
    for (int i = 0; i < info->parameter_count; i++) {
        const ex_parameter *parameter = &info->parameters[i];
        const head_place place = find_place(parameter);
        if (is_in_head(place))
            head_set(head, place, parameter, get_value(parameter, def));
    }
}

void exi_parameters_store(ex_weigher *w, const ex_weigher_def *def) {
    const ex_weigher_info *info = &exi_weigher_kinds[w->kind]->info;
    double *own = exi_own_parameters(w);
    if (own == exi_table(w, w->own))
        return; /* there are none */
    for (int i = 0; i < info->parameter_count; i++)
        if (!is_in_head(find_place(&info->parameters[i])))
            *own++ = get_value(&info->parameters[i], def);
}

/* Returns the value of a parameter; own is the next one after the features. */
static double read_stored(const ex_weigher *w, const ex_parameter *parameter, const double **own) {
    const head_place place = find_place(parameter);
    return is_in_head(place) ? head_get(w, place, parameter) : *(*own)++;
}

void exi_parameters_describe(const ex_weigher *w, ex_weigher_def *def) {
    const ex_weigher_info *info = &exi_weigher_kinds[w->kind]->info;
    const double *own = exi_own_parameters(w);
    for (int i = 0; i < info->parameter_count; i++)
        set_value(&info->parameters[i], def, read_stored(w, &info->parameters[i], &own));
}

bool exi_parameters_are_sound(const ex_weigher *w) {
    const ex_weigher_info *info = &exi_weigher_kinds[w->kind]->info;
    const double *own = exi_own_parameters(w);
    for (int i = 0; i < info->parameter_count; i++)
        if (!is_in_range(&info->parameters[i], read_stored(w, &info->parameters[i], &own)))
            return false;
    return true;
}
