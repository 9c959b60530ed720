/* Garments below the one that `drive apply` and `drive report` make: --over and --over-mesh. */
#include "drive.h"

#include "cli/base/files.h"

#include <stdlib.h>

void exi_drive_overs_close(exi_drive_overs *o) {
    for (int i = 0; i < o->count; i++)
        ex_mesh_destroy((ex_mesh *)o->overs[i].mesh);
    free(o->overs);
}

int exi_drive_overs_open(const ex_call *call, const ex_word_list *caches, const ex_word_list *meshes,
                         const char *output, exi_drive_overs *o, ex_apply_def *def) {
    ex_error error = {.result = EX_OK};
    *o = (exi_drive_overs){NULL, 0};
    if (caches->count != meshes->count)
        return exi_wrong_usage(call->command, "every --over needs its --over-mesh: there are %d and %d", caches->count,
                               meshes->count);
    for (int i = 0; output && i < caches->count; i++) {
        int exit_code;
        if (!exi_output_check(call->command, output, EXI_CACHE_ENDINGS, caches->words[i], &exit_code))
            return exit_code;
    }
    if (caches->count > 0 && !(o->overs = calloc((size_t)caches->count, sizeof *o->overs)))
        return exi_failed_memory();
    for (int i = 0; i < caches->count; i++) {
        ex_mesh *mesh = NULL;
        if (ex_mesh_read(meshes->words[i], &mesh, &error) != EX_OK) {
            exi_drive_overs_close(o);
            return exi_failed(&error);
        }
        o->overs[o->count++] = (ex_apply_over){.cache = caches->words[i], .mesh = mesh};
    }
    def->overs = o->overs;
    def->over_count = o->count;
    return EX_EXIT_DONE;
}
