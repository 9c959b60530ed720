/*
 * label.h - recognising markers: the parts of ex_label_markers and ex_label_scans; private to authoring.
 *
 *   label_body.c    the body as rigid parts that hang together loosely
 *   label_step.c    its pose from matched markers, by Gauss-Newton
 *   label_others.c  what all other markers say about one
 *   label_match.c   how well a found marker fits a site; probabilities of one-to-one matchings
 *   label_part.c    places of one part that found markers of the right colours and distances suggest
 *   label_search.c  whole poses, part by part down the tree
 *   label.c         from poses to labels with their confidence
 *
 * Bones and axes are not known well before they are fitted, so a part is a rigid body of its own (six unknowns) that is
 * held at its joint by springs: its centre where the parent has it, its axis along the parent's.
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_LABEL_LABEL_H
#define EXEMPLAR_AUTHOR_SCAN_LABEL_LABEL_H

#include "author/base/arena.h"

#include <exemplar/author/scan.h>

/* ---- the body ---- */

typedef struct exi_label_part {
    int joint;  /* that turns it; the joints below that are not solved are of the part too */
    int parent; /* part; -1 for the first */
    ex_freedom freedom;
    double centre[3]; /* of its joint, as seen from the parent's, at the reference pose */
    double axis[3];
    double least, most; /* radians; both 0: any */
    int first, count;   /* of its sites in exi_label_body.sites */
} exi_label_part;

/* A marker that is looked for. */
typedef struct exi_label_site {
    int site, part;
    double local[3]; /* from the part's joint, at the reference pose */
    double variance; /* of its distance from there, along each axis */
    double peak;     /* the logarithm of the density that this gives there, over that of markers that are no site */
    double lab[3];   /* its colour */
    bool coloured;
    int first, count; /* found markers that have its colour, in exi_label_body.alike */
} exi_label_site;

typedef struct exi_label_body {
    const ex_label_def *def;
    double slack, tilt; /* metres, radians */
    int part_count;
    exi_label_part *parts;
    int *part_of;          /* [joint_count] */
    double (*at)[3];       /* [joint_count]: of the joint, as seen from its part's, at the reference pose */
    int site_count;        /* placed ones alone */
    exi_label_site *sites; /* by part */
    double *colour_gains;  /* [site_count][found_count] */
    int *alike;
    double density;                    /* of markers that are none of the sites, in a cubic metre */
    struct exi_label_match *matches;   /* [site_count] for whoever needs them for a while, as are */
    int *taken;                        /* [found_count] */
    struct exi_label_place *elsewhere; /* [part_count] */
} exi_label_body;

ex_result exi_label_body_create(const ex_label_def *def, exi_arena *arena, exi_label_body *body, ex_error *error);

/* Where a part is supposed to be. */
typedef struct exi_label_place {
    double rotation[4];
    double at[3]; /* of its joint, in the world */
} exi_label_place;

/* The part's place as its parent has it, turned by `turn` (of the joint, as in ex_kin_pose). */
void exi_label_hang(const exi_label_body *body, int part, const exi_label_place *parent, const double turn[4],
                    exi_label_place *place);
/* The rotation of a part's joint in relation to its parent. */
void exi_label_turn(const exi_label_body *body, int part, const exi_label_place *places, double turn[4]);
/* All parts [part_count] as a pose has them; and back: joints that are not solved are not turned. */
void exi_label_from_pose(const exi_label_body *body, const ex_kin_pose *pose, exi_label_place *places);
void exi_label_to_pose(const exi_label_body *body, const exi_label_place *places, ex_kin_pose *pose);
void exi_label_predict(const exi_label_site *site, const exi_label_place *place, double position[3]);
/* Whether two places of a part are the same for a search, as far as that can tell. */
bool exi_label_same(const exi_label_place *a, const exi_label_place *b, double metres, double radians);

/* ---- the pose ---- */

/* A found marker taken for a site; weight from 0 to 1. */
typedef struct exi_label_match {
    int site, found; /* of body->sites */
    double weight;
} exi_label_match;

