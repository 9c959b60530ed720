/*
 * C3D files: a writer of every kind of them, all with the same markers; variants of header and parameters; every error;
 * and the files that are available.
 */
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/scratch.h"
#include "support/skip.h"

#include <exemplar/author.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- a writer ---- */

enum { INTEL = 84, DEC = 85, MIPS = 86 };

typedef struct file_def {
    int order;
    bool real;
    int points, frames, first, channels, samples;
    int parameter_block; /* 2; later: other blocks are in between */
    bool groups_last;    /* parameters before their groups */
    bool locked;
    bool no_up, no_unit, no_frames, trial, lower_case;
    int labels;     /* limit of a list */
    double scale;   /* of integers, mm */
    const char *up; /* "+Z" */
    const char *unit;
    const char *prefix;
    const char *angles;                                              /* a label that is listed as an angle */
    int header_points, header_frames, header_analogue, header_start; /* false value in the header; 0: the truth */
    bool header_other_format, parameter_other_format;
    int parameter_frames, parameter_start; /* false value in the parameters; 0: the truth */
} file_def;

static const file_def plain = {.order = INTEL,
                               .real = true,
                               .points = 3,
                               .frames = 4,
                               .first = 7,
                               .parameter_block = 2,
                               .labels = 255,
                               .scale = 0.25,
                               .up = "+Z",
                               .unit = "mm",
                               .prefix = ""};

typedef struct bytes {
    unsigned char *data;
    size_t size;
    int order;
} bytes;

static void put_byte(bytes *b, int value) {
    b->data[b->size++] = (unsigned char)value;
}

static void put_word(bytes *b, int value) {
    put_byte(b, b->order == MIPS ? value >> 8 & 255 : value & 255);
    put_byte(b, b->order == MIPS ? value & 255 : value >> 8 & 255);
}

/* The definition of the VAX's numbers, from the value: 0.1f times a power of two, in words. */
static void put_real(bytes *b, double value) {
    uint32_t bits = 0;
    if (b->order == DEC) {
        int exponent = 0;
        const double part = frexp(fabs((double)(float)value), &exponent); /* 0.5 to 1 */
        if (part > 0)
            bits = (uint32_t)(exponent + 128) << 23 | ((uint32_t)(part * 16777216.0) & 0x7FFFFF);
        bits |= part > 0 && value < 0 ? 0x80000000u : 0;
        put_word(b, (int)(bits >> 16));
        put_word(b, (int)(bits & 0xFFFF));
        return;
    }
    const float single = (float)value;
    memcpy(&bits, &single, 4);
    for (int i = 0; i < 4; i++)
        put_byte(b, (int)(bits >> (b->order == MIPS ? 24 - 8 * i : 8 * i) & 255));
}

static void put_text(bytes *b, const char *text, int width) {
    for (int i = 0; i < width; i++)
        put_byte(b, *text ? *text++ : ' ');
}

static void pad(bytes *b) {
    while (b->size % 512)
        put_byte(b, 0);
}

static void begin(bytes *b, const file_def *def, int group, const char *name) {
    const int size = (int)strlen(name);
    put_byte(b, def->locked ? -size : size);
    put_byte(b, group);
    for (int i = 0; i < size; i++)
        put_byte(b, def->lower_case && name[i] >= 'A' && name[i] <= 'Z' ? name[i] - 'A' + 'a' : name[i]);
}

static void put_group(bytes *b, const file_def *def, int group, const char *name) {
    begin(b, def, -group, name);
    put_word(b, 2 + 1 + 4);
    put_byte(b, 4);
    put_text(b, "note", 4);
}

static void put_number(bytes *b, const file_def *def, int group, const char *name, int type, double value) {
    begin(b, def, group, name);
    put_word(b, 2 + 1 + 1 + type + 1);
    put_byte(b, type);
    put_byte(b, 0);
    if (type == 2)
        put_word(b, (int)value);
    else
        put_real(b, value);
    put_byte(b, 0);
}

