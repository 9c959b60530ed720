/*
 * Places markers that the reference scan does not show.
 *
 * Once poses are known, every unrecognised marker has a position in the frame of each joint. A marker painted on a
 * joint's bone has the same position in its frame in all scans that show it; in the frame of another joint it moves as
 * soon as that turns. So for each joint and colour with missing sites, this finds the position around which markers of
 * the most scans lie, takes the best of all these, and repeats. Markers of the same colour on one bone cannot be told
 * apart: they are placed, but doubtful.
 */
#include "author/scan/label/label_scans.h"

#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <exemplar/author/colour.h>

#include <string.h>

#define RADIUS 0.02               /* metres within which markers are the same */
#define REACH  0.5                /* metres from the joint: no bone is longer */
#define ALIKE  0.15               /* colour distance, in OKLab */
enum { LEAST = 4, DECISIVE = 3 }; /* scans that have to agree; lead over another bone */

/* A found marker that was not recognised. */
typedef struct spare {
    int scan, found;
    bool used;
    int like; /* a site of the nearest colour, -1: none is near */
} spare;

typedef struct cluster {
    double place[3];
    int count; /* number of scans */
} cluster;

typedef struct hunt {
    exi_label_run *run;
    spare *spares; /* by scan */
    int spare_count;
    double (*rotations)[4], (*places)[3]; /* [scan][joint] */
    double (*locals)[3];                  /* [spare]: in the frame of the current joint */
    int *fits;                            /* [fit_count] spares of its colour within reach, by scan */
    int fit_count;
    bool *members; /* [spare]: true if at the current place */
} hunt;

static void to_lab(const double colour[3], double lab[3]) {
    unsigned char code[3];
    for (int c = 0; c < 3; c++)
        code[c] = (unsigned char)(colour[c] > 0 ? (colour[c] < 255 ? colour[c] + 0.5 : 255) : 0);
    ex_colour_to_oklab((ex_colour){code[0], code[1], code[2], 1}, lab);
}

/* Returns the site with the nearest colour, or -1. */
static int find_like(const exi_label_run *run, const double colour[3]) {
    double lab[3], site[3], least = ALIKE * ALIKE;
    int nearest = -1;
    to_lab(colour, lab);
    for (int s = 0; s < run->kinematics->site_count; s++) {
        if (run->colours[s][0] < 0)
            continue;
        to_lab(run->colours[s], site);
        const double light = 0.5 * (lab[0] - site[0]), a = lab[1] - site[1], b = lab[2] - site[2];
        if (light * light + a * a + b * b < least) {
            least = light * light + a * a + b * b;
            nearest = s;
        }
    }
    return nearest;
}

static void find_spares(hunt *h) {
    const exi_label_run *run = h->run;
    h->spare_count = 0;
    for (int i = 0; i < run->def->scan_count; i++)
        for (int f = 0; f < run->def->scans[i].found_count && run->good[i]; f++) {
            const ex_label *label = &run->labels[i][f];
            if (run->known[i][f] >= 0 || (label->site >= 0 && label->confidence > 0.5))
                continue;
            h->spares[h->spare_count++] =
                (spare){.scan = i, .found = f, .like = find_like(run, run->def->scans[i].found[f].colour)};
        }
}

/* Computes, around one place, the mean of the nearest spare of every scan, and the number of scans that have one. */
static cluster gather(const hunt *h, const double around[3], double *spread) {
    cluster c = {.count = 0};
    double sum[3] = {0, 0, 0}, squares = 0;
    for (int i = 0; i < h->fit_count;) {
        const int scan = h->spares[h->fits[i]].scan;
        double least = RADIUS * RADIUS;
        int nearest = -1;
        for (; i < h->fit_count && h->spares[h->fits[i]].scan == scan; i++) {
            double apart[3];
            exi_subtract(h->locals[h->fits[i]], around, apart);
            if (exi_dot3(apart, apart) < least) {
                least = exi_dot3(apart, apart);
                nearest = h->fits[i];
            }
        }
        if (nearest < 0)
            continue;
        c.count++;
        squares += least;
        for (int x = 0; x < 3; x++)
            sum[x] += h->locals[nearest][x];
    }
    for (int x = 0; x < 3 && c.count > 0; x++)
        c.place[x] = sum[x] / c.count;
    *spread = c.count > 0 ? squares / c.count : 0;
    return c;
}

/* Finds spares that may be this site, in the frame of its joint. */
static void find_fits(hunt *h, int site) {
    const exi_label_run *run = h->run;
    const int joint = run->kinematics->sites[site].joint;
    const bool coloured = run->colours[site][0] >= 0;
    h->fit_count = 0;
    for (int i = 0; i < h->spare_count; i++) {
        const spare *s = &h->spares[i];
        const size_t frame = (size_t)s->scan * (size_t)run->kinematics->joint_count + (size_t)joint;
        const double *q = h->rotations[frame], back[4] = {-q[0], -q[1], -q[2], q[3]};
        if (s->used || (coloured && (s->like < 0 || memcmp(run->kinematics->sites[s->like].colour,
                                                           run->kinematics->sites[site].colour, 3) != 0)))
            continue;
        exi_subtract(run->def->scans[s->scan].found[s->found].position, h->places[frame], h->locals[i]);
        exi_rotate(back, h->locals[i], h->locals[i]);
        if (exi_dot3(h->locals[i], h->locals[i]) < REACH * REACH)
            h->fits[h->fit_count++] = i;
    }
}

