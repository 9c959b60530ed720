/*
 * What may stand as a name in a rig: UTF-8 without control characters. Names end up in JSON, in tables and in
 * sentences.
 */
#ifndef EXI_TEXT_H
#define EXI_TEXT_H

#include <stdbool.h>

#define EXI_NAME_MAX 255

/* Readable text, possibly empty. */
bool exi_is_text(const char *text);
/* Readable text of 1 to EXI_NAME_MAX bytes. */
bool exi_is_name(const char *text);
/* The length of the text, or the largest one up to `most` bytes that cuts no character. */
int exi_text_cut(const char *text, int most);

#endif
