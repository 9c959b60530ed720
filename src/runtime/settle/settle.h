/*
 * One frame that is settled, and one cluster in it. Private to settle.c and settle_kernel.c.
 */
#ifndef EXI_SETTLE_SETTLE_H
#define EXI_SETTLE_SETTLE_H

#include "runtime/settle/settler.h"

typedef struct exi_settling {
    const ex_settler *settler;
    const ex_settle_job *job; /* NULL: measuring */
    char *driven;             /* not written when measuring */
    size_t stride;
    char *scratch;
    uint32_t *kept; /* [vertex_count], of the state: 0, or 1 plus the closest triangle; NULL: none */
    /* Of the state, if bounds are kept; otherwise NULL: */
    uint32_t *waits;             /* [cluster_count]: 1 if bounds were of little use */
    float *least;                /* [vertex_count], by place: lower bounds of distances outside; 0: unknown */
    float *before;               /* [vertex_count][3], by place: positions to which they belong */
    const exi_patch_four *fours; /* motions since then; NULL: unknown */
    bool keeps;                  /* true if bounds are of use in many clusters */
    bool tries, tries_next;      /* true if clusters that wait try again in this frame, in the next */
    bool by_keys;                /* true if the residual is carried by keys */
    exi_motions motions;
    exi_push push;
    uint32_t *triangles; /* measuring */
    float *places, *distances;
} exi_settling;

/* Working data of a cluster. */
typedef struct exi_working {
    const exi_cluster *cluster;
    const uint32_t *order;     /* of its places */
    const uint32_t *triangles; /* of its set */
    float points[EXI_CLUSTER][3], gaps[EXI_CLUSTER];
    float room[EXI_CLUSTER];              /* the keys' gap; 0: unknown */
    const exi_bound *bounds[EXI_CLUSTER]; /* of the heaviest key; NULL: none */
    exi_near near;
} exi_working;

/* ---- settle_kernel.c ---- */

/* Finds the gaps of a cluster's points and their heaviest keys, and if `carried` moves them by the motions at their
 * places in the keys. Skips keys for which no point of the cluster has a weight. */
void exi_settle_keys(const exi_settling *s, exi_working *w, bool carried);
/* Moves a cluster's points by the motions where they are closest. corners: of its set. */
void exi_settle_closest(const exi_settling *s, const uint32_t *corners, exi_working *w);

#endif
