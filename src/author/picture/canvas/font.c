/*
 * The font, drawn for Exemplar and copied from no other. One pen of even width with round ends; figures of one width,
 * so that columns of values align; a foot on the l and no serif on the I, so that names can be told apart. Heights:
 * capitals and figures 14, small letters 10, ascenders 15, descenders -4, of an em of 20.
 */
#include "author/picture/canvas/font.h"

#include <stddef.h>
#include <string.h>

/* Space next to an upright stroke, a round one, a slanting or open one. */
#define U 2.2
#define R 1.75
#define S 1.0
/* Space that makes figures 11.8 wide. */
#define F 1.7

static const exi_glyph ascii[95] = {
    {0, 0, 5.6, ""},                                                            /* space */
    {U, 0, U, "M0 14 L0 4.6 D0 0.3"},                                           /* ! */
    {U, 3.2, U, "M0 14 L0 10.4 M3.2 14 L3.2 10.4"},                             /* " */
    {S, 9.6, S, "M3 14 L1.6 0 M8 14 L6.6 0 M0.4 9.4 L9.6 9.4 M0 4.6 L9.2 4.6"}, /* # */
    {R, 9, R,
     "M8.6 11.6 Q7.4 14 4.5 14 H0.4 10.5 Q0.4 8 4.5 7.2 Q9 6.4 9 3.7 V4.5 0 Q1 0 0 2.8 M4.5 16 L4.5 -2"}, /* $ */
    {R, 13, R,
     "M11.2 14 L1.8 0 M0 10.6 V2.8 14 H5.6 10.6 V2.8 7.2 H0 10.6 M7.4 3.4 V10.2 6.8 H13 3.4 V10.2 0 H7.4 3.4"}, /* % */
    {R, 10.4, S,
     "M10.4 0 L2.4 9 Q1.4 10.2 1.4 11.4 V4 14 H6.6 11.6 Q6.6 9.4 4 8 Q0 6 0 3.4 V4 0 Q8.4 0 9.2 6.2"},     /* & */
    {U, 0, U, "M0 14 L0 10.4"},                                                                            /* ' */
    {R, 3.4, S, "M3.4 16 Q0 11.4 0 6.5 Q0 1.6 3.4 -3"},                                                    /* ( */
    {S, 3.4, R, "M0 16 Q3.4 11.4 3.4 6.5 Q3.4 1.6 0 -3"},                                                  /* ) */
    {S, 6.4, S, "M3.2 14 L3.2 7.2 M0.4 12.2 L6 9 M6 12.2 L0.4 9"},                                         /* * */
    {F, 8.4, F, "M0 6 L8.4 6 M4.2 10.2 L4.2 1.8"},                                                         /* + */
    {R, 0.6, U, "M0.6 0.6 L0.6 0.1 Q0.6 -1.6 0 -2.6"},                                                     /* , */
    {R, 4.6, R, "M0 5.4 L4.6 5.4"},                                                                        /* - */
    {U, 0, U, "D0 0.3"},                                                                                   /* . */
    {S, 6.4, S, "M0 -2 L6.4 15.4"},                                                                        /* / */
    {F, 8.4, F, "M0 7 V4.2 14 H8.4 7 V4.2 0 H0 7"},                                                        /* 0 */
    {F, 8.4, F, "M1.6 11.2 L5 14 L5 0"},                                                                   /* 1 */
    {F, 8.4, F, "M0.3 10.6 V4.2 14 H8 10.3 Q8 8.2 5.8 5.9 L0.2 0 L8.4 0"},                                 /* 2 */
    {F, 8.4, F, "M0.5 11.8 Q1.6 14 4.1 14 H7.8 10.6 V4 7.4 L2.8 7.4 M4 7.4 H8.4 3.7 V4.1 0 Q1.2 0 0 2.6"}, /* 3 */
    {F, 8.4, F, "M6.3 0 L6.3 14 L0 3.8 L8.6 3.8"},                                                         /* 4 */
    {F, 8.4, F, "M7.6 14 L1.4 14 L0.7 7.6 Q2 8.8 4.1 8.8 H8.4 4.4 V4 0 Q1.2 0 0 2.3"},                     /* 5 */
    {F, 8.4, F, "M7.5 12.3 Q6.5 14 4.6 14 H0 6.4 L0 4.4 V4.2 8.8 H8.4 4.4 V4.2 0 H0 4.4"},                 /* 6 */
    {F, 8.4, F, "M0.2 14 L8.4 14 L3 0"},                                                                   /* 7 */
    {F, 8.4, F, "M4.2 7.5 H0.5 10.8 V4.2 14 H7.9 10.8 V4.2 7.5 H0 3.8 V4.2 0 H8.4 3.8 V4.2 7.5"},          /* 8 */
    {F, 8.4, F, "M0.9 1.7 Q1.9 0 3.8 0 H8.4 7.6 L8.4 9.6 V4.2 5.2 H0 9.6 V4.2 14 H8.4 9.6"},               /* 9 */
    {U, 0, U, "D0 0.3 D0 8.8"},                                                                            /* : */
    {R, 0.6, U, "D0.6 8.8 M0.6 0.6 L0.6 0.1 Q0.6 -1.6 0 -2.6"},                                            /* ; */
    {F, 8.4, F, "M8.2 10.4 L0.2 6 L8.2 1.6"},                                                              /* < */
    {F, 8.4, F, "M0 8.2 L8.4 8.2 M0 4 L8.4 4"},                                                            /* = */
    {F, 8.4, F, "M0.2 10.4 L8.2 6 L0.2 1.6"},                                                              /* > */
    {S, 7.4, S, "M0 11 V3.8 14 H7.4 10.6 Q7.4 8.8 5.4 7.6 Q3.6 6.4 3.6 4.6 D3.6 0.3"},                     /* ? */
    {R, 14, R,
     "M9.8 5.4 V7 8.8 H4 5.4 V6.8 2 H9.8 5.4 L9.8 4.2 V11.6 2 H14 6.4 V7.2 13 H0 5.4 V7.2 -2.4 L10.2 -2.2"}, /* @ */
    {S, 11, S, "M0 0 L5.5 14 L11 0 M1.9 4.8 L9.1 4.8"},                                                      /* A */
    {U, 9, R, "M0 0 L0 14 L5 14 H8.3 10.7 V5 7.4 L0 7.4 M5 7.4 H9 3.7 V5 0 L0 0"},                           /* B */
    {R, 10.2, S, "M10.2 11.4 Q8.8 14 5.8 14 H0 7 V5.8 0 Q8.8 0 10.2 2.6"},                                   /* C */
    {U, 10.2, R, "M0 0 L0 14 L4.2 14 H10.2 7 V4.2 0 L0 0"},                                                  /* D */
    {U, 7.8, S, "M7.8 14 L0 14 L0 0 L7.8 0 M0 7.3 L7 7.3"},                                                  /* E */
    {U, 7.6, S, "M7.6 14 L0 14 L0 0 M0 7 L6.6 7"},                                                           /* F */
    {R, 10.6, U, "M10.2 11.6 Q8.8 14 5.9 14 H0 7 V5.9 0 Q8.8 0 10.6 2.2 L10.6 6.4 L6.4 6.4"},                /* G */
    {U, 9.8, U, "M0 0 L0 14 M9.8 0 L9.8 14 M0 7.3 L9.8 7.3"},                                                /* H */
    {U, 0, U, "M0 0 L0 14"},                                                                                 /* I */
    {S, 6, U, "M6 14 L6 3.6 V2.8 0 Q0.7 0 0 2.6"},                                                           /* J */
    {U, 9.2, S, "M0 0 L0 14 M8.9 14 L0 5.4 M3.3 8.6 L9.2 0"},                                                /* K */
    {U, 7.4, S, "M0 14 L0 0 L7.4 0"},                                                                        /* L */
    {U, 11.8, U, "M0 0 L0 14 L5.9 3.5 L11.8 14 L11.8 0"},                                                    /* M */
    {U, 9.8, U, "M0 0 L0 14 L9.8 0 L9.8 14"},                                                                /* N */
    {R, 12, R, "M0 7 V6 14 H12 7 V6 0 H0 7"},                                                                /* O */
    {U, 8.6, R, "M0 0 L0 14 L4.6 14 H8.6 10 V4.6 6 L0 6"},                                                   /* P */
    {R, 12, R, "M0 7 V6 14 H12 7 V6 0 H0 7 M7.6 3.4 L11.6 -1.2"},                                            /* Q */
    {U, 9, S, "M0 0 L0 14 L4.6 14 H8.6 10.1 V4.6 6.2 L0 6.2 M4.6 6.2 L9 0"},                                 /* R */
    {R, 9, R, "M8.6 11.6 Q7.4 14 4.5 14 H0.4 10.5 Q0.4 8 4.5 7.2 Q9 6.4 9 3.7 V4.5 0 Q1 0 0 2.8"},           /* S */
    {S, 10, S, "M0 14 L10 14 M5 14 L5 0"},                                                                   /* T */
    {U, 9.8, U, "M0 14 L0 5 V4.9 0 H9.8 5 L9.8 14"},                                                         /* U */
    {S, 10.6, S, "M0 14 L5.3 0 L10.6 14"},                                                                   /* V */
    {S, 15, S, "M0 14 L3.7 0 L7.5 12 L11.3 0 L15 14"},                                                       /* W */
    {S, 9.8, S, "M0.2 14 L9.8 0 M9.6 14 L0 0"},                                                              /* X */
    {S, 10, S, "M0 14 L5 6.6 L10 14 M5 6.6 L5 0"},                                                           /* Y */
    {S, 9.2, S, "M0.3 14 L9 14 L0 0 L9.2 0"},                                                                /* Z */
    {U, 3, S, "M3 16 L0 16 L0 -3 L3 -3"},                                                                    /* [ */
    {S, 6.4, S, "M0 15.4 L6.4 -2"},                                                                          /* \ */
    {S, 3, U, "M0 16 L3 16 L3 -3 L0 -3"},                                                                    /* ] */
    {R, 7.4, R, "M0 8.8 L3.7 14 L7.4 8.8"},                                                                  /* ^ */
    {S, 8.4, S, "M0 -2.6 L8.4 -2.6"},                                                                        /* _ */
    {R, 2.4, R, "M0 14.4 L2.4 12"},                                                                          /* ` */
    {R, 7.4, U, "M0.8 8.4 Q1.8 10 4 10 H7.4 6.8 L7.4 0 M7.4 5.9 L3.6 5.7 H0 2.8 V3 0 Q6 0 7.4 2.6"},         /* a */
    {U, 8.4, R, "M0 15 L0 0 M0 5 V4.3 10 H8.4 5 V4.3 0 H0 5"},                                               /* b */
    {R, 7.3, S, "M7.3 8.2 Q6.2 10 4.2 10 H0 5 V4.2 0 Q6.2 0 7.3 1.8"},                                       /* c */
    {R, 8.4, U, "M8.4 15 L8.4 0 M8.4 5 V4.1 10 H0 5 V4.1 0 H8.4 5"},                                         /* d */
    {R, 8.2, R, "M0 5.2 L8.2 5.2 V4.2 10 H0 5 V4.3 0 Q6.7 0 7.9 2"},                                         /* e */
    {S, 5, S, "M5 14.9 L4.4 15 H1.7 12.2 L1.7 0 M0 10 L4.8 10"},                                             /* f */
    {R, 8.4, U, "M8.4 10 L8.4 0 V4.3 -4 Q1.8 -4 0.7 -2.6 M8.4 5 V4.1 10 H0 5 V4.1 0 H8.4 5"},                /* g */
    {U, 7.6, U, "M0 15 L0 0 M0 6 V4 10 H7.6 6.4 L7.6 0"},                                                    /* h */
    {U, 0, U, "M0 10 L0 0 D0 14"},                                                                           /* i */
    {0.2, 2.6, U, "M2.6 10 L2.6 -1.6 V0 -4 D2.6 14"},                                                        /* j */
    {U, 7.2, S, "M0 15 L0 0 M6.8 10 L0 3.6 M2.7 6.1 L7.2 0"},                                                /* k */
    {U, 2, S, "M0 15 L0 2.2 V2 0"},                                                                          /* l */
    {U, 12.4, U, "M0 10 L0 0 M0 6.4 V3.4 10 H6.2 6.8 L6.2 0 M6.2 6.4 V9.6 10 H12.4 6.8 L12.4 0"},            /* m */
    {U, 7.6, U, "M0 10 L0 0 M0 6 V4 10 H7.6 6.4 L7.6 0"},                                                    /* n */
    {R, 8.6, R, "M0 5 V4.3 10 H8.6 5 V4.3 0 H0 5"},                                                          /* o */
    {U, 8.4, R, "M0 10 L0 -4 M0 5 V4.3 10 H8.4 5 V4.3 0 H0 5"},                                              /* p */
    {R, 8.4, U, "M8.4 10 L8.4 -4 M8.4 5 V4.1 10 H0 5 V4.1 0 H8.4 5"},                                        /* q */
    {U, 4.6, S, "M0 10 L0 0 M0 5.6 V4 10 L4.6 10"},                                                          /* r */
    {R, 7, R, "M6.5 8.4 Q5.6 10 3.5 10 H0.4 7.4 Q0.4 5.7 3.5 5.2 Q7 4.6 7 2.6 V3.5 0 Q1 0 0 1.9"},           /* s */
    {S, 5, S, "M1.8 13.2 L1.8 2.6 V4.2 0 L5 0.1 M0 10 L4.8 10"},                                             /* t */
    {U, 7.6, U, "M0 10 L0 3.6 V3.6 0 H7.6 4 M7.6 10 L7.6 0"},                                                /* u */
    {S, 8, S, "M0 10 L4 0 L8 10"},                                                                           /* v */
    {S, 12, S, "M0 10 L3 0 L6 8.6 L9 0 L12 10"},                                                             /* w */
    {S, 7.6, S, "M0.1 10 L7.6 0 M7.5 10 L0 0"},                                                              /* x */
    {S, 8, S, "M0 10 L4.1 0.2 M8 10 L3.4 -1.8 Q2.5 -4 0.3 -4"},                                              /* y */
    {S, 7.2, S, "M0.2 10 L7 10 L0 0 L7.2 0"},                                                                /* z */
    {S, 4.4, S, "M4.4 16 L3.8 16 H1.8 14 L1.8 8.6 V0 6.5 H1.8 4.4 L1.8 -1 V3.8 -3 L4.4 -3"},                 /* { */
    {U, 0, U, "M0 16 L0 -3"},                                                                                /* | */
    {S, 4.4, S, "M0 16 L0.6 16 H2.6 14 L2.6 8.6 V4.4 6.5 H2.6 4.4 L2.6 -1 V0.6 -3 L0 -3"},                   /* } */
    {F, 8.4, F, "M0 5 Q0.4 7.2 2.4 7.2 Q3.6 7.2 4.4 6.1 Q5.2 5 6.2 5 Q8 5 8.4 7.2"},                         /* ~ */
};

