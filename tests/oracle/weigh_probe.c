/*
 * weigh_probe.c - lets weigh_oracle.py ask the weighers through the public header alone.
 *
 * Reads cases as words from stdin and answers each on stdout, numbers with 17 digits so that nothing is lost:
 *
 *   case KIND KERNEL linear radius ridge power neighbours paper_form overshoot axes examples pseudos queries
 *     per axis:    kind min max rest rest_rotation[4] about[3] scale clamp limit (a driver is as wide as there are
 * examples) per example: point per pseudo:  at, then "from" and a point, or "weights" and one number per example
 *     gaussian:    "falloffs" and one number per point and axis, or "none"; "metrics" and one matrix per point, or
 *                  "none"; the number of sets, and for each one 0 or 1 per example
 *     per query:   "at" and a point, or "rest" for no point at all
 *
 *   ok condition
 *     per query:   one weight per example, and those of the sets behind them
 *     distances from the first query that is a point to every example and pseudo-example, in one line
 *   or: error RESULT sentence
 *
 * A word that cannot be read ends the program with status 2: that is a fault of the script, not of a weigher.
 */
#include <exemplar/weigh.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct probe_case {
    ex_weigher_def def;
    ex_axis *axes;
    double *points;
    ex_pseudo *pseudos;
    double *pseudo_numbers; /* [pseudo_count][2][stride]: at, then from or weights */
    double *falloffs, *metrics;
    uint32_t *sets;
    double *queries;      /* [query_count][dimension] */
    bool *query_is_point; /* [query_count] */
    int query_count;
    int dimension;
} probe_case;

static void fail(const char *what) {
    fprintf(stderr, "weigh_probe: cannot read %s\n", what);
    exit(2);
}

static void *memory(int count, size_t size) {
    void *block = calloc((size_t)count + 1, size);
    if (block == NULL)
        fail("so much: out of memory");
    return block;
}

static bool read_word(char word[64]) {
    return scanf("%63s", word) == 1;
}

/* strtod rather than scanf, for it takes nan and inf too. */
static double read_number(const char *what) {
    char word[64];
    char *end = word;
    double value = 0;
    if (read_word(word))
        value = strtod(word, &end);
    if (end == word || *end != '\0')
        fail(what);
    return value;
}

static void read_numbers(double *values, int count, const char *what) {
    for (int i = 0; i < count; i++)
        values[i] = read_number(what);
}

static int read_count(const char *what) {
    double value = read_number(what);
    if (!(value >= 0 && value <= 1e6))
        fail(what);
    return (int)value;
}

static ex_weigher_kind read_kind(void) {
    char word[64];
    if (read_word(word))
        for (int i = 0; i < EX_WEIGHER_COUNT; i++)
            if (strcmp(word, ex_weigher_kind_name((ex_weigher_kind)i)) == 0)
                return (ex_weigher_kind)i;
    fail("a kind of weigher");
    return EX_WEIGHER_COUNT;
}

static ex_kernel read_kernel(void) {
    char word[64];
    if (read_word(word))
        for (int i = 0; i < EX_KERNEL_COUNT; i++)
            if (strcmp(word, ex_kernel_name((ex_kernel)i)) == 0)
                return (ex_kernel)i;
    fail("a kernel");
    return EX_KERNEL_COUNT;
}

static ex_limit read_limit(void) {
    char word[64];
    if (read_word(word))
        for (int i = 0; i < EX_LIMIT_COUNT; i++)
            if (strcmp(word, ex_limit_name((ex_limit)i)) == 0)
                return (ex_limit)i;
    fail("a limit");
    return EX_LIMIT_COUNT;
}

static void read_axes(probe_case *c) {
    c->axes = memory(c->def.axis_count, sizeof *c->axes);
    c->dimension = 0;
    for (int i = 0; i < c->def.axis_count; i++) {
        ex_axis *axis = &c->axes[i];
        axis->kind = (ex_axis_kind)read_count("the kind of an axis");
        axis->min = read_number("min");
        axis->max = read_number("max");
        axis->rest = read_number("rest");
        read_numbers(axis->rest_rotation, 4, "rest_rotation");
        read_numbers(axis->about, 3, "about");
        axis->scale = read_number("scale");
        axis->clamp = read_count("clamp") != 0;
        axis->limit = read_limit();
        axis->width = axis->kind == EX_AXIS_DRIVER ? c->def.example_count : 0;
        c->dimension += ex_axis_width(axis);
    }
    c->def.axes = c->axes;
}

static void read_pseudos(probe_case *c) {
    int stride = c->dimension > c->def.example_count ? c->dimension : c->def.example_count;
    c->pseudos = memory(c->def.pseudo_count, sizeof *c->pseudos);
    c->pseudo_numbers = memory(c->def.pseudo_count * 2 * stride, sizeof *c->pseudo_numbers);
    for (int i = 0; i < c->def.pseudo_count; i++) {
        double *at = c->pseudo_numbers + (size_t)i * 2 * (size_t)stride;
        double *source = at + stride;
        char word[64];
        read_numbers(at, c->dimension, "the place of a pseudo-example");
        c->pseudos[i].at = at;
        if (!read_word(word))
            fail("the source of a pseudo-example");
        if (strcmp(word, "from") == 0) {
            read_numbers(source, c->dimension, "from");
            c->pseudos[i].from = source;
        } else {
            read_numbers(source, c->def.example_count, "weights");
            c->pseudos[i].weights = source;
        }
    }
    c->def.pseudos = c->def.pseudo_count > 0 ? c->pseudos : NULL;
}

