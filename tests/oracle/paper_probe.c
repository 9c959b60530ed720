/*
 * Finds, for comparison with the solve of paper_oracle.py, trajectories by the energies of the paper, of a mesh and an
 * example from standard input.
 *
 * Input, numbers apart by spaces: vertices, triangles, steps, bases (0, 1), root, terms left out (1 pose, 2 rotation, 4
 * gradient), weights of the three (0: the usual ones), number of times; corners of the triangles; the start's and the
 * end's places; times. Output: steps, converged, four energies; segments; parents; the segments of triangles; turns;
 * then the form at each time.
 */
#include <exemplar/author/trajectory.h>

#include <stdio.h>
#include <stdlib.h>

static double number(void) {
    double x = 0;
    if (scanf("%lf", &x) != 1) {
        fprintf(stderr, "the input is too short\n");
        exit(2);
    }
    return x;
}

static double *numbers(size_t count) {
    double *list = calloc(count + 1, sizeof *list);
    for (size_t i = 0; list && i < count; i++)
        list[i] = number();
    return list;
}

static void print(const double *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        printf("%.17g%c", list[i], i + 1 == count ? '\n' : ' ');
}

int main(void) {
    ex_trajectories_def def = {.vertex_count = (int)number(), .options = ex_trajectory_options_default()};
    def.triangle_count = (int)number();
    def.options.mode = EX_TRAJECTORY_PAPER;
    def.options.iterations = (int)number();
    def.options.bases = number() != 0;
    def.options.root = (int)number();
    int without = (int)number();
    def.options.pose_weight = number();
    def.options.rotation_weight = number();
    def.options.gradient_weight = number();
    int time_count = (int)number();
    def.options.without_pose = without & 1;
    def.options.without_rotation = without & 2;
    def.options.without_gradient = without & 4;
    size_t n = (size_t)def.vertex_count, m = (size_t)def.triangle_count;
    int *triangles = calloc(3 * m + 1, sizeof *triangles);
    for (size_t i = 0; triangles && i < 3 * m; i++)
        triangles[i] = (int)number();
    double *start = numbers(3 * n), *end = numbers(3 * n), *times = numbers((size_t)time_count);
    double *form = calloc(3 * n + 1, sizeof *form);
    if (!triangles || !start || !end || !times || !form)
        return 2;
    const double *examples[] = {end};
    const char *names[] = {"end"};
    def.triangles = triangles;
    def.reference = start;
    def.example_count = 1;
    def.examples = examples;
    def.names = names;
    ex_trajectories *made = NULL;
    ex_error error;
    if (ex_trajectories_create(&def, &made, &error) != EX_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    printf("%d %d ", made->fits[0].iterations, made->fits[0].converged);
    print(made->fits[0].energy, 4);
    printf("%d\n", made->segments.count);
    for (int i = 0; i < made->segments.count; i++)
        printf("%d ", made->segments.parents[i]);
    for (size_t i = 0; made->segments.count && i < m; i++)
        printf("%d ", made->triangle_segments[i]);
    printf("\n");
    for (size_t i = 0; i < 3 * n; i++)
        printf("%.9g ", (double)made->trajectories[0].turns[i]);
    printf("\n");
    for (int k = 0; k < time_count; k++) {
        ex_trajectories_form(made, &def, &times[k], -1, form);
        print(form, 3 * n);
    }
    ex_trajectories_destroy(made);
    free(triangles);
    free(start);
    free(end);
    free(times);
    free(form);
    return 0;
}
