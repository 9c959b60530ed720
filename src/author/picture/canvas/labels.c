/*
 * Places labels. In the plane: a label takes its first free place, in the order in which labels come (the important
 * ones first). In a column: the wanted centres of labels become the nearest ones that keep their distance. With the
 * distances subtracted, that is a least-squares fit by an ascending sequence, which pooling neighbours that violate the
 * order solves exactly (pool adjacent violators).
 */
#include "author/picture/canvas/labels.h"

#include "author/base/array.h"
#include "runtime/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void exi_labels_free(exi_labels *labels) {
    free(labels->boxes);
    *labels = (exi_labels){.boxes = NULL};
}

bool exi_box_overlaps(ex_box a, ex_box b) {
    return a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;
}

void exi_labels_take(exi_labels *labels, ex_box box) {
    ex_box *grown = exi_array_grow(labels->boxes, &labels->capacity, labels->count + 1, sizeof *labels->boxes);
    if (!grown) {
        labels->failed = true;
        return;
    }
    labels->boxes = grown;
    labels->boxes[labels->count++] = box;
}

bool exi_labels_is_free(const exi_labels *labels, ex_box box) {
    const ex_box *b = &labels->bounds;
    if (labels->failed || box.x0 < b->x0 || box.y0 < b->y0 || box.x1 > b->x1 || box.y1 > b->y1)
        return false;
    for (size_t i = 0; i < labels->count; i++)
        if (exi_box_overlaps(box, labels->boxes[i]))
            return false;
    return true;
}

bool exi_labels_draw(exi_labels *labels, ex_canvas *canvas, const exi_label_place *places, int count,
                     const ex_lettering *type, const char *text) {
    for (int i = 0; i < count; i++) {
        ex_lettering placed = *type;
        placed.across = places[i].across;
        placed.along = places[i].along;
        const ex_box box = ex_text_box(places[i].x, places[i].y, &placed, text);
        if (!exi_labels_is_free(labels, box))
            continue;
        exi_labels_take(labels, box);
        ex_draw_text(canvas, places[i].x, places[i].y, &placed, text);
        return true;
    }
    return false;
}

void exi_labels_around(double x, double y, double d, exi_label_place places[EXI_LABEL_AROUND]) {
    const double c = 0.7 * d;
    const exi_label_place around[EXI_LABEL_AROUND] = {
        {x + c, y - c, EX_ACROSS_LEFT, EX_ALONG_BASELINE},  {x + c, y + c, EX_ACROSS_LEFT, EX_ALONG_TOP},
        {x - c, y - c, EX_ACROSS_RIGHT, EX_ALONG_BASELINE}, {x - c, y + c, EX_ACROSS_RIGHT, EX_ALONG_TOP},
        {x, y - d, EX_ACROSS_MIDDLE, EX_ALONG_BASELINE},    {x, y + d, EX_ACROSS_MIDDLE, EX_ALONG_TOP},
        {x + d, y, EX_ACROSS_LEFT, EX_ALONG_CENTRE},        {x - d, y, EX_ACROSS_RIGHT, EX_ALONG_CENTRE},
    };
    memcpy(places, around, sizeof around);
}

/* ---- columns ---- */

/* A run of labels that touch; their common offset is the mean of the wanted ones. */
typedef struct run {
    double sum;
    int count;
} run;

typedef struct wish {
    double centre;
    int index;
} wish;

static int compare(const void *a, const void *b) {
    const wish *x = a, *y = b;
    return x->centre != y->centre ? (x->centre > y->centre) - (x->centre < y->centre) : x->index - y->index;
}

bool exi_labels_spread(double *centres, int count, double height, double low, double high, bool *fit) {
    *fit = count * height <= high - low + 1e-9;
    if (!*fit)
        return true;
    wish *wishes = exi_array_allocate((size_t)count, sizeof *wishes);
    run *runs = exi_array_allocate((size_t)count, sizeof *runs);
    if (wishes && runs) {
        int last = -1, next = 0;
        for (int i = 0; i < count; i++)
            wishes[i] = (wish){centres[i], i};
        qsort(wishes, (size_t)count, sizeof *wishes, compare);
        for (int i = 0; i < count; i++) {
            runs[++last] = (run){wishes[i].centre - i * height, 1};
            while (last > 0 && runs[last - 1].sum / runs[last - 1].count > runs[last].sum / runs[last].count) {
                runs[last - 1].sum += runs[last].sum;
                runs[last - 1].count += runs[last].count;
                last--;
            }
        }
        const double least = low + height / 2, most = high - height / 2 - (count - 1) * height;
        for (int r = 0; r <= last; r++) {
            double offset = runs[r].sum / runs[r].count;
            offset = offset > least ? offset < most ? offset : most : least;
            for (int i = 0; i < runs[r].count; i++, next++)
                centres[wishes[next].index] = offset + next * height;
        }
    }
    const bool done = wishes && runs;
    free(wishes);
    free(runs);
    return done;
}

bool ex_labels_spread(double *centres, int count, double height, double low, double high) {
    bool fit;
    return exi_labels_spread(centres, count, height, low, high, &fit) && fit;
}

/* ---- texts ---- */

const char *ex_label_fit(char buffer[EX_LABEL_SIZE], const char *text, double size, double width) {
    static const char dots[] = "\xE2\x80\xA6";
    int length = exi_text_cut(text, EX_LABEL_SIZE - (int)sizeof dots);
    const bool whole = text[length] == '\0';
    memcpy(buffer, text, (size_t)length);
    buffer[length] = '\0';
    if (whole && ex_text_width(buffer) * size <= width)
        return buffer;
    for (;;) {
        memcpy(buffer + length, dots, sizeof dots);
        if (length == 0 || ex_text_width(buffer) * size <= width)
            return buffer;
        length = exi_text_cut(text, length - 1);
    }
}
