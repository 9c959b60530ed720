/* cli/help/complete.h - the words that may come next on a command line, for the completion of shells. */
#ifndef EXEMPLAR_CLI_COMPLETE_H
#define EXEMPLAR_CLI_COMPLETE_H

#include <stdbool.h>
#include <stdio.h>

/*
 * Prints one line for each way to complete the last of the words [count], which may be empty. The words are those after
 * the tool's name. A line is one of
 *   WORD<tab>SUMMARY   a word, with a line about it where there is one
 *   :files .obj .ply   the shell is to offer files with these endings, and folders; with no ending, all files
 *   :folders           the shell is to offer folders
 * If the last word has a '=', the lines are for the part after it: y and z for --up=. A word that ends with '=' or ':'
 * wants more after it without a space. Returns false if memory ran out.
 */
bool exi_complete_print(FILE *file, int count, const char *const *words);

#endif
