/*
 * Reads JPEG files with libjpeg: sequential and progressive, grey, colour, and the four inks of print (CMYK, YCCK).
 *
 * The samples are used unchanged: colour profiles and the turn that a camera notes are ignored, as glTF requires for
 * textures. Inks become colours without a profile: red = (1 − cyan) (1 − black). Programs by Adobe store inks inverted,
 * and mark such files.
 *
 * libjpeg goes on after damage and invents pixels; here damage is an error. Some programs forget the mark at the end,
 * or leave bytes between parts; that loses nothing and is accepted. On errors libjpeg leaves by longjmp; everything
 * that must survive that is in one struct. A build with EX_JPEG=OFF refuses these files.
 */
#include "author/formats/image/image_reader.h"
#include "runtime/base/result.h"

#ifdef EX_WITH_JPEG
#include "author/base/array.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* After stdio.h, which they need. */
#include <jerror.h>
#include <jpeglib.h>

/* Scans of a progressive file. Programs write about ten; each one takes a pass over all pixels, and hardly any bytes.
 */
enum { SCANS_MOST = 100 };

/* The first scan takes a bit for each block of 8 x 8 pixels, 512 pixels to a byte. No file that has all its pixels
 * holds more than this. */
enum { MOST_EXPANSION = 2048 };

typedef struct reader {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    struct jpeg_source_mgr source;
    struct jpeg_progress_mgr progress;
    jmp_buf leave;
    exi_image_reader *job;
    unsigned char *row; /* as libjpeg gives it, up to 4 bytes a pixel */
    bool damaged, too_many_scans;
    bool ended;                   /* the bytes did not suffice */
    char reason[JMSG_LENGTH_MAX]; /* from libjpeg */
} reader;

/* ---- callbacks of libjpeg ---- */

static void leave(j_common_ptr jpeg) {
    reader *r = jpeg->client_data;
    jpeg->err->format_message(jpeg, r->reason);
    longjmp(r->leave, 1);
}

/* Level -1 is a warning. Most of them say that pixels are missing or wrong. */
static void note(j_common_ptr jpeg, int level) {
    reader *r = jpeg->client_data;
    if (level >= 0)
        return;
    switch (jpeg->err->msg_code) {
    case JWRN_EXTRANEOUS_DATA:
    case JWRN_NOT_SEQUENTIAL:
    case JWRN_JFIF_MAJOR:
    case JWRN_ADOBE_XFORM:
    case JWRN_TOO_MUCH_DATA:
        return;
    default:
        if (!r->damaged)
            jpeg->err->format_message(jpeg, r->reason);
        r->damaged = true;
    }
}

static void say_nothing(j_common_ptr jpeg) {
    (void)jpeg;
}

static void do_nothing(j_decompress_ptr jpeg) {
    (void)jpeg;
}

/* All bytes are given at once. After them comes the mark of the end; whoever still needs pixels then warns. */
static boolean give_end(j_decompress_ptr jpeg) {
    static const JOCTET end[] = {0xFF, JPEG_EOI};
    reader *r = jpeg->client_data;
    r->ended = true;
    jpeg->src->next_input_byte = end;
    jpeg->src->bytes_in_buffer = sizeof end;
    return TRUE;
}

static void skip(j_decompress_ptr jpeg, long count) {
    if (count <= 0)
        return;
    if ((size_t)count > jpeg->src->bytes_in_buffer) {
        give_end(jpeg);
        return;
    }
    jpeg->src->next_input_byte += count;
    jpeg->src->bytes_in_buffer -= (size_t)count;
}

static void watch_scans(j_common_ptr jpeg) {
    reader *r = jpeg->client_data;
    if (jpeg->is_decompressor && ((j_decompress_ptr)jpeg)->input_scan_number > SCANS_MOST) {
        r->too_many_scans = true;
        longjmp(r->leave, 1);
    }
}

/* ---- the pixels ---- */

/* The inks of one pixel as colours; `high` is 0 where a sample of 255 is full ink, and 255 where 0 is. */
static void convert_inks(const unsigned char *inks, int high, unsigned char *out) {
    const int light = high ? inks[3] : 255 - inks[3];
    for (int c = 0; c < 3; c++)
        out[c] = (unsigned char)(((high ? inks[c] : 255 - inks[c]) * light + 127) / 255);
}

static void store_row(const reader *r, size_t y) {
    const exi_image_reader *job = r->job;
    if (job->looks)
        return;
    const size_t width = (size_t)job->facts.width;
    unsigned char *out = job->image->pixels + y * 4 * width;
    const bool inks = r->jpeg.out_color_space == JCS_CMYK;
    for (size_t x = 0; x < width; x++, out += 4) {
        if (inks)
            convert_inks(r->row + 4 * x, r->jpeg.saw_Adobe_marker ? 255 : 0, out);
        else
            memcpy(out, r->row + 3 * x, 3);
        out[3] = 255;
    }
}

