/*
 * Calls the GPU and checks every byte of the result; see cuda_compare.h.
 *
 * Arrays are filled with ones, all bits set: as floats that is NaN, so an entry that was not written fails, and a byte
 * written outside the entries shows.
 */
#include "cuda/cuda_compare.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Not fmax, which makes gcc 12 fail at -O3. */
static double larger(double a, double b) {
    return a > b ? a : b;
}

enum { PATTERN = 0xFF, MARGIN = 64, COMPLAINTS_MOST = 20 };
/* The value of 32767 in positions of 16-bit integers: smaller than some poses reach. */
static const float frame[4] = {0.45F, 0.5F, 0.05F, 0.75F};

const request requests[] = {
    {.name = "floats", .positions = true, .normals = true, .boxes = true, .weights = true},
    {.name = "floats apart", .positions = true, .normals = true, .stride = 8, .far_apart = 36},
    {.name = "interleaved", .positions = true, .normals = true, .interleaved = true, .stride = 20, .far_apart = 4},
    {.name = "half", .number = EX_CUDA_HALF, .positions = true, .normals = true, .boxes = true},
    {.name = "half apart", .number = EX_CUDA_HALF, .positions = true, .normals = true, .stride = 16, .far_apart = 40},
    {.name = "snorm", .number = EX_CUDA_SNORM, .positions = true, .normals = true},
    {.name = "snorm apart", .number = EX_CUDA_SNORM, .positions = true, .stride = 8, .far_apart = 8, .weights = true},
    {.name = "positions alone", .positions = true},
    {.name = "normals alone", .normals = true},
    {.name = "boxes alone", .boxes = true},
    {.name = "weights alone", .weights = true},
    {.name = "to the host", .positions = true, .normals = true, .boxes = true, .weights = true, .to_host = true},
    {.name = "to locked memory", .positions = true, .normals = true, .to_host = true, .locked = true},
    {.name = "half to the host", .number = EX_CUDA_HALF, .positions = true, .normals = true, .to_host = true},
};
const int request_count = (int)(sizeof requests / sizeof *requests);

void complain(findings *f, const char *what, ...) {
    va_list list;
    f->failures++;
    if (f->failures > COMPLAINTS_MOST)
        return;
    printf("  %s: ", f->where);
    va_start(list, what);
    vprintf(what, list);
    va_end(list);
    printf("\n");
}

/* ---- asking ---- */

static void fill_sheet(sheet *s) {
    ex_error error = {0};
    memset(s->host, PATTERN, s->size);
    if (s->device)
        must(ex_cuda_copy(s->device, s->host, s->size, NULL, &error) == EX_OK, "a copy to the GPU", &error);
}

static void open_sheet(sheet *s, size_t size, size_t first, const request *r) {
    ex_error error = {0};
    void *host = NULL;
    *s = (sheet){.size = size, .first = first, .first_normal = first};
    if (r->locked)
        must(ex_cuda_allocate_host(size, &host, &error) == EX_OK, "page-locked memory", &error);
    else
        host = must_allocate(size, 1);
    s->host = host;
    if (!r->to_host)
        must(ex_cuda_allocate(size, &s->device, &error) == EX_OK, "memory of the GPU", &error);
    fill_sheet(s);
}

static void close_sheet(sheet *s, const request *r) {
    if (r->locked)
        ex_cuda_release_host(s->host);
    else
        free(s->host);
    ex_cuda_release(s->device);
}

static void *sheet_data(const sheet *s, size_t first) {
    return s->device ? (void *)((char *)s->device + first) : (void *)(s->host + first);
}

static size_t entry_size(const request *r) {
    return r->number == EX_CUDA_FLOAT ? 12 : 8;
}

