/*
 * The scenes that a rig carries as attachments: each is a .glb file.
 */
#include "author/formats/rig/rig_gltf.h"
#include "runtime/base/result.h"

#include <exemplar/author/formats.h>

#include <string.h>

ex_attachment exi_rig_find_attachment(const ex_rig *rig, const char *kind) {
    for (int i = 0; i < ex_rig_attachment_count(rig); i++) {
        const ex_attachment found = ex_rig_attachment(rig, i);
        if (strcmp(found.kind, kind) == 0)
            return found;
    }
    return (ex_attachment){.kind = kind};
}

static ex_result parse(const ex_rig *rig, const char *kind, ex_scene **scene, ex_error *error) {
    const ex_attachment found = exi_rig_find_attachment(rig, kind);
    *scene = NULL;
    if (!found.data)
        return EX_OK;
    return ex_scene_parse(found.data, found.size, kind, false, scene, error);
}

ex_result ex_rig_looks(const ex_rig *rig, ex_scene **scene, ex_error *error) {
    return parse(rig, EXI_LOOKS_NOTE, scene, error);
}

ex_result ex_rig_clips(const ex_rig *rig, ex_scene **scene, ex_error *error) {
    return parse(rig, EXI_CLIPS_NOTE, scene, error);
}
