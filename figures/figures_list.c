/*
 * figures/figures_list.c - every figure and table of the five papers, and one of our own: the function that makes it,
 * or the reason why there is none. Captions are our own words. docs/figures.md has the same list, and a test compares
 * the two.
 */
#include "figures.h"

#define NOT_YET(number, title, caption)                                                                                \
    { number, title, NULL, NULL, caption, false, NULL }

/* ---- Shape by Example ---- */

static const exi_figure shape_by_example[] = {
    NOT_YET("Figure 1", "the system's parts", "A drawing of boxes: there is nothing to compute."),
    NOT_YET("Table 1", "symbols", "A list of symbols: docs/mathematics.md explains ours."),
    {.number = "Figure 2",
     .title = "The parts of one cardinal basis",
     .file = "shape-by-example-2.svg",
     .caption = "Three examples are on one axis. The weight of the first starts as the straight line that comes "
                "closest to 1 at its own place and 0 at the two others. Three B-splines add what the line misses "
                "there. There is one around each example, as wide as the distance to its nearest neighbour.",
     .make = exi_figure_basis},
    {.number = "Figure 3",
     .title = "Cardinal bases, and a coordinate made with them",
     .file = "shape-by-example-3.svg",
     .caption = "Line and splines together: each weight is 1 at its own example and 0 at the others. A vertex "
                "coordinate is the sum of its values at the examples (the dots) times these weights, and so passes "
                "through each of them.",
     .make = exi_figure_cardinal},
    {.number = "Figure 4",
     .title = "A space of blobs, as the examples alone make it",
     .file = "shape-by-example-4.png",
     .demo = "blob",
     .caption = "Five examples (blue) over bend and thickness. Both upper corners are bad. A form that is both bent "
                "and thick shortens the inside of a bend that is already short, so the surface passes through itself.",
     .make = exi_figure_blob_plain},
    {.number = "Figure 5",
     .title = "The same space with two pseudo-examples",
     .file = "shape-by-example-5.png",
     .demo = "blob",
     .caption = "Good forms from a little further in (where the arrows begin) are placed in the corners. They need no "
                "new form: only the weights change, and the creases are gone.",
     .make = exi_figure_blob},
    {.number = "Figure 6",
     .title = "Skinning alone shrinks joints",
     .file = "shape-by-example-6.png",
     .demo = "arm",
     .caption = "One straight arm, moved by its skeleton with blended matrices. The more the elbow bends, the more of "
                "its volume is lost.",
     .make = exi_figure_shrinking},
    {.number = "Figure 7",
     .title = "Examples taken back to the rest pose",
     .file = "shape-by-example-7.png",
     .demo = "arm",
     .caption = "Above, two arms as they were sculpted. Below, the same arms un-posed: skinning them gives the sculpts "
                "again. The bent one swells at the elbow by exactly the volume that skinning will lose.",
     .make = exi_figure_unposed},
    {.number = "Figure 8",
     .title = "Naive skinning, and the blend of un-posed examples",
     .file = "shape-by-example-8.png",
     .demo = "arm",
     .caption = "Left: one example, and the same example skinned. Right: the blend of all examples at rest, which "
                "looks strange, and the arm that it becomes once it is skinned. No example is bent this far.",
     .make = exi_figure_stages},
    {.number = "Figure 9",
     .title = "Arms over elbow and gender, and beyond",
     .file = "shape-by-example-9.png",
     .demo = "arm",
     .caption =
         "A slice through the space of arms: examples in blue, pseudo-examples in the colour of sand, arms between "
         "them in grey. Outside the dashed frame, arms are more bent and more muscular than any that was sculpted.",
     .make = exi_figure_arm},
    {.number = "Figure 10",
     .title = "Faces whose skin and form come from different places",
     .file = "shape-by-example-10.png",
     .demo = "face",
     .caption = "Eight heads with their skins, at their places in age, gender and build. In the last row, two places "
                "between them, A and B: form and skin may come from the same place, or from one each.",
     .make = exi_figure_faces},
    {.number = "Section 6",
     .title = "Speeds",
     .caption = "Frames per second. The paper counts only blending, on a Pentium II at 450 MHz. Ours were measured on "
                "one core of this machine when the page was made, each the median of five short samples. 'exemplar "
                "bench' measures more carefully.",
     .make = exi_figure_speeds},
};

/* ---- Pose Space Deformation ---- */

