/* Texts of a sheet: values of axes, and the names of cells. */
#include "author/picture/plot/plot.h"
#include "author/picture/sheet/slice.h"

#include <math.h>
#include <stdio.h>

const char *exi_value_text(char buffer[128], const exi_slice_axis *axis, double value) {
    char number[EX_TICK_SIZE];
    const double range = axis->axis.max - axis->axis.min;
    const double grain = range > 0 ? pow(10, floor(log10(range)) - 4) : 0;
    if (grain > 1e-300)
        value = grain < 1 ? round(value / grain) / round(1 / grain) : round(value / grain) * grain;
    snprintf(buffer, 128, "%s%s", ex_tick_text(number, value), axis->unit);
    return buffer;
}

void exi_cell_name(const exi_slice *s, const exi_cell *cell, char name[EXI_NAME_SIZE], char values[EXI_NAME_SIZE]) {
    char numbers[2][128];
    if (cell->kind == EXI_CELL_EXAMPLE)
        snprintf(name, EXI_NAME_SIZE, "%s", ex_rig_example_name(s->rig, cell->layer, cell->number));
    else
        snprintf(name, EXI_NAME_SIZE, "pseudo %d", cell->number + 1);
    values[0] = '\0';
    if (cell->moved)
        snprintf(values, EXI_NAME_SIZE, "(%s%s%s)", exi_value_text(numbers[0], &s->axes[0], cell->values[0]),
                 s->axis_count == 2 ? ", " : "",
                 s->axis_count == 2 ? exi_value_text(numbers[1], &s->axes[1], cell->values[1]) : "");
}

bool exi_slice_needs_two_lines(const exi_slice *s, double width) {
    char name[EXI_NAME_SIZE], values[EXI_NAME_SIZE];
    for (int i = 0; i < exi_slice_cell_count(s); i++) {
        const exi_cell *cell = &s->cells[i];
        if (!cell->moved || (cell->kind != EXI_CELL_EXAMPLE && cell->kind != EXI_CELL_PSEUDO))
            continue;
        exi_cell_name(s, cell, name, values);
        if ((ex_text_width(name) + ex_text_width(" ") + ex_text_width(values)) * EXI_PLOT_TEXT_SIZE > width)
            return true;
    }
    return false;
}
