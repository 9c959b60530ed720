/*
 * cli/base/plain.h - text for people, on stdout and stderr. Names and paths come from files and can hold anything; a
 * terminal obeys control characters, and characters that turn or hide text make it say something else. So each such
 * character is shown as an escape: \n, \t, \r, \x1b for other control characters of ASCII, \x80 for a byte that is not
 * UTF-8, and \u{202e} for the rest.
 *
 * The tool prints to people by exi_print and exi_print_to only; tests/cli/plain.py looks for other calls. Files and
 * JSON (emit.h) stay exact.
 */
#ifndef EXEMPLAR_CLI_PLAIN_H
#define EXEMPLAR_CLI_PLAIN_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

/* Print like printf and fprintf, with what is inserted by %s and %c as plain text; the format is printed as it is.
 * A width counts characters, so columns stay straight. A precision counts bytes and cuts no character. */
void exi_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void exi_print_to(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints the text as plain text. */
void exi_print_plain(FILE *file, const char *text);
/* Prints a word of a command that people can copy into a shell: in quotes if it has spaces or anything else that a
 * shell would not take as it is. */
void exi_print_word(const char *word);
/* Number of characters that exi_print_plain prints. */
int exi_plain_width(const char *text);

/* ---- characters ---- */

/* Length of the UTF-8 sequence at text, and its code; 0 if it is invalid: overlong, a surrogate, or cut short. The end
 * of the text is safe, because NUL continues no sequence. */
int exi_character(const char *text, unsigned *code);
/* True if people cannot see the character, or a terminal obeys it: controls, and what turns, joins or hides text. */
bool exi_is_hidden(unsigned code);
/* True if the text is UTF-8 and none of its characters is hidden. */
bool exi_is_plain(const char *text);

#endif