static const exi_figure pose_space[] = {
    {.number = "Figure 1",
     .title = "A point between two rigid images",
     .file = "pose-space-1.svg",
     .caption =
         "A point of the skin beside a joint, carried along by either bone. Blended matrices can only put it on the "
         "straight line between both positions. Half-way along, it is closer to the joint than the skin ever was.",
     .make = exi_figure_between},
    {.number = "Figure 2",
     .title = "The collapsing elbow",
     .file = "pose-space-2.png",
     .demo = "elbow",
     .caption =
         "Skinning alone shrinks an elbow: the point half-way between two matrices lies on the chord, not on the arc.",
     .make = exi_figure_collapse},
    {.number = "Figure 3",
     .title = "The twisted forearm",
     .file = "pose-space-3.png",
     .demo = "twist",
     .caption = "Above, skinning alone: half-way along, a forearm turned by 180\xC2\xB0 shrinks to a single point. "
                "Below, three sculpts whose offsets are added after skinning. A section that has shrunk to a point "
                "cannot be un-posed, but offsets can still be added to it.",
     .make = exi_figure_twist},
    {.number = "Figure 4",
     .title = "Shepard's interpolant on points of a straight line",
     .file = "pose-space-4.svg",
     .caption = "Six points on a straight line do not give a straight line: the curve is flat at each of them, and far "
                "away it approaches their mean.",
     .make = exi_figure_shepard},
    {.number = "Figure 5",
     .title = "Gaussian bases on the same points",
     .file = "pose-space-5.svg",
     .caption = "Six Gaussians with a falloff of 10 pass through the same points without a flat spot at each. Far from "
                "all of them, nothing is left: a sculpt does not reach beyond its surroundings.",
     .make = exi_figure_gaussian},
    {.number = "Figure 6",
     .title = "Emotions on two axes",
     .file = "pose-space-6.png",
     .demo = "emotion",
     .caption = "A face over two axes that psychologists use: happiness to the right, arousal upwards. Sculpted "
                "expressions are framed and named; neutral, in the middle, is the mesh itself.",
     .make = exi_figure_emotions},
    {.number = "Figure 7",
     .title = "Expressions as dimensions, and in a space",
     .file = "pose-space-7.svg",
     .demo = "emotion",
     .caption = "From neutral over a half-smile to a smile. With a slider for each expression, the animator moves that "
                "of the half-smile up and back down while the other follows. In pose space one dial rises, and the "
                "weights follow from it.",
     .make = exi_figure_smile},
    {.number = "Figure 8",
     .title = "A shoulder, beside skinning",
     .file = "pose-space-8.png",
     .demo = "shoulder",
     .caption = "Left, skinning alone; right, the same poses with seven sculpts over the direction of the arm.",
     .make = exi_figure_shoulder},
    {.number = "Figure 9",
     .title = "An elbow, beside skinning",
     .file = "pose-space-9.png",
     .demo = "elbow",
     .caption = "Skinning alone above, three sculpts in pose space below it, with calm weights. In the last row, a "
                "second layer swells the muscles when the load in the hand is heavy.",
     .make = exi_figure_elbow},
};

/* ---- Trajectory Warping ---- */