/* The arrays of positions and normals; strides of 0 where entries are close together. */
static void open_arrays(asked *a, const expected *e) {
    const request *r = a->request;
    const size_t own = entry_size(r), stride = own + r->stride;
    const size_t instance = stride * (size_t)e->entries + r->far_apart;
    /* In float, an address that is a multiple of 4 only. */
    const size_t first = MARGIN + (r->number == EX_CUDA_FLOAT && r->stride ? 4 : 0);
    const bool normals = r->normals && e->has_normals;
    ex_cuda_array array = {
        .number = r->number, .stride = r->stride ? stride : 0, .instance_stride = r->far_apart ? instance : 0};
    if (r->positions) {
        open_sheet(&a->arrays[0], instance * (size_t)e->count + 2 * MARGIN, first, r);
        array.data = sheet_data(&a->arrays[0], first);
        a->output.positions = array;
    }
    if (normals && r->interleaved) {
        a->arrays[0].first_normal = first + own;
        array.data = sheet_data(&a->arrays[0], first + own);
        a->output.normals = array;
    } else if (normals) {
        open_sheet(&a->arrays[1], instance * (size_t)e->count + 2 * MARGIN, first, r);
        array.data = sheet_data(&a->arrays[1], first);
        a->output.normals = array;
    }
}

static void upload(void **device, const void *host, size_t size) {
    ex_error error = {0};
    if (!*device)
        must(ex_cuda_allocate(size + 16, device, &error) == EX_OK, "memory of the GPU", &error);
    must(ex_cuda_copy(*device, host, size, NULL, &error) == EX_OK, "a copy to the GPU", &error);
}

void ask(const ex_cuda_rig *rig, const ex_rig *source, const pose_set *poses, const setting *way, const expected *e,
         const request *r, asked *made) {
    ex_error error = {0};
    memset(made, 0, sizeof *made);
    made->request = r;
    made->how = (ex_cuda_evaluation){
        .muted = way->muted, .level = way->level, .split = way->split, .unskinned = way->unskinned};
    made->output.to_host = r->to_host;
    memcpy(made->output.frame, frame, sizeof frame);
    open_arrays(made, e);
    if (r->boxes) {
        open_sheet(&made->boxes, (size_t)e->count * 24 + 2 * MARGIN, MARGIN, r);
        made->output.boxes = sheet_data(&made->boxes, MARGIN);
    }
    if (r->weights && e->examples > 0) {
        open_sheet(&made->weights, (size_t)e->count * (size_t)e->examples * 4 + 2 * MARGIN, MARGIN, r);
        made->output.weights = sheet_data(&made->weights, MARGIN);
    }
    const size_t count = (size_t)poses->count;
    upload(&made->inputs, poses->inputs, count * (size_t)ex_rig_pose_size(source) * sizeof(float));
    if (ex_rig_joint_count(source) > 0)
        upload(&made->joints, poses->joints, count * (size_t)ex_rig_joint_count(source) * sizeof(ex_transform));
    const size_t size = ex_cuda_scratch_size(rig, &made->how, &made->output, e->count);
    must(ex_cuda_allocate(size + 1, &made->scratch, &error) == EX_OK, "scratch memory of the GPU", &error);
    must(ex_cuda_wait(NULL, &error) == EX_OK, "waiting for copies", &error);
}

void ask_again(asked *a, const pose_set *poses, size_t pose_size, size_t joints) {
    ex_error error = {0};
    sheet *sheets[4] = {&a->arrays[0], &a->arrays[1], &a->boxes, &a->weights};
    for (int i = 0; i < 4; i++)
        if (sheets[i]->size)
            fill_sheet(sheets[i]);
    upload(&a->inputs, poses->inputs, (size_t)poses->count * pose_size * sizeof(float));
    if (a->joints)
        upload(&a->joints, poses->joints, (size_t)poses->count * joints * sizeof(ex_transform));
    must(ex_cuda_wait(NULL, &error) == EX_OK, "waiting for copies", &error);
}

ex_result ask_evaluate(const ex_cuda_rig *rig, asked *a, int count, ex_error *error) {
    const ex_cuda_poses poses = {a->inputs, a->joints};
    return ex_cuda_evaluate(rig, count, &poses, &a->output, &a->how, a->scratch, error);
}

void free_asked(asked *a) {
    sheet *sheets[4] = {&a->arrays[0], &a->arrays[1], &a->boxes, &a->weights};
    for (int i = 0; i < 4; i++)
        if (sheets[i]->size)
            close_sheet(sheets[i], a->request);
    ex_cuda_release(a->inputs);
    ex_cuda_release(a->joints);
    ex_cuda_release(a->scratch);
}

