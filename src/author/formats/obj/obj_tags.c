/*
 * Subdivision tags of an OBJ file: `t NAME ints/floats/strings i… f… s…`, for example `t crease 2/1/0 4 7 2.5`.
 *
 * Vertex numbers in tags count from 0, unlike all others in OBJ.
 */
#include "author/formats/obj/obj_tags.h"
#include "author/base/array.h"

#include <exemplar/author/base.h>

#include <string.h>

/* Reads one of the three counts. The remaining text bounds it, so that a count in the file cannot reserve memory. */
static ex_result read_count(exi_obj_scan *scan, const char *word, bool last, int *count) {
    if (!ex_parse_int(&scan->at, scan->end, count) || *count < 0 ||
        (last ? !exi_obj_at_word_end(scan) : scan->at == scan->end || *scan->at != '/'))
        return exi_obj_unreadable(scan, word, "a tag's counts, as in 2/1/0");
    if (*count > (scan->end - scan->at + 1) / 2)
        return exi_obj_fail(scan, scan->line, EX_ERROR_DATA, "the file ends too early: the tag states %d values",
                            *count);
    scan->at += !last;
    return EX_OK;
}

static ex_result read_counts(exi_obj_scan *scan, int counts[3]) {
    if (!exi_obj_next_word(scan))
        return exi_obj_fail(scan, scan->line, EX_ERROR_FORMAT, "the tag lacks its counts, as in 2/1/0");
    const char *word = scan->at;
    ex_result result = EX_OK;
    for (int i = 0; i < 3 && result == EX_OK; i++)
        result = read_count(scan, word, i == 2, &counts[i]);
    return result;
}

static ex_result read_string(exi_obj_scan *scan, char **string) {
    if (!exi_obj_next_word(scan))
        return exi_obj_fail(scan, scan->line, EX_ERROR_FORMAT, "the line ends where a tag's word is needed");
    const char *word = scan->at;
    size_t size = exi_obj_skip_word(scan);
    *string = exi_text_copy(word, size);
    return *string ? EX_OK : exi_obj_no_memory(scan);
}

static ex_result read_values(exi_obj_scan *scan, ex_tag *tag, const int counts[3]) {
    tag->ints = exi_array_allocate((size_t)counts[0], sizeof *tag->ints);
    tag->floats = exi_array_allocate((size_t)counts[1], sizeof *tag->floats);
    tag->strings = exi_array_allocate((size_t)counts[2], sizeof *tag->strings);
    if (!tag->ints || !tag->floats || !tag->strings)
        return exi_obj_no_memory(scan);
    ex_result result = EX_OK;
    for (; tag->int_count < counts[0] && result == EX_OK; tag->int_count++)
        result = exi_obj_read_int(scan, "a tag's whole number", &tag->ints[tag->int_count]);
    for (; tag->float_count < counts[1] && result == EX_OK; tag->float_count++)
        result = exi_obj_read_double(scan, "a tag's number", &tag->floats[tag->float_count]);
    while (tag->string_count < counts[2] && result == EX_OK) {
        result = read_string(scan, &tag->strings[tag->string_count]);
        tag->string_count += result == EX_OK;
    }
    return result == EX_OK ? exi_obj_expect_line_end(scan) : result;
}

ex_result exi_obj_read_tag(exi_obj_reader *reader) {
    exi_obj_scan *scan = &reader->scan;
    ex_mesh *mesh = reader->mesh;
    int line = scan->line, counts[3];
    ex_result result = exi_obj_reserve(reader, mesh->tag_count, "tags");
    if (result != EX_OK)
        return result;
    ex_tag *tags = exi_array_grow(mesh->tags, &reader->tag_capacity, (size_t)mesh->tag_count + 1, sizeof *tags);
    if (!tags)
        return exi_obj_no_memory(scan);
    mesh->tags = tags;
    int *lines =
        exi_array_grow(reader->tag_lines, &reader->tag_line_capacity, (size_t)mesh->tag_count + 1, sizeof *lines);
    if (!lines)
        return exi_obj_no_memory(scan);
    reader->tag_lines = lines;
    lines[mesh->tag_count] = line;
    ex_tag *tag = &tags[mesh->tag_count++]; /* now owned by the mesh, which releases it if the rest fails */
    *tag = (ex_tag){0};
    result = read_string(scan, &tag->name);
    if (result == EX_OK)
        result = read_counts(scan, counts);
    return result == EX_OK ? read_values(scan, tag, counts) : result;
}

ex_result exi_obj_check_tags(const exi_obj_reader *reader) {
    const ex_mesh *mesh = reader->mesh;
    for (int t = 0; t < mesh->tag_count; t++) {
        const ex_tag *tag = &mesh->tags[t];
        if (strcmp(tag->name, "crease") != 0 && strcmp(tag->name, "corner") != 0)
            continue;
        for (int i = 0; i < tag->int_count; i++)
            if (tag->ints[i] < 0 || tag->ints[i] >= mesh->vertex_count)
                return exi_obj_fail(&reader->scan, reader->tag_lines[t], EX_ERROR_DATA,
                                    "the %s refers to vertex %d (tags count from 0), but the file has %d vertices",
                                    tag->name, tag->ints[i], mesh->vertex_count);
    }
    return EX_OK;
}
