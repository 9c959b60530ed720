/*
 * Matches joints of a clip with joints of a rig, by a map or by name. Exact names match first; then names match as
 * programs change them: ignoring case, blanks and punctuation, and a prefix that ends in a colon.
 */
#include "author/base/array.h"
#include "author/base/names.h"
#include "author/motion/motion.h"
#include "runtime/base/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_SIZE = 128, NAMED_MOST = 4 };

/* Removes from the name what programs change; copy has room for it. */
static void normalise(const char *name, char *copy) {
    const char *colon = strrchr(name, ':');
    size_t size = 0;
    for (const char *c = colon ? colon + 1 : name; *c; c++) {
        const unsigned char u = (unsigned char)*c;
        if (u >= 'A' && u <= 'Z')
            copy[size++] = (char)(u - 'A' + 'a');
        else if ((u >= 'a' && u <= 'z') || (u >= '0' && u <= '9') || u >= 0x80)
            copy[size++] = (char)u;
    }
    copy[size] = 0;
}

/* ---- by name ---- */

/* Things of one side, and their names. */
typedef struct side {
    int count;
    const char **names; /* NULL: not to be matched */
    char **plain;       /* normalised */
} side;

static void close_side(side *s) {
    for (int i = 0; s->plain && i < s->count; i++)
        free(s->plain[i]);
    free(s->plain);
    free(s->names);
    *s = (side){0};
}

static bool open_side(side *s, int count, const char *(*name)(const void *of, int i), const void *of) {
    *s = (side){.count = count, .names = exi_array_allocate((size_t)count, sizeof *s->names)};
    s->plain = calloc((size_t)count + 1, sizeof *s->plain);
    bool good = s->names && s->plain;
    for (int i = 0; i < count && good; i++) {
        s->names[i] = name(of, i);
        if (!s->names[i])
            continue;
        s->plain[i] = malloc(strlen(s->names[i]) + 1);
        good = s->plain[i] != NULL;
        if (good)
            normalise(s->names[i], s->plain[i]);
    }
    if (!good)
        close_side(s);
    return good;
}

/* found [to->count]: index in `from` of the same name, or -1; each is used once. False without memory. */
static bool match_names(const side *from, const side *to, int *found) {
    bool *taken = calloc((size_t)from->count + 1, sizeof *taken);
    bool good = taken != NULL;
    for (int i = 0; i < to->count; i++)
        found[i] = -1;
    for (int round = 0; round < 2 && good; round++) {
        char *const *from_plain = from->plain;
        exi_names names;
        good = exi_names_open(&names, from->count);
        for (int i = 0; i < from->count && good; i++) {
            const char *name = round == 0 ? from->names[i] : from_plain[i];
            if (!taken[i] && name && name[0])
                exi_names_add(&names, name, i);
        }
        for (int i = 0; i < to->count && good; i++) {
            const char *name = round == 0 ? to->names[i] : to->plain[i];
            const int *number = found[i] < 0 && name ? exi_names_find(&names, name) : NULL;
            if (!number || taken[*number])
                continue;
            found[i] = *number;
            taken[*number] = true;
        }
        if (good)
            exi_names_close(&names);
    }
    free(taken);
    return good;
}

static const char *clip_joint_name(const void *of, int i) {
    const ex_clip *clip = of;
    return clip->joints[i].end ? NULL : clip->joints[i].name;
}

static const char *clip_dial_name(const void *of, int i) {
    return ((const ex_clip *)of)->dials[i].name;
}

static const char *rig_joint_name(const void *of, int i) {
    return ex_skeleton_name(ex_rig_skeleton(of), i);
}

/* Returns the name of a dial that is a number; joints move the other inputs. */
static const char *rig_dial_name(const void *of, int i) {
    return ex_rig_input_offset(of, i) >= 0 && ex_rig_input_axis(of, i).kind == EX_AXIS_SCALAR ? ex_rig_input_name(of, i)
                                                                                              : NULL;
}

