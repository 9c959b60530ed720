/*
 * label.h - recognising markers: the parts of ex_label_markers and ex_label_scans; private to authoring.
 *
 *   label_body.c    the body as loosely connected rigid parts
 *   label_step.c    the pose from matched markers, by Gauss-Newton
 *   label_others.c  predicts one marker from all others
 *   label_match.c   fit of a found marker to a site; probabilities of one-to-one matchings
 *   label_part.c    candidate places of one part, from found markers of the right colours and distances
 *   label_search.c  whole poses, part by part down the tree
 *   label.c         labels and their confidence from poses
 *
 * Bones and axes are not known well before they are fitted, so each part is a rigid body (six unknowns) held at its
 * joint by springs: its centre at the parent's prediction, its axis along the parent's.
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_LABEL_LABEL_H
#define EXEMPLAR_AUTHOR_SCAN_LABEL_LABEL_H

#include "author/base/arena.h"

#include <exemplar/author/scan.h>

/* ---- the body ---- */

typedef struct exi_label_part {
    int joint;  /* the joint that turns it; joints below that are not solved belong to the part too */
    int parent; /* part; -1 for the first */
    ex_freedom freedom;
    double centre[3]; /* of its joint, relative to the parent's, at the reference pose */
    double axis[3];
    double least, most; /* radians; both 0: any */
    int first, count;   /* range of its sites in exi_label_body.sites */
} exi_label_part;

/* A marker to look for. */
typedef struct exi_label_site {
    int site, part;
    double local[3]; /* relative to the part's joint, at the reference pose */
    double variance; /* of its distance from there, along each axis */
    double peak;     /* log of the density that this gives there, relative to that of markers that are not sites */
    double lab[3];   /* its colour */
    bool coloured;
    int first, count; /* range of found markers of its colour, in exi_label_body.alike */
} exi_label_site;

typedef struct exi_label_body {
    const ex_label_def *def;
    double slack, tilt; /* metres, radians */
    int part_count;
    exi_label_part *parts;
    int *part_of;          /* [joint_count] */
    double (*at)[3];       /* [joint_count]: position of the joint relative to its part's, at the reference pose */
    int site_count;        /* placed ones only */
    exi_label_site *sites; /* by part */
    double *colour_gains;  /* [site_count][found_count] */
    int *alike;
    double density;                    /* of markers that are not sites, per cubic metre */
    struct exi_label_match *matches;   /* [site_count] shared work memory, as are */
    int *taken;                        /* [found_count] */
    struct exi_label_place *elsewhere; /* [part_count] */
} exi_label_body;

ex_result exi_label_body_create(const ex_label_def *def, exi_arena *arena, exi_label_body *body, ex_error *error);

/* A hypothetical place of a part. */
typedef struct exi_label_place {
    double rotation[4];
    double at[3]; /* of its joint, in the world */
} exi_label_place;

/* Computes the part's place from its parent's, turned by `turn` (of the joint, as in ex_kin_pose). */
void exi_label_hang(const exi_label_body *body, int part, const exi_label_place *parent, const double turn[4],
                    exi_label_place *place);
/* Computes the rotation of a part's joint relative to its parent. */
void exi_label_turn(const exi_label_body *body, int part, const exi_label_place *places, double turn[4]);
/* Convert a pose to the places of all parts [part_count], and back; joints that are not solved are not turned. */
void exi_label_from_pose(const exi_label_body *body, const ex_kin_pose *pose, exi_label_place *places);
void exi_label_to_pose(const exi_label_body *body, const exi_label_place *places, ex_kin_pose *pose);
void exi_label_predict(const exi_label_site *site, const exi_label_place *place, double position[3]);
/* True if a search cannot tell two places of a part apart. */
bool exi_label_same(const exi_label_place *a, const exi_label_place *b, double metres, double radians);

/* ---- the pose ---- */

/* A found marker matched to a site; weight from 0 to 1. */
typedef struct exi_label_match {
    int site, found; /* of body->sites */
    double weight;
} exi_label_match;

