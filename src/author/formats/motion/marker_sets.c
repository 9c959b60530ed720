/*
 * Names of markers in the usual sets: Plug-in Gait and CMU (Vicon), Helen Hayes, Cleveland Clinic, CODA, the sets of
 * OpenSim's models gait2392 and Rajagopal 2016, clusters of laboratories, and plain words.
 *
 * Places are those of an adult of 1.75 m, on the left or in the middle, relative to the joint of the skeleton "full"
 * that carries them: x to the left, y up, z forwards, with the arms held out and the palms down.
 */
#include "author/formats/motion/marker_sets.h"

#include <stddef.h>
#include <string.h>

/* ---- the joints of "full", while a person stands with hanging arms ---- */

static const struct {
    const char *name;
    bool sided, arm; /* arm: turned down from the side */
    double at[3];
} joints[] = {
    {"hips", false, false, {0, 0.95, 0}},         {"chest", false, false, {0, 1.2, -0.02}},
    {"head", false, false, {0, 1.57, -0.01}},     {"clavicle", true, false, {0.03, 1.4, 0.01}},
    {"shoulder", true, true, {0.18, 1.4, -0.02}}, {"forearm", true, true, {0.18, 1.1, -0.02}},
    {"wrist", true, true, {0.18, 0.86, -0.02}},   {"hip", true, false, {0.09, 0.91, 0}},
    {"knee", true, false, {0.09, 0.48, 0.01}},    {"ankle", true, false, {0.09, 0.08, -0.01}},
    {"toe", true, false, {0.1, 0.02, 0.12}},
};
enum { JOINTS = (int)(sizeof joints / sizeof *joints) };

/* ---- the places ---- */