static const exi_figure trajectory_warping[] = {
    {.number = "Figure 1",
     .title = "A pose on straight lines, and on paths",
     .file = "trajectory-warping-1.png",
     .demo = "creature",
     .caption = "From standing to a kick (both blue). Above, every vertex moves along a straight line, so legs and "
                "tail shrink on their way. Below, every vertex moves along its own path, in closed form: legs and tail "
                "rotate and keep their length.",
     .make = exi_figure_creature},
    {.number = "Figure 2",
     .title = "Local frames along a displacement that turns",
     .file = "trajectory-warping-2.svg",
     .caption = "A bar bends. Its velocity pairs were found by the paper's energies, and one is drawn. The "
                "displacement velocity v is constant in a frame that turns steadily with the angular velocity w. It "
                "adds up to a path that turns as the bar does (equation 4). A straight line would cut through.",
     .make = exi_figure_turn},
    {.number = "Figure 3",
     .title = "Without and with the gradient term",
     .file = "trajectory-warping-3.png",
     .demo = "stretch",
     .caption = "A short, thick bar becomes long, thin and bent, by the paper's energies. Pose and rotation alone "
                "(above) do not limit stretching, and the surface crumples where it is compressed. The gradient "
                "half-way (below) keeps it smooth.",
     .make = exi_figure_stretch},
    {.number = "Figure 4",
     .title = "Morphing heads",
     .file = "trajectory-warping-4.png",
     .demo = "heads",
     .caption =
         "From one head of the face demo to another. Eyes and ears are separate pieces and stay where they belong.",
     .make = exi_figure_heads},
    {.number = "Figure 5",
     .title = "Three poses at once",
     .file = "trajectory-warping-5.png",
     .demo = "creature",
     .caption = "All paths start at the standing pose; a leap and sitting are examples (blue). Paths are blended by "
                "the weights below each form, in that order. The red point shows them in a triangle with the corners "
                "standing (above), leap (left) and sitting (right).",
     .make = exi_figure_three},
    {.number = "Beyond figure 5",
     .title = "Mixtures of four poses",
     .file = "trajectory-warping-mixtures.png",
     .demo = "creature",
     .caption = "Not in the paper. The four poses (blue), then halves, thirds, and quarters and fifths of them. The "
                "numbers are the shares of standing, leap, sit and kick. Guided paths are fitted to all poses "
                "together, so legs and tail keep their size in every mixture.",
     .make = exi_figure_mixtures},
    {.number = "Table 1",
     .title = "Sizes and times",
     .caption = "The forms of figures 1, 4 and 6 as they are drawn, measured when the page was made: finding the paths "
                "by the paper's energies and guided, a frame of the rig, and a frame by Poisson's equation. The "
                "paper's frames were computed on a graphics card, ours on one core.",
     .slow = true,
     .make = exi_figure_path_times},
    {.number = "Figure 6",
     .title = "A chain of links",
     .file = "trajectory-warping-6.png",
     .demo = "cylinder",
     .caption =
         "Four links fold up, half-way. Three joints, one after the other, move the end. One velocity pair per vertex "
         "cannot express that (a); a basis for every joint beyond the first can (b). The links and their tree, with "
         "its root to the left (c). The last row shows the motion of the vertices' own pairs and of each basis alone.",
     .make = exi_figure_chain},
    {.number = "Figure 7",
     .title = "A tail that curls",
     .file = "trajectory-warping-7.png",
     .demo = "creature",
     .caption = "In place of an elephant's trunk. The tail turns through most of a circle; at 0.6 of the way, one "
                "velocity pair per vertex makes its tip too small. Segments that turn alike are found, and a basis for "
                "each beyond the first joint restores the tip. Below, straight lines, and paths guided by "
                "as-rigid-as-possible in-betweens, which need no segments.",
     .make = exi_figure_tail},
};

/* ---- Scanned bodies ---- */

static const exi_figure scanned_bodies[] = {
    {.number = "Figure 1",
     .title = "The body in many poses",
     .file = "scanned-bodies-1.png",
     .demo = "body",
     .caption = "The body made from 96 simulated scans, in poses that were never scanned. Its right arm and shoulder "
                "are the left ones, mirrored. (The paper's poses come from motion capture: 'exemplar bake' plays one, "
                "with the map that the demo writes.)",
     .slow = true,
     .make = exi_figure_poses},
    NOT_YET("Table 1", "the poses that were scanned",
            "A list of scanned poses: the demo 'body' writes ours, poses.csv."),
    {.number = "Figure 2",
     .title = "A scan and its markers",
     .file = "scanned-bodies-2.png",
     .demo = "body",
     .caption = "One of the arm's scans from four sides, as the simulated scanner sees it, with rings around the "
                "markers that were found. Parts that no head of the scanner sees are missing.",
     .slow = true,
     .make = exi_figure_scan},
    {.number = "Figure 3",
     .title = "Skeleton, control points, refitted surface",
     .file = "scanned-bodies-3.png",
     .demo = "body",
     .caption = "The skeleton after the fit, with the fitted markers in the reference pose. Control points around it, "
                "and their smooth surface in patches, one for each face. The same after control points were moved so "
                "that the surface runs through scans.",
     .slow = true,
     .make = exi_figure_template},
    {.number = "Table 2",
     .title = "Degrees of freedom",
     .demo = "body",
     .caption =
         "The degrees of freedom of every joint, and the fitted lengths of bones. Left and right are mirror images.",
     .slow = true,
     .make = exi_figure_freedoms},
    {.number = "Figure 4",
     .title = "Rays from the template",
     .file = "scanned-bodies-4.png",
     .demo = "body",
     .caption = "A slice through an armpit: a scan (grey), the template (blue) and rays along its normals to where "
                "they hit the scan. If the template is hollow and far from the scan, neighbouring rays cross. This is "
                "why it is refitted, and why distant hits do not count.",
     .slow = true,
     .make = exi_figure_rays},
    {.number = "Figure 5",
     .title = "Holes filled",
     .file = "scanned-bodies-5.png",
     .demo = "body",
     .caption = "A scan of the arm. Above, its distance from the template, blue inside and orange outside: as "
                "measured, with gaps where nothing was seen; during filling; and filled. Below, the surfaces.",
     .slow = true,
     .make = exi_figure_holes},
    {.number = "Figure 6",
     .title = "Arm, shoulder and torso blended",
     .file = "scanned-bodies-6.png",
     .demo = "body",
     .caption = "A scan of each part, and all of them blended, with a mirrored right arm and shoulder. Colours show "
                "the share of each part.",
     .slow = true,
     .make = exi_figure_parts},
    {.number = "Figure 7",
     .title = "Between two poses",
     .file = "scanned-bodies-7.png",
     .demo = "body",
     .caption = "The elbow bends (above), and the arm and the collar bone are raised (below). Red: the last pose with "
                "the displacements of the first: the flesh does not follow.",
     .slow = true,
     .make = exi_figure_interpolated},
    {.number = "Figure 8",
     .title = "Another build",
     .file = "scanned-bodies-8.png",
     .demo = "body",
     .caption = "The template is changed and the displacements stay: forearms 6 cm shorter, 20 % thinner, 44 % "
                "thicker.",
     .slow = true,
     .make = exi_figure_builds},
};

