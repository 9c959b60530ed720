/* cli/base/hints.c - hints that the tool adds to failures of the library: the command or option that helps. */
#include "report.h"

#include <string.h>

/* By kind of ex_error; each hint is the end of the library's sentence. */
static const struct {
    const char *kind, *text;
} hints[] = {
    {"cache_without_joints", ": 'exemplar pose' sets both, frame by frame"},
    {"cell_missing", ": --cells draws it"},
    {"driver_in_table", ": 'exemplar drive apply' plays a cache of its forms"},
    {"driven_far", "; --force takes it as it is"},
    {"driven_unit", " (--driven-scale); --force takes it as it is"},
    {"far_away", "; --force takes it as it is"},
    {"far_sculpt", "; --force takes it as it is"},
    {"folder_in_use", ": give --force to overwrite it, or choose another folder"},
    {"form_unit", " (--driver-scale, --driven-scale); --force takes it as it is"},
    {"frames_differ", "; --range takes a part of both"},
    {"frames_differ_applied", "; --frames takes a part of both"},
    {"joint_without_axis", ": give it with --joint, or leave out --layer to start a layer that does"},
    {"layer_at_rest", ": give another --layer, or leave it out to start a new one"},
    {"long_motion", ": take a part with --start and --end, or a lower --fps"},
    {"mesh_unit", "; --force takes it as it is"},
    {"mirrored_both", ", or the side with --all"},
    {"mirrored_name_elsewhere", ": name the new one with --as"},
    {"mirrored_name_taken", ": give another name with --as, or --replace to give it the mirrored sculpt"},
    {"mirrored_name_same", ": name the new one with --as"},
    {"mirrored_place_taken", ": --replace gives it the mirrored sculpt"},
    {"mirrored_places_taken", ": with --force they get the mirrored sculpts"},
    {"name_taken", ": give another name, or --replace to give it this sculpt"},
    {"no_body", ": 'exemplar scan build FOLDER' makes the body"},
    {"no_cage", ": 'exemplar scan build FOLDER --cage-only' makes it"},
    {"no_counterpart", ": a larger --tolerance takes it"},
    {"no_driver", ": 'exemplar drive learn' makes one that does"},
    {"no_joint_matched", ", and give that file with --map"},
    {"no_other_side", "? (--plane names its plane, --tolerance takes points that are farther away)"},
    {"no_plane", " (if it has one, name its plane with --plane)"},
    {"no_project", ": 'exemplar unpack' makes a project from a rig"},
    {"no_reference", ": name the scan that the others are measured from with --reference"},
    {"no_template", ": 'exemplar scan template FOLDER' makes it"},
    {"old_body", ": build the body again ('exemplar scan build')"},
    {"old_fit", ": fit again ('exemplar scan fit')"},
    {"old_maps", ": build with --force"},
    {"old_template", ": make the template again ('exemplar scan template')"},
    {"other_connectivity", " ('exemplar check' says if another order of vertices would repair it)"},
    {"other_scans", ": give --force to overwrite them, or another folder"},
    {"other_unit", " with --scale; --force takes it as it is"},
    {"place_taken", ": --replace gives it this sculpt, 'exemplar example move' moves it"},
    {"plot_of_driver", ": 'exemplar weights' gives its weights at a form, 'exemplar drive report' over a motion"},
    {"refined_sculpt", ", which 'exemplar pose' writes with --level cage"},
    {"several_layers", ": name the layer with --layer"},
    {"slider_taken", ": --replace gives it this sculpt; a value between makes an in-between"},
    {"unknown_axis", "; a joint is written joint:NAME=x20"},
    {"unknown_example", "; 'exemplar example list' shows them"},
    {"unknown_layer", "; 'exemplar example list' shows them"},
};

bool exi_is_foreign(const ex_error *error) {
    return error->kind && strcmp(error->kind, "foreign_format") == 0;
}

const char *exi_hint(const ex_error *error) {
    for (size_t i = 0; error->kind && i < sizeof hints / sizeof *hints; i++)
        if (strcmp(hints[i].kind, error->kind) == 0)
            return hints[i].text;
    return "";
}