typedef const char *(*name_of)(const void *of, int i);

static bool match_sides(const void *from, int from_count, name_of from_name, const void *to, int to_count,
                        name_of to_name, int *found) {
    side a = {0}, b = {0};
    const bool good = open_side(&a, from_count, from_name, from) && open_side(&b, to_count, to_name, to) &&
                      match_names(&a, &b, found);
    close_side(&a);
    close_side(&b);
    return good;
}

/* ---- by map ---- */

/* Adds "did you mean …" if a name is near. */
static ex_result unknown_joint(const char *whose, const char *name, const void *of, int count, name_of names,
                               ex_error *error) {
    side s = {0};
    int kept = 0;
    if (!open_side(&s, count, names, of))
        return ex_error_memory(error, "the names of joints", (size_t)count * sizeof(char *));
    for (int i = 0; i < s.count; i++)
        if (s.names[i])
            s.names[kept++] = s.names[i];
    const char *near = ex_suggest(name, s.names, kept);
    const ex_result result =
        near ? ex_error_set(error, EX_ERROR_DATA,
                            "the map names joint '%s', which the %s does not have; did you mean '%s'?", name, whose,
                            near)
             : ex_error_set(error, EX_ERROR_DATA, "the map names joint '%s', which the %s does not have", name, whose);
    close_side(&s);
    return result;
}

static int find_joint(const ex_clip *clip, const char *name) {
    for (int j = 0; j < clip->joint_count; j++)
        if (!clip->joints[j].end && strcmp(clip->joints[j].name, name) == 0)
            return j;
    return -1;
}

static ex_result apply_map(const ex_clip *clip, const ex_rig *rig, const ex_joint_map *map, exi_match *match,
                           ex_error *error) {
    const ex_skeleton *skeleton = ex_rig_skeleton(rig);
    for (int i = 0; i < match->joint_count; i++)
        match->joints[i] = -1;
    for (int i = 0; i < map->pair_count; i++) {
        const ex_joint_pair *pair = &map->pairs[i];
        const int joint = ex_skeleton_find(skeleton, pair->joint), from = find_joint(clip, pair->from);
        if (joint < 0 && find_joint(clip, pair->joint) >= 0)
            return ex_error_set(error, EX_ERROR_DATA,
                                "the map names joint '%s' on the left, where the rig's joints belong, but it is the "
                                "motion's: swap the sides",
                                pair->joint);
        if (joint < 0)
            return unknown_joint("rig", pair->joint, rig, match->joint_count, rig_joint_name, error);
        if (from < 0)
            return unknown_joint("motion", pair->from, clip, clip->joint_count, clip_joint_name, error);
        if (match->joints[joint] >= 0)
            return ex_error_set(error, EX_ERROR_DATA, "the map names joint '%s' of the rig twice", pair->joint);
        match->joints[joint] = from;
        memcpy(match->hinges[joint], pair->hinge, sizeof pair->hinge);
        match->as_they_rest[joint] = pair->as_it_rests;
    }
    return EX_OK;
}

/* ---- the whole ---- */

/* Lists the first few names, and … if there are more. */
static const char *list_names(const void *of, int count, name_of names, char list[LIST_SIZE]) {
    size_t used = 0;
    int named = 0;
    bool more = false;
    list[0] = 0;
    for (int i = 0; i < count && !more; i++) {
        const char *name = names(of, i);
        if (!name || !name[0])
            continue;
        more = named == NAMED_MOST || used + strlen(name) + 16 > LIST_SIZE;
        if (more)
            continue;
        used += (size_t)snprintf(list + used, LIST_SIZE - used, "%s'%s'", named++ ? ", " : "", name);
    }
    if (more)
        snprintf(list + used, LIST_SIZE - used, "%s…", named ? ", " : "");
    return list;
}

static const char *first_name(const void *of, int count, name_of names) {
    for (int i = 0; i < count; i++) {
        const char *name = names(of, i);
        if (name && name[0] && strlen(name) < 40)
            return name;
    }
    return "JOINT";
}

