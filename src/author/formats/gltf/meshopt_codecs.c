/*
 * Decodes meshopt bytes, after the text of EXT_meshopt_compression (Khronos, appendices A and B).
 *
 * Attributes: every byte of an element is a column of its own. A column holds differences from element to element, in
 * zigzag form (0, −1, 1, −2, …), in groups of 16 that take 0, 2, 4 or 8 bits each; the largest value of 2 or 4 bits
 * means that a whole byte follows. The element that the first one differs from is at the very end.
 *
 * Triangles: one byte a triangle says which recent edge it shares, and which vertex it adds: the next new one, a recent
 * one, or one that is spelled out. Sequences: differences to one of two earlier indices.
 *
 * The library meshoptimizer decodes the same. It is not used: distributions ship it as a shared library of C++ only,
 * and programs that link authoring statically could not have it. Tests use it to encode.
 */
#include "author/formats/gltf/meshopt_codecs.h"

#include <math.h>
#include <string.h>

/* First bytes of the codecs; the lower half is a version. */
enum { ATTRIBUTES = 0xA0, TRIANGLES = 0xE0, SEQUENCE = 0xD0 };
/* Elements of a group, most elements of a block, bytes of a block, and least bytes after the blocks. */
enum { GROUP = 16, BLOCK_ELEMENTS = 256, BLOCK_BYTES = 8192, TAIL = 32 };

typedef struct stream {
    const unsigned char *at, *end;
    bool failed;
} stream;

static unsigned take(stream *s) {
    if (s->at == s->end) {
        s->failed = true;
        return 0;
    }
    return *s->at++;
}

/* Seven bits a byte, the lowest first. */
static uint32_t take_number(stream *s) {
    uint32_t number = 0;
    for (unsigned shift = 0; shift < 35; shift += 7) {
        const uint32_t byte = take(s);
        number |= (byte & 127) << shift;
        if (byte < 128)
            break;
    }
    return number;
}

static uint32_t zigzag(uint32_t number) {
    return number >> 1 ^ (0 - (number & 1));
}

/* ---- attributes ---- */

static void take_group(stream *s, unsigned mode, unsigned char *deltas) {
    if (mode == 0) {
        memset(deltas, 0, GROUP);
    } else if (mode == 3) {
        for (int i = 0; i < GROUP; i++)
            deltas[i] = (unsigned char)take(s);
    } else {
        const unsigned bits = 2 * mode, most = (1U << bits) - 1;
        unsigned byte = 0;
        for (unsigned i = 0; i < GROUP; i++) {
            if (i * bits % 8 == 0)
                byte = take(s);
            deltas[i] = (unsigned char)(byte >> (8 - bits - i * bits % 8) & most);
        }
        for (int i = 0; i < GROUP; i++)
            if (deltas[i] == most)
                deltas[i] = (unsigned char)take(s);
    }
}

/* Decodes one column of a block; out is its first byte. Returns the last byte. */
static unsigned char take_column(stream *s, size_t count, size_t stride, unsigned char last, unsigned char *out) {
    const size_t groups = (count + GROUP - 1) / GROUP, head_size = (groups + 3) / 4;
    unsigned char head[BLOCK_ELEMENTS / GROUP / 4] = {0}, deltas[BLOCK_ELEMENTS];
    for (size_t i = 0; i < head_size; i++)
        head[i] = (unsigned char)take(s);
    for (size_t i = 0; i < groups && !s->failed; i++)
        take_group(s, (unsigned)head[i / 4] >> (2 * (i % 4)) & 3U, deltas + GROUP * i);
    for (size_t i = 0; i < count && !s->failed; i++)
        out[i * stride] = last = (unsigned char)(last + zigzag(deltas[i]));
    return last;
}

