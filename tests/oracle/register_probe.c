/*
 * Does one step of a registration on a small mesh that comes on standard input, for register_oracle.py.
 *
 *   sizes VERTICES TRIANGLES PULLS WIDTH SCALE_WIDTH LENGTH
 *   then for each vertex the rest place, the present place and the stiffness, for each triangle its vertices, and for
 *   each pull: three vertices, three shares, target, normal, weight, across.
 *
 * Out: for each vertex "turn" with the rotation's nine numbers, "scale" and "at", the place that minimises the energy.
 * The library's linear step is not exact, so it is repeated with the same rotations.
 */
#include "author/scan/register/register.h"

#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 12 };

static bool read_numbers(double *numbers, int count) {
    for (int i = 0; i < count; i++)
        if (scanf("%lf", &numbers[i]) != 1)
            return false;
    return true;
}

static bool read_whole(int *numbers, int count) {
    for (int i = 0; i < count; i++)
        if (scanf("%d", &numbers[i]) != 1)
            return false;
    return true;
}

static bool read_pull(exi_reg_pull *pull) {
    return read_whole(pull->vertices, 3) && read_numbers(pull->shares, 3) && read_numbers(pull->target, 3) &&
           read_numbers(pull->normal, 3) && read_numbers(&pull->weight, 1) && read_numbers(&pull->across, 1);
}

int main(void) {
    int n = 0, triangles = 0, pull_count = 0;
    double widths[3];
    if (scanf("sizes %d %d %d", &n, &triangles, &pull_count) != 3 || !read_numbers(widths, 3))
        return 1;
    ex_mesh *mesh = ex_mesh_create();
    double(*x)[3] = calloc((size_t)n, sizeof *x);
    float *stiffness = calloc((size_t)n, sizeof *stiffness);
    exi_reg_pull *pulls = calloc((size_t)pull_count, sizeof *pulls);
    mesh->vertex_count = n;
    mesh->positions = calloc(3 * (size_t)n, sizeof *mesh->positions);
    mesh->face_count = triangles;
    mesh->corner_count = 3 * triangles;
    mesh->corners = calloc(3 * (size_t)triangles, sizeof *mesh->corners);
    mesh->face_offsets = calloc((size_t)triangles + 1, sizeof *mesh->face_offsets);
    bool good = true;
    for (int v = 0; v < n && good; v++) {
        double stiff = 0;
        good = read_numbers(mesh->positions + 3 * v, 3) && read_numbers(x[v], 3) && read_numbers(&stiff, 1);
        stiffness[v] = (float)stiff;
    }
    good = good && read_whole(mesh->corners, 3 * triangles);
    for (int t = 0; t <= triangles; t++)
        mesh->face_offsets[t] = 3 * t;
    for (int i = 0; i < pull_count && good; i++)
        good = read_pull(&pulls[i]);
    const ex_register_def def = {.mesh = mesh, .stiffness = stiffness};
    exi_reg_shape shape = {0};
    exi_reg_turns turns = {0};
    exi_reg_system *system = NULL;
    ex_error error = {0};
    if (!good || exi_reg_shape_make(&def, &shape, &error) != EX_OK ||
        exi_reg_turns_make(&shape, &turns, &error) != EX_OK ||
        exi_reg_turns_widen(&turns, widths[0], widths[1], &error) != EX_OK ||
        exi_reg_system_make(&shape, &system, &error) != EX_OK) {
        fprintf(stderr, "%s\n", error.text[0] ? error.text : "not a problem");
        return 1;
    }
    exi_reg_turns_find(&turns, (const double(*)[3])x, NULL);
    if (exi_reg_system_set(system, widths[2], pulls, pull_count, &error) != EX_OK)
        return 1;
    for (int i = 0; i < STEPS; i++)
        exi_reg_system_step(system, &turns, x);
    for (int v = 0; v < n; v++) {
        printf("turn");
        for (int i = 0; i < 9; i++)
            printf(" %.17g", turns.rotations[v][i / 3][i % 3]);
        printf("\nscale %.17g\nat %.17g %.17g %.17g\n", turns.scales[v], x[v][0], x[v][1], x[v][2]);
    }
    exi_reg_system_free(system);
    exi_reg_turns_free(&turns);
    exi_reg_shape_free(&shape);
    ex_mesh_destroy(mesh);
    free(x);
    free(stiffness);
    free(pulls);
    return 0;
}
