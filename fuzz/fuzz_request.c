/*
 * Fuzzes requests to the editor's server (clang -fsanitize=fuzzer,address,undefined): any bytes are a head, the
 * beginning of one, or refused. A request runs only if it shows the token under the server's own name, and values of
 * its query are texts without control characters. The parser needs no library, so it is compiled in here.
 */
#include "../cli/edit/edit_request.c"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const exi_site site = {
    .port = 8080, .token = "0123456789abcdef0123456789abcdef", .ticket = "fedcba9876543210fedcba9876543210"};

static void expect(bool good) {
    if (!good)
        abort();
}

static bool is_status(int status) {
    return status >= 400 && status <= 505;
}

/* A prefix of a head is incomplete, never refused; and bytes behind a head do not change it. */
static void check_prefixes(const char *bytes, size_t size, int end) {
    for (size_t step = 1; end > 0 && step < (size_t)end; step *= 2)
        expect(exi_head_size(bytes, (size_t)end - step) == 0);
    expect(end <= 0 || exi_head_size(bytes, (size_t)end) == end);
    expect(end <= (int)size);
}

static void check_query(const char *query) {
    static const char *const keys[] = {"name", "mesh", "build", "a", ""};
    for (size_t k = 0; k < sizeof keys / sizeof *keys; k++)
        for (size_t room = 1; room <= 256; room *= 16) {
            char *text = malloc(room); /* exactly as large, so that the sanitizer sees a byte too many */
            const int found = exi_query_find(query, keys[k], text, room);
            expect(found >= -1 && found <= 1 && strlen(text) < room && (found == 1 || !text[0]));
            for (const char *c = text; *c; c++)
                expect(!is_control(*c));
            free(text);
        }
}

static void check_verdict(const exi_head *head, const exi_verdict *verdict) {
    expect(verdict->status == 0 || (is_status(verdict->status) && verdict->text[0]));
    expect(verdict->status != 0 || verdict->admitted);
    expect((verdict->status == 405) == (verdict->allow[0] != '\0'));
    if (verdict->admitted)
        expect(strncmp(head->path + 1, site.token, EXI_TOKEN_SIZE) == 0 && exi_head_find(head, "Host"));
    expect(!verdict->has_ticket ||
           (verdict->status == 404 && strcmp(head->path, "/fedcba9876543210fedcba9876543210/") == 0));
    if (verdict->status != 0)
        return;
    expect(verdict->route < EXI_ROUTE_COUNT && verdict->body_size <= EXI_BODY_MOST);
    expect(strcmp(head->path + EXI_TOKEN_SIZE + 2, routes[verdict->route].path) == 0);
    expect(count_headers(head, "Content-Length") <= 1 && count_headers(head, "Transfer-Encoding") == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *bytes = calloc(1, size + 1);
    exi_head head;
    if (size > 0)
        memcpy(bytes, data, size);
    const int end = exi_head_size(bytes, size);
    check_prefixes(bytes, size, end);
    char *exact = end > 0 ? malloc((size_t)end) : NULL;
    if (exact) {
        const int status = exi_head_parse(memcpy(exact, bytes, (size_t)end), (size_t)end, &head);
        expect(status == 0 || is_status(status));
        if (status == 0) {
            const exi_verdict verdict = exi_head_judge(&head, &site);
            check_verdict(&head, &verdict);
            check_query(head.query);
        }
    }
    free(exact);
    free(bytes);
    return 0;
}
