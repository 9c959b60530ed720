/*
 * Fuzzes the readers of markers (clang -fsanitize=fuzzer,address,undefined): bytes that begin with P are read as TRC,
 * all others as C3D; any bytes are markers or an error, and markers have names and reasonable positions.
 */
#include <exemplar/author.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_markers(const ex_markers *markers) {
    if (markers->marker_count < 1 || markers->frame_count < 1 || !(markers->rate >= 0) || !markers->unit)
        abort();
    for (int m = 0; m < markers->marker_count; m++)
        if (!*markers->names[m] || (m > 0 && strcmp(markers->names[m], markers->names[m - 1]) == 0))
            abort();
    for (size_t i = 0; i < (size_t)markers->frame_count * (size_t)markers->marker_count; i++) {
        const float *p = markers->positions + 3 * i;
        if (isnan(p[0]) != isnan(p[1]) || isnan(p[0]) != isnan(p[2]))
            abort();
        for (int k = 0; k < 3; k++)
            if (fabsf(p[k]) > 1.001e6f)
                abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ex_markers *markers;
    ex_error error;
    const ex_result result = size > 0 && data[0] == 'P'
                                 ? ex_trc_parse((const char *)data, size, "fuzz.trc", &markers, &error)
                                 : ex_c3d_parse(data, size, "fuzz.c3d", &markers, &error);
    if ((result == EX_OK) != (markers != NULL))
        abort();
    if (!markers)
        return 0;
    check_markers(markers);
    if (ex_markers_set_up(markers, "-X", &error) != EX_OK)
        abort();
    check_markers(markers);
    ex_markers_destroy(markers);
    return 0;
}
