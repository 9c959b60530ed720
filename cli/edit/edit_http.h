/* cli/edit/edit_http.h - what the editor's server says over a connection of civetweb, and reads from it. */
#ifndef EXEMPLAR_CLI_EDIT_HTTP_H
#define EXEMPLAR_CLI_EDIT_HTTP_H

#include "edit.h"

#include <civetweb.h>

/* For whoever is not the page: plain text, and nothing else to learn. These return the status. */
int exi_http_refuse(struct mg_connection *c, int status, const char *text);
int exi_http_send_page(struct mg_connection *c);
/* With further lines of the head, each with its end; releases what the answer has. */
int exi_http_send(struct mg_connection *c, exi_answer *a, const char *more);

/* The first of several headers of one name must not hide the others. */
int exi_http_count_header(const struct mg_request_info *info, const char *name);

/* Reads the body that was announced into *body, to be freed either way; false after a refusal, before a byte of it was
 * read where it is too long or of unknown length. */
bool exi_http_read_body(struct mg_connection *c, size_t most, char **body, size_t *size, exi_answer *answer);

/* Ends the connection after a refusal of a body that nobody has read. */
void exi_http_hang_up(const struct mg_request_info *info);

#endif
