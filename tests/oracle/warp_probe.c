/*
 * warp_probe.c - lets warp_oracle.py ask for the in-betweens of two forms, and how much they are stretched.
 *
 *   warp_probe METHOD T… < FORMS
 *
 * FORMS, in the machine's own binary: int32 vertex_count, triangle_count; int32 triangles[triangle_count][3]; double
 * start[vertex_count][3], end[vertex_count][3]. Answers in binary: int32 link_count and int32 vertices[link_count][2],
 * double weights[link_count]; then for each T: double positions[vertex_count][3], percentiles[4], flipped.
 */
#include "author/trajectory/trajectory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void fail(const char *what) {
    fprintf(stderr, "warp_probe: %s\n", what);
    exit(2);
}

static void *read_items(size_t count, size_t size) {
    void *items = malloc(count * size + 1);
    if (!items || fread(items, size, count, stdin) != count)
        fail("cannot read the forms");
    return items;
}

static void write_items(const void *items, size_t count, size_t size) {
    if (count && fwrite(items, size, count, stdout) != count)
        fail("cannot write");
}

static ex_between_method find_method(const char *name) {
    for (int m = 0; m < EX_BETWEEN_COUNT; m++)
        if (strcmp(ex_between_name((ex_between_method)m), name) == 0)
            return (ex_between_method)m;
    fail("no such method");
    return EX_BETWEEN_COUNT;
}

static void write_links(const ex_between *between) {
    const int32_t count = between->link_count;
    write_items(&count, 1, sizeof count);
    for (int i = 0; i < count; i++) {
        const int32_t ends[2] = {between->links[i].vertices[0], between->links[i].vertices[1]};
        write_items(ends, 2, sizeof *ends);
    }
    for (int i = 0; i < count; i++)
        write_items(&between->links[i].weight, 1, sizeof(double));
}

int main(int argc, char **argv) {
    if (argc < 3)
        fail("usage: warp_probe METHOD T... < FORMS");
    const ex_between_method method = find_method(argv[1]);
    int32_t *counts = read_items(2, sizeof *counts);
    const size_t numbers = 3 * (size_t)counts[0];
    int *triangles = read_items(3 * (size_t)counts[1], sizeof(int32_t));
    double *start = read_items(numbers, sizeof *start), *end = read_items(numbers, sizeof *end);
    double *positions = malloc(numbers * sizeof *positions + 1);
    const ex_between_def def = {
        .vertex_count = counts[0], .triangle_count = counts[1], .triangles = triangles, .start = start, .end = end};
    ex_between *between;
    ex_error error;
    if (!positions || ex_between_create(&def, &between, &error) != EX_OK)
        fail(positions ? error.text : "no memory");
    write_links(between);
    for (int i = 2; i < argc; i++) {
        const double t = strtod(argv[i], NULL);
        ex_stretch stretch;
        if (ex_between_form(between, method, t, positions, &error) != EX_OK ||
            ex_between_stretch(between, t, positions, &stretch, NULL, &error) != EX_OK)
            fail(error.text);
        const double flipped = stretch.flipped;
        write_items(positions, numbers, sizeof *positions);
        write_items(stretch.percentiles, 4, sizeof(double));
        write_items(&flipped, 1, sizeof flipped);
    }
    ex_between_destroy(between);
    free(positions);
    free(end);
    free(start);
    free(triangles);
    free(counts);
    return 0;
}
