/*
 * glue_weigher.c - kinds of weigher and their parameters, from the library's tables. Kinds, parameters and words are
 * counted from 0; the caller uses only those that exist.
 */
#include "glue.h"

static const ex_parameter *parameter_of(int kind, int parameter) {
    return &ex_weigher_kind_info((ex_weigher_kind)kind)->parameters[parameter];
}

int EXPORT(weigher_count)(void) {
    return ex_weigher_kind_count();
}
const char *EXPORT(weigher_name)(int kind) {
    return ex_weigher_kind_name((ex_weigher_kind)kind);
}
const char *EXPORT(weigher_help)(int kind) {
    return ex_weigher_kind_info((ex_weigher_kind)kind)->help;
}

/* Number of parameters, and properties of the kind. */
void EXPORT(weigher_numbers)(int kind, int numbers[6]) {
    const ex_weigher_info *info = ex_weigher_kind_info((ex_weigher_kind)kind);
    numbers[0] = info->parameter_count;
    numbers[1] = info->has_points;
    numbers[2] = info->has_falloffs;
    numbers[3] = info->has_sets;
    numbers[4] = info->has_condition;
    numbers[5] = info->is_driven;
}

const char *EXPORT(parameter_name)(int kind, int parameter) {
    return parameter_of(kind, parameter)->name;
}
const char *EXPORT(parameter_help)(int kind, int parameter) {
    return parameter_of(kind, parameter)->help;
}
const char *EXPORT(parameter_type)(int kind, int parameter) {
    static const char *const types[] = {[EX_PARAMETER_NUMBER] = "number",
                                        [EX_PARAMETER_WHOLE] = "whole",
                                        [EX_PARAMETER_SWITCH] = "switch",
                                        [EX_PARAMETER_CHOICE] = "choice"};
    return types[parameter_of(kind, parameter)->type];
}

/* Default, least, most, 1 if least is excluded, range of a slider, and number of words. */
void EXPORT(parameter_numbers)(int kind, int parameter, double numbers[7]) {
    const ex_parameter *p = parameter_of(kind, parameter);
    numbers[0] = p->preset;
    numbers[1] = p->least;
    numbers[2] = p->most;
    numbers[3] = p->above;
    numbers[4] = p->usual[0];
    numbers[5] = p->usual[1];
    numbers[6] = p->word_count;
}

const char *EXPORT(word_name)(int kind, int parameter, int word) {
    return parameter_of(kind, parameter)->words[word].name;
}
const char *EXPORT(word_help)(int kind, int parameter, int word) {
    return parameter_of(kind, parameter)->words[word].help;
}