/* Texts of 12 characters. */
static void put_texts(bytes *b, const file_def *def, int group, const char *name, char (*texts)[16], int count) {
    begin(b, def, group, name);
    put_word(b, 2 + 1 + 1 + 2 + 12 * count + 1);
    put_byte(b, -1);
    put_byte(b, 2);
    put_byte(b, 12);
    put_byte(b, count);
    for (int i = 0; i < count; i++)
        put_text(b, texts[i], 12);
    put_byte(b, 0);
}

static void put_line(bytes *b, const file_def *def, int group, const char *name, const char *text) {
    begin(b, def, group, name);
    put_word(b, 2 + 1 + 1 + 1 + (int)strlen(text) + 1);
    put_byte(b, -1);
    put_byte(b, 1);
    put_byte(b, (int)strlen(text));
    put_text(b, text, (int)strlen(text));
    put_byte(b, 0);
}

static void put_long(bytes *b, const file_def *def, const char *name, int value) {
    begin(b, def, 3, name);
    put_word(b, 2 + 1 + 1 + 1 + 4 + 1);
    put_byte(b, 2);
    put_byte(b, 1);
    put_byte(b, 2);
    put_word(b, value & 0xFFFF);
    put_word(b, value >> 16);
    put_byte(b, 0);
}

static void put_groups(bytes *b, const file_def *def) {
    put_group(b, def, 1, "POINT");
    put_group(b, def, 2, "ANALOG");
    put_group(b, def, 3, "TRIAL");
}

static void put_labels(bytes *b, const file_def *def) {
    for (int from = 0, list = 1; from < def->points; from += def->labels, list++) {
        static char texts[255][16];
        char name[16];
        const int count = def->points - from < def->labels ? def->points - from : def->labels;
        for (int i = 0; i < count; i++)
            snprintf(texts[i], sizeof texts[i], "%sM%d", def->prefix, from + i);
        snprintf(name, sizeof name, list == 1 ? "LABELS" : "LABELS%d", list);
        put_texts(b, def, 1, name, texts, count);
    }
}

static void put_parameters(bytes *b, const file_def *def, int start) {
    const double rate = 50;
    if (!def->groups_last)
        put_groups(b, def);
    put_number(b, def, 1, "USED", 2, def->points);
    put_number(b, def, 1, "SCALE", 4, def->real != def->parameter_other_format ? -def->scale : def->scale);
    put_number(b, def, 1, "RATE", 4, rate);
    put_number(b, def, 1, "DATA_START", 2, def->parameter_start ? def->parameter_start : start);
    if (!def->no_frames)
        put_number(b, def, 1, "FRAMES", 2, (def->parameter_frames ? def->parameter_frames : def->frames) & 0xFFFF);
    put_labels(b, def);
    if (!def->no_unit)
        put_line(b, def, 1, "UNITS", def->unit);
    if (!def->no_up) {
        put_line(b, def, 1, "X_SCREEN", "+X");
        put_line(b, def, 1, "Y_SCREEN", def->up);
    }
    if (def->angles) {
        char texts[1][16] = {{0}};
        snprintf(texts[0], sizeof texts[0], "%s", def->angles);
        put_texts(b, def, 1, "ANGLES", texts, 1);
    }
    put_number(b, def, 2, "USED", 2, def->channels);
    put_number(b, def, 2, "RATE", 4, rate * def->samples);
    if (def->trial) {
        put_long(b, def, "ACTUAL_START_FIELD", def->first);
        put_long(b, def, "ACTUAL_END_FIELD", def->first + def->frames - 1);
    }
    if (def->groups_last)
        put_groups(b, def);
    put_byte(b, 0);
    put_byte(b, 0);
}

/* Position of a marker, in units of a quarter of a millimetre, in the file's axes. */
static int place(int frame, int point, int axis) {
    const int own = axis == 0   ? 170 * (point % 7) - 300
                    : axis == 1 ? 90 * (point % 5) * (point % 3) - 40
                                : 1999 * point;
    return own % 30000 + 3 * (frame % 500) * (axis + 1) + axis + 1;
}

/* Hidden points are all zeros, or have a fourth number below 0, or both, or are not a number. */
static bool hidden(int frame, int point) {
    return (frame + 2 * point) % 7 == 3;
}

