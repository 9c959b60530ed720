/* cli/edit/edit_http.h - reads requests from a civetweb connection and writes answers to it. */
#ifndef EXEMPLAR_CLI_EDIT_HTTP_H
#define EXEMPLAR_CLI_EDIT_HTTP_H

#include "edit.h"

#include <civetweb.h>

/* Refuses a client that is not the page, in plain text that tells it nothing more. These return the status. */
int exi_http_refuse(struct mg_connection *c, int status, const char *text);
int exi_http_send_page(struct mg_connection *c);
/* Sends with additional header lines, each with its line end; releases the answer. */
int exi_http_send(struct mg_connection *c, exi_answer *a, const char *more);

/* Counts headers of a name: the first of several must not hide the others. */
int exi_http_count_header(const struct mg_request_info *info, const char *name);

/* Reads the announced body into *body, which the caller frees either way. False after a refusal; a body that is too
 * long or of unknown length is refused before a byte is read. */
bool exi_http_read_body(struct mg_connection *c, size_t most, char **body, size_t *size, exi_answer *answer);

/* Ends the connection after refusing a body that was not read. */
void exi_http_hang_up(const struct mg_request_info *info);

#endif