/* Names are in capitals, without side and punctuation, with a blank around each. */
static const struct {
    const char *joint;
    double at[3];
    const char *names;
} sided[] = {
    /* head and trunk */
    {"head", {0.07, 0.1, 0.09}, " FHD FHEAD HEADFRONT HEADF FRONTHEAD HDF TEMPLE TEMP "},
    {"head", {0.07, 0.1, -0.08}, " BHD BHEAD HEADBACK HEADB BACKHEAD HDB HEADREAR REARHEAD "},
    {"head", {0.075, 0.08, 0.01}, " EAR HEAD HD HEADSIDE TRAGUS "},
    {"clavicle", {0.14, 0.06, -0.02}, " SHO SHOULDER SHLD ACR ACROMION ACROMIUM AC SHOU SHOULDERTOP ACJ "},
    {"clavicle", {0.14, 0.04, 0.04}, " FSHO SHOULDERFRONT ASHO SHOF "},
    {"clavicle", {0.14, 0.04, -0.08}, " BSHO SHOULDERBACK PSHO SHOB SHOULDERREAR "},
    {"chest", {0.09, 0.14, -0.11}, " SCAP SCAPULA BAC BAK SCA SCAPINF IAS "},
    /* arms */
    {"shoulder", {0.14, 0.02, -0.05}, " UPA UPPERARM UARM UAR BICEP BICEPS HUM TRICEP TRICEPS "},
    {"shoulder",
     {0.28, 0.03, -0.04},
     " ELB ELBOW LELB ELBL ELBLAT ELBOWLAT LATELBOW LEL LHE HLE EL LELBOW ELBOWOUT LE "},
    {"shoulder", {0.28, -0.035, -0.02}, " MELB ELBM ELBMED ELBOWMED MEDELBOW MEL MHE HME EM MELBOW ELBOWIN ELBI ME "},
    {"forearm", {0.11, 0.03, -0.03}, " FRM FRA FARM FOREARM LOWERARM FASUPERIOR RAD "},
    {"forearm",
     {0.22, 0.01, 0.05},
     " WRA WRISTA WRI WRIST WRIR WRISTRAD FARADIUS RS RSP WRISTLAT LATWRIST WRL LW RADIUS WRT "},
    {"forearm", {0.22, 0.01, -0.05}, " WRB WRISTB WRIU WRISTULN FAULNA US USP WRISTMED MEDWRIST WRM MW ULNA WRP "},
    {"wrist", {0.08, 0.03, 0.02}, " FIN HAND FINGER HAN MC3 HAND3 KNUCKLE HANDTOP "},
    {"wrist", {0.07, 0.02, 0.04}, " MC2 HAND2 HMC2 FIN2 M2 "},
    {"wrist", {0.07, 0.02, -0.04}, " MC5 HAND5 HMC5 FIN5 M5 "},
    /* pelvis */
    {"hips", {0.12, 0.06, 0.11}, " FWT ASI ASIS FRONTWAIST WAISTFRONT ILA FASIS ASISF "},
    {"hips", {0.06, 0.06, -0.13}, " BWT PSI PSIS BACKWAIST WAISTBACK ILP "},
    {"hips", {0.15, 0.11, 0.01}, " ILC IC ICR ILIAC ILIACCREST CREST ICREST "},
    /* legs */
    {"hip", {0.09, 0.01, 0}, " GTR TRO TROC GT TROCH HIP TROCHANTER GTROC FTC LH "},
    {"hip", {0.09, -0.24, 0.02}, " THI THIGH LTHI THIGHLAT "},
    {"hip",
     {0.06, -0.43, 0.01},
     " KNE KNEE KNEELAT KNEL LATKNEE LKNE KNELAT LFC LFE FLE LEK KNEEOUT LK LEP LKNEE LCON "},
    {"hip",
     {-0.05, -0.43, 0.01},
     " KNM KNEEMED KNEM MEDKNEE MKNE KNEMED MFC MFE FME MEK KNEEIN MK KNI MEP MKNEE KNEEM MCON KNEMEDIAL KNEEMEDIAL "},
    {"knee", {0.06, -0.2, 0}, " SHN TIB SHIN SHANK TIBIA SHANKLAT "},
    {"knee", {0, -0.07, 0.05}, " TTC TT TUB TIBTUB TTUB TUBEROSITY TTB "},
    {"knee", {0.055, -0.06, -0.02}, " FAX FIB HF FH FIBULA HFB FIBHEAD "},
    {"knee",
     {0.05, -0.4, -0.03},
     " ANK ANKLE ANKLELAT ANKL LATANKLE LANK LMAL LM FAL ANKLEOUT LA MALL LMALL ANKLAT LMALLEOLUS LANKLE "},
    {"knee",
     {-0.035, -0.39, -0.01},
     " ANKM ANKLEMED MEDANKLE MANK MMAL MM TAM ANKLEIN MA MALM MMALL ANKMED ANM MED ANKI MMALLEOLUS MANKLE "
     "ANKLEMEDIAL "},
    {"ankle", {0, -0.05, -0.08}, " HEE HEEL CAL CALC FCC HEELPOST HEL CALCANEUS HELP "},
    {"ankle", {0.04, -0.06, -0.03}, " HEELLAT LHEEL LCAL LATHEEL "},
    {"ankle", {-0.03, -0.06, -0.03}, " HEELMED MHEEL MCAL MEDHEEL ST "},
    {"ankle", {0.06, -0.05, 0.09}, " MT5 MTP5 MET5 5MT 5MET TOE5 FIFTHMET TOELAT FM5 VMH VM MTV MT5H LTOE FFT5 D5M "},
    {"ankle", {-0.035, -0.05, 0.12}, " MT1 MTP1 MET1 1MT 1MET FIRSTMET TOEMED FM1 FMH MTH1 FFT1 D1M MTOE "},
    {"toe",
     {0, 0.03, 0.04},
     " TOE MT2 MET2 TOES HALLUX TOETIP FM2 SMH 2MT 2MET MT23 MTP2 BTOE MTOE2 TOECENTER TOE2 HLX HX FOOT MIDFOOT "
     "MFOOT "},
};
static const struct {
    const char *joint;
    double at[3];
    const char *names;
} middle[] = {
    {"chest", {0, 0.25, -0.08}, " C7 CV7 C7SPINE SPINEC7 CERV7 NECK NECKBACK UPPERBACK C7T1 "},
    {"chest", {0, 0.03, -0.11}, " T10 TV10 SPINET10 T8 T12 MIDBACK T9 "},
    {"chest", {0, 0.15, -0.11}, " T4 T2 T3 T5 T6 SPINE BACK THORAX "},
    {"chest", {0, 0.19, 0.07}, " CLAV CLAVICLE IJ SJN JN SUP SUPSTERN MANUB MANUBRIUM INCISURA CLAVICULA SN JUGULAR "},
    {"chest", {0, 0.04, 0.12}, " STRN STERNUM STER PX SXS XIPHOID XIPH XYPH STERN XP CHEST "},
    {"chest", {-0.09, 0.14, -0.11}, " RBAC RBAK RBACK RSCAP BACKOFFSET OFFSETBACK "},
    {"hips", {0, 0.06, -0.14}, " VSACRAL SACR SACRUM SACRAL SAC MPSI VSAC S1 S2 SACRALWAND BACKPELVIS L5S1 L5 "},
    {"head", {0, 0.2, 0}, " TOPHEAD HEADTOP TOPH VERTEX HTOP HEADT "},
    {"head", {0, 0.1, 0.1}, " FOREHEAD HEADMIDFRONT FRONTHEADMID GLABELLA GLAB "},
    {"head", {0, 0.08, -0.1}, " REARHEAD BACKOFHEAD OCCIPUT INION HEADMIDBACK "},
};

