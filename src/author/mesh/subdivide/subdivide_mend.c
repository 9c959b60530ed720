/*
 * Mends the faces of a cage that are no surface, which files of other programs have a few of: faces that run against
 * their neighbours, faces twice, faces with a vertex twice. Vertices keep their numbers, and no position is looked at,
 * so all forms of a mesh are mended alike.
 *
 * 1. A corner that repeats the one before is merged with it. A face that still has a vertex twice, or fewer than three
 *    corners, is left out.
 * 2. Of faces with the same vertices in the same order, either way round, the first is kept, if one of their edges has
 *    more faces than two, or two that run the same way. So a sheet of two sides that is closed all around stays.
 * 3. Faces are joined to parts across edges of exactly two faces. In each part, the smaller number of faces is turned
 *    round so that all agree; if both are equal, its first face stays.
 *
 * Edges that remain with more faces than two, or with two that cannot agree, are boundaries of all their faces:
 * they share its vertices, and the edge stays sharp.
 */
#include "author/base/array.h"
#include "author/mesh/half_edges.h"
#include "author/mesh/subdivide/subdivide.h"
#include "runtime/base/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A face's corners from its lowest vertex, towards the lower of that one's neighbours. */
typedef struct outline {
    const int *corners;
    int count, first, step, face;
} outline;

typedef struct mender {
    exi_topology *t;
    ex_subdivision_mends *mends;
    int *last;            /* [vertex_count] */
    exi_half_edge *edges; /* [corner_count] sorted; sides are corners */
    outline *outlines;    /* [face_count] */
    unsigned char *bad;   /* [face_count] at an edge that no surface has; then: to be left out */
    signed char *turned;  /* [face_count] 1: to be turned round; -1: not reached yet */
    int *queue;           /* [face_count] */
} mender;

static void count_face(int *count, int *first, int source) {
    *first = *count == 0 ? source : *first;
    ++*count;
}

static void copy_corner(exi_topology *t, int from, int to) {
    t->corners[to] = t->corners[from];
    if (t->corner_texcoords)
        t->corner_texcoords[to] = t->corner_texcoords[from];
}

/* ---- faces with a vertex twice ---- */

/* True if the corners from begin to end are a face. `stamp` is another number for every call. */
static bool is_face(mender *m, int begin, int end, int stamp) {
    bool is = end - begin >= 3;
    for (int c = begin; c < end; c++) {
        is = is && m->last[m->t->corners[c]] != stamp;
        m->last[m->t->corners[c]] = stamp;
    }
    return is;
}

static void merge_repeated(mender *m) {
    exi_topology *t = m->t;
    int faces = 0, at = 0;
    memset(m->last, 0xFF, (size_t)t->vertex_count * sizeof *m->last);
    for (int f = 0, begin = 0; f < t->face_count; f++) {
        const int end = t->face_offsets[f + 1], start = at;
        for (int c = begin; c < end; c++)
            if (at == start || t->corners[at - 1] != t->corners[c])
                copy_corner(t, c, at++);
        while (at - start > 1 && t->corners[at - 1] == t->corners[start])
            at--;
        const bool good = is_face(m, start, at, f);
        if (!good || at - start < end - begin)
            count_face(&m->mends->repeated_count, &m->mends->repeated_face, t->face_sources[f]);
        begin = end;
        if (!good) {
            at = start;
            continue;
        }
        t->face_sources[faces] = t->face_sources[f];
        t->face_offsets[++faces] = at; /* not beyond f + 1, which has been read */
    }
    t->face_count = faces;
    t->corner_count = at;
}

/* ---- faces twice ---- */

static int compare_outlines(const void *a, const void *b) {
    const outline *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    for (int i = 0, j = x->first, k = y->first; i < x->count; i++) {
        if (x->corners[j] != y->corners[k])
            return x->corners[j] < y->corners[k] ? -1 : 1;
        j = (j + x->step) % x->count;
        k = (k + y->step) % y->count;
    }
    return (x->face > y->face) - (x->face < y->face);
}

static bool same_outline(const outline *a, const outline *b) {
    outline other = *b;
    other.face = a->face;
    return compare_outlines(a, &other) == 0;
}