/* Finds the place that most scans agree on, for a site's joint and colour. */
static cluster find_cluster(hunt *h, int site) {
    double least = 0;
    cluster best = {.count = 0};
    find_fits(h, site);
    for (int i = 0; i < h->fit_count; i++) {
        double spread;
        const cluster c = gather(h, h->locals[h->fits[i]], &spread);
        if (c.count < best.count || (c.count == best.count && spread >= least))
            continue;
        best = c;
        least = spread;
    }
    if (best.count > 0)
        best = gather(h, (double[3]){best.place[0], best.place[1], best.place[2]}, &least);
    return best;
}

static bool is_there(const hunt *h, int number, const cluster *c) {
    double apart[3];
    exi_subtract(h->locals[number], c->place, apart);
    return exi_dot3(apart, apart) < RADIUS * RADIUS;
}

/* Records the spares at a place, and removes them from the candidates. */
static void take(hunt *h, int site, const cluster *c) {
    find_fits(h, site);
    memset(h->members, 0, (size_t)h->spare_count * sizeof *h->members);
    for (int i = 0; i < h->fit_count; i++)
        if (is_there(h, h->fits[i], c))
            h->members[h->fits[i]] = h->spares[h->fits[i]].used = true;
}

static bool painted_alike(const exi_label_run *run, int a, int b) {
    const ex_site *s = &run->kinematics->sites[a], *t = &run->kinematics->sites[b];
    return s->joint == t->joint && memcmp(s->colour, t->colour, 3) == 0;
}

/* True if another bone with a missing marker of this colour would fit as well, since it hardly turns relative to this
 * one: the taken spares coincide in its frame too, except for fewer scans than chance allows. */
static bool has_rival(hunt *h, int site, int count) {
    const ex_kinematics *k = h->run->kinematics;
    for (int s = 0; s < k->site_count; s++) {
        int shared = 0;
        if (k->sites[s].placed || k->sites[s].joint == k->sites[site].joint ||
            memcmp(k->sites[s].colour, k->sites[site].colour, 3) != 0)
            continue;
        for (int i = 0; i < h->spare_count; i++)
            h->spares[i].used = h->spares[i].used != h->members[i];
        const cluster c = find_cluster(h, s);
        for (int i = 0; i < h->fit_count; i++)
            shared += h->members[h->fits[i]] && is_there(h, h->fits[i], &c);
        for (int i = 0; i < h->spare_count; i++)
            h->spares[i].used = h->spares[i].used != h->members[i];
        if (shared + DECISIVE > count)
            return true;
    }
    return false;
}

static void place_unseen(hunt *h) {
    exi_label_run *run = h->run;
    ex_kinematics *k = run->kinematics;
    for (;;) {
        cluster best = {.count = 0};
        int site = -1;
        for (int s = 0; s < k->site_count; s++) {
            bool told = k->sites[s].placed;
            for (int t = 0; t < s && !told; t++) /* one of those painted alike stands for all */
                told = !k->sites[t].placed && painted_alike(run, s, t);
            const cluster c = told ? (cluster){.count = 0} : find_cluster(h, s);
            if (c.count > best.count) {
                best = c;
                site = s;
            }
        }
        if (site < 0 || best.count < LEAST)
            return;
        take(h, site, &best);
        run->doubtful[site] = has_rival(h, site, best.count);
        for (int s = 0; s < k->site_count; s++)
            if (s != site && painted_alike(run, s, site) && (!k->sites[s].placed || run->doubtful[s]))
                run->doubtful[site] = true;
        k->sites[site].placed = true;
        memcpy(k->sites[site].local, best.place, sizeof best.place);
        run->sigmas[site] = 0.01;
    }
}

ex_result exi_label_unseen(exi_label_run *run, ex_error *error) {
    const size_t scans = (size_t)run->def->scan_count, joints = (size_t)run->kinematics->joint_count;
    size_t found = 0;
    hunt h = {.run = run};
    for (size_t i = 0; i < scans; i++)
        found += (size_t)run->def->scans[i].found_count;
    h.spares = exi_arena_allocate(run->arena, found, sizeof *h.spares);
    h.locals = exi_arena_allocate(run->arena, found, sizeof *h.locals);
    h.fits = exi_arena_allocate(run->arena, found, sizeof *h.fits);
    h.members = exi_arena_allocate(run->arena, found, sizeof *h.members);
    h.rotations = exi_arena_allocate(run->arena, scans * joints, sizeof *h.rotations);
    h.places = exi_arena_allocate(run->arena, scans * joints, sizeof *h.places);
    if (!h.spares || !h.locals || !h.fits || !h.members || !h.rotations || !h.places)
        return ex_error_memory(error, "markers that were not recognised", found * sizeof *h.spares);
    for (size_t i = 0; i < scans; i++)
        ex_kin_frames(run->kinematics, &run->poses[i], h.rotations + i * joints, h.places + i * joints);
    find_spares(&h);
    place_unseen(&h);
    return EX_OK;
}