/* ---- DrivenShape ---- */

static const exi_figure driven_shape[] = {
    {.number = "Figure 1",
     .title = "Key shapes and their weights",
     .file = "drivenshape-1.png",
     .demo = "sleeve",
     .caption = "Six keys of a sleeve on an arm (above), and their weights in a motion that none of them has: never "
                "below 0, with a sum of 1. Below, the distance of the sleeve from the simulation.",
     .slow = true,
     .make = exi_figure_weights},
    NOT_YET("Figure 2", "a blend that penetrates", "Figure 8 shows one."),
    NOT_YET("Figure 3", "carrying over what the blend missed",
            "A construction, drawn by hand; figure 8 shows its result."),
    NOT_YET("Figure 4", "points bound to the right leg",
            "The trousers of the demo `outfit` need no binds: docs/guides/drive.md explains them."),
    {.number = "Figure 5",
     .title = "Keys in a moving frame",
     .file = "drivenshape-5.png",
     .demo = "sleeve",
     .caption = "The arm turns and moves from place to place. Left, the simulation; in the middle, the blend of six "
                "keys in the moving frame of the arm; right, without that frame: keys that face other ways are blended "
                "as they are. The paper's method, without settling.",
     .slow = true,
     .make = exi_figure_moving},
    {.number = "Figure 6",
     .title = "Beside the simulation",
     .file = "drivenshape-6.png",
     .demo = "sleeve",
     .caption =
         "Above, the sleeve with twelve keys on an unseen motion; below (blue), a simulation of the same motion.",
     .slow = true,
     .make = exi_figure_beside},
    {.number = "Figure 7",
     .title = "More keys",
     .file = "drivenshape-7.png",
     .demo = "sleeve",
     .caption = "Two frames of the unseen motion with 4, 6 and 12 keys, beside the simulation (blue).",
     .slow = true,
     .make = exi_figure_more_keys},
    {.number = "Figure 8",
     .title = "Poses far from all keys",
     .file = "drivenshape-8.png",
     .demo = "sleeve",
     .caption = "The paper's method with four keys, farther and farther from any blend of them. Left, arm and cloth as "
                "the keys blend them; in the middle, that cloth on the actual arm; right, with the residual of the arm "
                "carried over. Far outside, the cloth follows the arm and has no folds of its own.",
     .slow = true,
     .make = exi_figure_far},
    NOT_YET("Figure 9", "in films", "Pictures from films."),
};

#define COUNT(list) (int)(sizeof(list) / sizeof(list)[0])

const exi_paper exi_papers[] = {
    {"shape-by-example", "Shape by Example", "Sloan, Rose, Cohen 2001", shape_by_example, COUNT(shape_by_example)},
    {"pose-space", "Pose Space Deformation", "Lewis, Cordner, Fong 2000", pose_space, COUNT(pose_space)},
    {"trajectory-warping", "GPU-Friendly Shape Interpolation Based on Trajectory Warping", "Chen, Huang, Zhang, Hua",
     trajectory_warping, COUNT(trajectory_warping)},
    {"scanned-bodies", "Articulated Body Deformation from Range Scan Data", "Allen, Curless, Popovi\xC4\x87 2002",
     scanned_bodies, COUNT(scanned_bodies)},
    {"drivenshape", "DrivenShape", "Kim, Vendrovsky 2008", driven_shape, COUNT(driven_shape)},
};
const int exi_paper_count = COUNT(exi_papers);
