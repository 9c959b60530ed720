/* docs/reference/project.md: every project in it can be read, and it has every key and word that projects may have. */
#include "author/project/projects.h"

static char *page;

static int set_up(void **state) {
    (void)state;
    FILE *file = fopen(EX_DOCS_DIR "/reference/project.md", "rb");
    if (!file)
        return -1;
    const size_t room = 1 << 20;
    page = malloc(room);
    if (!page)
        return -1;
    page[fread(page, 1, room - 1, file)] = 0;
    return fclose(file);
}

static int tear_down(void **state) {
    (void)state;
    free(page);
    return 0;
}

static void the_projects_shown_are_read(void **state) {
    (void)state;
    static const char begin[] = "```json\n", end[] = "```\n";
    int count = 0;
    for (const char *at = page; (at = strstr(at, begin)); count++) {
        at += sizeof begin - 1;
        const char *last = strstr(at, end);
        assert_non_null(last);
        ex_project *project = NULL;
        ex_error error = {0};
        if (ex_project_parse(at, (size_t)(last - at), "project.md", &project, &error) != EX_OK)
            fail_msg("block %d: %s", count + 1, error.text);
        ex_project_destroy(project);
        at = last;
    }
    assert_true(count >= 3);
}

static void every_key_is_described(void **state) {
    (void)state;
    static const char *const words[] = {
        "exemplar",   "mesh",      "layers",     "skeleton",      "skinning", "subdivide",      "up",
        "unit",       "name",      "space",      "weigh",         "shape",    "texture",        "examples",
        "pseudo",     "mask",      "map",        "image",         "at",       "joints",         "min",
        "max",        "rest",      "scale",      "clamp",         "joint",    "angle",          "slide",
        "stretch",    "rotation",  "about",      "scheme",        "levels",   "limit",          "boundary",
        "metres",     "muted",     "frame",      "participation", "protect",  "posed",          "tolerance",
        "falloff",    "metric",    "trajectory", "reference",     "mode",     "iterations",     "correctors",
        "driver",     "settle",    "frames",     "count",         "fit",      "look",           "whole",
        "influences", "residual",  "thickness",  "push",          "bind",     "driver_weights", "one_region",
        "regions",    "locals",    "terms",      "weights",       "bases",    "segment_angle",  "root",
        "segments",   "predictor",
    };
    static const char *const values[] = {
#define DOMAIN(id, entry, word, help) word,
        EX_DOMAIN_LIST(DOMAIN)
#undef DOMAIN
            "unposed",
#define NAME(id, text) text,
        EX_SKINNING_LIST(NAME) EX_OFFSET_FRAME_LIST(NAME) EX_PARTICIPATION_LIST(NAME) EX_TRAJECTORY_LIST(NAME)
            EX_RESIDUAL_LIST(NAME)
#undef NAME
                "base_color",
        "normal",
        "metallic_roughness",
        "occlusion",
        "emissive",
        "catmull_clark",
        "loop",
        "bilinear",
        "tags",
        "none",
        "edges",
        "edges_and_corners",
        "full",
        "swing",
        "twist",
        "auto"};
    char quoted[64];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        snprintf(quoted, sizeof quoted, "`%s`", words[i]);
        if (!strstr(page, quoted))
            fail_msg("the key %s is not described", quoted);
    }
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        snprintf(quoted, sizeof quoted, "`\"%s\"`", values[i]);
        if (!strstr(page, quoted))
            fail_msg("the value %s is not described", quoted);
    }
}

/* The row of a kind in the table of weighers, up to the end of its line. */
static const char *find_row(const char *name, size_t *length) {
    char begin[64];
    snprintf(begin, sizeof begin, "\n| `\"%s\"` |", name);
    const char *table = strstr(page, "## Weighers"), *row = table ? strstr(table, begin) : NULL;
    if (!row)
        fail_msg("the weigher \"%s\" has no row in the table of weighers", name);
    *length = strcspn(row + 1, "\n");
    return row + 1;
}

/* A parameter as written in the table: `radius` (1), `linear` (`true`), `kernel` (`"bspline"`. */
static void write_parameter(const ex_parameter *p, char *text, size_t size) {
    if (p->type == EX_PARAMETER_CHOICE)
        snprintf(text, size, "`%s` (`\"%s\"`", p->name, p->words[(int)p->preset].name);
    else if (p->type == EX_PARAMETER_SWITCH)
        snprintf(text, size, "`%s` (`%s`)", p->name, p->preset != 0 ? "true" : "false");
    else
        snprintf(text, size, "`%s` (%g)", p->name, p->preset);
}

static void every_parameter_is_in_the_table(void **state) {
    (void)state;
    for (int kind = 0; kind < ex_weigher_kind_count(); kind++) {
        const ex_weigher_info *info = ex_weigher_kind_info((ex_weigher_kind)kind);
        size_t length = 0;
        const char *row = find_row(ex_weigher_kind_name((ex_weigher_kind)kind), &length);
        for (int i = 0; i < info->parameter_count; i++) {
            char text[80];
            write_parameter(&info->parameters[i], text, sizeof text);
            const char *found = strstr(row, text);
            if (!found || found >= row + length)
                fail_msg("the row of \"%s\" lacks %s", ex_weigher_kind_name((ex_weigher_kind)kind), text);
            for (int w = 0; w < info->parameters[i].word_count; w++)
                if (!strstr(page, info->parameters[i].words[w].name))
                    fail_msg("the word %s is not described", info->parameters[i].words[w].name);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_projects_shown_are_read),
        cmocka_unit_test(every_key_is_described),
        cmocka_unit_test(every_parameter_is_in_the_table),
    };
    return cmocka_run_group_tests_name("author.project.format_docs", tests, set_up, tear_down);
}
