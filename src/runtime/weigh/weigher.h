/*
 * Interface of the kinds of weigher, and functions that they share. block.h has the block itself.
 */
#ifndef EXI_WEIGHER_H
#define EXI_WEIGHER_H

#include "runtime/weigh/block.h"

#include <stddef.h>

/* space.c: checks and records axes, turns points into features. */
ex_result exi_axis_check(const ex_axis *axis, int index, ex_error *error);
exi_axis_record exi_axis_store(const ex_axis *axis, bool angular);
ex_axis exi_axis_restore(const exi_axis_record *record);
/* True if two axes of one name can share an input: both numbers or both rotations, with the same rest. */
bool exi_axis_is_same_input(const ex_axis *a, const ex_axis *b);
/* Copies a point: non-finite scalars become rest, zero quaternions the identity, quaternions unit length, and limits
 * are kept. */
void exi_point_clean(const ex_weigher *w, const double *point, double *clean);
void exi_point_features(const ex_weigher *w, const double *clean, double *features);
_Static_assert(EX_CONVEX_MAX + 1 <= EXI_FEATURE_MAX, "a driver's point must fit on the stack");

/*
 * A kind of weigher (docs/guides/add-a-weigher.md). Every function may be NULL, which means nothing to do.
 *
 * From a definition to a block: parameters are within their ranges. check_parameters checks their combinations, and
 * returns the one to change, with the end of a sentence. check checks axes, examples and tables. count adds to a head
 * the counts that own_count needs. own_count returns the number of doubles in its own tables. store copies what the
 * kind keeps of the definition besides parameters. solve fills the kind's tables after everything before them is there,
 * and refuses points at the same place. resolve does the same for an edit of `old`, faster; origins [n] has the old
 * point that point i is, at the same place, or -1. It leaves `done` false, with the tables in any
 * state, if solve must do it.
 *
 * At a point: evaluate gets the features of the query. evaluate_point, which replaces it, gets the cleaned point, and
 * the state and scratch of ex_weigher_evaluate_from, or NULL. With neither, the cleaned point is the weights. draw, if
 * there is one, computes the row of a pseudo-example with a source instead of evaluate: what the solve needs so that
 * the weights at the source come out. gradient computes weights as evaluate does, and their derivatives by each
 * feature: of example i in rows + i * stride, [feature_count]. Without it, ex_weigher_gradient takes differences of
 * weights. sets_along computes the derivatives of the weights in all sets along a direction [feature_count]; has_sets
 * only.
 *
 * The others implement the functions of their names in exemplar/weigh.h. is_sound_head and is_sound return true if data
 * from a file can be evaluated without reading outside of it, as far as the kind alone can tell; is_sound comes after
 * all checks of validate.c. describe returns what store copied; edit makes edits in the kind's own way.
 */
typedef struct exi_weigher_kind {
    ex_weigher_info info;
    bool angular;   /* true if it measures rotations by angle (shepard, nearest), not by chord (which keeps kernels
                       definite) */
    bool holds;     /* true if its axes hold beyond the points where they do not say otherwise */
    uint32_t flags; /* flags that count or solve may set */
    const ex_parameter *(*check_parameters)(const ex_weigher_def *def, ex_error *error);
    ex_result (*check)(const ex_weigher_def *def, ex_error *error);
    void (*count)(ex_weigher *head, const ex_weigher_def *def);
    size_t (*own_count)(const ex_weigher *w);
    void (*store)(ex_weigher *w, const ex_weigher_def *def);
    ex_result (*solve)(ex_weigher *w, const char *const *names, const ex_allocator *allocator, ex_error *error);
    ex_result (*resolve)(ex_weigher *w, const ex_weigher *old, const int *origins, const ex_allocator *allocator,
                         bool *done, ex_error *error);
    void (*evaluate)(const ex_weigher *w, const double *features, double *weights);
    void (*draw)(const ex_weigher *w, const double *features, double *row);
    void (*gradient)(const ex_weigher *w, const double *features, double *weights, double *rows, size_t stride);
    void (*sets_along)(const ex_weigher *w, const double *features, const double *direction, double *set_weights);
    void (*evaluate_point)(const ex_weigher *w, const double *clean, double *weights, void *state, void *scratch);
    size_t (*state_size)(const ex_weigher *w);
    size_t (*scratch_size)(const ex_weigher *w);
    /* has_sets: computes the weights in all sets at a query (weights may be NULL), and the weights at a pseudo-example
     * in every set, [set_weight_count], before the solve. */
    void (*evaluate_sets)(const ex_weigher *w, const double *features, double *weights, double *set_weights);
    void (*draw_sets)(ex_weigher *w, int pseudo, const double *set_weights);
    ex_result (*condition)(const ex_weigher *w, const ex_allocator *allocator, double *condition, ex_error *error);
    ex_ridge (*get_ridge)(const ex_weigher *w);
    void (*describe)(const ex_weigher *w, ex_weigher_def *def);
    ex_result (*edit)(const ex_weigher *w, const ex_edit *edits, int edit_count, const ex_allocator *allocator,
                      ex_weigher **edited, ex_error *error);
    bool (*is_sound_head)(const ex_weigher *w);
    bool (*is_sound)(const ex_weigher *w);
} exi_weigher_kind;

