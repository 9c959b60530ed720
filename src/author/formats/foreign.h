/*
 * foreign.h - tells a person which format a file has that cannot be read, and how to get one that can. Private to
 * authoring.
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_FOREIGN_H
#define EXEMPLAR_AUTHOR_FORMATS_FOREIGN_H

#include <exemplar/base.h>

/* Kind of content that a reader expects. */
typedef enum exi_content {
    EXI_CONTENT_MESH,
    EXI_CONTENT_SCENE,
    EXI_CONTENT_RIG,
    EXI_CONTENT_PROJECT,
    EXI_CONTENT_MOTION,
    EXI_CONTENT_MARKERS,
    EXI_CONTENT_CACHE,
    EXI_CONTENT_IMAGE,
    EXI_CONTENT_POSES,
    EXI_CONTENT_MASK,
    EXI_CONTENT_MAP,
    EXI_CONTENT_COUNT
} exi_content;

/* Kind of ex_error that the functions below set. */
#define EXI_FOREIGN_KIND "foreign_format"

/*
 * Returns `result`. If that is a failure of a parser, and the first bytes or the ending of `path` belong to a format
 * that the parser cannot read, replaces the message: it names that format, the formats that can be read instead, and
 * the menu that exports them. `parsed` is the ending of the format that the parser reads.
 */
ex_result exi_foreign_explain(ex_error *error, ex_result result, exi_content wanted, const char *path,
                              const char *parsed, const void *bytes, size_t size);

/* Error for a file whose ending no reader of that content has. Looks into the file to explain it. Results: FILE,
 * FORMAT. */
ex_result exi_foreign_ending(ex_error *error, exi_content wanted, const char *path);

#endif
