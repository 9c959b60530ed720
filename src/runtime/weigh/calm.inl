/*
 * Kernel and bound of the calm weigher (calm.c), which uses the tables of the cardinal one (cardinal.inl); where that
 * has inverse radii, this one has the radii within which a kernel is rounded. Common subset of C and CUDA.
 */
#ifndef EXI_CALM_INL
#define EXI_CALM_INL

#include "runtime/weigh/cardinal.inl"

/* A weight is left alone up to this share of the bound, and is bent towards the bound beyond it. */
#define EXI_CALM_KNEE 0.75
/* Below this bound, weights are also drawn towards 0 and 1, so that slopes vanish at examples. At 0 they do. */
#define EXI_CALM_FREE 0.05
/* Weights that are small compared with this are drawn most. */
#define EXI_CALM_DRAW 0.1

/* After the cardinal tables: the bound in use, which a pseudo-example's given weights may have raised. */
EXI_INLINE double *exi_calm_bound(const ex_weigher *w) {
    const size_t n = (size_t)exi_point_count(w), m = (size_t)w->example_count;
    return exi_cardinal_tables(w).radial + n * m;
}

/* The distance, rounded within `radius` so that value, slope and curvature agree there and the slope at 0 vanishes. */
EXI_INLINE double exi_calm_kernel(double distance, double radius) {
    if (distance >= radius)
        return distance;
    const double t = distance / radius, t2 = t * t;
    return radius * (0.375 + t2 * (0.75 - 0.125 * t2));
}

/* x up to the knee, then bent so that it stays below limit. The slope is continuous. */
EXI_INLINE double exi_calm_bend(double x, double limit) {
    const double knee = EXI_CALM_KNEE * limit;
    if (!(x > knee))
        return x;
    const double room = limit - knee, past = x - knee;
    return knee + room * past / (room + past);
}

/* Sums over the weights of a query, and over the remainder, 1 - (sum of weights): what rest has. */
typedef struct exi_calm_sums {
    double plus, squares; /* sum and sum of squares of what is above 0 */
    double minus;         /* sum of what is below 0, bent, as a positive number */
    double lowest;        /* the lowest weight */
} exi_calm_sums;

EXI_INLINE void exi_calm_add(exi_calm_sums *sums, double weight, double bound) {
    if (weight >= 0) {
        sums->plus += weight;
        sums->squares += weight * weight;
    } else {
        sums->minus += exi_calm_bend(-weight, bound);
    }
    sums->lowest = weight < sums->lowest ? weight : sums->lowest;
}

/* Change of weights that keeps them within the bound. */
typedef struct exi_calm_change {
    double bound, soft_plus, soft_minus; /* the bound, and where small weights begin to be changed */
    double less;                         /* share by which what is below 0 is diminished */
    double scale;                        /* what is above 0 is diminished by scale times exi_calm_small */
    double free;                         /* share of the weights so changed; the rest are drawn towards 0 and 1 */
    double drawn;                        /* one over the sum of the drawn weights */
} exi_calm_change;

/* x for large x, x^2/soft for small: its slope vanishes at 0, so that changes by it have no corner there. */
EXI_INLINE double exi_calm_small(double x, double soft) {
    return x * x / (x + soft);
}

/* Returns the change, all but `scale` and `drawn`, which take another pass over the weights. */
EXI_INLINE exi_calm_change exi_calm_plan(const exi_calm_sums *sums, double bound, int count) {
    exi_calm_change c;
    const double freely = bound < EXI_CALM_FREE ? bound / EXI_CALM_FREE : 1;
    c.bound = bound < EXI_CALM_FREE ? EXI_CALM_FREE : bound;
    c.soft_plus = 0.5 / count < c.bound / 8 ? 0.5 / count : c.bound / 8;
    c.soft_minus = 0.25 * c.bound / count;
    /* All that is below 0 together is limited, too, by what the weights above 0 can make up for within the bound. */
    const double room = EXI_CALM_KNEE * c.bound * sums->plus * sums->plus / sums->squares;
    c.less = sums->minus > EXI_CALM_KNEE * room ? 1 - exi_calm_bend(sums->minus, room) / sums->minus : 0;
    c.scale = 0;
    c.free = freely;
    c.drawn = 0;
    return c;
}

/* True if the weights stay as they are: nothing passes a knee. */
EXI_INLINE bool exi_calm_is_within(const exi_calm_sums *sums, double bound) {
    return bound >= EXI_CALM_FREE && sums->lowest >= -EXI_CALM_KNEE * bound &&
           sums->minus * sums->squares <= EXI_CALM_KNEE * EXI_CALM_KNEE * bound * sums->plus * sums->plus;
}

/* The rest of a weight below 0, as a positive number. */
EXI_INLINE double exi_calm_minus(const exi_calm_change *c, double weight) {
    const double y = exi_calm_bend(-weight, c->bound);
    return y - c->less * exi_calm_small(y, c->soft_minus);
}

/* The second pass: sums of what is left below 0, of what can be taken from above 0, and of the drawn weights. */
EXI_INLINE void exi_calm_measure(const exi_calm_change *c, double weight, double sums[3]) {
    if (weight < 0) {
        sums[0] += exi_calm_minus(c, weight);
        return;
    }
    sums[1] += exi_calm_small(weight, c->soft_plus);
    if (c->free < 1)
        sums[2] += exi_calm_small(weight, EXI_CALM_DRAW);
}

/* Completes a change: afterwards the weights and the remainder sum to 1 again. */
EXI_INLINE void exi_calm_finish(exi_calm_change *c, double plus, const double sums[3]) {
    const double excess = plus - sums[0] - 1;
    c->scale = excess > 0 && sums[1] > 0 ? excess / sums[1] : 0;
    c->drawn = sums[2] > 0 ? 1 / sums[2] : 0;
}

/* The third pass: a weight within the bound. */
EXI_INLINE double exi_calm_weight(const exi_calm_change *c, double weight) {
    const double bounded =
        weight < 0 ? -exi_calm_minus(c, weight) : weight - c->scale * exi_calm_small(weight, c->soft_plus);
    if (!(c->free < 1))
        return bounded;
    const double drawn = weight > 0 ? exi_calm_small(weight, EXI_CALM_DRAW) * c->drawn : 0;
    return c->free * bounded + (1 - c->free) * drawn;
}

#endif