static void put_frames(bytes *b, const file_def *def) {
    for (int f = 0; f < def->frames; f++) {
        for (int p = 0; p < def->points; p++)
            for (int i = 0; i < 4; i++) {
                const int way = hidden(f, p) ? 1 + (f + p) % (def->real && def->order != DEC ? 4 : 3) : 0;
                const int value = i < 3                  ? (way == 1 || way == 3 ? 0 : place(f, p, i))
                                  : way == 2 || way == 3 ? -1
                                                         : 0x305;
                if (def->real)
                    put_real(b, way == 4 && i == 1 ? (double)NAN : i < 3 ? value * def->scale : value);
                else
                    put_word(b, value);
            }
        for (int i = 0; i < def->channels * def->samples; i++)
            if (def->real)
                put_real(b, -12345.5);
            else
                put_word(b, 0x8123);
    }
}

/* The complete file. Release with free. */
static bytes make_file(const file_def *def) {
    const size_t frame = (size_t)(4 * def->points + def->channels * def->samples) * 4;
    bytes b = {.data = calloc(1, 65536 + 32 * (size_t)def->points + (size_t)def->frames * frame), .order = def->order};
    bytes section = {.data = calloc(1, 65536 + 32 * (size_t)def->points), .order = def->order};
    assert_true(b.data && section.data);
    put_parameters(&section, def, 0);
    const int blocks = (int)((section.size + 4 + 511) / 512), start = def->parameter_block + blocks;
    const int last = def->first + (def->header_frames ? def->header_frames : def->frames) - 1;
    put_byte(&b, def->parameter_block);
    put_byte(&b, 0x50);
    put_word(&b, def->header_points ? def->header_points : def->points);
    put_word(&b, def->header_analogue ? def->header_analogue : def->channels * def->samples);
    put_word(&b, def->first < 65535 ? def->first : 65535);
    put_word(&b, last < 65535 ? last : 65535);
    put_word(&b, 10);
    put_real(&b, def->real != def->header_other_format ? -def->scale : def->scale);
    put_word(&b, def->header_start ? def->header_start : start);
    put_word(&b, def->samples);
    put_real(&b, 50);
    pad(&b);
    b.size = 512 * (size_t)(def->parameter_block - 1);
    put_byte(&b, 1);
    put_byte(&b, 0x50);
    put_byte(&b, blocks);
    put_byte(&b, def->order);
    put_parameters(&b, def, start);
    pad(&b);
    put_frames(&b, def);
    pad(&b);
    free(section.data);
    return b;
}

/* ---- reading it back ---- */

static ex_markers *parse(const bytes *b) {
    ex_markers *markers = NULL;
    ex_error error = {0};
    if (ex_c3d_parse(b->data, b->size, "m.c3d", &markers, &error) != EX_OK)
        fail_msg("%s", error.text);
    return markers;
}

static ex_markers *make(const file_def *def) {
    bytes b = make_file(def);
    ex_markers *markers = parse(&b);
    free(b.data);
    return markers;
}

static void check(const ex_markers *markers, const file_def *def) {
    assert_int_equal(markers->marker_count, def->points);
    assert_int_equal(markers->frame_count, def->frames);
    assert_int_equal(markers->first_frame, def->first);
    assert_true(markers->rate == 50);
    assert_string_equal(markers->unit, def->unit);
    assert_string_equal(markers->up, def->up);
    const double metres = strcmp(def->unit, "m") == 0 ? 1 : 0.001;
    for (int f = 0; f < def->frames; f++)
        for (int p = 0; p < def->points; p++) {
            const float *x = markers->positions + 3 * (f * def->points + p);
            if (hidden(f, p)) {
                assert_true(isnan(x[0]) && isnan(x[1]) && isnan(x[2]));
                continue;
            }
            assert_near((double)x[0], place(f, p, 0) * def->scale * metres, 1e-6);
            assert_near((double)x[1], place(f, p, 2) * def->scale * metres, 1e-6);
            assert_near((double)x[2], -place(f, p, 1) * def->scale * metres, 1e-6);
        }
    char name[32];
    for (int p = 0; p < def->points; p++) {
        snprintf(name, sizeof name, "M%d", p);
        assert_string_equal(markers->names[p], name);
    }
}

