/*
 * The hierarchy of a BVH file: joints with their offsets and channels, and end sites, which become separate joints so
 * that the directions of the last bones are known.
 */
#include "author/formats/motion/bvh.h"

#include "author/base/array.h"
#include "runtime/base/text.h"

#include <exemplar/author/base.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEEN_OFFSET = 1, SEEN_CHANNELS = 2 };

static const char end_suffix[] = "_end";

static ex_result expect(exi_bvh *r, const char *keyword, const char *where) {
    const exi_bvh_word word = exi_bvh_next(r);
    char text[EXI_BVH_SHOWN];
    if (exi_bvh_is(word, keyword))
        return EX_OK;
    if (word.size == 0)
        return exi_bvh_fail(r, EX_ERROR_FORMAT, "the file ends where '%s' is needed %s", keyword, where);
    return exi_bvh_fail(r, EX_ERROR_FORMAT, "'%s' is needed %s, not '%s'", keyword, where, exi_bvh_show(word, text));
}

/* ---- joints ---- */

/* Takes ownership of the name, also on failure. */
static ex_result add_joint(exi_bvh *r, char *name, int parent, bool end) {
    ex_clip *clip = r->clip;
    const size_t count = (size_t)clip->joint_count;
    ex_clip_joint *joints = name ? exi_array_grow(clip->joints, &r->joint_capacity, count + 1, sizeof *joints) : NULL;
    if (joints)
        clip->joints = joints;
    unsigned char *seen = joints ? exi_array_grow(r->seen, &r->seen_capacity, count + 1, 1) : NULL;
    if (seen)
        r->seen = seen;
    if (!seen || count >= EX_JOINT_MAX) {
        free(name);
        return !seen ? exi_bvh_no_memory(r)
                     : exi_bvh_fail(r, EX_ERROR_LIMIT, "there are more than %d joints", EX_JOINT_MAX);
    }
    joints[count] = (ex_clip_joint){.name = name, .parent = parent, .rest = ex_transform_identity(), .end = end};
    seen[count] = 0;
    clip->joint_count++;
    return EX_OK;
}

static ex_result read_name(exi_bvh *r, char **name) {
    const exi_bvh_word word = exi_bvh_rest_of_line(r);
    char text[EXI_BVH_SHOWN];
    if (word.size == 0)
        return exi_bvh_fail(r, EX_ERROR_FORMAT, "the joint has no name: write it after ROOT or JOINT on the same line");
    *name = exi_text_copy(word.text, word.size);
    if (!*name)
        return exi_bvh_no_memory(r);
    if (memchr(word.text, 0, word.size) == NULL && exi_is_name(*name))
        return EX_OK;
    free(*name);
    *name = NULL;
    return exi_bvh_fail(r, EX_ERROR_FORMAT,
                        "'%s' cannot be the name of a joint: 1 to %d bytes of readable text are needed",
                        exi_bvh_show(word, text), EXI_NAME_MAX);
}

/* Returns "NAME_end", with NAME shortened if that would be too long. */
static char *end_name(const char *parent) {
    const int most = EXI_NAME_MAX - (int)sizeof end_suffix + 1, length = exi_text_cut(parent, most);
    const size_t size = (size_t)length + sizeof end_suffix;
    char *name = malloc(size);
    if (name)
        snprintf(name, size, "%.*s%s", length, parent, end_suffix);
    return name;
}

/* Reads ROOT NAME {, JOINT NAME { or End Site {: *current becomes the new joint. */
static ex_result open_joint(exi_bvh *r, exi_bvh_word word, int *current) {
    const bool root = exi_bvh_is(word, "ROOT"), end = exi_bvh_is(word, "End");
    char *name = NULL;
    if (root && *current >= 0)
        return exi_bvh_fail(r, EX_ERROR_FORMAT, "a ROOT is inside joint '%s', whose brace is not closed",
                            r->clip->joints[*current].name);
    if (!root && *current < 0)
        return exi_bvh_fail(r, EX_ERROR_FORMAT, "%s is outside any joint: begin with ROOT",
                            end ? "an End Site" : "a JOINT");
    if (!root && r->clip->joints[*current].end)
        return exi_bvh_fail(r, EX_ERROR_FORMAT, "an End Site can have only an OFFSET");
    ex_result result = end ? expect(r, "Site", "after 'End'") : read_name(r, &name);
    if (result == EX_OK && end)
        name = end_name(r->clip->joints[*current].name);
    if (result == EX_OK)
        result = add_joint(r, name, *current, end);
    if (result != EX_OK)
        return result;
    *current = r->clip->joint_count - 1;
    return expect(r, "{", "after the name of a joint");
}

static ex_result close_joint(exi_bvh *r, int *current) {
    if (*current < 0)
        return exi_bvh_fail(r, EX_ERROR_FORMAT, "a brace is closed that was not opened");
    if (!(r->seen[*current] & SEEN_OFFSET))
        return exi_bvh_fail(r, EX_ERROR_FORMAT, "joint '%s' has no OFFSET", r->clip->joints[*current].name);
    *current = r->clip->joints[*current].parent;
    return EX_OK;
}

/* ---- offsets and channels of joints ---- */