#define EXI_WEIGHER_EXTERN(id, word) extern const exi_weigher_kind exi_weigher_##word;
EX_WEIGHER_LIST(EXI_WEIGHER_EXTERN)
#undef EXI_WEIGHER_EXTERN

/* Beginning of a line in a kind's table of parameters: name, field of ex_weigher_def. */
#define EXI_PARAMETER(word, field)                                                                                     \
    .name = (word), .offset = offsetof(ex_weigher_def, field), .size = sizeof((ex_weigher_def *)0)->field
/* A table of parameters, as fields of ex_weigher_info. */
#define EXI_PARAMETERS(table) .parameters = (table), .parameter_count = (int)(sizeof(table) / sizeof(table)[0])

/* kinds.c. */
extern const exi_weigher_kind *const exi_weigher_kinds[EX_WEIGHER_COUNT];
/* Returns NULL if there is no such kind. */
static inline const exi_weigher_kind *exi_weigher_kind_of(uint32_t kind) {
    return kind < EX_WEIGHER_COUNT ? exi_weigher_kinds[kind] : NULL;
}
/* Number of parameters stored after the features, and the flags that a head of the kind may have, besides ANGULAR. */
int exi_own_parameter_count(uint32_t kind);
uint32_t exi_weigher_flags(uint32_t kind);
/* Copy the parameters of a definition into a head, and the others into a block; copy all of them back; and check that
 * those of a block from a file are in their ranges. */
void exi_parameters_to_head(ex_weigher *head, const ex_weigher_def *def);
void exi_parameters_store(ex_weigher *w, const ex_weigher_def *def);
void exi_parameters_describe(const ex_weigher *w, ex_weigher_def *def);
bool exi_parameters_are_sound(const ex_weigher *w);

/* limits.c: true if some axis holds or fades; fills the table at the end of a block; checks one from a file. */
bool exi_limits_needed(const exi_weigher_kind *kind, const ex_axis *axes, int axis_count);
void exi_limits_set(ex_weigher *w);
bool exi_limits_are_sound(const ex_weigher *w);

/* convex_edit.c: edits, which change the width of its axis. convex.c: scratch that is enough for any convex weigher of
 * that many examples, whatever their databases. */
ex_result exi_convex_edit(const ex_weigher *w, const ex_edit *edits, int edit_count, const ex_allocator *allocator,
                          ex_weigher **edited, ex_error *error);
size_t exi_convex_scratch_size(int example_count);

/* Points nearer than this fraction of the largest distance between any two are at the same place. */
#define EXI_ONE_PLACE 1e-9
/* Writes the error for points i and j that are. names may be NULL. */
ex_result exi_same_place(const ex_weigher *w, const char *const *names, int i, int j, ex_error *error);
/* Computes the distance of each point to its nearest other point, in nearest [n] (1 for a single point), and all
 * distances [n][n]. Refuses points at the same place. */
ex_result exi_measure_places(const ex_weigher *w, const char *const *names, double *distances, double *nearest,
                             ex_error *error);
/* "example 'bent'", "pseudo-example 2". names may be NULL. */
void exi_point_text(const char *const *names, int example_count, int point, char *text, size_t size);
/* Checks every pair of points: the whole solve of kinds that keep nothing. */
ex_result exi_check_places(ex_weigher *w, const char *const *names, const ex_allocator *allocator, ex_error *error);

/* Adds share times the weights of a point to weights; a pseudo-example's share goes to its row. */
void exi_spread_share(const ex_weigher *w, int point, double share, double *weights);

/* ex_weigher_create for an edit of `old`, NULL for none. origins is that of a kind's resolve. */
ex_result exi_weigher_create_from(const ex_weigher_def *def, const ex_weigher *old, const int *origins,
                                  const ex_allocator *allocator, ex_weigher **weigher, ex_error *error);

/* Sets every offset from the counts. Returns false if the size overflows. */
bool exi_weigher_layout(ex_weigher *w);

/* Checks a weigher from a file (`size` bytes, aligned to 8). */
ex_result exi_weigher_validate(const ex_weigher *w, size_t size, ex_error *error);

#endif