static const exi_glyph degree = {R, 4.4, R, "M0 11.8 V2.2 14 H4.4 11.8 V2.2 9.6 H0 11.8"};
static const exi_glyph minus = {F, 8.4, F, "M0 6 L8.4 6"};
static const exi_glyph times = {R, 6.8, R, "M0 9.4 L6.8 2.6 M6.8 9.4 L0 2.6"};
static const exi_glyph middle_dot = {U, 0, U, "D0 6"};
static const exi_glyph ellipsis = {U, 9.6, U, "D0 0.3 D4.8 0.3 D9.6 0.3"};
static const exi_glyph dash = {R, 8.4, R, "M0 5.4 L8.4 5.4"};
static const exi_glyph arrow = {R, 11, R, "M0 6 L11 6 M7.2 9.6 L11 6 L7.2 2.4"};
static const exi_glyph plus_minus = {F, 8.4, F, "M0 8 L8.4 8 M4.2 12 L4.2 4 M0 0.6 L8.4 0.6"};
static const exi_glyph unknown = {U, 7.6, U, "M0 0 L7.6 0 L7.6 14 L0 14 L0 0"};
static const exi_glyph nothing = {0, 0, 0, ""};

/* Base letters of the accented letters U+00C0 to U+017F; a question mark if there is none. */
static const char bases[] = "AAAAAAACEEEEIIIIDNOOOOO?OUUUUYTsaaaaaaaceeeeiiiidnooooo?ouuuuyty"
                            "AaAaAaCcCcCcCcDdDdEeEeEeEeEeGgGgGgGgHhHhIiIiIiIiIiIiJjKkkLlLlLlLlLl"
                            "NnNnNnnNnOoOoOoOoRrRrRrSsSsSsSsTtTtTtUuUuUuUuUuUuWwYyYZzZzZzs";

