/*
 * Fuzzes rig files (clang -fsanitize=fuzzer,address,undefined): any bytes are a rig or an error with a sentence, and a
 * rig can be evaluated, packed to bytes that read back the same, and turned into a mesh. The checksums of a bare pack
 * are corrected before it is read, so that changed bytes get past them.
 */
#include <exemplar/author.h>

#include "runtime/base/checksum.h"
#include "runtime/rig/pack/pack.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void seal(char *pack, size_t size) {
    exi_pack_header header;
    if (size < sizeof header || memcmp(pack, EXI_PACK_MAGIC, 8) != 0)
        return;
    memcpy(&header, pack, sizeof header);
    if (header.section_count > (size - sizeof header) / sizeof(exi_pack_entry))
        return;
    for (size_t i = 0; i < header.section_count; i++) {
        char *place = pack + sizeof header + i * sizeof(exi_pack_entry);
        exi_pack_entry entry;
        memcpy(&entry, place, sizeof entry);
        if (entry.offset <= size && entry.size <= size - entry.offset)
            entry.checksum = exi_checksum(pack + entry.offset, (size_t)entry.size);
        memcpy(place, &entry, sizeof entry);
    }
    header.checksum = 0;
    memcpy(pack, &header, sizeof header);
    if (header.header_size <= size)
        header.checksum = exi_checksum(pack, header.header_size);
    memcpy(pack, &header, sizeof header);
}

/* A refined level may be much larger than the file that describes it; its stencils bound its output. */
static void evaluate_level(const ex_rig *rig, const ex_pose *pose, int level, bool normals) {
    const ex_evaluation evaluation = {.level = level};
    const size_t vertices = (size_t)ex_rig_level_vertex_count(rig, level);
    const ex_rig_mesh mesh = ex_rig_level_mesh(rig, level);
    const int texture_count = ex_rig_texture_count(rig);
    float *positions = malloc(vertices * 10 * sizeof *positions), box[6];
    double *weights = malloc(((size_t)ex_rig_example_count(rig) + 1) * sizeof *weights);
    unsigned char **textures = calloc((size_t)texture_count + 1, sizeof *textures);
    for (int i = 0; i < texture_count; i++)
        textures[i] = malloc((size_t)ex_rig_texture(rig, i).width * (size_t)ex_rig_texture(rig, i).height * 4);
    void *scratch = malloc(ex_rig_scratch_size(rig, &evaluation, 1));
    const bool tangents = normals && mesh.face_count > 0 && mesh.texcoords && mesh.triangle_count > 0;
    const ex_output output = {.positions = positions,
                              .normals = normals && mesh.face_count > 0 ? positions + 3 * vertices : NULL,
                              .tangents = tangents ? positions + 6 * vertices : NULL,
                              .box = box,
                              .weights = weights,
                              .textures = textures};
    ex_rig_evaluate(rig, pose, &output, &evaluation, scratch);
    for (int i = 0; i < texture_count; i++)
        free(textures[i]);
    free(textures);
    free(positions);
    free(weights);
    free(scratch);
}

static void evaluate(const ex_rig *rig, bool normals) {
    const size_t pose_size = (size_t)ex_rig_pose_size(rig), joints = (size_t)ex_rig_joint_count(rig);
    const ex_pose pose = {.inputs = calloc(pose_size + 1, sizeof *pose.inputs),
                          .joints = calloc(joints + 1, sizeof *pose.joints)};
    const bool limit = ex_rig_stencils(rig) && ex_stencils_has(ex_rig_stencils(rig), EX_LEVEL_LIMIT);
    ex_rig_rest_pose(rig, &pose);
    for (int i = 0; i < 3; i++) {
        for (int level = limit ? EX_LEVEL_LIMIT : 0; level <= ex_rig_level_count(rig); level++)
            evaluate_level(rig, i < 2 ? &pose : NULL, level, normals);
        for (size_t k = 0; k < pose_size; k++)
            pose.inputs[k] = i == 0 ? 0.3 * (double)k : 1e9;
        for (size_t k = 0; k < joints; k++)
            pose.joints[k].rotation[k % 4] += 0.3f;
    }
    free(pose.inputs);
    free(pose.joints);
}

static void pack_again(const ex_rig *rig) {
    const size_t size = ex_rig_pack_size(rig);
    char *pack = malloc(size), *again = malloc(size);
    ex_rig *back = NULL;
    if (ex_rig_pack(rig, pack, size, NULL) != EX_OK || ex_rig_unpack(pack, size, NULL, NULL, &back, NULL) != EX_OK ||
        ex_rig_pack_size(back) != size || ex_rig_pack(back, again, size, NULL) != EX_OK ||
        memcmp(pack, again, size) != 0)
        abort();
    ex_rig_destroy(back);
    free(pack);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const ex_rig_options options[] = {
        {.storage = EX_STORAGE_FLOAT},
        {.storage = EX_STORAGE_16_BIT, .without_normals = true, .without_levels = true},
    };
    char *bytes = malloc(size + 1);
    memcpy(bytes, data, size);
    seal(bytes, size);
    for (int i = 0; i < 2; i++) {
        ex_rig *rig = NULL;
        ex_error error = {0};
        ex_result result = ex_rig_unpack(bytes, size, &options[i], NULL, &rig, &error);
        if ((result == EX_OK) != (rig != NULL) || (result != EX_OK && error.text[0] == 0))
            abort();
        if (!rig)
            continue;
        evaluate(rig, i == 0);
        ex_mesh *mesh = NULL;
        if (i == 0) {
            pack_again(rig);
            result = ex_rig_to_mesh(rig, NULL, &mesh, &error);
            if ((result == EX_OK) != (mesh != NULL) || (result != EX_OK && error.text[0] == 0))
                abort();
        }
        ex_mesh_destroy(mesh);
        ex_rig_destroy(rig);
    }
    free(bytes);
    return 0;
}
