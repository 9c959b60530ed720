/*
 * Numbers in text, read with correct rounding and written with the fewest digits.
 *
 * Reading: a significand below 2^53 and a power of ten up to 10^22 are both exact in double, so one multiplication or
 * division rounds once, hence correctly (W. D. Clinger, "How to read floating point numbers accurately", 1990). Up to
 * 19 digits with up to 27 decimals, such as doubles written in full, are one division of integers, whose remainder
 * decides the rounding. All other numbers go to strtod as DIGITSeEXPONENT, a text without a decimal point, which every
 * locale reads alike.
 *
 * Writing: a decimal of 15 digits survives conversion to a double and back (6 for a float). So if a number has a
 * decimal that short, rounding the number to 15 digits finds it, with zeros at its end; otherwise only 16 and 17 must
 * be tried.
 */

#include <exemplar/author/base.h>

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* More digits than any boundary between two doubles has; further ones count only as "a little more". */
#define DIGITS_KEPT    780
#define EXPONENT_LIMIT 1000000000LL

static const double powers_of_ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                       1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* ---- reading ---- */

/* A decimal number in parts: its digits in the text, the first 19 also as an integer. */
typedef struct decimal {
    bool negative;
    const char *digits, *digits_end; /* with at most one point among them */
    uint64_t significand;            /* of the first 19 digits after leading zeros */
    int digit_count;                 /* in the significand */
    bool cut;                        /* true if there were more */
    long long exponent;              /* value = significand · 10^exponent, unless cut */
} decimal;

static const char *scan_digits(const char *c, const char *end, decimal *number, bool fraction) {
    for (; c < end && is_digit(*c); c++) {
        if (number->digit_count == 19) {
            number->cut = true;
            number->exponent += !fraction;
            continue;
        }
        number->significand = number->significand * 10 + (uint64_t)(*c - '0');
        number->digit_count += number->significand != 0;
        number->exponent -= fraction;
    }
    return c;
}

/* Moves *c past e[+-]DIGITS, if that follows. */
static long long scan_exponent(const char **c, const char *end) {
    const char *at = *c;
    if (at == end || (*at != 'e' && *at != 'E'))
        return 0;
    at++;
    bool negative = at < end && *at == '-';
    if (at < end && (*at == '-' || *at == '+'))
        at++;
    if (at == end || !is_digit(*at))
        return 0;
    long long exponent = 0;
    for (; at < end && is_digit(*at); at++)
        if (exponent < EXPONENT_LIMIT)
            exponent = exponent * 10 + (*at - '0');
    *c = at;
    return negative ? -exponent : exponent;
}

static bool scan_decimal(const char **cursor, const char *end, decimal *number) {
    *number = (decimal){0};
    const char *c = *cursor;
    if (c < end && (*c == '-' || *c == '+'))
        number->negative = *c++ == '-';
    number->digits = c;
    c = scan_digits(c, end, number, false);
    bool any = c > number->digits;
    if (c < end && *c == '.') {
        const char *fraction = c + 1;
        c = scan_digits(fraction, end, number, true);
        any = any || c > fraction;
    }
    if (!any)
        return false;
    number->digits_end = c;
    number->exponent += scan_exponent(&c, end);
    *cursor = c;
    return true;
}

/* The general case, by strtod. */
static double round_decimal(const decimal *number) {
    char text[DIGITS_KEPT + 32];
    int count = 0;
    long long exponent = number->exponent;
    if (!number->cut) {
        count = snprintf(text, sizeof text, "%llu", (unsigned long long)number->significand);
    } else {
        /* number->exponent belongs to the first 19 digits; each further digit kept lowers it by one. */
        bool more = false;
        for (const char *c = number->digits; c < number->digits_end; c++) {
            if (*c == '.' || (*c == '0' && count == 0))
                continue;
            if (count < DIGITS_KEPT)
                text[count++] = *c;
            else
                more = more || *c != '0';
        }
        exponent -= count - 19;
        if (more) {
            text[count++] = '1';
            exponent--;
        }
    }
    if (exponent > 100000)
        exponent = 100000;
    if (exponent < -100000)
        exponent = -100000;
    snprintf(text + count, sizeof text - (size_t)count, "e%d", (int)exponent);
    return strtod(text, NULL);
}

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 wide;
#define DECIMALS_DIVIDED 27 /* 5^27 < 2^63 */

/* w / 10^decimals. With both sides shifted to full 64 bits, the quotient has at least 63: it is cut to 53, half to
 * even, and all that was cut off, with the remainder, decides. A quarter of the time of strtod. */
