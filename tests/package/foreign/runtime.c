/* Weighs two examples halfway between them with the installed runtime. argv[1] is the expected version. */
#include <exemplar/exemplar.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    const ex_axis axis = ex_axis_scalar(0, 1, 0);
    const double points[] = {0, 1};
    const double middle = 0.5;
    double weights[2];
    ex_weigher_def def = ex_weigher_def_default();
    def.axes = &axis;
    def.axis_count = 1;
    def.points = points;
    def.example_count = 2;

    ex_weigher *weigher;
    ex_error error;
    if (ex_weigher_create(&def, NULL, &weigher, &error) != EX_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    ex_weigher_evaluate(weigher, &middle, weights);
    ex_weigher_destroy(weigher);
    printf("%s: %g %g\n", ex_version().text, weights[0], weights[1]);
    return argc == 2 && strcmp(argv[1], ex_version().text) == 0 && fabs(weights[0] - 0.5) < 1e-6 &&
                   fabs(weights[1] - 0.5) < 1e-6
               ? 0
               : 1;
}