bool exi_meshopt_attributes(const unsigned char *bytes, size_t size, size_t count, size_t stride, unsigned char *out) {
    const size_t tail = stride < TAIL ? TAIL : stride;
    if (size < 1 + tail || bytes[0] != ATTRIBUTES)
        return false;
    stream s = {.at = bytes + 1, .end = bytes + size - tail};
    unsigned char last[BLOCK_ELEMENTS];
    memcpy(last, bytes + size - stride, stride);
    size_t most = BLOCK_BYTES / stride / GROUP * GROUP;
    most = most < BLOCK_ELEMENTS ? most : BLOCK_ELEMENTS;
    for (size_t first = 0; first < count && !s.failed; first += most) {
        const size_t left = count - first, block = left < most ? left : most;
        for (size_t k = 0; k < stride && !s.failed; k++)
            last[k] = take_column(&s, block, stride, last[k], out + first * stride + k);
    }
    return !s.failed && s.at == s.end;
}

/* ---- indices ---- */

static void put_index(unsigned char *out, size_t stride, uint32_t index) {
    for (size_t i = 0; i < stride; i++)
        out[i] = (unsigned char)(index >> (8 * i) & 255);
}

/* Recent edges and vertices, newest last; and the indices that bytes are counted from. */
typedef struct recent {
    uint32_t edges[16][2], vertices[16];
    unsigned edge_count, vertex_count;
    uint32_t next, last;
} recent;

static uint32_t recent_vertex(const recent *r, unsigned ago) {
    return r->vertices[(r->vertex_count - ago) & 15];
}

static void add_vertex(recent *r, uint32_t vertex) {
    r->vertices[r->vertex_count++ & 15] = vertex;
}

static void add_edge(recent *r, uint32_t from, uint32_t to) {
    uint32_t *edge = r->edges[r->edge_count++ & 15];
    edge[0] = from;
    edge[1] = to;
}

static uint32_t take_vertex(stream *s, recent *r) {
    return r->last += zigzag(take_number(s));
}

/* A triangle at a recent edge. `near` codes name a recent vertex. */
static void take_neighbour(stream *s, recent *r, unsigned code, unsigned near, uint32_t corners[3]) {
    const uint32_t *edge = r->edges[(r->edge_count - 1 - (code >> 4)) & 15];
    const unsigned which = code & 15;
    corners[0] = edge[0];
    corners[1] = edge[1];
    if (which > 0 && which < near) {
        corners[2] = recent_vertex(r, which + 1);
    } else {
        corners[2] = which == 0    ? r->next++
                     : which == 15 ? take_vertex(s, r)
                                   : (r->last += which == 14 ? 1U : UINT32_MAX);
        add_vertex(r, corners[2]);
    }
    add_edge(r, corners[2], corners[1]);
    add_edge(r, corners[0], corners[2]);
}

/* A triangle by itself. Its corners are new (0), recent, or spelled out (15, unless the code is from the table). */
static void take_lone(stream *s, recent *r, unsigned code, const unsigned char *table, uint32_t corners[3]) {
    const bool listed = code < 0xFE;
    const unsigned pair = listed ? table[code & 15] : take(s);
    const unsigned which[3] = {code == 0xFF ? 15 : 0, pair >> 4, pair & 15};
    if (!listed && pair == 0)
        r->next = 0;
    for (int c = 0; c < 3; c++)
        corners[c] = which[c] == 0 ? r->next++ : recent_vertex(r, which[c]);
    for (int c = 0; c < 3 && !listed; c++)
        if (which[c] == 15)
            corners[c] = take_vertex(s, r);
    for (int c = 0; c < 3; c++)
        if (which[c] == 0 || (which[c] == 15 && !listed))
            add_vertex(r, corners[c]);
    add_edge(r, corners[1], corners[0]);
    add_edge(r, corners[2], corners[1]);
    add_edge(r, corners[0], corners[2]);
}

