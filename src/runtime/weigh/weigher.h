/*
 * Weighers as their kinds see them: what every kind brings, what all of them share. block.h has the block itself.
 */
#ifndef EXI_WEIGHER_H
#define EXI_WEIGHER_H

#include "runtime/weigh/block.h"

/* space.c: axes checked and recorded, points turned into features. */
ex_result exi_axis_check(const ex_axis *axis, int index, ex_error *error);
exi_axis_record exi_axis_store(const ex_axis *axis, bool angular);
ex_axis exi_axis_restore(const exi_axis_record *record);
/* Whether two axes of one name can share an input: both numbers or both rotations, and the same rest. */
bool exi_axis_is_same_input(const ex_axis *a, const ex_axis *b);
/* Copies a point, with non-finite scalars at rest, zero quaternions the identity, quaternions of length 1, limits kept.
 */
void exi_point_clean(const ex_weigher *w, const double *point, double *clean);
void exi_point_features(const ex_weigher *w, const double *clean, double *features);
_Static_assert(EX_CONVEX_MAX + 1 <= EXI_FEATURE_MAX, "a driver's point must fit on the stack");

/*
 * A kind of weigher (docs/adding-a-weigher.md).
 * check: parameters of the definition that only this kind has. own_count: doubles in its own tables, NULL for none.
 * solve: fills them when everything before `own` is there; refuses points at one place. evaluate: features of the query
 * to weights; NULL for a kind without points, whose weights are the cleaned point.
 */
typedef struct exi_weigher_kind {
    bool has_points; /* direct has none */
    bool angular;    /* measures rotations by angle (shepard, nearest), not by chord (what keeps kernels definite) */
    ex_result (*check)(const ex_weigher_def *def, ex_error *error);
    size_t (*own_count)(const ex_weigher *w);
    ex_result (*solve)(ex_weigher *w, const char *const *names, const ex_allocator *allocator, ex_error *error);
    void (*evaluate)(const ex_weigher *w, const double *features, double *weights);
} exi_weigher_kind;

extern const exi_weigher_kind exi_weigher_cardinal, exi_weigher_direct, exi_weigher_shepard, exi_weigher_nearest,
    exi_weigher_gaussian, exi_weigher_convex;

/* cardinal.c: see ex_weigher_condition. */
ex_result exi_cardinal_condition(const ex_weigher *w, const ex_allocator *allocator, double *condition,
                                 ex_error *error);

/* convex.c: weights at a cleaned point; state and scratch may be NULL. Whether its own tables are sound. And edits,
 * which change the width of its axis (convex_edit.c). */
void exi_convex_evaluate(const ex_weigher *w, const double *clean, double *weights, void *state, void *scratch);
/* Scratch that is enough for any weigher of so many examples, whatever their databases. */
size_t exi_convex_scratch_size(int example_count);
bool exi_convex_is_sound(const ex_weigher *w);
ex_result exi_convex_edit(const ex_weigher *w, const ex_edit *edits, int edit_count, const ex_allocator *allocator,
                          ex_weigher **edited, ex_error *error);

/* gaussian.c: the parameters that every point has of its own, and the sets: counted into a head, given back, copied
 * from a definition; and the evaluation of sets. weights may be NULL. */
void exi_gaussian_head(ex_weigher *head, const ex_weigher_def *def);
void exi_gaussian_describe(const ex_weigher *w, ex_weigher_def *def);
void exi_gaussian_store(ex_weigher *w, const ex_weigher_def *def);
void exi_gaussian_evaluate_sets(const ex_weigher *w, const double *features, double *weights, double *set_weights);
/* gaussian_solve.c: what holds at pseudo-example `pseudo` in every set [set_weight_count], before the solve. */
void exi_gaussian_set_drawn(ex_weigher *w, int pseudo, const double *set_weights);
ex_result exi_gaussian_condition(const ex_weigher *w, const ex_allocator *allocator, double *condition,
                                 ex_error *error);

/* Points nearer than this part of the largest distance between any two are at one place. */
#define EXI_ONE_PLACE 1e-9
/* The sentence for points i and j that are. names may be NULL. */
ex_result exi_same_place(const ex_weigher *w, const char *const *names, int i, int j, ex_error *error);
/* The distance of each point to its nearest other one, in nearest [n] (1 for a single point), and all of them
 * [n][n]; refuses points at one place. */
ex_result exi_measure_places(const ex_weigher *w, const char *const *names, double *distances, double *nearest,
                             ex_error *error);
/* "example 'bent'", "pseudo-example 2". names may be NULL. */
void exi_point_text(const char *const *names, int example_count, int point, char *text, size_t size);
/* Looks at every pair: the whole solve of kinds that keep nothing. */
ex_result exi_check_places(ex_weigher *w, const char *const *names, const ex_allocator *allocator, ex_error *error);

/* weights = sum over points of share[i] of point i, where a pseudo-example's share goes to its row. */
void exi_spread_share(const ex_weigher *w, int point, double share, double *weights);

/* Sets every offset from the counts; false where the size overflows. */
bool exi_weigher_layout(ex_weigher *w);

/* Whether a weigher that came from a file (`size` bytes, aligned to 8) is sound. */
ex_result exi_weigher_validate(const ex_weigher *w, size_t size, ex_error *error);

#endif
