/*
 * Reads and writes labels: marker,x,y,z[,confidence]. A line without confidence was written by hand.
 */
#include "author/base/array.h"
#include "author/scan/label/label_scans.h"
#include "author/scan/session/table.h"
#include "runtime/base/result.h"
#include "runtime/base/text.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

void ex_labels_free(ex_labelled *labelled, int count) {
    for (int i = 0; labelled && i < count; i++)
        free(labelled[i].name);
    free(labelled);
}

static ex_result read_row(const exi_table *table, int row, const ex_labelled *before, ex_labelled *label,
                          ex_error *error) {
    static const char *const places[3] = {"x", "y", "z"};
    const int confidence = exi_table_column(table, "confidence");
    const char *name = exi_table_text(table, row, exi_table_column(table, "marker"));
    *label = (ex_labelled){.confidence = 1, .by_hand = !exi_table_text(table, row, confidence)[0]};
    if (!name[0])
        return ex_error_set(error, EX_ERROR_DATA, "%s:%d: this marker has no name", table->path, table->lines[row]);
    if (!exi_is_name(name))
        return ex_error_set(error, EX_ERROR_DATA, "%s:%d: the name of this marker is not text of at most %d bytes",
                            table->path, table->lines[row], EXI_NAME_MAX);
    for (int i = 0; i < row; i++)
        if (strcmp(before[i].name, name) == 0)
            return ex_error_set(error, EX_ERROR_DATA,
                                "%s:%d: marker '%s' is already on line %d: one of the two must be another marker",
                                table->path, table->lines[row], name, table->lines[i]);
    ex_result result = exi_table_triple(table, row, places, true, label->position, error);
    if (result == EX_OK)
        result = exi_table_number(table, row, confidence, false, &label->confidence, error);
    if (result == EX_OK && !(label->confidence >= 0 && label->confidence <= 1))
        result = ex_error_set(error, EX_ERROR_DATA, "%s:%d: a confidence must be from 0 to 1", table->path,
                              table->lines[row]);
    for (int c = 0; c < 3 && result == EX_OK; c++)
        if (!isfinite((float)label->position[c]))
            result = ex_error_set(error, EX_ERROR_DATA, "%s:%d: this marker is too far away for a float", table->path,
                                  table->lines[row]);
    if (result != EX_OK)
        return result;
    label->name = exi_text_copy(name, strlen(name));
    return label->name ? EX_OK : ex_error_memory(error, "the labels", strlen(name));
}

ex_result ex_labels_read(const char *path, ex_labelled **labelled, int *count, ex_error *error) {
    static const char *const columns[] = {"marker", "x", "y", "z", "confidence", NULL};
    exi_table table;
    int read = 0;
    *labelled = NULL;
    *count = 0;
    ex_result result = exi_table_read(path, columns, 4, &table, error);
    if (result != EX_OK)
        return result;
    ex_labelled *labels = exi_array_allocate((size_t)table.row_count, sizeof *labels);
    if (!labels)
        result = ex_error_memory(error, "the labels", (size_t)table.row_count * sizeof *labels);
    for (; read < table.row_count && result == EX_OK; read++)
        result = read_row(&table, read, labels, &labels[read], error);
    exi_table_free(&table);
    if (result != EX_OK) {
        ex_labels_free(labels, read);
        return result;
    }
    *labelled = labels;
    *count = read;
    return EX_OK;
}

void exi_label_write_name(ex_file_writer *writer, const char *text) {
    const bool quoted = strpbrk(text, ",\"\r\n") || text[0] == ' ' || (text[0] && text[strlen(text) - 1] == ' ');
    if (quoted)
        ex_file_write(writer, "\"", 1);
    for (const char *c = text; *c; c++) {
        if (*c == '"')
            ex_file_write(writer, c, 1);
        ex_file_write(writer, c, 1);
    }
    if (quoted)
        ex_file_write(writer, "\"", 1);
}

/* Refuses what could not be read back. */
static ex_result check_labels(const char *path, const ex_labelled *labelled, int count, ex_error *error) {
    for (int i = 0; i < count; i++) {
        const ex_labelled *l = &labelled[i];
        bool good = exi_is_name(l->name) && (l->by_hand || (l->confidence >= 0 && l->confidence <= 1));
        for (int c = 0; c < 3; c++)
            good = good && isfinite((float)l->position[c]);
        if (!good)
            return ex_error_set(
                error, EX_ERROR_DATA,
                "cannot write '%s': label %d has no name of readable text, a position that is not finite, or a "
                "confidence outside 0 to 1",
                path, i + 1);
    }
    return EX_OK;
}

ex_result ex_labels_write(const char *path, const ex_labelled *labelled, int count, ex_error *error) {
    ex_file_writer writer;
    ex_result result = check_labels(path, labelled, count, error);
    if (result == EX_OK)
        result = ex_file_open(&writer, path, error);
    if (result != EX_OK)
        return result;
    ex_file_printf(&writer, "marker,x,y,z,confidence\n");
    for (int i = 0; i < count; i++) {
        char number[32];
        exi_label_write_name(&writer, labelled[i].name);
        for (int c = 0; c < 3; c++) {
            ex_format_float(number, (float)labelled[i].position[c]);
            ex_file_printf(&writer, ",%s", number);
        }
        ex_format_double(number,
                         (double)(int)(1000 * labelled[i].confidence) / 1000); /* rounds down, never up to sure */
        ex_file_printf(&writer, ",%s\n", labelled[i].by_hand ? "" : number);
    }
    return ex_file_commit(&writer, error);
}