/* Markers of clusters and wands: a number may follow. */
static const struct {
    const char *joint;
    bool sided;
    const char *names;
} clusters[] = {
    {"head", false, " HEAD HD HEADCLUSTER "},
    {"chest", false, " TA TR TRUNK THX THORAX TX TRK CHEST TORSO RTA TH1T STERNUMCLUSTER "},
    {"hips", false, " PV PELVIS PEL PLV PELVISCLUSTER SACRALCLUSTER SAC "},
    {"hips", true, " SACWAND PELVISWAND PEL PELVIS PV PLV "},
    {"clavicle", true, " SCAPULA SCAP SHO "},
    {"shoulder", true, " AR UA ARM UPPERARM UARM HUM HUMERUS UPA ARMCLUSTER BICEP "},
    {"forearm", true, " FA FOREARM FARM LOWERARM LARM RAD LA FRM "},
    {"wrist", true, " HA HAND HND "},
    {"hip", true,
     " TH THI THIGH FEMUR FEM POSTFEM ANTFEM THIGHUPPER THIGHFRONT THIGHREAR THIGHLOWER THIGHWAND THIGHCLUSTER UL "
     "THIGHBACK THIGHMID THIGHLATERAL THIGHUP THIGHDOWN TI THAP THAD THPP THPD THIA THIP THID KNEEWAND FEMURWAND "
     "THIGHANT THIGHPOST THISUPERIOR THIINFERIOR THL QUAD QUADS HAMS KP "},
    {"knee", true,
     " SK TB SHANK SHIN TIBIA TIB POSTTIB ANTTIB SHANKUPPER SHANKFRONT SHANKREAR SHANKLOWER SHANKWAND SHANKCLUSTER LL "
     "SHANKBACK SHANKMID SHANKUP SHANKDOWN SH SHN SKAP SKAD TIAP TIBWAND TIBIAWAND TIBA TIBP TIBD SHANKANT SHANKPOST "
     "CALF LEG LEGUPPER LEGLOWER TBAP "},
    {"ankle", true, " FT FOOT FO FOOTCLUSTER MIDFOOTSUP MIDFOOTLAT MIDFOOTMED FOOTWAND FF HF HINDFOOT FOREFOOT "},
};

/* Points that models compute: joint centres, and the origins and axes of bones that Plug-in Gait writes. */
static const char *const computed_sided =
    " HJC KJC AJC SJC EJC WJC HIPJC KNEEJC ANKLEJC SHOULDERJC ELBOWJC WRISTJC FEO FEP FEL FEA TIO TIP TIL TIA TOO TOP "
    "TOL TOA FOO FOP FOL FOA CLO CLP CLL CLA HUO HUP HUL HUA RAO RAP RAL RAA HNO HNP HNL HNA TFO HIPCENTER KNEECENTER "
    "ANKLECENTER HIPCENTRE KNEECENTRE ANKLECENTRE TTO TTP TTL TTA MIDTOE MIDANKLE MIDKNEE CRO CRP CRL CRA ";