static outline make_outline(const exi_topology *t, int face) {
    const int begin = t->face_offsets[face], count = t->face_offsets[face + 1] - begin;
    const int *corners = t->corners + begin;
    int first = 0;
    for (int i = 1; i < count; i++)
        first = corners[i] < corners[first] ? i : first;
    const bool forward = corners[(first + 1) % count] < corners[(first + count - 1) % count];
    return (outline){corners, count, first, forward ? 1 : count - 1, face};
}

/* Sorts the half-edges, and marks faces at edges that no surface has. Sets opposites, of edges with two faces,
 * whichever way they run. */
static void sort_edges(mender *m) {
    exi_topology *t = m->t;
    for (int f = 0; f < t->face_count; f++)
        for (int c = t->face_offsets[f]; c < t->face_offsets[f + 1]; c++)
            t->corner_faces[c] = f;
    for (int c = 0; c < t->corner_count; c++)
        m->edges[c] = exi_half_edge_of(t->corners[c], t->corners[exi_next(t, c)], c);
    exi_half_edges_sort(m->edges, t->corner_count);
    memset(m->bad, 0, (size_t)t->face_count);
    for (int i = 0, end; i < t->corner_count; i = end) {
        end = exi_half_edges_end(m->edges, i, t->corner_count);
        const int c = m->edges[i].side, other = end - i == 2 ? m->edges[i + 1].side : -1;
        const bool bad = end - i > 2 || (end - i == 2 && t->corners[c] == t->corners[other]);
        for (int k = i; k < end; k++) {
            m->bad[t->corner_faces[m->edges[k].side]] |= bad;
            t->opposites[m->edges[k].side] = end - i != 2 ? -1 : k == i ? other : c;
        }
    }
}

static void drop_marked(exi_topology *t, const unsigned char *marked) {
    int faces = 0, at = 0;
    for (int f = 0, begin = 0; f < t->face_count; f++) {
        const int end = t->face_offsets[f + 1];
        for (int c = begin; c < end && !marked[f]; c++)
            copy_corner(t, c, at++);
        begin = end;
        if (marked[f])
            continue;
        t->face_sources[faces] = t->face_sources[f];
        t->face_offsets[++faces] = at;
    }
    t->face_count = faces;
    t->corner_count = at;
}

static void drop_duplicates(mender *m) {
    exi_topology *t = m->t;
    int count = 0;
    for (int f = 0; f < t->face_count; f++)
        if (m->bad[f])
            m->outlines[count++] = make_outline(t, f);
    if (count > 0)
        qsort(m->outlines, (size_t)count, sizeof *m->outlines, compare_outlines);
    memset(m->bad, 0, (size_t)t->face_count);
    for (int i = 1; i < count; i++)
        m->bad[m->outlines[i].face] = same_outline(&m->outlines[i - 1], &m->outlines[i]);
    for (int f = 0; f < t->face_count; f++)
        if (m->bad[f])
            count_face(&m->mends->duplicate_count, &m->mends->duplicate_face, t->face_sources[f]);
    drop_marked(t, m->bad);
}

/* ---- faces that run against the others ---- */

static void turn(exi_topology *t, int face) {
    for (int c = t->face_offsets[face] + 1, d = t->face_offsets[face + 1] - 1; c < d; c++, d--) {
        const int vertex = t->corners[c];
        t->corners[c] = t->corners[d];
        t->corners[d] = vertex;
        if (t->corner_texcoords) {
            const int texcoord = t->corner_texcoords[c];
            t->corner_texcoords[c] = t->corner_texcoords[d];
            t->corner_texcoords[d] = texcoord;
        }
    }
}

/* Reaches the faces of a part from its first, and says of each whether it runs against that one. Returns their number:
 * they are the first in the queue. */
static int reach_part(mender *m, int first) {
    const exi_topology *t = m->t;
    int count = 1;
    m->queue[0] = first;
    m->turned[first] = 0;
    for (int i = 0; i < count; i++) {
        const int face = m->queue[i];
        for (int c = t->face_offsets[face]; c < t->face_offsets[face + 1]; c++) {
            const int other = t->opposites[c];
            if (other < 0 || m->turned[t->corner_faces[other]] >= 0)
                continue;
            m->turned[t->corner_faces[other]] = (signed char)(m->turned[face] ^ (t->corners[c] == t->corners[other]));
            m->queue[count++] = t->corner_faces[other];
        }
    }
    return count;
}

