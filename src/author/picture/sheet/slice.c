/*
 * A sheet of forms over a slice of a rig's space: cells, pictures, and everything drawn around them. Pictures may be
 * made in parts, elsewhere, and joined.
 */
#include "author/picture/sheet/slice.h"

#include "runtime/base/result.h"

ex_sheet_def ex_sheet_def_default(void) {
    return (ex_sheet_def){.counts = {5, 5}, .beyond = {{0.25, 0.25}, {0.25, 0.25}}, .cell = 240};
}

/* Finds everything but the pictures. */
static ex_result open_sheet(exi_slice *sheet, const ex_sheet_def *def, ex_error *error) {
    ex_result result = exi_slice_open(sheet, def, error);
    if (result == EX_OK)
        result = exi_slice_weigh(sheet, error);
    if (result == EX_OK)
        result = exi_slice_frame(sheet, error);
    return result == EX_OK ? exi_slice_measure(sheet, error) : result;
}

static void tell(const exi_slice *sheet, const ex_image *image, ex_sheet_info *info) {
    const exi_cell *far = &sheet->cells[sheet->farthest];
    *info = (ex_sheet_info){.columns = sheet->axes[0].count,
                            .rows = sheet->axes[1].count,
                            .example_count = sheet->example_count,
                            .pseudo_count = sheet->pseudo_count,
                            .hidden_count = sheet->hidden_count,
                            .width = image->width,
                            .height = image->height,
                            .outside_count = sheet->outside_count,
                            .outside_layer = far->far.layer,
                            .outside_example = far->far.example,
                            .outside_weight = far->far.weight,
                            .outside_at = {far->values[0], far->values[1]}};
}

ex_result ex_sheet_image(const ex_sheet_def *def, ex_image **image, ex_sheet_info *info, ex_error *error) {
    exi_slice sheet;
    if (!image)
        return exi_misuse_error(error, __func__, "image is NULL");
    *image = NULL;
    ex_result result = open_sheet(&sheet, def, error);
    if (result == EX_OK)
        result = exi_slice_render(&sheet, 0, exi_slice_cell_count(&sheet), error);
    if (result == EX_OK)
        result = exi_slice_draw(&sheet, image, error);
    if (result == EX_OK && info)
        tell(&sheet, *image, info);
    exi_slice_close(&sheet);
    return result;
}

ex_result ex_sheet_forms(const ex_sheet_def *def, const ex_sheet_part *part, ex_image **image, ex_sheet_info *info,
                         ex_error *error) {
    exi_slice sheet;
    if (!image || !part)
        return exi_misuse_error(error, __func__, "no part, or image is NULL");
    ex_sheet_part known = *part;
    *image = NULL;
    ex_result result = open_sheet(&sheet, def, error);
    if (result == EX_OK)
        result = exi_slice_check(&sheet, &known, error);
    if (result == EX_OK)
        result = exi_slice_render(&sheet, known.first, known.count, error);
    if (result == EX_OK)
        result = exi_slice_gather(&sheet, &known, image, error);
    if (result == EX_OK && info)
        tell(&sheet, *image, info);
    exi_slice_close(&sheet);
    return result;
}

ex_result ex_sheet_join(const ex_sheet_def *def, int part_count, const ex_sheet_part *parts, ex_image **image,
                        ex_sheet_info *info, ex_error *error) {
    exi_slice sheet;
    if (!image || (part_count > 0 && !parts))
        return exi_misuse_error(error, __func__, "no parts, or image is NULL");
    *image = NULL;
    ex_result result = open_sheet(&sheet, def, error);
    if (result == EX_OK)
        result = exi_slice_take(&sheet, part_count, parts, error);
    if (result == EX_OK)
        result = exi_slice_draw(&sheet, image, error);
    if (result == EX_OK && info)
        tell(&sheet, *image, info);
    exi_slice_close(&sheet);
    return result;
}