static ex_result mark(exi_bvh *r, int joint, int what, const char *keyword) {
    if (joint < 0)
        return exi_bvh_fail(r, EX_ERROR_FORMAT, "%s is outside any joint", keyword);
    if (r->seen[joint] & what)
        return exi_bvh_fail(r, EX_ERROR_FORMAT, "joint '%s' has %s twice", r->clip->joints[joint].name, keyword);
    r->seen[joint] |= (unsigned char)what;
    return EX_OK;
}

static ex_result read_offset(exi_bvh *r, int joint) {
    ex_result result = mark(r, joint, SEEN_OFFSET, "OFFSET");
    for (int c = 0; c < 3 && result == EX_OK; c++) {
        double number = 0;
        result = exi_bvh_number(r, "OFFSET", &number);
        if (result == EX_OK)
            r->clip->joints[joint].rest.translation[c] = (float)number;
    }
    return result;
}

static ex_result read_channel(exi_bvh *r, int joint, unsigned *moves) {
    static const char *const names[] = {"Xposition", "Yposition", "Zposition", "Xrotation", "Yrotation", "Zrotation"};
    const exi_bvh_word word = exi_bvh_next(r);
    char text[EXI_BVH_SHOWN];
    int kind = 0;
    while (kind < 6 && !exi_bvh_is(word, names[kind]))
        kind++;
    if (word.size == 0)
        return exi_bvh_fail(r, EX_ERROR_FORMAT, "the file ends among the channels of joint '%s'",
                            r->clip->joints[joint].name);
    if (kind == 6)
        return exi_bvh_fail(r, EX_ERROR_FORMAT,
                            "'%s' is not a channel, and joint '%s' needs more: Xposition, Yposition, Zposition, "
                            "Xrotation, Yrotation or Zrotation",
                            exi_bvh_show(word, text), r->clip->joints[joint].name);
    if (kind < 3 && (*moves & 1U << kind))
        return exi_bvh_fail(r, EX_ERROR_FORMAT, "joint '%s' has the channel %s twice", r->clip->joints[joint].name,
                            names[kind]);
    *moves |= kind < 3 ? 1U << kind : 0;
    exi_bvh_channel *channels =
        exi_array_grow(r->channels, &r->channel_capacity, (size_t)r->channel_count + 1, sizeof *channels);
    if (!channels)
        return exi_bvh_no_memory(r);
    r->channels = channels;
    channels[r->channel_count++] = (exi_bvh_channel){.joint = joint, .axis = kind % 3, .turns = kind >= 3};
    r->clip->root_moves = r->clip->root_moves || (kind < 3 && r->clip->joints[joint].parent < 0);
    return EX_OK;
}

static ex_result read_channels(exi_bvh *r, int joint) {
    enum { MOST = 64 };
    ex_result result = mark(r, joint, SEEN_CHANNELS, "CHANNELS");
    if (result != EX_OK)
        return result;
    if (r->clip->joints[joint].end)
        return exi_bvh_fail(r, EX_ERROR_FORMAT, "an End Site can have only an OFFSET");
    const exi_bvh_word word = exi_bvh_next(r);
    const char *at = word.text;
    char text[EXI_BVH_SHOWN];
    int count = 0;
    if (!ex_parse_int(&at, word.text + word.size, &count) || at != word.text + word.size || count < 0 || count > MOST)
        return exi_bvh_fail(r, EX_ERROR_FORMAT, "CHANNELS of joint '%s' must begin with their number, not with '%s'",
                            r->clip->joints[joint].name, exi_bvh_show(word, text));
    unsigned moves = 0;
    for (int i = 0; i < count && result == EX_OK; i++)
        result = read_channel(r, joint, &moves);
    return result;
}

ex_result exi_bvh_read_joints(exi_bvh *r) {
    ex_result result = expect(r, "HIERARCHY", "at the start of a BVH file");
    int current = -1;
    while (result == EX_OK) {
        const exi_bvh_word word = exi_bvh_next(r);
        char text[EXI_BVH_SHOWN];
        if (word.size == 0)
            return exi_bvh_fail(r, EX_ERROR_FORMAT, "the file ends in its hierarchy: there is no MOTION");
        if (exi_bvh_is(word, "ROOT") || exi_bvh_is(word, "JOINT") || exi_bvh_is(word, "End"))
            result = open_joint(r, word, &current);
        else if (exi_bvh_is(word, "OFFSET"))
            result = read_offset(r, current);
        else if (exi_bvh_is(word, "CHANNELS"))
            result = read_channels(r, current);
        else if (exi_bvh_is(word, "}"))
            result = close_joint(r, &current);
        else if (exi_bvh_is(word, "MOTION") && current < 0)
            break;
        else if (exi_bvh_is(word, "MOTION"))
            result = exi_bvh_fail(r, EX_ERROR_FORMAT, "MOTION begins while the brace of joint '%s' is still open",
                                  r->clip->joints[current].name);
        else
            result = exi_bvh_fail(
                r, EX_ERROR_FORMAT,
                "'%s' cannot be in a hierarchy: ROOT, JOINT, End Site, OFFSET, CHANNELS, a brace or MOTION is needed",
                exi_bvh_show(word, text));
    }
    if (result == EX_OK && r->clip->joint_count == 0)
        result = exi_bvh_fail(r, EX_ERROR_FORMAT, "the hierarchy has no joint");
    return result;
}
