/*
 * Valid names in a rig: UTF-8 without control characters, since names appear in JSON, in tables and in messages.
 */
#ifndef EXI_TEXT_H
#define EXI_TEXT_H

#include <stdbool.h>

#define EXI_NAME_MAX 255

/* True for readable text, possibly empty. */
bool exi_is_text(const char *text);
/* True for readable text of 1 to EXI_NAME_MAX bytes. */
bool exi_is_name(const char *text);
/* Returns the length of the text, or the largest length up to `most` bytes that does not split a character. */
int exi_text_cut(const char *text, int most);

#endif
