/*
 * Percentiles of more numbers than fit in memory: counts in bins 1 % wide, so that a percentile is known within 1 %
 * however many numbers there are. Also exact percentiles of few numbers.
 */
#include "author/drive/apply/apply.h"

#include <math.h>
#include <stdlib.h>

static const double smallest = 1e-8, ratio = 1.01;

void exi_histogram_add(exi_histogram *h, double value) {
    const double place = value > smallest ? 1 + log(value / smallest) / log(ratio) : 0;
    h->counts[place < EXI_HISTOGRAM_BINS ? (int)place : EXI_HISTOGRAM_BINS - 1]++;
    h->total++;
    h->sum += value;
}

double exi_histogram_percentile(const exi_histogram *h, double part) {
    const double wanted = part * (double)h->total;
    double below = 0;
    for (int bin = 0; bin < EXI_HISTOGRAM_BINS; bin++) {
        const double count = (double)h->counts[bin];
        if (count > 0 && below + count >= wanted) {
            const double inside = (wanted - below) / count;
            return bin == 0 ? smallest * inside : smallest * pow(ratio, bin - 1 + inside);
        }
        below += count;
    }
    return 0;
}

double exi_histogram_mean(const exi_histogram *h) {
    return h->total > 0 ? h->sum / (double)h->total : 0;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double exi_percentile(double *values, int count, double part) {
    if (count < 1)
        return 0;
    qsort(values, (size_t)count, sizeof *values, compare);
    const double at = part * (count - 1);
    const int below = (int)at;
    const int above = below + 1 < count ? below + 1 : below;
    return values[below] + (at - below) * (values[above] - values[below]);
}
