/*
 * The order of a settler's driven vertices: those of one set of triangles together, and among them neighbours in
 * clusters of EXI_CLUSTER. Neighbourhood is measured where the keys bind the vertices to the driver's form. The
 * vertices are cut in two along the longest side of their box, at a multiple of EXI_CLUSTER, down to one cluster, and
 * again down to fours, which are processed together. Without keys no positions are known, and vertices keep their
 * original order, which follows the surface in most files.
 */
#include "runtime/settle/order.h"

enum { FOUR = 4 };

typedef struct range {
    int begin, end;
} range;

static int longest_axis(const float (*points)[3], const uint32_t *order, range r) {
    int axis = 0;
    float longest = -1;
    for (int c = 0; c < 3; c++) {
        float low = INFINITY, high = -INFINITY;
        for (int i = r.begin; i < r.end; i++) {
            const float x = points[order[i]][c];
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        if (high - low > longest) {
            longest = high - low;
            axis = c;
        }
    }
    return axis;
}

/* True if a comes before b: by coordinate, and for equal ones by number, so that no two are equal. */
static bool before(const float (*points)[3], int axis, uint32_t a, uint32_t b) {
    return points[a][axis] < points[b][axis] || (points[a][axis] == points[b][axis] && a < b);
}

/* Moves the lowest `middle - begin` to the front (C. A. R. Hoare, "Find", 1961). */
static void select_first(const float (*points)[3], int axis, uint32_t *order, range r, int middle) {
    int low = r.begin, high = r.end - 1;
    while (low < high) {
        const uint32_t pivot = order[low + (high - low) / 2];
        int i = low, k = high;
        while (i <= k) {
            for (; before(points, axis, order[i], pivot); i++)
                ;
            for (; before(points, axis, pivot, order[k]); k--)
                ;
            if (i <= k) {
                const uint32_t swapped = order[i];
                order[i++] = order[k];
                order[k--] = swapped;
            }
        }
        if (middle <= k)
            high = k;
        else if (middle >= i)
            low = i;
        else
            return;
    }
}

void exi_order_cluster(const float (*points)[3], uint32_t *order, int begin, int end) {
    range stack[64];
    int height = 1;
    stack[0] = (range){begin, end};
    while (height > 0) {
        const range r = stack[--height];
        const int size = r.end - r.begin > EXI_CLUSTER ? EXI_CLUSTER : FOUR;
        const int parts = (r.end - r.begin + size - 1) / size;
        if (parts < 2)
            continue;
        const int middle = r.begin + parts / 2 * size;
        select_first(points, longest_axis(points, order, r), order, r, middle);
        stack[height++] = (range){r.begin, middle}; /* halves: 31 levels, one pending on each */
        stack[height++] = (range){middle, r.end};
    }
}
