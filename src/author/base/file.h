/*
 * Parts of writing files that single files (file.c) and sets of files (file_set.c) share. Any thread.
 */
#ifndef EXEMPLAR_AUTHOR_FILE_H
#define EXEMPLAR_AUTHOR_FILE_H

#include <exemplar/author/files.h>

/* Returns the file that writing to a path replaces or makes, symbolic links followed, to be freed; *mode: the
 * permissions of the existing file, or -1. NULL with errno set, if it is not a regular file or may not be written,
 * too. */
char *exi_file_target(const char *path, int *mode);

/* Returns the path of the previous version of a file (ex_file_back_up), to be freed; NULL without memory. */
char *exi_file_backup_path(const char *path);

/* Brings a file's content to the disk. False with errno set; true if the file system cannot. */
bool exi_file_sync(int descriptor);

/* Replaces the hidden folder of a set in a sentence, which may be NULL, by the places of its files. */
void exi_file_set_name_places(const ex_file_set *set, ex_error *error);

/* True after ex_file_stop. */
bool exi_file_stopped(void);

/* Sets the sentence for a file that cannot be written, and returns EX_ERROR_FILE. */
ex_result exi_file_write_error(ex_error *error, const char *path, int errno_value);

#endif
