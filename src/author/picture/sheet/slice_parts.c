/*
 * Parts of a sheet: pictures of some of its forms in one image, row by row with the sheet's columns, as rendered.
 * Taking them apart again gives each cell the pixels that it would have been given at once.
 */
#include "author/picture/sheet/slice.h"

#include "runtime/base/result.h"

#include <string.h>

static int rows_of(const exi_slice *s, const ex_sheet_part *part) {
    return (part->count + s->axes[0].count - 1) / s->axes[0].count;
}

static int columns_of(const exi_slice *s, const ex_sheet_part *part) {
    return part->count < s->axes[0].count ? part->count : s->axes[0].count;
}

ex_result exi_slice_check(const exi_slice *s, ex_sheet_part *part, ex_error *error) {
    const int all = exi_slice_cell_count(s), first = part->first;
    if (first < 0 || part->count < 0)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "a part of a sheet begins at cell %d (counting from 0) and has %d: neither may be negative",
                            first, part->count);
    if (first >= all || part->count > all - first)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the sheet has cells 1 to %d: there is no cell %lld", all,
                            first >= all ? first + 1LL : (long long)first + part->count);
    part->count = part->count > 0 ? part->count : all - first;
    return EX_OK;
}

/* The pixels of line y of the picture at this place of a part. */
static unsigned char *line_of(const exi_slice *s, const ex_image *image, int place, int y) {
    const int columns = s->axes[0].count;
    const size_t line = (size_t)(place / columns) * (size_t)s->picture_height + (size_t)y;
    return image->pixels + 4 * (line * (size_t)image->width + (size_t)(place % columns) * (size_t)s->cell_width);
}

ex_result exi_slice_gather(const exi_slice *s, const ex_sheet_part *part, ex_image **image, ex_error *error) {
    ex_image *made = ex_image_create(columns_of(s, part) * s->cell_width, rows_of(s, part) * s->picture_height);
    if (!made)
        return ex_error_memory(error, "a part of a sheet", 0);
    const size_t size = 4 * (size_t)s->cell_width;
    for (int i = 0; i < part->count; i++) {
        const ex_image *picture = exi_slice_read(s, part->first + i)->picture;
        for (int y = 0; y < s->picture_height; y++)
            memcpy(line_of(s, made, i, y), picture->pixels + (size_t)y * size, size);
    }
    *image = made;
    return EX_OK;
}

static ex_result take_part(exi_slice *s, const ex_sheet_part *part, ex_error *error) {
    const int width = columns_of(s, part) * s->cell_width, height = rows_of(s, part) * s->picture_height;
    const size_t size = 4 * (size_t)s->cell_width;
    if (!part->image || part->image->width != width || part->image->height != height)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "a part of a sheet with cells %d to %d has %d x %d pixels, but this one has %d x %d",
                            part->first + 1, part->first + part->count, width, height,
                            part->image ? part->image->width : 0, part->image ? part->image->height : 0);
    for (int i = 0; i < part->count; i++) {
        exi_cell *cell = exi_slice_read(s, part->first + i);
        if (cell->picture)
            return ex_error_set(error, EX_ERROR_ARGUMENT, "cell %d of the sheet is in two parts", part->first + i + 1);
        cell->picture = ex_image_create(s->cell_width, s->picture_height);
        if (!cell->picture)
            return ex_error_memory(error, "a form of a sheet", 0);
        for (int y = 0; y < s->picture_height; y++)
            memcpy(cell->picture->pixels + (size_t)y * size, line_of(s, part->image, i, y), size);
    }
    return EX_OK;
}

ex_result exi_slice_take(exi_slice *s, int part_count, const ex_sheet_part *parts, ex_error *error) {
    for (int i = 0; i < part_count; i++) {
        ex_sheet_part part = parts[i];
        ex_result result = exi_slice_check(s, &part, error);
        if (result == EX_OK)
            result = take_part(s, &part, error);
        if (result != EX_OK)
            return result;
    }
    for (int i = 0; i < exi_slice_cell_count(s); i++)
        if (!exi_slice_read(s, i)->picture)
            return ex_error_kind(error,
                                 ex_error_set(error, EX_ERROR_ARGUMENT, "cell %d of the sheet is in no part", i + 1),
                                 "cell_missing");
    return EX_OK;
}