static void turn_minorities(mender *m) {
    exi_topology *t = m->t;
    memset(m->turned, 0xFF, (size_t)t->face_count);
    for (int f = 0; f < t->face_count; f++) {
        const int count = m->turned[f] < 0 ? reach_part(m, f) : 0;
        int against = 0;
        for (int i = 0; i < count; i++)
            against += m->turned[m->queue[i]];
        for (int i = 0; i < count && 2 * against > count; i++)
            m->turned[m->queue[i]] ^= 1;
    }
    for (int f = 0; f < t->face_count; f++)
        if (m->turned[f]) {
            turn(t, f);
            count_face(&m->mends->turned_count, &m->mends->turned_face, t->face_sources[f]);
        }
}

/* ---- all ---- */

ex_result exi_topology_mend(exi_topology *t, ex_subdivision_mends *mends, ex_error *error) {
    const size_t faces = (size_t)t->face_count, corners = (size_t)t->corner_count;
    mender m = {.t = t, .mends = mends};
    m.last = exi_array_allocate((size_t)t->vertex_count, sizeof *m.last);
    m.edges = exi_array_allocate(corners, sizeof *m.edges);
    m.outlines = exi_array_allocate(faces, sizeof *m.outlines);
    m.bad = exi_array_allocate(faces, 1);
    m.turned = exi_array_allocate(faces, 1);
    m.queue = exi_array_allocate(faces, sizeof *m.queue);
    const bool good = m.last && m.edges && m.outlines && m.bad && m.turned && m.queue;
    if (good) {
        merge_repeated(&m);
        sort_edges(&m);
        drop_duplicates(&m);
        sort_edges(&m);
        turn_minorities(&m);
    }
    free(m.last);
    free(m.edges);
    free(m.outlines);
    free(m.bad);
    free(m.turned);
    free(m.queue);
    exi_topology_disconnect(t);
    return good ? EX_OK : ex_error_memory(error, "mending faces", (faces + corners) * sizeof(exi_half_edge));
}

/* ---- words ---- */

bool exi_mend_describe(const ex_subdivision_mends *mends, exi_mend kind, char text[EXI_MEND_SIZE]) {
    const struct {
        int count, first;
        const char *one, *many, *then_one, *then_many;
    } kinds[] = {
        [EXI_MEND_TURNED] = {mends->turned_count, mends->turned_face, "runs against its neighbours",
                             "run against their neighbours", "subdividing turns it round",
                             "subdividing turns them round"},
        [EXI_MEND_REPEATED] = {mends->repeated_count, mends->repeated_face, "has a vertex more than once",
                               "have a vertex more than once", "subdividing merges its corners there, or leaves it out",
                               "subdividing merges their corners there, or leaves them out"},
        [EXI_MEND_DUPLICATE] = {mends->duplicate_count, mends->duplicate_face, "has the same vertices as another",
                                "have the same vertices as others", "subdividing leaves it out",
                                "subdividing leaves them out"},
        [EXI_MEND_SHARP] = {mends->sharp_count, 0, "", "", "", ""},
    };
    const int count = kinds[kind].count;
    if (kind == EXI_MEND_SHARP && count == 1)
        snprintf(text, EXI_MEND_SIZE,
                 "the edge between vertices %d and %d (counting from 0) has more than two faces, or two that cannot "
                 "face the same way: subdividing keeps it sharp",
                 mends->sharp_edge[0], mends->sharp_edge[1]);
    else if (kind == EXI_MEND_SHARP)
        snprintf(text, EXI_MEND_SIZE,
                 "%d edges, such as the one between vertices %d and %d (counting from 0), have more than two faces, or "
                 "two that cannot face the same way: subdividing keeps them sharp",
                 count, mends->sharp_edge[0], mends->sharp_edge[1]);
    else if (count == 1)
        snprintf(text, EXI_MEND_SIZE, "face %d (counting from 0) %s: %s", kinds[kind].first, kinds[kind].one,
                 kinds[kind].then_one);
    else
        snprintf(text, EXI_MEND_SIZE, "%d faces, the first is face %d (counting from 0), %s: %s", count,
                 kinds[kind].first, kinds[kind].many, kinds[kind].then_many);
    return count > 0;
}