/* ---- comparing ---- */

static double from_half(uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double sign = bits & 0x8000 ? -1 : 1;
    if (exponent == 31)
        return (double)NAN;
    return sign * (exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24));
}

/* An entry's three numbers; `got` of a frame if there is one. Returns its largest rounding error, for a number of that
 * size. *last is false if the fourth number of 16-bit entries is wrong. */
static double read_entry(const unsigned char *at, ex_cuda_number number, bool normal, double got[3], bool *last) {
    const double half_width = normal ? 1 : (double)frame[3];
    uint16_t words[4];
    *last = true;
    if (number == EX_CUDA_FLOAT) {
        float floats[3];
        memcpy(floats, at, sizeof floats);
        for (int c = 0; c < 3; c++)
            got[c] = (double)floats[c];
        return 0;
    }
    memcpy(words, at, sizeof words);
    for (int c = 0; c < 3; c++)
        got[c] = number == EX_CUDA_HALF
                     ? from_half(words[c])
                     : (normal ? 0 : (double)frame[c]) + half_width * (double)(int16_t)words[c] / 32767;
    *last = words[3] == (normal ? 0 : number == EX_CUDA_HALF ? 0x3C00 : 32767);
    return number == EX_CUDA_HALF ? 0 : 0.5001 * half_width / 32767;
}

/* The expected value: positions outside the frame of 16-bit integers are clamped. */
static double cut(double wanted, int c, ex_cuda_number number, bool normal) {
    const double centre = normal ? 0 : (double)frame[c], half_width = normal ? 1 : (double)frame[3];
    if (number != EX_CUDA_SNORM)
        return wanted;
    wanted = wanted < centre - half_width ? centre - half_width : wanted;
    return wanted > centre + half_width ? centre + half_width : wanted;
}

/* True if an entry is right: within the tolerance, or within the runtime's own uncertainty. */
static bool count_entry(double difference, double tolerance, double surety, bool is_float, tally *t) {
    if (difference <= tolerance) {
        t->within++;
        t->largest = is_float && difference > t->largest ? difference : t->largest;
        return true;
    }
    t->by_surety++;
    if (!(difference <= tolerance + surety))
        return false;
    t->used = larger(t->used, (difference - tolerance) / surety);
    return true;
}

/* Entries of one array; covered: [size of the sheet], set at the entries. */
static void compare_entries(const asked *a, const expected *e, bool normal, const sheet *s, unsigned char *covered,
                            findings *f) {
    const request *r = a->request;
    const size_t own = entry_size(r), stride = own + r->stride;
    const size_t instance = stride * (size_t)e->entries + r->far_apart;
    for (int i = 0; i < e->count; i++)
        for (int v = 0; v < e->entries; v++) {
            const size_t at = (normal ? s->first_normal : s->first) + (size_t)i * instance + (size_t)v * stride;
            const size_t entry = (size_t)i * (size_t)e->entries + (size_t)v;
            const float *wanted = (normal ? e->normals : e->positions) + 3 * entry;
            double got[3], difference = 0, largest = 0;
            bool last;
            double off = read_entry(s->host + at, r->number, normal, got, &last);
            memset(covered + at, 1, own);
            for (int c = 0; c < 3; c++) {
                const double d = fabs(got[c] - cut((double)wanted[c], c, r->number, normal));
                difference = d <= difference ? difference : d; /* not a number stays */
                largest = larger(largest, fabs((double)wanted[c]));
            }
            if (r->number == EX_CUDA_HALF)
                off = largest / 2048 + 1e-7;
            if (!last)
                complain(f, "the fourth number of instance %d, entry %d is wrong", i, v);
            /* Positions are measured as fractions of the form's size. */
            const double size = normal ? 1 : e->sizes[i];
            const double surety = (double)(normal ? e->angles : e->off)[entry];
            tally *t = normal ? &f->normals : &f->positions;
            if (normal && surety > EXI_SURETY_UNSURE)
                t->unsure++;
            else if (!count_entry(difference / size, TOLERANCE + off / size, surety / size, off == 0, t))
                complain(f, "instance %d, entry %d: the %s is %.7g %.7g %.7g, not %.7g %.7g %.7g", i, v,
                         normal ? "normal" : "position", got[0], got[1], got[2], (double)wanted[0], (double)wanted[1],
                         (double)wanted[2]);
        }
}

