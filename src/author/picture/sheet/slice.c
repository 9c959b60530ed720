/*
 * A sheet of forms over a slice of a rig's space: cells, pictures, and everything drawn around them.
 */
#include "author/picture/sheet/slice.h"

#include "runtime/base/result.h"

ex_sheet_def ex_sheet_def_default(void) {
    return (ex_sheet_def){.counts = {5, 5}, .beyond = {{0.25, 0.25}, {0.25, 0.25}}, .cell = 240};
}

ex_result ex_sheet_image(const ex_sheet_def *def, ex_image **image, ex_sheet_info *info, ex_error *error) {
    exi_slice sheet;
    if (!image)
        return exi_misuse_error(error, __func__, "image is NULL");
    *image = NULL;
    ex_result result = exi_slice_open(&sheet, def, error);
    if (result == EX_OK)
        result = exi_slice_weigh(&sheet, error);
    if (result == EX_OK)
        result = exi_slice_frame(&sheet, error);
    if (result == EX_OK)
        result = exi_slice_measure(&sheet, error);
    if (result == EX_OK)
        result = exi_slice_render(&sheet, error);
    if (result == EX_OK)
        result = exi_slice_draw(&sheet, image, error);
    if (result == EX_OK && info) {
        const exi_cell *far = &sheet.cells[sheet.farthest];
        *info = (ex_sheet_info){.columns = sheet.axes[0].count,
                                .rows = sheet.axes[1].count,
                                .example_count = sheet.example_count,
                                .pseudo_count = sheet.pseudo_count,
                                .hidden_count = sheet.hidden_count,
                                .width = (*image)->width,
                                .height = (*image)->height,
                                .outside_count = sheet.outside_count,
                                .outside_layer = far->far.layer,
                                .outside_example = far->far.example,
                                .outside_weight = far->far.weight,
                                .outside_at = {far->values[0], far->values[1]}};
    }
    exi_slice_close(&sheet);
    return result;
}
