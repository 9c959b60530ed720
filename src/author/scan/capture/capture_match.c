/*
 * Matches markers of a trial with sites of a skeleton, by name. Marker sets use different names for the same place, put
 * sides before or after, and separate with dots and underscores.
 */
#include <exemplar/author/capture.h>

#include <string.h>

enum { WORD_SIZE = 48 };

/* Keeps letters, in upper case, and digits. */
static void plain_word(const char *name, char word[WORD_SIZE]) {
    int size = 0;
    for (; *name && size < WORD_SIZE - 1; name++) {
        const char c = (char)(*name >= 'a' && *name <= 'z' ? *name - 'a' + 'A' : *name);
        if ((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
            word[size++] = c;
    }
    word[size] = '\0';
}

/* Names of the same place, without a side; and of places in the middle. The sets: Vicon's (CMU's and Plug-in Gait),
 * Helen Hayes, CODA, and plain words. */
static const char *const sided[][8] = {
    {"FHD", "FHEAD", "HEADFRONT", "HEADF"},
    {"BHD", "BHEAD", "HEADBACK", "HEADB"},
    {"SHO", "SHOULDER", "ACR", "ACROMION", "AC"},
    {"UPA", "UPPERARM", "UARM", "UAR"},
    {"ELB", "ELBOW", "LELB", "ELBL", "ELBLAT"},
    {"FRM", "FRA", "FARM", "FOREARM", "LOWERARM"},
    {"WRA", "WRISTA", "WRM", "WRISTMED", "WRIR"},
    {"WRB", "WRISTB", "WRL", "WRISTLAT", "WRIU"},
    {"FIN", "HAND", "FINGER", "HAN"},
    {"FWT", "ASI", "ASIS", "FRONTWAIST", "WAISTFRONT"},
    {"BWT", "PSI", "PSIS", "BACKWAIST", "WAISTBACK"},
    {"THI", "THIGH", "TH"},
    {"KNE", "KNEE", "KNEELAT", "KNEL", "LATKNEE"},
    {"SHN", "TIB", "SHIN", "SHANK", "TIBIA"},
    {"ANK", "ANKLE", "ANKLELAT", "ANKL", "LATANKLE"},
    {"HEE", "HEEL", "CAL"},
    {"MT5", "MTP5", "MET5", "5MT", "TOE5", "FIFTHMET"},
    {"TOE", "MT2", "MET2", "TOES", "MT1", "HALLUX"},
};
static const char *const middle[][6] = {
    {"C7", "CV7"},
    {"T10", "TV10"},
    {"CLAV", "CLAVICLE", "IJ", "SJN"},
    {"STRN", "STERNUM", "STER", "PX", "SXS", "XIPHOID"},
    {"RBAC", "RBAK", "RBACK", "RSCAP", "BACKOFFSET"},
};
enum { SIDED = (int)(sizeof sided / sizeof *sided), MIDDLE = (int)(sizeof middle / sizeof *middle) };

static int find_place(const char *word) {
    for (int i = 0; i < SIDED; i++)
        for (int k = 0; k < 8 && sided[i][k]; k++)
            if (strcmp(word, sided[i][k]) == 0)
                return i;
    return -1;
}

/* Returns twice the place plus the side, from 0; -1: unknown. */
static int find_meaning(const char *word) {
    const size_t size = strlen(word);
    char stem[WORD_SIZE];
    int place = -1, side = -1;
    for (int i = 0; i < MIDDLE; i++)
        for (int k = 0; k < 6 && middle[i][k]; k++)
            if (strcmp(word, middle[i][k]) == 0)
                return 2 * (SIDED + i);
    static const char *const sides[] = {"LEFT", "RIGHT", "L", "R"};
    for (int s = 0; s < 4 && place < 0; s++) {
        const size_t length = strlen(sides[s]);
        side = s % 2;
        if (size > length && strncmp(word, sides[s], length) == 0)
            place = find_place(word + length);
        if (place < 0 && size > length && strcmp(word + size - length, sides[s]) == 0) {
            memcpy(stem, word, size - length);
            stem[size - length] = '\0';
            place = find_place(stem);
        }
    }
    return place >= 0 ? 2 * place + side : -1;
}

static bool is_taken(const int *sites, int count, int site) {
    for (int i = 0; i < count; i++)
        if (sites[i] == site)
            return true;
    return false;
}

int ex_capture_match(const ex_kinematics *kinematics, const ex_markers *markers, int *sites) {
    int matched = 0;
    for (int m = 0; m < markers->marker_count; m++)
        sites[m] = -1;
    for (int round = 0; round < 2; round++) /* names first, then meanings */
        for (int m = 0; m < markers->marker_count; m++) {
            char word[WORD_SIZE], other[WORD_SIZE];
            plain_word(markers->names[m], word);
            const int meaning = find_meaning(word);
            for (int s = 0; s < kinematics->site_count && sites[m] < 0; s++) {
                plain_word(kinematics->sites[s].name, other);
                const bool same =
                    round == 0 ? strcmp(word, other) == 0 : meaning >= 0 && find_meaning(other) == meaning;
                if (same && *word && !is_taken(sites, markers->marker_count, s)) {
                    sites[m] = s;
                    matched++;
                }
            }
        }
    return matched;
}