/* Returns the code point at *text and advances *text past it; a byte that begins none counts as unknown. */
static unsigned long next_code(const char **text) {
    const unsigned char *t = (const unsigned char *)*text;
    const int extra = t[0] < 0xC2 || t[0] > 0xF4 ? 0 : t[0] < 0xE0 ? 1 : t[0] < 0xF0 ? 2 : 3;
    unsigned long code = extra == 0 ? t[0] : t[0] & (0x3FUL >> extra);
    for (int i = 1; i <= extra; i++) {
        if ((t[i] & 0xC0) != 0x80) {
            *text += i;
            return 0xFFFD;
        }
        code = code << 6 | (t[i] & 0x3F);
    }
    *text += extra + 1;
    return code < 0x80 || extra > 0 ? code : 0xFFFD;
}

static const exi_glyph *find(unsigned long code) {
    if (code >= 32 && code < 127)
        return &ascii[code - 32];
    if (code >= 0xC0 && code < 0xC0 + sizeof bases - 1 && bases[code - 0xC0] != '?')
        return &ascii[bases[code - 0xC0] - 32];
    if (code >= 0x300 && code < 0x370) /* accents combined with the letter before */
        return &nothing;
    switch (code) {
    case 0xA0: /* no-break space */
    case 0x202F:
        return &ascii[0];
    case 0xB0:
        return &degree;
    case 0xB1:
        return &plus_minus;
    case 0xB5:
        return &ascii['u' - 32];
    case 0xB7:
        return &middle_dot;
    case 0xD7:
        return &times;
    case 0x2010:
    case 0x2011:
        return &ascii['-' - 32];
    case 0x2013:
    case 0x2014:
        return &dash;
    case 0x2018:
    case 0x2019:
        return &ascii['\'' - 32];
    case 0x201C:
    case 0x201D:
        return &ascii['"' - 32];
    case 0x2026:
        return &ellipsis;
    case 0x2192:
        return &arrow;
    case 0x2212:
        return &minus;
    default:
        return &unknown;
    }
}

const exi_glyph *exi_font_next(const char **text) {
    return **text ? find(next_code(text)) : NULL;
}
