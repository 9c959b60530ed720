/*
 * Fields of comma-separated text: quoted with double quotes, or unquoted and trimmed. Lines end with LF, CR LF or CR.
 */
#include "author/base/csv.h"

static bool at_line_end(const exi_csv *c) {
    return c->at == c->end || *c->at == '\n' || *c->at == '\r';
}

/* Skips one line end, if there is one here. */
static void skip_line_end(exi_csv *c) {
    if (c->at == c->end || !at_line_end(c))
        return;
    if (*c->at == '\r' && c->at + 1 < c->end && c->at[1] == '\n')
        c->at++;
    c->at++;
    c->next_line++;
}

static void skip_blanks(exi_csv *c) {
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t'))
        c->at++;
}

bool exi_csv_field(exi_csv *c, char field[EXI_FIELD_SIZE], bool *last) {
    size_t size = 0;
    c->line = c->next_line;
    skip_blanks(c);
    bool quoted = c->at < c->end && *c->at == '"';
    if (quoted)
        c->at++;
    for (;; c->at++) {
        if (c->at == c->end || (!quoted && (*c->at == ',' || at_line_end(c))))
            break;
        if (quoted && *c->at == '"') {
            if (c->at + 1 < c->end && c->at[1] == '"')
                c->at++;
            else
                break;
        }
        if (size + 1 >= EXI_FIELD_SIZE || *c->at == 0)
            return false;
        if (*c->at == '\n' || (*c->at == '\r' && c->at[1] != '\n'))
            c->next_line++; /* the text ends with NUL, so there is always one more byte to look at */
        field[size++] = *c->at;
    }
    if (quoted) {
        if (c->at == c->end)
            return false;
        c->at++;
        skip_blanks(c);
        if (!at_line_end(c) && *c->at != ',')
            return false;
    }
    while (!quoted && size > 0 && (field[size - 1] == ' ' || field[size - 1] == '\t'))
        size--;
    field[size] = 0;
    *last = at_line_end(c);
    if (*last)
        skip_line_end(c);
    else
        c->at++;
    return true;
}

bool exi_csv_skip_blank_line(exi_csv *c) {
    skip_blanks(c);
    if (!at_line_end(c))
        return false;
    skip_line_end(c);
    return true;
}
