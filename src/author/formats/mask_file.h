/*
 * mask_file.h - masks in text files; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_MASK_FILE_H
#define EXEMPLAR_AUTHOR_FORMATS_MASK_FILE_H

#include <exemplar/base.h>

/* A file of lines `vertex value`, values in [0, most]; vertices that it does not name are left alone. */
ex_result exi_mask_read(const char *path, int vertex_count, double most, float *mask, ex_error *error);

#endif