static const char *const computed_middle =
    " PELO PELP PELL PELA HEDO HEDP HEDL HEDA TRXO TRXP TRXL TRXA CENTREOFMASS CENTEROFMASS CENTREOFMASSFLOOR "
    "CENTEROFMASSFLOOR COM COG LCOM MIDASIS MIDPSIS MIDPELVIS SACO SACP SACL SACA MIDHIP SPINELAB ORIGIN THOO THOP ";

/* Ends of the names of results that are no points. */
static const char *const numbers[] = {"ANGLES", "ANGLE",  "FORCE", "FORCES",   "MOMENT",    "MOMENTS",
                                      "POWER",  "POWERS", "GRF",   "PROGRESS", "COPFORCES", "GROUNDREACTIONFORCE"};

/* ---- words ---- */

void exi_marker_word(const char *name, char word[EXI_MARKER_WORD]) {
    const char *colon = strrchr(name, ':');
    int size = 0;
    for (name = colon && colon[1] ? colon + 1 : name; *name && size < EXI_MARKER_WORD - 1; name++) {
        const char c = (char)(*name >= 'a' && *name <= 'z' ? *name - 'a' + 'A' : *name);
        if ((c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9'))
            word[size++] = c;
    }
    word[size] = '\0';
}

/* True if a list with blanks around each name has this one. */
static bool lists(const char *list, const char *word) {
    const size_t size = strlen(word);
    for (const char *at = list; size > 0 && (at = strstr(at, word)) != NULL; at++)
        if (at > list && at[-1] == ' ' && at[size] == ' ')
            return true;
    return false;
}

static bool ends_with(const char *word, const char *end) {
    const size_t size = strlen(word), length = strlen(end);
    return size >= length && strcmp(word + size - length, end) == 0;
}

static void cut_digits(char *word) {
    size_t size = strlen(word);
    while (size > 1 && word[size - 1] >= '0' && word[size - 1] <= '9')
        word[--size] = '\0';
}

/* Splits a word into a side (1 left, -1 right) and the rest, the way-th way. False if there is no such way. */
enum { WAYS = 8 };
static bool split(const char *word, int way, int *side, char stem[EXI_MARKER_WORD]) {
    static const char *const sides[WAYS / 2] = {"LEFT", "RIGHT", "L", "R"};
    const char *mark = sides[way / 2];
    const size_t size = strlen(word), length = strlen(mark);
    if (size <= length || (way % 2 == 0 ? strncmp(word, mark, length) != 0 : !ends_with(word, mark)))
        return false;
    *side = way / 2 % 2 == 0 ? 1 : -1;
    strcpy(stem, way % 2 == 0 ? word + length : word);
    if (way % 2 == 1)
        stem[size - length] = '\0';
    return true;
}

/* ---- looking up ---- */

static void put_joint(exi_marker_meaning *meaning, const char *joint, const double at[3], int side) {
    for (int j = 0; j < JOINTS; j++) {
        if (strcmp(joints[j].name, joint) != 0)
            continue;
        const double mirror = joints[j].sided && side < 0 ? -1 : 1, flip = side < 0 ? -1 : 1;
        strcpy(meaning->joint, joint);
        if (joints[j].sided)
            strcat(meaning->joint, side < 0 ? ".R" : ".L");
        meaning->at[0] = flip * at[0];
        meaning->at[1] = at[1];
        meaning->at[2] = at[2];
        /* Hanging, what points out to the side points down, and what points up points out. */
        meaning->across[0] = mirror * joints[j].at[0] + (joints[j].arm ? flip * at[1] : flip * at[0]);
        meaning->height = joints[j].at[1] + (joints[j].arm ? -at[0] : at[1]);
        meaning->across[1] = joints[j].at[2] + at[2];
    }
}

static bool find_place(exi_marker_meaning *meaning, const char *word) {
    const int places = (int)(sizeof sided / sizeof *sided);
    char stem[EXI_MARKER_WORD];
    for (int i = 0; i < (int)(sizeof middle / sizeof *middle); i++)
        if (lists(middle[i].names, word)) {
            meaning->kind = EXI_MARKER_PLACE;
            meaning->place = places + i;
            put_joint(meaning, middle[i].joint, middle[i].at, 0);
            return true;
        }
    for (int way = 0; way < WAYS; way++)
        for (int i = 0; i < places; i++)
            if (split(word, way, &meaning->side, stem) && lists(sided[i].names, stem)) {
                meaning->kind = EXI_MARKER_PLACE;
                meaning->place = i;
                put_joint(meaning, sided[i].joint, sided[i].at, meaning->side);
                return true;
            }
    meaning->side = 0;
    return false;
}

static const double *mid_bone(const char *joint) {
    static const struct {
        const char *joint;
        double at[3];
    } middles[] = {{"shoulder", {0.14, 0, 0}}, {"forearm", {0.12, 0, 0}}, {"wrist", {0.06, 0, 0}},
                   {"hip", {0.03, -0.22, 0}},  {"knee", {0.03, -0.2, 0}}, {"ankle", {0, -0.04, 0.05}},
                   {"chest", {0, 0.12, 0}},    {"head", {0, 0.1, 0}},     {"clavicle", {0.1, 0.03, -0.03}}};
    static const double none[3] = {0};
    for (size_t i = 0; i < sizeof middles / sizeof *middles; i++)
        if (strcmp(middles[i].joint, joint) == 0)
            return middles[i].at;
    return none;
}

static bool find_cluster(exi_marker_meaning *meaning, const char *word) {
    char plain[EXI_MARKER_WORD], stem[EXI_MARKER_WORD];
    strcpy(plain, word);
    cut_digits(plain);
    for (size_t i = 0; i < sizeof clusters / sizeof *clusters; i++)
        for (int way = 0; way < (clusters[i].sided ? WAYS : 1); way++) {
            if (clusters[i].sided ? !split(plain, way, &meaning->side, stem) || !lists(clusters[i].names, stem)
                                  : !lists(clusters[i].names, plain))
                continue;
            const double beside[3] = {0.1, 0.04, 0}; /* a marker of one side of the pelvis */
            const bool one_side = clusters[i].sided && strcmp(clusters[i].joint, "hips") == 0;
            meaning->kind = EXI_MARKER_BONE;
            put_joint(meaning, clusters[i].joint, one_side ? beside : mid_bone(clusters[i].joint), meaning->side);
            return true;
        }
    meaning->side = 0;
    return false;
}

static bool is_computed(const char *word) {
    int side;
    char stem[EXI_MARKER_WORD];
    for (int way = 0; way < WAYS; way++)
        if (split(word, way, &side, stem) && lists(computed_sided, stem))
            return true;
    return lists(computed_middle, word);
}

static bool is_numbers(const char *word) {
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (ends_with(word, numbers[i]) && strlen(word) > strlen(numbers[i]))
            return true;
    return false;
}

/* *12, U3, UNLABELED 4, POINT7, M001, 12, C_ 3 */
static bool is_blank(const char *name, const char *word) {
    static const char *const words = " U UN UNLABELED UNLABELLED UNNAMED POINT MARKER M UNKNOWN UM UNID UNTRACKED UNKN "
                                     "TRAJECTORY GHOST UNIDENTIFIED AUTO ";
    char stem[EXI_MARKER_WORD];
    const char *colon = strrchr(name, ':');
    const char *own = colon && colon[1] ? colon + 1 : name;
    while (*own == ' ')
        own++;
    strcpy(stem, word);
    cut_digits(stem);
    if (*own == '*' || *word == '\0')
        return true;
    if (strspn(word, "0123456789") == strlen(word))
        return true;
    return lists(words, stem);
}

exi_marker_meaning exi_marker_look_up(const char *name) {
    exi_marker_meaning meaning = {.kind = EXI_MARKER_UNKNOWN, .place = -1};
    char word[EXI_MARKER_WORD];
    exi_marker_word(name, word);
    if (is_blank(name, word))
        meaning.kind = EXI_MARKER_BLANK;
    else if (is_numbers(word))
        meaning.kind = EXI_MARKER_NUMBERS;
    else if (is_computed(word))
        meaning.kind = EXI_MARKER_COMPUTED;
    else if (!find_place(&meaning, word))
        find_cluster(&meaning, word);
    return meaning;
}