static void compare_pattern(const sheet *s, const unsigned char *covered, const char *what, findings *f) {
    for (size_t i = 0; i < s->size; i++)
        if (!covered[i] && s->host[i] != PATTERN) {
            complain(f, "byte %zu of %s was written, which is no entry's", i, what);
            return;
        }
}

/* The largest `off` of an instance's positions. */
static double most_off(const expected *e, size_t instance) {
    double most = 0;
    for (size_t v = 0; v < (size_t)e->entries; v++)
        most = larger(most, (double)e->off[instance * (size_t)e->entries + v]);
    return most;
}

static void compare_boxes(const sheet *s, const expected *e, unsigned char *covered, findings *f) {
    double off = 0;
    for (size_t i = 0; i < 6 * (size_t)e->count; i++) {
        float got;
        off = i % 6 == 0 ? most_off(e, i / 6) : off;
        memcpy(&got, s->host + s->first + 4 * i, sizeof got);
        memset(covered + s->first + 4 * i, 1, 4);
        if (!(fabs((double)got - (double)e->boxes[i]) <= TOLERANCE * e->sizes[i / 6] + off))
            complain(f, "the box of instance %zu has %.7g for %.7g", i / 6, (double)got, (double)e->boxes[i]);
    }
}

static void compare_weights(const sheet *s, const expected *e, unsigned char *covered, findings *f) {
    const size_t examples = (size_t)e->examples;
    for (size_t i = 0; i < examples * (size_t)e->count; i++) {
        float got;
        memcpy(&got, s->host + s->first + 4 * i, sizeof got);
        memset(covered + s->first + 4 * i, 1, 4);
        const double difference = fabs((double)got - e->weights[i]) / larger(1, fabs(e->weights[i]));
        f->weight = difference <= f->weight ? f->weight : difference;
        if (!(difference <= TOLERANCE))
            complain(f, "weight %zu of instance %zu is %.9g, not %.9g", i % examples, i / examples, (double)got,
                     e->weights[i]);
    }
}

void answer(asked *a, const expected *e, findings *f) {
    ex_error error = {0};
    sheet *sheets[4] = {&a->arrays[0], &a->arrays[1], &a->boxes, &a->weights};
    static const char *const names[4] = {"the positions", "the normals", "the boxes", "the weights"};
    for (int i = 0; i < 4; i++) {
        sheet *s = sheets[i];
        if (s->size == 0)
            continue;
        if (s->device)
            must(ex_cuda_copy(s->host, s->device, s->size, NULL, &error) == EX_OK, "a copy from the GPU", &error);
        must(ex_cuda_wait(NULL, &error) == EX_OK, "waiting for a copy", &error);
        unsigned char *covered = must_allocate(s->size, 1);
        if (e && i == 0)
            compare_entries(a, e, false, s, covered, f);
        if (e && (i == 1 || (i == 0 && s->first_normal != s->first)))
            compare_entries(a, e, true, s, covered, f);
        if (e && i == 2)
            compare_boxes(s, e, covered, f);
        if (e && i == 3)
            compare_weights(s, e, covered, f);
        compare_pattern(s, covered, names[i], f);
        free(covered);
    }
}

void compare(const ex_cuda_rig *rig, const ex_rig *source, const pose_set *poses, const setting *way, const expected *e,
             const request *r, findings *f) {
    asked a;
    ex_error error = {0};
    ask(rig, source, poses, way, e, r, &a);
    if (ask_evaluate(rig, &a, e->count, &error) != EX_OK || ex_cuda_wait(NULL, &error) != EX_OK)
        complain(f, "%s: %s", r->name, error.text);
    else
        answer(&a, e, f);
    free_asked(&a);
}