static void check_made(const file_def *def) {
    ex_markers *markers = make(def);
    check(markers, def);
    ex_markers_destroy(markers);
}

/* All processors, both formats, and everything that writers do differently, give the same markers. */
static void variants(void **state) {
    (void)state;
    for (int order = INTEL; order <= MIPS; order++)
        for (int k = 0; k < 64; k++) {
            file_def def = plain;
            def.order = order;
            def.real = k & 1;
            def.channels = k & 2 ? 3 : 0;
            def.samples = k & 2 ? 4 : 1;
            def.groups_last = k & 4;
            def.locked = k & 8;
            def.trial = k & 16;
            def.parameter_block = k & 32 ? 4 : 2;
            def.lower_case = k % 3 == 0;
            def.no_unit = k % 5 == 0;
            def.no_frames = k % 7 == 0;
            def.prefix = k % 4 == 0 ? "Anna:" : "";
            check_made(&def);
        }
}

/* A file by its bytes: one point at (1, 2, 3) m, one frame. */
static void by_hand(void **state) {
    (void)state;
    unsigned char file[1544] = {2, 0x50, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0x80, 0xBF, 4, 0, 1, 0, 0, 0, 0xC8, 0x42};
    static const unsigned char parameters[] = {1, 0x50, 1,   84,  5,   0xFF, 'P', 'O', 'I', 'N',  'T', 3, 0,  0,
                                               5, 1,    'U', 'N', 'I', 'T',  'S', 0,   0,   0xFF, 1,   1, 'm'};
    static const unsigned char point[] = {0, 0, 0x80, 0x3F, 0, 0, 0, 0x40, 0, 0, 0x40, 0x40, 0, 0, 0, 0};
    unsigned char whole[1536 + 16] = {0};
    memcpy(whole, file, 512);
    memcpy(whole + 512, parameters, sizeof parameters);
    memcpy(whole + 1536, point, sizeof point);
    const bytes b = {.data = whole, .size = sizeof whole};
    ex_markers *markers = parse(&b);
    assert_int_equal(markers->marker_count, 1);
    assert_string_equal(markers->names[0], "point1");
    assert_string_equal(markers->up, "+Z");
    assert_true(markers->rate == 100);
    const float expected[3] = {1, 3, -2};
    assert_memory_equal(markers->positions, expected, sizeof expected);
    ex_markers_destroy(markers);
}

static void many(void **state) {
    (void)state;
    file_def def = plain;
    def.frames = 65540;
    def.points = 1;
    def.trial = true;
    def.real = false;
    check_made(&def); /* FRAMES is 4, TRIAL's fields are right */
    def.first = 70000;
    check_made(&def);
    def = plain;
    def.points = 300;
    check_made(&def); /* LABELS2 */
    def.labels = 100;
    check_made(&def);
}

static void disagreements(void **state) {
    (void)state;
    static const file_def lies[] = {
        {.header_points = 5},    {.header_frames = 2},          {.header_frames = 400},
        {.header_analogue = 99}, {.header_start = 3},           {.header_start = 60},
        {.parameter_start = 1},  {.parameter_start = 900},      {.parameter_frames = 900},
        {.parameter_frames = 2}, {.header_other_format = true}, {.parameter_other_format = true}};
    for (size_t i = 0; i < sizeof lies / sizeof *lies; i++) {
        file_def def = plain;
        def.frames = 40;
        def.channels = 2;
        def.samples = 3;
        def.header_points = lies[i].header_points;
        def.header_frames = lies[i].header_frames;
        def.header_analogue = lies[i].header_analogue;
        def.header_start = lies[i].header_start;
        def.header_other_format = lies[i].header_other_format;
        def.parameter_other_format = lies[i].parameter_other_format;
        def.parameter_frames = lies[i].parameter_frames;
        def.parameter_start = lies[i].parameter_start;
        for (int real = 0; real < 2; real++) {
            def.real = real;
            check_made(&def);
        }
    }
}

