/* cli/edit/edit_answer.c - answers to the editor's requests: JSON objects, refusals, and the library's errors split
 * into a sentence and a place. */
#define _POSIX_C_SOURCE 200809L

#include "cli/base/named.h"
#include "cli/base/report.h"
#include "edit.h"

#include <exemplar/author/base.h>

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ---- replies ---- */

bool exi_reply_start_plain(exi_reply *reply, exi_answer *answer, int status) {
    free(answer->json);
    answer->json = NULL;
    answer->json_size = 0;
    answer->status = status;
    *reply = (exi_reply){.answer = answer, .file = open_memstream(&answer->json, &answer->json_size)};
    if (!reply->file)
        answer->status = 500;
    return reply->file;
}

void exi_reply_end_plain(exi_reply *reply) {
    const bool whole = !ferror(reply->file);
    if (fclose(reply->file) == 0 && whole)
        return;
    free(reply->answer->json);
    reply->answer->json = NULL; /* the server reports that memory ran out */
    reply->answer->status = 500;
}

bool exi_reply_start(exi_reply *reply, exi_answer *answer, int status) {
    if (!exi_reply_start_plain(reply, answer, status))
        return false;
    reply->json = exi_emit_start(reply->file);
    exi_emit_open(&reply->json, NULL, '{');
    return true;
}

void exi_reply_end(exi_reply *reply) {
    exi_emit_close(&reply->json, '}');
    exi_emit_end(&reply->json);
    exi_reply_end_plain(reply);
}

static void refuse_at(exi_answer *answer, int status, const char *text, const char *where) {
    exi_reply reply;
    if (!exi_reply_start(&reply, answer, status))
        return;
    exi_emit_text(&reply.json, "error", text);
    if (where[0])
        exi_emit_text(&reply.json, "where", where);
    exi_reply_end(&reply);
}

void exi_refuse(exi_answer *answer, int status, const char *format, ...) {
    char text[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    refuse_at(answer, status, text, "");
}

void exi_refuse_memory(exi_answer *answer) {
    exi_refuse(answer, 500, "not enough memory");
}

/* ---- the library's errors ---- */

void exi_cut_out(char *text, const char *folder) {
    const size_t size = strlen(folder);
    for (char *at = text; size > 1 && (at = strstr(at, folder));) {
        if (at == text || strchr(" '\"(:", at[-1]))
            memmove(at, at + size, strlen(at + size) + 1);
        else
            at += size; /* "/data/" in "/mnt/data/arm.obj" is another folder */
    }
}

void exi_edit_hide_folder(const char *path, ex_error *error) {
    char folder[EXI_EDIT_SENT_SIZE];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash + 1 - path) : 0, path);
    exi_cut_out(error->text, folder);
}

/* Splits "12:3: SENTENCE", the form of errors in a JSON file. */
static bool split_line(exi_fault *fault) {
    const char *cursor = fault->text, *end = cursor + strlen(cursor);
    int line, column;
    if (!ex_parse_int(&cursor, end, &line) || *cursor++ != ':' || !ex_parse_int(&cursor, end, &column) ||
        strncmp(cursor, ": ", 2) != 0)
        return false;
    snprintf(fault->where, sizeof fault->where, "line %d, column %d", line, column);
    memmove(fault->text, cursor + 2, strlen(cursor + 2) + 1);
    return true;
}

/* Splits "layers[1].examples[3].at: SENTENCE", by the keys that a project begins with. */
static void split_place(exi_fault *fault) {
    static const char *const keys[] = {"exemplar", "mesh",   "up",        "unit",   "skeleton",
                                       "skinning", "layers", "subdivide", "driver", "settle"};
    const size_t size = strspn(fault->text, "abcdefghijklmnopqrstuvwxyz");
    bool known = false;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        known = known || (strlen(keys[i]) == size && strncmp(fault->text, keys[i], size) == 0);
    const char *colon = known && strchr(".[:", fault->text[size]) ? strstr(fault->text, ": ") : NULL;
    if (!colon)
        return;
    /* "layers[0].examples[2] 'bent': SENTENCE": the name belongs to the sentence. */
    const char *quote = strstr(fault->text, " '"), *end = quote && quote < colon ? quote : colon;
    memcpy(fault->where, fault->text, (size_t)(end - fault->text));
    fault->where[end - fault->text] = '\0';
    end += end == colon ? 2 : 1;
    memmove(fault->text, end, strlen(end) + 1);
}

/* Finds the place of the file that the sentence names first. */
static bool find_named(void *user, const char *path, const char *where) {
    exi_fault *fault = user;
    char quoted[EX_ERROR_SIZE];
    const int size = snprintf(quoted, sizeof quoted, "'%s'", path);
    const bool starts = strncmp(fault->text, path, strlen(path)) == 0 && fault->text[strlen(path)] == ':';
    if (size < 0 || (size_t)size >= sizeof quoted || !(starts || strstr(fault->text, quoted)))
        return true;
    snprintf(fault->where, sizeof fault->where, "%s", where);
    return false;
}

exi_fault exi_fault_of(const exi_edit *edit, const ex_error *error, const ex_project_view *view) {
    exi_fault fault = {.text = ""};
    const char *text = error->text;
    const size_t size = strlen(edit->path);
    bool named = strncmp(text, edit->path, size) == 0;
    if (named && text[size] == ':')
        text += size + 1;
    snprintf(fault.text, sizeof fault.text, "%s%s", text[0] == ' ' ? text + 1 : text, exi_hint(error));
    exi_cut_out(fault.text, edit->folder);
    if (!(named && split_line(&fault)))
        split_place(&fault);
    if (!fault.where[0] && view)
        exi_named_files(view, true, find_named, &fault);
    return fault;
}

void exi_refuse_error(const exi_edit *edit, exi_answer *answer, int status, const ex_error *error,
                      const ex_project_view *view) {
    const exi_fault fault = exi_fault_of(edit, error, view);
    refuse_at(answer, error->result == EX_ERROR_MEMORY ? 500 : status, fault.text, fault.where);
}
