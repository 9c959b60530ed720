/*
 * map_file.h - a word in the file of a displacement map that says what the map was made from; private to authoring.
 *
 * It is a comment of the PLY file, "comment made from WORD", so that other programs read the map as any other.
 */
#ifndef EXEMPLAR_AUTHOR_FORMATS_MAP_FILE_H
#define EXEMPLAR_AUTHOR_FORMATS_MAP_FILE_H

#include <exemplar/author/displacement.h>

#include <stdbool.h>

/* Most bytes of the word, with its end. It has no spaces. */
enum { EXI_MADE_FROM_SIZE = 64 };

/* As ex_displacement_map_write, with the word; NULL: without. */
ex_result exi_displacement_map_write(const char *path, const ex_displacement_map *map, const char *made_from,
                                     ex_error *error);
/* Reads the word alone; false: there is no such file, or it has none. */
bool exi_displacement_map_made_from(const char *path, char made_from[EXI_MADE_FROM_SIZE]);

#endif