/* ---- names ---- */

static bytes renamed(const file_def *def, const char *old, const char *new) {
    bytes b = make_file(def);
    const size_t size = strlen(old);
    assert_int_equal(strlen(new), size);
    int count = 0;
    for (size_t i = 512; i + size <= b.size; i++)
        if (memcmp(b.data + i, old, size) == 0) {
            memcpy(b.data + i, new, size);
            count++;
        }
    assert_int_equal(count, 1);
    return b;
}

static void names(void **state) {
    (void)state;
    static const struct {
        const char *prefix, *old, *new, *expected[3];
    } cases[] = {
        {"", "M1 ", "M0 ", {"M0", "M0_2", "M2"}},           {"", "M1 ", "   ", {"M0", "point2", "M2"}},
        {"", "M1 ", "M\xE9 ", {"M0", "M?", "M2"}},          {"", "M1 ", "\xC3\xA9 ", {"M0", "\xC3\xA9", "M2"}},
        {"a:", "a:M1", "b:M0", {"a:M0", "b:M0", "a:M2"}}, /* two subjects */
        {"a:", "a:M1", "a:M0", {"a:M0", "a:M0_2", "a:M2"}}, {"a:", "a:M1", "b:x:", {"M0", "b:x:", "M2"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        file_def def = plain;
        def.prefix = cases[i].prefix;
        bytes b = renamed(&def, cases[i].old, cases[i].new);
        ex_markers *markers = parse(&b);
        for (int p = 0; p < 3; p++)
            assert_string_equal(markers->names[p], cases[i].expected[p]);
        ex_markers_destroy(markers);
        free(b.data);
    }
}

/* Results of models among the points are left out. */
static void angles(void **state) {
    (void)state;
    file_def def = plain;
    def.angles = "M1";
    ex_markers *markers = make(&def);
    assert_int_equal(markers->marker_count, 2);
    assert_string_equal(markers->names[1], "M2");
    assert_near((double)markers->positions[3], place(0, 2, 0) * def.scale * 0.001, 1e-6);
    assert_int_equal(markers->angle_count, 1);
    assert_string_equal(markers->angle_names[0], "M1");
    assert_near((double)markers->angles[1], place(0, 1, 1) * def.scale, 1e-4);
    ex_markers_destroy(markers);
    def.points = 1;
    def.angles = "M0";
    bytes b = make_file(&def);
    ex_error error = {0};
    assert_int_equal(ex_c3d_parse(b.data, b.size, "m.c3d", &markers, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "none of the 1 points is a marker");
    free(b.data);
}

/* A number of frames at the limit of two bytes: all frames of the file are read, and a note says so. */
static void full_count(void **state) {
    (void)state;
    file_def def = plain;
    def.parameter_frames = 65535;
    def.header_frames = 65535;
    ex_markers *markers = make(&def);
    assert_int_equal(markers->frame_count, plain.frames);
    assert_int_equal(markers->note_count, 1);
    assert_non_null(strstr(markers->notes[0], "number of frames is not true"));
    assert_near((double)markers->positions[0], place(0, 0, 0) * def.scale * 0.001, 1e-6);
    ex_markers_destroy(markers);
}

/* ---- the up axis ---- */

static void directions(void **state) {
    (void)state;
    static const char *const ups[] = {"+X", "-X", "+Y", "-Y", "+Z", "-Z"};
    ex_error error = {0};
    ex_markers *markers = make(&plain);
    const size_t size = sizeof(float) * 3 * (size_t)(plain.points * plain.frames);
    float *first = malloc(size);
    assert_non_null(first);
    memcpy(first, markers->positions, size);
    for (int i = 0; i < 6; i++) {
        file_def def = plain;
        def.up = ups[i];
        ex_markers *other = make(&def);
        assert_string_equal(other->up, ups[i]);
        const float *x = other->positions;
        const int axis = ups[i][1] - 'X', sign = ups[i][0] == '+' ? 1 : -1;
        assert_near((double)x[1], sign * place(0, 0, axis) * 0.00025, 1e-6);
        /* A proper turn: the triple product of three markers keeps its sign. */
        double determinant[2];
        for (int k = 0; k < 2; k++) {
            const float *p = k ? markers->positions : other->positions;
            determinant[k] = (double)(p[0] * (p[4] * p[8] - p[5] * p[7]) - p[1] * (p[3] * p[8] - p[5] * p[6]) +
                                      p[2] * (p[3] * p[7] - p[4] * p[6]));
        }
        assert_near(determinant[0], determinant[1], 1e-6);
        assert_int_equal(ex_markers_set_up(other, "+z", &error), EX_OK);
        assert_string_equal(other->up, "+Z");
        assert_memory_equal(other->positions, first, size);
        assert_int_equal(ex_markers_set_up(other, "up", &error), EX_ERROR_ARGUMENT);
        assert_sentence(&error, EX_ERROR_ARGUMENT, "'up' is not a direction");
        assert_memory_equal(other->positions, first, size);
        ex_markers_destroy(other);
    }
    free(first);
    ex_markers_destroy(markers);
    /* Not given: the axis along which markers are spread most; z if that is not clear. */
    file_def def = plain;
    def.no_up = true;
    def.frames = 20;
    check_made(&def);
    def.points = 1;
    check_made(&def);
}

/* ---- errors ---- */

static void refuses(void **state) {
    (void)state;
    static const struct {
        size_t at;
        int byte;
        ex_result result;
        const char *word;
    } cases[] = {
        {1, 'Q', EX_ERROR_FORMAT, "byte 1: this is not a C3D file"},
        {0, 0, EX_ERROR_FORMAT, "byte 0: the header names no block"},
        {0, 200, EX_ERROR_FORMAT, "byte 0: the parameters should begin at byte 101888"},
        {512 + 3, 83, EX_ERROR_FORMAT, "byte 515: 83 is not a known processor"},
    };
    bytes b = make_file(&plain);
    ex_error error = {0};
    ex_markers *markers = NULL;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const unsigned char kept = b.data[cases[i].at];
        b.data[cases[i].at] = (unsigned char)cases[i].byte;
        assert_int_equal(ex_c3d_parse(b.data, b.size, "m.c3d", &markers, &error), cases[i].result);
        assert_sentence(&error, cases[i].result, cases[i].word);
        assert_null(markers);
        b.data[cases[i].at] = kept;
    }
    free(b.data);
    static const struct {
        file_def def;
        const char *old, *new, *word;
    } texts[] = {
        {{.points = 3}, "\2mm", "\2xx", "POINT:UNITS names an unknown unit of length: export the file in"},
        {{.points = 0}, NULL, NULL, "byte 2: there are no points"},
        {{.points = 3, .frames = -3}, NULL, NULL, "byte 6: there are no frames in the file: its last frame, 3"},
        {{.points = 3, .parameter_start = 1, .header_start = 1},
         NULL,
         NULL,
         "byte 16: the points would begin at byte 0"},
        {{.points = 3, .parameter_frames = 50, .header_frames = 60}, NULL, NULL, "of 50 frames of 3 points"},
        {{.points = 3, .scale = 1e300}, NULL, NULL, "m from the origin"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        file_def def = plain;
        def.points = texts[i].def.points;
        def.frames += texts[i].def.frames == -3 ? -4 : 0;
        def.no_frames = def.frames == 0;
        def.parameter_start = texts[i].def.parameter_start;
        def.header_start = texts[i].def.header_start;
        def.parameter_frames = texts[i].def.parameter_frames;
        def.header_frames = texts[i].def.header_frames;
        if (def.frames == 0)
            def.header_frames = -3;
        def.scale = texts[i].def.scale > 0 ? 1e30 : def.scale;
        bytes changed = texts[i].old ? renamed(&def, texts[i].old, texts[i].new) : make_file(&def);
        assert_int_not_equal(ex_c3d_parse(changed.data, changed.size, "m.c3d", &markers, &error), EX_OK);
        assert_sentence(&error, EX_ERROR_DATA, texts[i].word);
        free(changed.data);
    }
}

/* A file truncated anywhere is refused; padding may be missing. */
static void cut_anywhere(void **state) {
    (void)state;
    file_def def = plain;
    def.order = MIPS;
    bytes b = make_file(&def);
    const size_t frames = (size_t)def.frames * 16 * (size_t)def.points, end = b.size - 512 + frames;
    for (size_t cut = 0; cut < end; cut++) {
        unsigned char *copy = malloc(cut + 1); /* of exactly this size, so that a sanitizer sees reads beyond it */
        ex_markers *markers = NULL;
        ex_error error = {0};
        assert_non_null(copy);
        memcpy(copy, b.data, cut);
        copy = realloc(copy, cut > 0 ? cut : 1);
        assert_int_not_equal(ex_c3d_parse(copy, cut, "m.c3d", &markers, &error), EX_OK);
        assert_sentence(&error, error.result, "m.c3d");
        free(copy);
    }
    b.size = end;
    ex_markers *markers = parse(&b);
    check(markers, &def);
    ex_markers_destroy(markers);
    free(b.data);
}

/* Any byte of header and parameters changed: read or refused, never read outside. */
static void damaged(void **state) {
    (void)state;
    file_def def = plain;
    def.trial = true;
    bytes b = make_file(&def);
    unsigned char *exact = malloc(b.size);
    assert_non_null(exact);
    memcpy(exact, b.data, b.size);
    static const int values[] = {0, 1, 127, 128, 255};
    for (size_t i = 0; i < b.size; i += i < 24 || i >= 512 ? 1 : 488)
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
            const unsigned char kept = exact[i];
            ex_markers *markers = NULL;
            exact[i] = (unsigned char)values[k];
            ex_c3d_parse(exact, b.size, "m.c3d", &markers, NULL);
            ex_markers_destroy(markers);
            exact[i] = kept;
        }
    free(exact);
    free(b.data);
}

static ex_result attempt(void *context) {
    ex_markers *markers = NULL;
    const ex_result result = ex_c3d_read(context, &markers, NULL);
    ex_markers_destroy(markers);
    return result;
}

static void memory(void **state) {
    (void)state;
    file_def def = plain;
    def.no_up = true;
    bytes b = renamed(&def, "M1 ", "M0 ");
    scratch_write("m.c3d", b.data, b.size);
    char path[1000];
    snprintf(path, sizeof path, "%s", scratch_path("m.c3d"));
    assert_in_range(fail_alloc_sweep(attempt, path), 10, 40);
    ex_markers *markers = NULL;
    ex_error error = {0};
    assert_int_equal(ex_markers_read(path, &markers, &error), EX_OK);
    ex_markers_destroy(markers);
    assert_int_equal(ex_markers_read(scratch_path("m.txt"), &markers, &error), EX_ERROR_FILE);
    scratch_write("m.txt", "hello", 5);
    assert_int_equal(ex_markers_read(scratch_path("m.txt"), &markers, &error), EX_ERROR_FORMAT);
    assert_sentence(&error, EX_ERROR_FORMAT, ".c3d or .trc");
    assert_int_equal(ex_markers_read(scratch_path("none.c3d"), &markers, &error), EX_ERROR_FILE);
    ex_markers_destroy(NULL);
    free(b.data);
}

/* ---- files at hand ---- */

static ex_markers *read_real(const char *name) {
    char inside[200];
    ex_markers *markers = NULL;
    ex_error error = {0};
    snprintf(inside, sizeof inside, "mocap/c3d/%s", name);
    if (ex_c3d_read(need_data(inside), &markers, &error) != EX_OK)
        fail_msg("%s", error.text);
    return markers;
}

static void check_alike(const char *const *files, int count, int marker_count, int frame_count, double step) {
    ex_markers *first = read_real(files[0]);
    assert_int_equal(first->marker_count, marker_count);
    assert_int_equal(first->frame_count, frame_count);
    for (int i = 1; i < count; i++) {
        ex_markers *other = read_real(files[i]);
        assert_int_equal(other->marker_count, marker_count);
        assert_int_equal(other->frame_count, frame_count);
        assert_true(other->rate == first->rate);
        for (int k = 0; k < 3 * marker_count * frame_count; k++) {
            const double a = (double)first->positions[k], b = (double)other->positions[k];
            assert_true(isnan(a) == isnan(b));
            if (!isnan(a))
                assert_near(a, b, step);
        }
        for (int m = 0; m < marker_count; m++)
            assert_string_equal(other->names[m], first->names[m]);
        ex_markers_destroy(other);
    }
    ex_markers_destroy(first);
}

static void real_files(void **state) {
    (void)state;
    static const char *const walk[] = {"Eb015pr.c3d", "Eb015pi.c3d", "Eb015vr.c3d", "Eb015vi.c3d"};
    static const char *const other[] = {"pc_real.c3d", "pc_int.c3d", "dec_real.c3d", "dec_int.c3d"};
    /* Within a step of the integers: programs that converted them from reals truncate the fraction. */
    check_alike(walk, 4, 26, 450, 1.01e-3 / 12);
    check_alike(other, 4, 36, 89, 0.2813e-3);
    ex_markers *coda = read_real("manufacture_test_codamotion.c3d");
    assert_int_equal(coda->marker_count, 24);
    assert_int_equal(coda->frame_count, 512);
    assert_string_equal(coda->names[4], "L.Post.Fem.");
    ex_markers_destroy(coda);
}

/* The file states the up axis; the spread of its markers agrees, and so does the motion made from them, whose hips are
 * as high as its markers. */
static void real_up(void **state) {
    (void)state;
    ex_markers *markers = read_real("02_01.c3d");
    ex_clip *clip = NULL;
    ex_error error = {0};
    assert_string_equal(markers->up, "+Z");
    assert_int_equal(markers->marker_count, 41);
    assert_int_equal(markers->frame_count, 343);
    assert_int_equal(markers->first_frame, 50);
    assert_string_equal(markers->names[0], "LBWT");
    assert_int_equal(ex_bvh_read(need_data("mocap/bvh/02_01.bvh"), &clip, &error), EX_OK);
    const double unit = 0.0254 / 0.45; /* of that database's skeletons */
    for (int f = 0; f < 343; f += 49) {
        double waist[3] = {0};
        for (int m = 0; m < 4; m++)
            for (int i = 0; i < 3; i++)
                waist[i] += (double)markers->positions[3 * (41 * f + m) + i] / 4;
        const float *hips = clip->locals[(size_t)(f + 1) * (size_t)clip->joint_count].translation;
        assert_near(waist[1], (double)hips[1] * unit, 0.1);
    }
    ex_clip_destroy(clip);
    /* Without that statement: the parameter's name is changed. */
    FILE *file = fopen(need_data("mocap/c3d/02_01.c3d"), "rb");
    assert_non_null(file);
    unsigned char *data = malloc(300000);
    assert_non_null(data);
    const size_t size = fread(data, 1, 300000, file);
    fclose(file);
    for (size_t i = 512; i < 6144; i++)
        if (memcmp(data + i, "Y_SCREEN", 8) == 0)
            data[i] = 'V';
    ex_markers *again = NULL;
    assert_int_equal(ex_c3d_parse(data, size, "m.c3d", &again, &error), EX_OK);
    assert_string_equal(again->up, "+Z");
    assert_memory_equal(again->positions, markers->positions, 12 * 41 * 343);
    ex_markers_destroy(again);
    ex_markers_destroy(markers);
    free(data);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),    cmocka_unit_test(variants),
        cmocka_unit_test(many),       cmocka_unit_test(disagreements),
        cmocka_unit_test(names),      cmocka_unit_test(angles),
        cmocka_unit_test(full_count), cmocka_unit_test(directions),
        cmocka_unit_test(refuses),    cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(damaged),    cmocka_unit_test_setup_teardown(memory, scratch_set_up, scratch_tear_down),
        cmocka_unit_test(real_files), cmocka_unit_test(real_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