static ex_result no_match(const ex_clip *clip, const ex_rig *rig, ex_error *error) {
    char theirs[LIST_SIZE], ours[LIST_SIZE];
    const int count = ex_rig_joint_count(rig);
    if (count == 0)
        return ex_error_set(error, EX_ERROR_DATA,
                            "the rig has no skeleton, and none of its dials has the name of one of the motion's");
    ex_error_set(error, EX_ERROR_DATA,
                 "no joint of the motion (%s) has the name of one of the rig's (%s): pair them in a map file: "
                 "{\"joints\": {\"%s\": \"%s\"}}",
                 list_names(clip, clip->joint_count, clip_joint_name, theirs),
                 list_names(rig, count, rig_joint_name, ours), first_name(rig, count, rig_joint_name),
                 first_name(clip, clip->joint_count, clip_joint_name));
    return ex_error_kind(error, EX_ERROR_DATA, "no_joint_matched");
}

static bool open_match(exi_match *match, const ex_rig *rig) {
    *match = (exi_match){.joint_count = ex_rig_joint_count(rig), .input_count = ex_rig_input_count(rig)};
    match->joints = exi_array_allocate((size_t)match->joint_count, sizeof *match->joints);
    match->hinges = calloc((size_t)match->joint_count + 1, sizeof *match->hinges);
    match->as_they_rest = calloc((size_t)match->joint_count + 1, sizeof *match->as_they_rest);
    match->dials = exi_array_allocate((size_t)match->input_count, sizeof *match->dials);
    return match->joints && match->hinges && match->as_they_rest && match->dials;
}

ex_result exi_match_make(const ex_clip *clip, const ex_rig *rig, const ex_joint_map *map, exi_match *match,
                         ex_error *error) {
    ex_result result = EX_OK;
    if (!open_match(match, rig) ||
        !match_sides(clip, clip->dial_count, clip_dial_name, rig, match->input_count, rig_dial_name, match->dials))
        result = ex_error_memory(error, "matching joints", (size_t)match->joint_count * 64);
    if (result == EX_OK && map && match->joint_count == 0)
        result = ex_error_set(error, EX_ERROR_DATA, "the map names joints, but the rig has no skeleton");
    else if (result == EX_OK && map)
        result = apply_map(clip, rig, map, match, error);
    else if (result == EX_OK && !match_sides(clip, clip->joint_count, clip_joint_name, rig, match->joint_count,
                                             rig_joint_name, match->joints))
        result = ex_error_memory(error, "matching joints", (size_t)match->joint_count * 64);
    for (int j = 0; result == EX_OK && j < match->joint_count; j++)
        match->matched_count += match->joints[j] >= 0;
    for (int i = 0; result == EX_OK && i < match->input_count; i++)
        match->matched_count += match->dials[i] >= 0;
    if (result == EX_OK && match->matched_count == 0)
        result = no_match(clip, rig, error);
    if (result != EX_OK)
        exi_match_free(match);
    return result;
}

ex_result ex_clip_match(const ex_clip *clip, const ex_rig *rig, const ex_joint_map *map, int *joints, int *inputs,
                        ex_error *error) {
    if (!clip || !rig)
        return exi_misuse_error(error, __func__, "no clip, or no rig");
    exi_match match;
    const ex_result result = exi_match_make(clip, rig, map, &match, error);
    if (result != EX_OK)
        return result;
    for (int j = 0; joints && j < match.joint_count; j++)
        joints[j] = match.joints[j];
    for (int i = 0; inputs && i < match.input_count; i++)
        inputs[i] = match.dials[i];
    exi_match_free(&match);
    return EX_OK;
}

void exi_match_free(exi_match *match) {
    free(match->joints);
    free(match->hinges);
    free(match->as_they_rest);
    free(match->dials);
    *match = (exi_match){0};
}
