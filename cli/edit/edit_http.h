/* cli/edit/edit_http.h - answers as the bytes of HTTP messages. Every answer ends its connection. */
#ifndef EXEMPLAR_CLI_EDIT_HTTP_H
#define EXEMPLAR_CLI_EDIT_HTTP_H

#include "edit.h"
#include "edit_request.h"

/* A message to send: text, then bytes. */
typedef struct exi_http_message {
    const char *text; /* [text_size]: the head, and as much of the body as was made for it */
    size_t text_size;
    const void *bytes; /* [size]: the rest of the body */
    size_t size;
    void *owned[2]; /* to be freed */
} exi_http_message;

void exi_http_free(exi_http_message *message);

/* A refusal of a client that is not the page, in plain text that tells it nothing more. */
exi_http_message exi_http_refuse(int status, const char *text);
/* A refusal of the page by the verdict on its request. */
exi_http_message exi_http_refuse_page(const exi_verdict *verdict);
exi_http_message exi_http_page(void);
exi_http_message exi_http_redirect(const char *address);
/* Takes the answer over. */
exi_http_message exi_http_answer(exi_answer *answer);
/* Removes the body, as the answer to HEAD. */
void exi_http_only_head(exi_http_message *message);

#endif