static double divide_decimal(uint64_t w, int decimals) {
    uint64_t divisor = 1;
    int exponent = -63 - decimals, cut = 10;
    for (int i = 0; i < decimals; i++)
        divisor *= 5;
    for (; !(w >> 63); w <<= 1)
        exponent--;
    for (; !(divisor >> 63); divisor <<= 1)
        exponent++;
    const wide dividend = (wide)w << 63;
    const uint64_t quotient = (uint64_t)(dividend / divisor);
    const bool inexact = (wide)quotient * divisor != dividend;
    cut += (int)(quotient >> 63);
    const uint64_t half = 1ULL << (cut - 1), rest = quotient & (2 * half - 1);
    uint64_t kept = quotient >> cut;
    kept += rest > half || (rest == half && (inexact || (kept & 1)));
    return ldexp((double)kept, exponent + cut);
}
#endif

static double magnitude_of(const decimal *number) {
    if (number->significand == 0)
        return 0;
#ifdef __SIZEOF_INT128__
    if (!number->cut && number->significand > (1ULL << 53) && number->exponent < 0 &&
        number->exponent >= -DECIMALS_DIVIDED)
        return divide_decimal(number->significand, (int)-number->exponent);
#endif
    if (FLT_EVAL_METHOD != 0 || number->cut || number->significand > (1ULL << 53) || number->exponent < -22 ||
        number->exponent > 22)
        return round_decimal(number);
    return number->exponent < 0 ? (double)number->significand / powers_of_ten[-number->exponent]
                                : (double)number->significand * powers_of_ten[number->exponent];
}

bool ex_parse_double(const char **cursor, const char *end, double *value) {
    decimal number;
    const char *c = *cursor;
    if (!scan_decimal(&c, end, &number))
        return false;
    double magnitude = magnitude_of(&number);
    if (!isfinite(magnitude))
        return false;
    *value = number.negative ? -magnitude : magnitude;
    *cursor = c;
    return true;
}

bool ex_parse_int(const char **cursor, const char *end, int *value) {
    const char *c = *cursor;
    bool negative = c < end && *c == '-';
    if (c < end && (*c == '-' || *c == '+'))
        c++;
    if (c == end || !is_digit(*c))
        return false;
    long long number = 0;
    for (; c < end && is_digit(*c); c++) {
        number = number * 10 + (*c - '0');
        if (number > (long long)INT_MAX + 1)
            return false;
    }
    number = negative ? -number : number;
    if (number > INT_MAX)
        return false;
    *value = (int)number;
    *cursor = c;
    return true;
}

/* ---- writing ---- */

/* d₁.d₂d₃… · 10^exponent */
typedef struct short_decimal {
    char digits[20];
    int count;
    int exponent;
} short_decimal;

static void strip_zeros(short_decimal *number) {
    while (number->count > 1 && number->digits[number->count - 1] == '0')
        number->count--;
}

/* Rounds the value, which is positive, to that many digits. */
static short_decimal round_to(double value, int count) {
    char text[48];
    short_decimal number = {.count = count};
    snprintf(text, sizeof text, "%.*e", count - 1, value);
    const char *c = text;
    for (int i = 0; i < count; c++)
        if (is_digit(*c)) /* skips the decimal point, whatever the locale's is */
            number.digits[i++] = *c;
    number.exponent = atoi(strchr(c, 'e') + 1);
    return number;
}

/* Steps to the next decimal of that many digits. A carry out of the first digit leaves 1 and zeros. */
static void step_up(short_decimal *number) {
    for (int i = number->count - 1; i >= 0; i--) {
        if (number->digits[i] != '9') {
            number->digits[i]++;
            return;
        }
        number->digits[i] = '0';
    }
    number->digits[0] = '1';
    number->exponent++;
}

static double value_of(const short_decimal *number) {
    decimal parts = {.digit_count = number->count, .exponent = number->exponent - (number->count - 1)};
    for (int i = 0; i < number->count; i++)
        parts.significand = parts.significand * 10 + (uint64_t)(number->digits[i] - '0');
    return magnitude_of(&parts);
}

static bool reads_back(const short_decimal *number, double value, bool single) {
    double read = value_of(number);
    return single ? fabs(read) <= (double)FLT_MAX && (float)read == (float)value : read == value;
}