bool exi_meshopt_triangles(const unsigned char *bytes, size_t size, size_t count, size_t stride, unsigned char *out) {
    const size_t triangle_count = count / 3, table_size = 16;
    if (size < 1 + table_size || size - 1 - table_size < triangle_count || (bytes[0] & ~1U) != TRIANGLES)
        return false;
    const unsigned char *codes = bytes + 1, *table = bytes + size - table_size;
    const unsigned near = bytes[0] & 1U ? 13 : 15;
    stream s = {.at = codes + triangle_count, .end = table};
    recent r = {.next = 0};
    memset(r.edges, 0xFF, sizeof r.edges);
    memset(r.vertices, 0xFF, sizeof r.vertices);
    for (size_t t = 0; t < triangle_count && !s.failed; t++) {
        uint32_t corners[3];
        if (codes[t] < 0xF0)
            take_neighbour(&s, &r, codes[t], near, corners);
        else
            take_lone(&s, &r, codes[t], table, corners);
        for (size_t c = 0; c < 3; c++)
            put_index(out + (3 * t + c) * stride, stride, corners[c]);
    }
    return !s.failed && s.at == s.end;
}

bool exi_meshopt_sequence(const unsigned char *bytes, size_t size, size_t count, size_t stride, unsigned char *out) {
    const size_t tail = 4;
    if (size < 1 + tail || (bytes[0] & ~1U) != SEQUENCE)
        return false;
    stream s = {.at = bytes + 1, .end = bytes + size - tail};
    uint32_t last[2] = {0, 0};
    for (size_t i = 0; i < count && !s.failed; i++) {
        const uint32_t number = take_number(&s), base = number & 1;
        last[base] += zigzag(number >> 1);
        put_index(out + i * stride, stride, last[base]);
    }
    return !s.failed && s.at == s.end;
}

/* ---- filters ---- */

static int get_signed(const unsigned char *at, size_t size) {
    return size == 1 ? (int8_t)at[0] : (int16_t)(uint16_t)(at[0] | at[1] << 8);
}

/* Rounds half away from zero. */
static void put_signed(unsigned char *at, size_t size, double value) {
    put_index(at, size, (uint32_t)(int32_t)(value + (value < 0 ? -0.5 : 0.5)));
}

void exi_meshopt_octahedral(unsigned char *out, size_t count, size_t stride) {
    const size_t size = stride / 4;
    const double most = size == 1 ? 127 : 32767;
    for (unsigned char *at = out; at < out + count * stride; at += stride) {
        double x = get_signed(at, size), y = get_signed(at + size, size), one = get_signed(at + 2 * size, size);
        const double z = one - fabs(x) - fabs(y), fold = z < 0 ? z : 0;
        x += x < 0 ? -fold : fold;
        y += y < 0 ? -fold : fold;
        const double length = sqrt(x * x + y * y + z * z), scale = length > 0 ? most / length : 0;
        put_signed(at, size, x * scale);
        put_signed(at + size, size, y * scale);
        put_signed(at + 2 * size, size, z * scale);
    }
}

/* Three parts as fractions of √½, and with the fourth number the scale, and which part is left out: the largest. */
void exi_meshopt_quaternion(unsigned char *out, size_t count) {
    for (unsigned char *at = out; at < out + count * 8; at += 8) {
        const int head = get_signed(at + 6, 2);
        const double scale = sqrt(0.5) / (head | 3);
        double parts[4], sum = 0;
        for (int i = 0; i < 3; i++) {
            parts[i + 1] = get_signed(at + 2 * i, 2) * scale;
            sum += parts[i + 1] * parts[i + 1];
        }
        parts[0] = sum < 1 ? sqrt(1 - sum) : 0;
        for (int i = 0; i < 4; i++)
            put_signed(at + 2 * ((head + i) & 3), 2, parts[i] * 32767);
    }
}

/* A power of 2 in the upper 8 bits, and its factor in the lower 24; both have a sign. */
void exi_meshopt_exponential(unsigned char *out, size_t count) {
    for (unsigned char *at = out; at < out + count * 4; at += 4) {
        const int factor = (at[0] | at[1] << 8 | at[2] << 16) - ((at[2] & 0x80) << 17);
        const float value = ldexpf((float)factor, (int8_t)at[3]);
        uint32_t bits;
        memcpy(&bits, &value, sizeof bits);
        put_index(at, 4, bits);
    }
}