/* Leaves by longjmp if the file is invalid, and returns a failure if it cannot be used or is too large. */
static ex_result read_head(reader *r) {
    exi_image_reader *job = r->job;
    jpeg_read_header(&r->jpeg, TRUE);
    ex_result result = exi_image_set_size(job, r->jpeg.image_width, r->jpeg.image_height, "JPEG");
    if (result == EX_OK && (uint64_t)job->facts.width * (uint64_t)job->facts.height / MOST_EXPANSION > job->size)
        result =
            exi_image_refuse(job, "is a damaged JPEG file that has far too few bytes for its size in pixels", "JPEG");
    if (result == EX_OK)
        result = exi_image_check_density(job, EX_IMAGE_JPEG_PIXELS_PER_BYTE);
    const J_COLOR_SPACE space = r->jpeg.jpeg_color_space;
    const bool inks = space == JCS_CMYK || space == JCS_YCCK;
    if (result == EX_OK && !inks && space != JCS_GRAYSCALE && space != JCS_YCbCr && space != JCS_RGB)
        result = exi_image_refuse(job, "is a JPEG file with an unknown kind of colour", "JPEG in RGB");
    r->jpeg.out_color_space = inks ? JCS_CMYK : JCS_RGB;
    job->facts.opaque = true;
    return result;
}

/* As read_head. */
static ex_result read_rows(reader *r) {
    jpeg_start_decompress(&r->jpeg);
    while (r->jpeg.output_scanline < r->jpeg.output_height) {
        const size_t y = r->jpeg.output_scanline;
        jpeg_read_scanlines(&r->jpeg, &r->row, 1);
        store_row(r, y);
    }
    const bool several = jpeg_has_multiple_scans(&r->jpeg);
    jpeg_finish_decompress(&r->jpeg);
    /* A file of one scan has all its pixels, or there was a warning; of several, the last may be missing. */
    if (r->ended && several && !r->damaged) {
        r->damaged = true;
        snprintf(r->reason, sizeof r->reason, "the file ends too early");
    }
    return EX_OK;
}

/* Makes the image, or only a row. */
static ex_result make_memory(reader *r) {
    exi_image_reader *job = r->job;
    r->row = exi_array_allocate((size_t)job->facts.width, 4);
    if (!job->looks)
        job->image = ex_image_create(job->facts.width, job->facts.height);
    return r->row && (job->looks || job->image) ? EX_OK : exi_image_no_memory(job);
}

/* No variable here changes after setjmp, so none needs to be volatile. */
static bool run(reader *r, ex_result (*step)(reader *r), ex_result *result) {
    if (setjmp(r->leave))
        return false;
    *result = step(r);
    return true;
}

static ex_result start(reader *r) {
    jpeg_create_decompress(&r->jpeg);
    /* It clears the struct, but for the errors and the client's data. */
    r->source.init_source = do_nothing;
    r->source.fill_input_buffer = give_end;
    r->source.skip_input_data = skip;
    r->source.resync_to_restart = jpeg_resync_to_restart;
    r->source.term_source = do_nothing;
    r->source.next_input_byte = r->job->bytes;
    r->source.bytes_in_buffer = r->job->size;
    r->jpeg.src = &r->source;
    r->progress.progress_monitor = watch_scans;
    r->jpeg.progress = &r->progress;
    return EX_OK;
}

static ex_result explain(const reader *r) {
    const exi_image_reader *job = r->job;
    if (r->too_many_scans)
        return ex_error_set(job->error, EX_ERROR_LIMIT,
                            "%s: is a progressive JPEG file with more than %d scans: export the picture as JPEG again",
                            job->name, SCANS_MOST);
    switch (r->errors.msg_code) {
    case JERR_OUT_OF_MEMORY:
        return job->facts.width > 0
                   ? exi_image_no_memory(job)
                   : ex_error_set(job->error, EX_ERROR_MEMORY, "%s: not enough memory for the picture", job->name);
    case JERR_BAD_PRECISION:
        return ex_error_set(job->error, EX_ERROR_FORMAT,
                            "%s: is a JPEG file whose channels do not have 8 bits: export the picture with 8 bits per "
                            "channel",
                            job->name);
    case JERR_SOF_UNSUPPORTED:
    case JERR_ARITH_NOTIMPL:
        return exi_image_refuse(job, "is a JPEG file of a rare kind that cannot be read", "baseline JPEG");
    default:
        return ex_error_set(job->error, EX_ERROR_FORMAT,
                            "%s: is a damaged JPEG file (%s): export the picture as JPEG again", job->name, r->reason);
    }
}

ex_result exi_jpeg_read(exi_image_reader *job) {
    reader r = {.job = job};
    ex_result result = EX_OK;
    r.jpeg.err = jpeg_std_error(&r.errors);
    r.errors.error_exit = leave;
    r.errors.emit_message = note;
    r.errors.output_message = say_nothing;
    r.jpeg.client_data = &r;
    bool done = run(&r, start, &result) && run(&r, read_head, &result);
    if (done && result == EX_OK)
        result = make_memory(&r);
    if (done && result == EX_OK)
        done = run(&r, read_rows, &result);
    if (!done || (result == EX_OK && r.damaged))
        result = explain(&r);
    jpeg_destroy_decompress(&r.jpeg);
    free(r.row);
    return result;
}

#else

ex_result exi_jpeg_read(exi_image_reader *r) {
    return ex_error_set(r->error, EX_ERROR_FORMAT,
                        "%s: is a JPEG file, which this build cannot read (EX_JPEG=OFF): save it as PNG", r->name);
}
#endif
