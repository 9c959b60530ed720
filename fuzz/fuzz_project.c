/*
 * Fuzzes project files (clang -fsanitize=fuzzer,address,undefined): any text is a project or an error with a sentence,
 * and the spaces of a project can be solved or refused, and weighed at rest.
 */
#include <exemplar/author.h>

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Large spaces are valid, but take long. */
static bool is_small(const ex_project_layer *layer) {
    return layer->example_count + layer->pseudo_count < 50 && layer->dimension < 50;
}

static void weigh(const ex_project_layer *layer) {
    ex_weigher *weigher = NULL;
    ex_error error = {0};
    ex_result result = ex_weigher_create(&layer->weigh, NULL, &weigher, &error);
    if ((result == EX_OK) != (weigher != NULL) || (result != EX_OK && error.text[0] == 0))
        abort();
    if (weigher) {
        double *weights = malloc((size_t)layer->example_count * sizeof *weights);
        ex_weigher_evaluate(weigher, NULL, weights);
        free(weights);
    }
    ex_weigher_destroy(weigher);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ex_project *project = NULL;
    ex_error error = {0};
    ex_result result = ex_project_parse((const char *)data, size, "fuzz.json", &project, &error);
    if ((result == EX_OK) != (project != NULL) || (result != EX_OK && error.text[0] == 0))
        abort();
    if (!project)
        return 0;
    const ex_project_view *view = ex_project_get(project);
    for (int i = 0; i < view->layer_count; i++)
        if (is_small(&view->layers[i]))
            weigh(&view->layers[i]);
    ex_project_destroy(project);
    return 0;
}
