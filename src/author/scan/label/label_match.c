/*
 * Rates the fit of found markers to sites, and matches them.
 *
 * A found marker at distance d from its site's prediction has the density N(d) = exp(-d^2 / 2v) / (2 pi v)^1.5 there;
 * one that is not a site has the density of strays, wherever it is. Colours contribute another factor. The log of the
 * ratio is the gain.
 *
 * Marginals: with odds x_sf, the messages of belief propagation over the constraints "at most one" of every site and
 * every found marker come down to
 *
 *   a_sf = x_sf / (1 + sum over s' != s of b_s'f),   b_sf = x_sf / (1 + sum over f' != f of a_sf'),
 *
 * and the probability of a pair is a_sf b_sf / (x_sf + a_sf b_sf).
 */
#include "author/scan/label/label.h"

#include "runtime/base/vector.h"

#define KNOWN 40.0 /* the gain of a marker named by hand */

static bool is_known(const exi_label_body *body, int site, int found) {
    return body->def->known && body->def->known[found] == body->sites[site].site;
}

double exi_label_wide(double widen) {
    return 1.5 * log(widen);
}

double exi_label_gain(const exi_label_body *body, int site, int found, double distance_sq, double widen, double wide) {
    const double apart = 0.5 * distance_sq / (body->sites[site].variance * widen);
    if (is_known(body, site, found))
        return KNOWN - 0.01 * apart;
    return body->colour_gains[(size_t)site * (size_t)body->def->found_count + (size_t)found] + body->sites[site].peak -
           wide - apart;
}

double exi_label_mutual(const exi_label_body *body, int first, int end, const exi_label_place *places, double widen,
                        exi_label_match *matches, int *match_count, int *taken) {
    int count = 0;
    double sum = 0;
    const double wide = exi_label_wide(widen);
    for (int f = 0; f < body->def->found_count; f++)
        taken[f] = -1;
    for (int p = first; p < end; p++)
        for (int s = body->parts[p].first; s < body->parts[p].first + body->parts[p].count; s++) {
            const exi_label_site *site = &body->sites[s];
            double at[3], best = 0;
            int nearest = -1;
            exi_label_predict(site, &places[p], at);
            for (int i = site->first; i < site->first + site->count; i++) {
                const int f = body->alike[i];
                double apart[3];
                exi_subtract(body->def->found[f].position, at, apart);
                const double distance_sq = exi_dot3(apart, apart);
                if (distance_sq > 25 * site->variance * widen && !is_known(body, s, f))
                    continue;
                const double gain = exi_label_gain(body, s, f, distance_sq, widen, wide);
                if (gain > best) {
                    best = gain;
                    nearest = f;
                }
            }
            if (nearest < 0)
                continue;
            if (taken[nearest] < 0) {
                taken[nearest] = count;
                matches[count++] = (exi_label_match){s, nearest, best};
            } else if (matches[taken[nearest]].weight < best) {
                matches[taken[nearest]].site = s;
                matches[taken[nearest]].weight = best;
            }
        }
    for (int m = 0; m < count; m++) {
        sum += matches[m].weight;
        matches[m].weight = 1;
    }
    *match_count = count;
    return sum;
}

void exi_label_marginals(exi_label_pair *pairs, int pair_count, int site_count, int found_count, int rounds,
                         double *work) {
    double *a = work, *b = a + pair_count, *by_site = b + pair_count, *by_found = by_site + site_count;
    for (int i = 0; i < pair_count; i++)
        a[i] = b[i] = pairs[i].odds;
    for (int round = 0; round < rounds; round++) {
        for (int f = 0; f < found_count; f++)
            by_found[f] = 0;
        for (int i = 0; i < pair_count; i++)
            by_found[pairs[i].found] += b[i];
        for (int i = 0; i < pair_count; i++) {
            const double others = by_found[pairs[i].found] - b[i];
            a[i] = pairs[i].odds / (1 + (others > 0 ? others : 0));
        }
        for (int s = 0; s < site_count; s++)
            by_site[s] = 0;
        for (int i = 0; i < pair_count; i++)
            by_site[pairs[i].site] += a[i];
        for (int i = 0; i < pair_count; i++) {
            const double others = by_site[pairs[i].site] - a[i];
            b[i] = pairs[i].odds / (1 + (others > 0 ? others : 0));
        }
    }
    for (int i = 0; i < pair_count; i++)
        pairs[i].probability = a[i] * b[i] / (pairs[i].odds + a[i] * b[i]);
}