static double *read_table(const char *name, int count) {
    char word[64];
    if (!read_word(word))
        fail(name);
    if (strcmp(word, name) != 0)
        return NULL;
    double *table = memory(count, sizeof *table);
    read_numbers(table, count, name);
    return table;
}

static void read_gaussian(probe_case *c) {
    const int points = c->def.example_count + c->def.pseudo_count, words = (c->def.example_count + 31) / 32;
    int scalars = 0;
    for (int i = 0; i < c->def.axis_count; i++)
        scalars += c->axes[i].kind == EX_AXIS_SCALAR;
    c->def.falloffs = c->falloffs = read_table("falloffs", points * c->def.axis_count);
    c->def.metrics = c->metrics = read_table("metrics", points * scalars * scalars);
    c->def.set_count = read_count("the number of sets");
    c->sets = memory(c->def.set_count * words, sizeof *c->sets);
    for (int i = 0; i < c->def.set_count; i++)
        for (int k = 0; k < c->def.example_count; k++)
            if (read_count("whether an example is in a set") != 0)
                c->sets[i * words + k / 32] |= (uint32_t)1 << (k % 32);
    c->def.sets = c->sets;
}

static void read_queries(probe_case *c) {
    c->queries = memory(c->query_count * c->dimension, sizeof *c->queries);
    c->query_is_point = memory(c->query_count, sizeof *c->query_is_point);
    for (int i = 0; i < c->query_count; i++) {
        char word[64];
        if (!read_word(word))
            fail("a query");
        c->query_is_point[i] = strcmp(word, "at") == 0;
        if (c->query_is_point[i])
            read_numbers(c->queries + (size_t)i * (size_t)c->dimension, c->dimension, "a query");
    }
}

static void read_case(probe_case *c) {
    memset(c, 0, sizeof *c);
    c->def = ex_weigher_def_default();
    c->def.kind = read_kind();
    c->def.kernel = read_kernel();
    c->def.linear = read_count("linear") != 0;
    c->def.radius = read_number("radius");
    c->def.ridge = read_number("ridge");
    c->def.power = read_number("power");
    c->def.neighbours = read_count("neighbours");
    c->def.paper_form = read_count("paper_form") != 0;
    c->def.overshoot = read_number("overshoot");
    c->def.axis_count = read_count("the number of axes");
    c->def.example_count = read_count("the number of examples");
    c->def.pseudo_count = read_count("the number of pseudo-examples");
    c->query_count = read_count("the number of queries");
    read_axes(c);
    if (c->def.kind != EX_WEIGHER_DIRECT) {
        c->points = memory(c->def.example_count * c->dimension, sizeof *c->points);
        read_numbers(c->points, c->def.example_count * c->dimension, "the place of an example");
        c->def.points = c->points;
    }
    read_pseudos(c);
    if (c->def.kind == EX_WEIGHER_GAUSSIAN)
        read_gaussian(c);
    read_queries(c);
}

static void free_case(probe_case *c) {
    free(c->axes);
    free(c->points);
    free(c->pseudos);
    free(c->pseudo_numbers);
    free(c->falloffs);
    free(c->metrics);
    free(c->sets);
    free(c->queries);
    free(c->query_is_point);
}

static void print_row(const double *values, int count) {
    for (int i = 0; i < count; i++)
        printf("%s%.17g", i > 0 ? " " : "", values[i]);
    printf("\n");
}

static void print_distances(const probe_case *c, const ex_weigher *weigher) {
    int count = c->def.kind == EX_WEIGHER_DIRECT ? 0 : c->def.example_count + c->def.pseudo_count;
    const double *from = NULL;
    for (int i = c->query_count - 1; i >= 0; i--)
        if (c->query_is_point[i])
            from = c->queries + (size_t)i * (size_t)c->dimension;
    for (int i = 0; from != NULL && i < count; i++)
        printf("%s%.17g", i > 0 ? " " : "", ex_weigher_distance(weigher, from, ex_weigher_point(weigher, i)));
    printf("\n");
}

static void answer(const probe_case *c) {
    ex_weigher *weigher = NULL;
    ex_error error = {.result = EX_OK};
    double condition = 0;
    ex_result result = ex_weigher_create(&c->def, NULL, &weigher, &error);
    if (result == EX_OK)
        result = ex_weigher_condition(weigher, NULL, &condition, &error);
    if (result != EX_OK) {
        printf("error %d %s\n", (int)result, error.text);
        ex_weigher_destroy(weigher);
        return;
    }
    printf("ok %.17g\n", condition);
    const int set_weights = ex_weigher_set_weight_count(weigher);
    double *weights = memory(c->def.example_count + set_weights, sizeof *weights);
    for (int i = 0; i < c->query_count; i++) {
        const double *point = c->query_is_point[i] ? c->queries + (size_t)i * (size_t)c->dimension : NULL;
        if (set_weights > 0)
            ex_weigher_evaluate_sets(weigher, point, weights, weights + c->def.example_count);
        else
            ex_weigher_evaluate(weigher, point, weights);
        print_row(weights, c->def.example_count + set_weights);
    }
    print_distances(c, weigher);
    free(weights);
    ex_weigher_destroy(weigher);
}

int main(void) {
    char word[64];
    while (read_word(word)) {
        probe_case c;
        if (strcmp(word, "case") != 0)
            fail("the word 'case'");
        read_case(&c);
        answer(&c);
        free_case(&c);
    }
    return 0;
}
