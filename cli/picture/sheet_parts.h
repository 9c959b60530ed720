/*
 * cli/picture/sheet_parts.h - files of parts of a sheet: PNG pictures of some of its forms that know what they were
 * made from, in a text beside the pixels.
 */
#ifndef EXEMPLAR_CLI_SHEET_PARTS_H
#define EXEMPLAR_CLI_SHEET_PARTS_H

#include <exemplar/author.h>

#include <stdint.h>

/* The source of forms: a number for the bytes of the rig's file, and one for everything else that changes them. */
typedef struct exi_sheet_source {
    uint64_t rig, options;
} exi_sheet_source;

/* Results: those of ex_file_read. */
ex_result exi_sheet_source_find(const char *rig_path, const ex_sheet_def *def, exi_sheet_source *source,
                                ex_error *error);

/* Writes the picture of a part of a sheet with cell_count forms. Results: those of ex_image_write. */
ex_result exi_sheet_part_write(const char *path, const ex_sheet_part *part, int cell_count,
                               const exi_sheet_source *source, ex_error *error);

/* Parts that are joined. */
typedef struct exi_sheet_parts {
    ex_sheet_part *parts; /* [count] */
    int count;
} exi_sheet_parts;

/* Reads parts that were made from this source, each cell once. Close them always. Results: DATA, naming the part, and
 * those of ex_image_read. */
ex_result exi_sheet_parts_read(const char *const *paths, int count, const exi_sheet_source *source,
                               exi_sheet_parts *parts, ex_error *error);
void exi_sheet_parts_close(exi_sheet_parts *parts);

#endif
