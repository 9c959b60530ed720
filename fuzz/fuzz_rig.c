/*
 * Fuzzing of rig files (clang -fsanitize=fuzzer,address,undefined): any bytes are a rig or an error with a sentence,
 * and what is read as a rig can be evaluated, packed to bytes that read back the same, and turned into a mesh. So that
 * changed bytes get past the checksums, those of a bare pack are made right before it is read.
 */
#include <exemplar/author.h>

#include "runtime/base/checksum.h"
#include "runtime/rig/pack.h"

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

static void evaluate(const ex_rig *rig) {
    const size_t vertices = (size_t)ex_rig_vertex_count(rig), pose_size = (size_t)ex_rig_pose_size(rig);
    float *positions = malloc(vertices * 3 * sizeof *positions), box[6];
    double *inputs = calloc(pose_size + 1, sizeof *inputs);
    double *weights = malloc(((size_t)ex_rig_example_count(rig) + 1) * sizeof *weights);
    void *scratch = malloc(ex_rig_scratch_size(rig, 1));
    const ex_output output = {.positions = positions, .box = box, .weights = weights};
    for (int i = 0; i < 3; i++) {
        ex_rig_evaluate(rig, &(ex_pose){inputs}, &output, NULL, scratch);
        for (size_t k = 0; k < pose_size; k++)
            inputs[k] = i == 0 ? 0.3 * (double)k : 1e9;
    }
    ex_rig_evaluate(rig, NULL, &output, NULL, scratch);
    free(positions);
    free(inputs);
    free(weights);
    free(scratch);
}

static void pack_again(const ex_rig *rig) {
    const size_t size = ex_rig_pack_size(rig);
    char *pack = malloc(size), *again = malloc(size);
    ex_rig *back = NULL;
    if (ex_rig_pack(rig, pack, size, NULL) != EX_OK ||
        ex_rig_unpack(pack, size, EX_STORAGE_FLOAT, NULL, &back, NULL) != EX_OK || ex_rig_pack_size(back) != size ||
        ex_rig_pack(back, again, size, NULL) != EX_OK || memcmp(pack, again, size) != 0)
        abort();
    ex_rig_destroy(back);
    free(pack);
    free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char *bytes = malloc(size + 1);
    memcpy(bytes, data, size);
    seal(bytes, size);
    for (int storage = 0; storage < EX_STORAGE_COUNT; storage++) {
        ex_rig *rig = NULL;
        ex_error error = {0};
        ex_result result = ex_rig_unpack(bytes, size, (ex_storage)storage, NULL, &rig, &error);
        if ((result == EX_OK) != (rig != NULL) || (result != EX_OK && error.text[0] == 0))
            abort();
        if (!rig)
            continue;
        evaluate(rig);
        ex_mesh *mesh = NULL;
        if (storage == EX_STORAGE_FLOAT) {
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
