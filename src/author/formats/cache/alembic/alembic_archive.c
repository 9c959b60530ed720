/*
 * Reads the parts of an Alembic archive that all objects share, and finds properties and their samples.
 *
 * The header of a property is a number of 32 bits (alembic.h has its bits), the number of samples, the first and last
 * that differ, the time sampling, the size of the name, the name, and metadata. Compounds have only name and metadata.
 */
#include "author/formats/cache/alembic/alembic.h"

#include "author/base/array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Children of the archive's group. */
enum { VERSION = 0, TOP = 2, SAMPLINGS = 4, STRINGS = 5, ARCHIVE_LEAST = 6 };

/* ---- bytes in order ---- */

typedef struct cursor {
    const unsigned char *bytes;
    size_t size, at;
    bool failed; /* true if there were too few bytes */
} cursor;

static const unsigned char *take(cursor *c, size_t size) {
    c->failed = c->failed || size > c->size - c->at;
    if (c->failed)
        return NULL;
    c->at += size;
    return c->bytes + c->at - size;
}

static uint32_t take_number(cursor *c, int size) {
    const unsigned char *bytes = take(c, (size_t)size);
    return bytes ? (uint32_t)exi_ogawa_number(bytes, size) : 0;
}

static double take_double(cursor *c) {
    const unsigned char *bytes = take(c, 8);
    const uint64_t bits = bytes ? exi_ogawa_number(bytes, 8) : 0;
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- the archive ---- */

static ex_result check_version(exi_alembic_archive *a, exi_ogawa_group root, ex_error *error) {
    unsigned char bytes[4] = {0};
    exi_ogawa_stream stream;
    if (root.count < ARCHIVE_LEAST)
        return exi_ogawa_damaged(&a->file, "it has no objects", error);
    ex_result result = exi_ogawa_find_child(&a->file, root, VERSION, &stream, error);
    if (result == EX_OK)
        result = exi_ogawa_read(&a->file, stream, 0, bytes, sizeof bytes, error);
    if (result == EX_OK && exi_ogawa_number(bytes, 4) > 0)
        result = ex_error_set(error, EX_ERROR_VERSION, "%s: this is layout %ld of Alembic; only layout 0 is supported",
                              a->file.path, (long)(int32_t)exi_ogawa_number(bytes, 4));
    return result;
}

static ex_result read_strings(exi_alembic_archive *a, exi_ogawa_group root, ex_error *error) {
    exi_ogawa_stream stream;
    ex_result result = exi_ogawa_find_child(&a->file, root, STRINGS, &stream, error);
    if (result == EX_OK)
        result = exi_ogawa_read_all(&a->file, stream, &a->strings, error);
    if (result != EX_OK)
        return result;
    cursor c = {a->strings, (size_t)stream.size, 0, false};
    a->string_count = 1;
    while (c.at < c.size && a->string_count < EXI_ALEMBIC_WRITTEN && !c.failed) {
        const uint32_t size = take_number(&c, 1);
        a->string_at[a->string_count] = c.at;
        a->string_size[a->string_count++] = size;
        take(&c, size);
    }
    return c.failed ? exi_ogawa_damaged(&a->file, "its metadata is cut short", error) : EX_OK;
}

/* Each: number of samples that use it, period, number of times, times. All times together are fewer than the bytes. */
static ex_result parse_samplings(exi_alembic_archive *a, cursor *c, ex_error *error) {
    size_t capacity = 0, used = 0;
    a->times = exi_array_allocate(c->size / 8 + 1, sizeof *a->times);
    if (!a->times)
        return ex_error_memory(error, "the times of the cache", c->size);
    while (c->at < c->size && !c->failed) {
        exi_alembic_times *samplings =
            exi_array_grow(a->samplings, &capacity, (size_t)a->sampling_count + 1, sizeof *samplings);
        if (!samplings)
            return ex_error_memory(error, "the times of the cache", c->size);
        a->samplings = samplings;
        take_number(c, 4);
        exi_alembic_times *s = &samplings[a->sampling_count];
        *s = (exi_alembic_times){.period = take_double(c), .times = a->times + used};
        s->cyclic = !(s->period >= EXI_ALEMBIC_ACYCLIC / 2);
        s->count = take_number(c, 4);
        for (uint32_t i = 0; i < s->count && !c->failed; i++) {
            const double time = take_double(c);
            if (!c->failed)
                a->times[used++] = time;
        }
        a->sampling_count++;
    }
    return c->failed ? exi_ogawa_damaged(&a->file, "its times are cut short", error) : EX_OK;
}

static ex_result read_samplings(exi_alembic_archive *a, exi_ogawa_group root, ex_error *error) {
    exi_ogawa_stream stream;
    unsigned char *bytes = NULL;
    ex_result result = exi_ogawa_find_child(&a->file, root, SAMPLINGS, &stream, error);
    if (result == EX_OK)
        result = exi_ogawa_read_all(&a->file, stream, &bytes, error);
    if (result == EX_OK)
        result = parse_samplings(a, &(cursor){bytes, (size_t)stream.size, 0, false}, error);
    free(bytes);
    return result;
}

ex_result exi_alembic_open(exi_alembic_archive *archive, const char *path, size_t length, ex_error *error) {
    exi_ogawa_group root;
    *archive = (exi_alembic_archive){0};
    ex_result result = exi_ogawa_open(&archive->file, path, length, &root, error);
    if (result == EX_OK)
        result = check_version(archive, root, error);
    if (result == EX_OK)
        result = read_strings(archive, root, error);
    if (result == EX_OK)
        result = read_samplings(archive, root, error);
    if (result == EX_OK)
        result = exi_ogawa_enter_child(&archive->file, root, TOP, &archive->top, error);
    if (result != EX_OK)
        exi_alembic_close(archive);
    return result;
}

void exi_alembic_close(exi_alembic_archive *archive) {
    exi_ogawa_close(&archive->file);
    free(archive->strings);
    free(archive->samplings);
    free(archive->times);
    *archive = (exi_alembic_archive){0};
}

bool exi_alembic_string(const exi_alembic_archive *archive, int number, const char **text, size_t *size) {
    if (number >= archive->string_count)
        return false;
    *text = (const char *)archive->strings + archive->string_at[number];
    *size = archive->string_size[number];
    return true;
}

/* ---- properties ---- */

/* Reads the next header; true if it has the name. */
static bool take_header(cursor *c, const char *name, exi_alembic_property *p) {
    const uint32_t info = take_number(c, 4);
    const int hint = info >> EXI_ALEMBIC_SIZE_SHIFT & 3, size = 1 << hint;
    *p = (exi_alembic_property){.kind = info & 2 ? EXI_ALEMBIC_ARRAY : (int)(info & 1)};
    c->failed = c->failed || hint > 2;
    if (p->kind != EXI_ALEMBIC_COMPOUND) {
        p->type = info >> EXI_ALEMBIC_TYPE_SHIFT & 15;
        p->extent = info >> EXI_ALEMBIC_EXTENT_SHIFT & 255;
        p->sample_count = take_number(c, size);
        p->first = 1;
        p->last = p->sample_count > 0 ? p->sample_count - 1 : 0;
        if (info & EXI_ALEMBIC_HAS_CHANGES) {
            p->first = take_number(c, size);
            p->last = take_number(c, size);
        } else if (info & EXI_ALEMBIC_SAME_SAMPLES) {
            p->first = p->last = 0;
        }
        p->sampling = info & EXI_ALEMBIC_HAS_TIMES ? (int)(take_number(c, size) & 0x7FFFFFFF) : 0;
        if (p->last == 0 || p->first == 0 || p->sample_count < 2)
            p->first = p->last = 0;
    }
    const uint32_t length = take_number(c, size);
    const unsigned char *own = take(c, length);
    if ((info >> EXI_ALEMBIC_METADATA_SHIFT & 255) == EXI_ALEMBIC_WRITTEN)
        take(c, take_number(c, size));
    return !c->failed && own && length == strlen(name) && memcmp(own, name, length) == 0;
}

ex_result exi_alembic_property_find(const exi_alembic_archive *archive, exi_ogawa_group compound, const char *name,
                                    exi_alembic_property *property, ex_error *error) {
    unsigned char *bytes = NULL;
    exi_ogawa_stream stream;
    uint64_t reference = 0, index = 0;
    *property = (exi_alembic_property){0};
    if (compound.count == 0)
        return EX_OK;
    ex_result result = exi_ogawa_child(&archive->file, compound, compound.count - 1, &reference, error);
    if (result != EX_OK || !(reference & EXI_OGAWA_STREAM))
        return result;
    result = exi_ogawa_find(&archive->file, reference, &stream, error);
    if (result == EX_OK)
        result = exi_ogawa_read_all(&archive->file, stream, &bytes, error);
    if (result != EX_OK)
        return result;
    cursor c = {bytes, (size_t)stream.size, 0, false};
    bool found = false;
    while (c.at < c.size && !found && !c.failed) {
        found = take_header(&c, name, property);
        index += !found;
    }
    free(bytes);
    if (c.failed)
        return exi_ogawa_damaged(&archive->file, "the names of its properties are cut short", error);
    if (!found)
        *property = (exi_alembic_property){0};
    else if (property->first > property->last || property->last >= (uint64_t)property->sample_count + !property->last)
        return exi_ogawa_damaged(&archive->file, "a property has fewer samples than it counts", error);
    property->found = found;
    return found ? exi_ogawa_enter_child(&archive->file, compound, index, &property->group, error) : EX_OK;
}

uint32_t exi_alembic_stored_count(const exi_alembic_property *property) {
    return property->last == 0 ? property->sample_count > 0 : property->last - property->first + 2;
}

uint32_t exi_alembic_stored(const exi_alembic_property *property, uint32_t sample) {
    if (property->last == 0 || sample < property->first)
        return 0;
    return (sample < property->last ? sample : property->last) - property->first + 1;
}

ex_result exi_alembic_values(const exi_alembic_archive *archive, const exi_alembic_property *property, uint32_t stored,
                             exi_ogawa_stream *values, ex_error *error) {
    const uint64_t streams = property->kind == EXI_ALEMBIC_ARRAY ? 2 : 1;
    const ex_result result = exi_ogawa_find_child(&archive->file, property->group, streams * stored, values, error);
    if (result != EX_OK)
        return result;
    if (values->size > 0 && values->size < EXI_ALEMBIC_DIGEST)
        return exi_ogawa_damaged(&archive->file, "a value has too few bytes", error);
    if (values->size > 0) {
        values->at += EXI_ALEMBIC_DIGEST;
        values->size -= EXI_ALEMBIC_DIGEST;
    }
    return EX_OK;
}

/* ---- times ---- */

ex_result exi_alembic_check_times(const exi_alembic_archive *archive, const exi_alembic_property *property,
                                  ex_error *error) {
    if (property->sample_count < 2)
        return EX_OK;
    if (property->sampling >= archive->sampling_count)
        return exi_ogawa_damaged(&archive->file, "a property has no times", error);
    const exi_alembic_times *s = &archive->samplings[property->sampling];
    if (s->count < 1 || (!s->cyclic && s->count < property->sample_count))
        return exi_ogawa_damaged(&archive->file, "a property has fewer times than samples", error);
    bool good = isfinite(s->times[0]);
    for (uint32_t i = 1; i < s->count && i < property->sample_count && good; i++)
        good = isfinite(s->times[i]) && s->times[i] > s->times[i - 1];
    if (s->cyclic)
        good = good && s->period > 0 && s->period > s->times[s->count - 1] - s->times[0];
    return good ? EX_OK
                : ex_error_set(error, EX_ERROR_DATA, "%s: the times of its frames do not increase", archive->file.path);
}

double exi_alembic_time(const exi_alembic_archive *archive, const exi_alembic_property *property, uint32_t sample) {
    if (property->sampling >= archive->sampling_count)
        return 0;
    const exi_alembic_times *s = &archive->samplings[property->sampling];
    if (s->count < 1)
        return 0;
    const double time = s->times[s->cyclic ? sample % s->count : sample < s->count ? sample : s->count - 1];
    return s->cyclic && sample >= s->count ? time + s->period * (sample / s->count) : time;
}

uint32_t exi_alembic_nearest(const exi_alembic_archive *archive, const exi_alembic_property *property, double time) {
    uint32_t low = 0, high = property->sample_count > 0 ? property->sample_count - 1 : 0;
    while (high - low > 1) {
        const uint32_t middle = low + (high - low) / 2;
        if (exi_alembic_time(archive, property, middle) <= time)
            low = middle;
        else
            high = middle;
    }
    const double before = time - exi_alembic_time(archive, property, low),
                 after = exi_alembic_time(archive, property, high) - time;
    return after < before ? high : low;
}
