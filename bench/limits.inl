/*
 * bench/limits.inl - the loops of copy.c for one width of registers. Before it is included: NAME(x) names a function
 * for this width, TARGET is its attribute, LANES the number of floats in a register, SUMS how many multiply-adds are
 * under way at once, MULTIPLY_ADD(sum, factor) one of registers, WRITE_OUT what unrolls the next loop.
 */
typedef float NAME(wide) __attribute__((vector_size(LANES * sizeof(float))));

/* Two steps per turn: one after the other, or from the two halves. */
TARGET static float NAME(read)(const reading *r) {
    enum { WIDES = 6, STEP = WIDES * LANES };
    const size_t gap = r->two ? r->count / 2 : STEP, turn = r->two ? STEP : 2 * STEP;
    const float *end = r->two ? r->values + r->count / 2 : r->values + r->count;
    NAME(wide) first[WIDES] = {{0}}, second[WIDES] = {{0}};
    for (const float *values = r->values; values < end; values += turn) {
        WRITE_OUT
        for (int i = 0; i < WIDES; i++) {
            first[i] += *(const NAME(wide) *)(values + i * LANES);
            second[i] += *(const NAME(wide) *)(values + gap + i * LANES);
        }
    }
    float sum = 0;
    for (int i = 0; i < WIDES; i++)
        for (int k = 0; k < LANES; k++)
            sum += first[i][k] + second[i][k];
    return sum;
}

/* Returns how many it made. */
TARGET static double NAME(multiply)(volatile float *sink) {
    enum { TURNS = 10000 };
    NAME(wide) sums[SUMS], factor;
    for (int k = 0; k < LANES; k++)
        factor[k] = *sink;
    WRITE_OUT
    for (int i = 0; i < SUMS; i++)
        sums[i] = factor + (float)i;
    for (int turn = 0; turn < TURNS; turn++) {
        WRITE_OUT
        for (int i = 0; i < SUMS; i++)
            sums[i] = MULTIPLY_ADD(sums[i], factor);
    }
    float sum = 0;
    WRITE_OUT
    for (int i = 0; i < SUMS; i++)
        for (int k = 0; k < LANES; k++)
            sum += sums[i][k];
    *sink = sum > 2 ? 0.5f : 0.25f;
    return (double)TURNS * SUMS * LANES;
}

#undef NAME
#undef TARGET
#undef LANES
#undef SUMS
#undef MULTIPLY_ADD