/* Shortens values with at most nine decimals and 15 digits, as most files hold, without printing. */
static bool shorten_quickly(double value, short_decimal *number) {
    double scaled = nearbyint(value * 1e9);
    if (!(scaled >= 1 && scaled < 1e15) || scaled / 1e9 != value)
        return false;
    uint64_t integer = (uint64_t)scaled;
    char reversed[20];
    int count = 0;
    for (; integer > 0; integer /= 10)
        reversed[count++] = (char)('0' + integer % 10);
    for (int i = 0; i < count; i++)
        number->digits[i] = reversed[count - 1 - i];
    number->count = count;
    number->exponent = count - 1 - 9;
    strip_zeros(number);
    return true;
}

/* Rounds to fewer digits from the 17 or 9 printed ones, since printing takes most of the time. If those end with
 * exactly one half of the last digit kept, they may be the result of rounding, and the value decides. */
static short_decimal cut_to(const short_decimal *longest, double value, int count) {
    bool half = longest->digits[count] == '5';
    for (int i = count + 1; i < longest->count && half; i++)
        half = longest->digits[i] == '0';
    if (half)
        return round_to(value, count);
    short_decimal number = *longest;
    number.count = count;
    if (longest->digits[count] >= '5')
        step_up(&number);
    return number;
}

/* value is positive. */
static short_decimal shorten(double value, bool single) {
    short_decimal number;
    int safe = single ? FLT_DIG : DBL_DIG, enough = single ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG;
    if (!single && shorten_quickly(value, &number))
        return number;
    /* Below the normal range even one digit may be enough, and 15 need not survive. */
    int first = value < (single ? (double)FLT_MIN : DBL_MIN) ? 1 : safe;
    int binary_exponent;
    bool power_of_two = frexp(value, &binary_exponent) == 0.5;
    const short_decimal longest = round_to(value, enough);
    for (int count = first; count < enough; count++) {
        number = cut_to(&longest, value, count);
        if (!reads_back(&number, value, single)) {
            /* Below a power of two the neighbours are twice as near, so the second nearest decimal, above, may be right
             * where the nearest, below, is not. */
            if (!power_of_two)
                continue;
            step_up(&number);
            if (!reads_back(&number, value, single))
                continue;
        }
        strip_zeros(&number);
        return number;
    }
    number = longest;
    strip_zeros(&number);
    return number;
}

static char *put_zeros(char *out, int count) {
    for (int i = 0; i < count; i++)
        *out++ = '0';
    return out;
}

static char *put_digits(char *out, const short_decimal *number, int from, int to) {
    memcpy(out, number->digits + from, (size_t)(to - from));
    return out + (to - from);
}

static char *put_plain(char *out, const short_decimal *number) {
    int count = number->count, whole = number->exponent + 1;
    if (whole <= 0) {
        *out++ = '0';
        *out++ = '.';
        out = put_zeros(out, -whole);
        return put_digits(out, number, 0, count);
    }
    if (whole >= count)
        return put_zeros(put_digits(out, number, 0, count), whole - count);
    out = put_digits(out, number, 0, whole);
    *out++ = '.';
    return put_digits(out, number, whole, count);
}

static char *put_exponent(char *out, const short_decimal *number) {
    *out++ = number->digits[0];
    if (number->count > 1) {
        *out++ = '.';
        out = put_digits(out, number, 1, number->count);
    }
    return out + snprintf(out, 8, "e%d", number->exponent);
}

static int format(char buffer[32], double value, bool single) {
    char *out = buffer;
    /* Callers must pass finite values; others give a wrong number but never overrun the buffer. */
    double largest = single ? (double)FLT_MAX : DBL_MAX;
    value = isnan(value) ? 0 : fmax(-largest, fmin(largest, value));
    if (signbit(value))
        *out++ = '-';
    if (value == 0) {
        *out++ = '0';
    } else {
        short_decimal number = shorten(fabs(value), single);
        int exponent = number.exponent, count = number.count;
        char other[32];
        int other_size = (int)(put_exponent(other, &number) - other);
        int plain_size = exponent < 0 ? 1 - exponent + count : exponent + 1 >= count ? exponent + 1 : count + 1;
        if ((exponent >= -5 && exponent < 16) || plain_size <= other_size) {
            out = put_plain(out, &number);
        } else {
            memcpy(out, other, (size_t)other_size);
            out += other_size;
        }
    }
    *out = '\0';
    return (int)(out - buffer);
}

int ex_format_double(char buffer[32], double value) {
    return format(buffer, value, false);
}

int ex_format_float(char buffer[32], float value) {
    return format(buffer, value, true);
}