/*
 * Takes one step of Gauss-Newton towards the matched markers, with springs at the joints and weak ones towards `start`,
 * for the parts before part_count only. widen multiplies all variances of markers. work: exi_label_step_size numbers.
 * If `inverse` is set, work then begins with the inverse of the normal equations [6 part_count][6 part_count] (a part's
 * rotation, then its translation). Returns the length of the step (metres, radians: the largest); below 0 if the
 * equations cannot be solved.
 */
size_t exi_label_step_size(const exi_label_body *body);
double exi_label_step(const exi_label_body *body, const exi_label_place *start, const exi_label_match *matches,
                      int match_count, double widen, int part_count, exi_label_place *places, bool inverse,
                      double *work);
/* The same for one part, attached at `hung`. */
void exi_label_part_step(const exi_label_body *body, int part, const exi_label_place *hung,
                         const exi_label_match *matches, int match_count, double widen, exi_label_place *place);
/* Returns the energy of the springs: half of their squares. */
double exi_label_strain(const exi_label_body *body, const exi_label_place *start, const exi_label_place *places,
                        int part_count);

/* The effect of one found marker's own match on the pose, to be removed. */
typedef struct exi_label_own {
    int part; /* -1: none */
    double arm[3];
    double less[3][3]; /* (W^-1 - J S J^T)^-1 */
    double back[3];    /* (1 + less J S J^T) W r */
} exi_label_own;

/* inverse, places and matches are from the last exi_label_step, which must have converged. */
void exi_label_find_own(const exi_label_body *body, const double *inverse, const exi_label_place *places,
                        const exi_label_match *matches, int match_count, int found, exi_label_own *own);
/* Predicts a site without that marker, and its uncertainty. */
void exi_label_expect(const exi_label_body *body, const double *inverse, const exi_label_place *places,
                      const exi_label_own *own, int s, double at[3], double c[3][3]);
/* Computes the inverse of a symmetric positive definite matrix; returns its determinant, 0 if it is not one. */
double exi_label_invert3(const double m[3][3], double inverse[3][3]);

/* ---- matching ---- */

/* Returns the log of the likelihood ratio that a found marker at this distance is the site to its being none; variances
 * are widened, and wide is exi_label_wide of that. */
double exi_label_gain(const exi_label_body *body, int site, int found, double distance_sq, double widen, double wide);
double exi_label_wide(double widen);

/* Matches sites of parts [first, end) and found markers that are each other's best; returns the sum of gains. matches
 * has room for all those sites. taken [found_count] is scratch. */
double exi_label_mutual(const exi_label_body *body, int first, int end, const exi_label_place *places, double widen,
                        exi_label_match *matches, int *match_count, int *taken);

/* A found marker and a candidate site. */
typedef struct exi_label_pair {
    int site, found; /* pairs are sorted by found */
    double odds;     /* relative to both being unmatched */
    double probability;
} exi_label_pair;

/*
 * Computes probabilities of all pairs, each found marker being at most one site and each site at most one found marker:
 * belief propagation, whose fixed point is near the true marginals. work: 2 pair_count + site_count + found_count.
 */
void exi_label_marginals(exi_label_pair *pairs, int pair_count, int site_count, int found_count, int rounds,
                         double *work);

/* ---- search ---- */

/* Finds places [most] of a part attached at `hung`, turned to match found markers, the best first, none near another.
 * Returns their number. */
int exi_label_turns(const exi_label_body *body, int part, const exi_label_place *hung, int most,
                    exi_label_place *places);
/* The same for places of a part in the world, from three markers. */
int exi_label_triples(const exi_label_body *body, int part, int most, exi_label_place *places);

/* A hypothetical pose and its score. */
typedef struct exi_label_guess {
    exi_label_place *places; /* [part_count] */
    int start;               /* the start near which it is held */
    double score;
} exi_label_guess;

/* Finds the best guesses [most], places allocated; starts [start_count][part_count]. Returns their number, -1 without
 * memory. */
int exi_label_search(const exi_label_body *body, const exi_label_place *starts, int start_count, int most,
                     exi_label_guess *guesses, exi_arena *arena);

#endif