/*
 * One step of Gauss-Newton towards the matched markers, all variances of which are multiplied by widen, with springs at
 * the joints and weak ones towards `start`, of the parts before part_count alone. work: exi_label_step_size numbers.
 * Where `inverse` is set, work then begins with the inverse of the normal equations [6 part_count][6 part_count] (a
 * part's turn, then its move). Returns how far it went (metres, radians: the largest); below 0 where the equations
 * cannot be solved.
 */
size_t exi_label_step_size(const exi_label_body *body);
double exi_label_step(const exi_label_body *body, const exi_label_place *start, const exi_label_match *matches,
                      int match_count, double widen, int part_count, exi_label_place *places, bool inverse,
                      double *work);
/* The same for one part that hangs at `hung`. */
void exi_label_part_step(const exi_label_body *body, int part, const exi_label_place *hung,
                         const exi_label_match *matches, int match_count, double widen, exi_label_place *place);
/* What the springs hold: half of their squares. */
double exi_label_strain(const exi_label_body *body, const exi_label_place *start, const exi_label_place *places,
                        int part_count);

/* What one found marker's own match does to the pose, to be taken out. */
typedef struct exi_label_own {
    int part; /* -1: nothing */
    double arm[3];
    double less[3][3]; /* (W^-1 - J S J^T)^-1 */
    double back[3];    /* (1 + less J S J^T) W r */
} exi_label_own;

/* inverse, places and matches are of the last exi_label_step, which has to have come to rest. */
void exi_label_find_own(const exi_label_body *body, const double *inverse, const exi_label_place *places,
                        const exi_label_match *matches, int match_count, int found, exi_label_own *own);
/* Where a site is without that marker, and how uncertain that is. */
void exi_label_expect(const exi_label_body *body, const double *inverse, const exi_label_place *places,
                      const exi_label_own *own, int s, double at[3], double c[3][3]);
/* The inverse of a symmetric positive matrix; its determinant, 0 where it is none. */
double exi_label_invert3(const double m[3][3], double inverse[3][3]);

/* ---- matching ---- */

/* The logarithm of how much likelier it is that a found marker is this site, so far away, than that it is none;
 * variances are widened, and wide is exi_label_wide of that. */
double exi_label_gain(const exi_label_body *body, int site, int found, double distance_sq, double widen, double wide);
double exi_label_wide(double widen);

/* Sites of parts [first, end) and found markers that like each other best; the sum of gains. matches has room for all
 * those sites. taken [found_count] is scratch. */
double exi_label_mutual(const exi_label_body *body, int first, int end, const exi_label_place *places, double widen,
                        exi_label_match *matches, int *match_count, int *taken);

/* A found marker and a site that it may be. */
typedef struct exi_label_pair {
    int site, found; /* pairs are sorted by found */
    double odds;     /* against both being matched by none */
    double probability;
} exi_label_pair;

/*
 * Probabilities of all pairs, each found marker being at most one site and each site at most one found marker: belief
 * propagation, whose fixed point is near the true marginals. work: 2 pair_count + site_count + found_count.
 */
void exi_label_marginals(exi_label_pair *pairs, int pair_count, int site_count, int found_count, int rounds,
                         double *work);

/* ---- search ---- */

/* Places of a part that hangs at `hung` [most], turned as found markers suggest, the best first, none near another.
 * Returns how many. */
int exi_label_turns(const exi_label_body *body, int part, const exi_label_place *hung, int most,
                    exi_label_place *places);
/* Places of a part in the world from three markers, likewise. */
int exi_label_triples(const exi_label_body *body, int part, int most, exi_label_place *places);

/* A supposed pose and what speaks for it. */
typedef struct exi_label_guess {
    exi_label_place *places; /* [part_count] */
    int start;               /* near which it is held */
    double score;
} exi_label_guess;

/* The best guesses [most], places allocated; starts [start_count][part_count]. Returns how many, -1 without memory. */
int exi_label_search(const exi_label_body *body, const exi_label_place *starts, int start_count, int most,
                     exi_label_guess *guesses, exi_arena *arena);

#endif
