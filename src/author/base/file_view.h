/*
 * file_view.h - the bytes of a file for reading, without a copy in memory if the file is large. Private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_BASE_FILE_VIEW_H
#define EXEMPLAR_AUTHOR_BASE_FILE_VIEW_H

#include <exemplar/base.h>

/* Opened by exi_file_map; the fields after size are its own. */
typedef struct exi_file_view {
    const char *bytes;
    size_t size;
    char *owned;  /* or NULL */
    void *mapped; /* or NULL */
} exi_file_view;

/* Shows the bytes of a file until exi_file_unmap. A file of 16 MB or more is mapped; a smaller one, a pipe, or one that
 * cannot be mapped is read. Results: as ex_file_read. */
ex_result exi_file_map(const char *path, exi_file_view *view, ex_error *error);
void exi_file_unmap(exi_file_view *view);

#endif
