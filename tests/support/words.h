/* words.h - poses and places for tests: as words, read by the tool's own reader, and as settings. */
#ifndef EXEMPLAR_TESTS_SUPPORT_WORDS_H
#define EXEMPLAR_TESTS_SUPPORT_WORDS_H

#include "../../cli/base/words.h"

/* A number of an axis; one for all axes; a joint turned about its own x (0), y or z; a place of these. */
#define AT(axis, value)                                                                                                \
    { .name = axis, .number = value }
#define ALL(value)                                                                                                     \
    { .name = NULL, .number = value }
#define TURNED(joint_name, about, angle)                                                                               \
    {                                                                                                                  \
        .name = joint_name, .joint = true, .kind = EX_SETTING_TURNS, .turn_count = 1, .turns = { {about, angle} }      \
    }
#define PLACE(...)                                                                                                     \
    {                                                                                                                  \
        .settings = (const ex_setting[]){__VA_ARGS__},                                                                 \
        .count = (int)(sizeof((const ex_setting[]){__VA_ARGS__}) / sizeof(ex_setting))                                 \
    }

/* Reads words up to NULL as a place in the project; fails the test if they are invalid. Release with exi_place_free. */
ex_place place_of_words(const ex_project *project, const char *const *words);

#endif
