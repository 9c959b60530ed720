/*
 * Invalid projects: each is a sound one with a single change, and the sentence must name the exact place, and for a
 * mistyped name the intended one.
 */
#include "author/project/projects.h"

static const char sound[] =
    "{'exemplar': 1, 'mesh': 'm.obj', 'up': 'y', 'unit': 'm', 'layers': [\n"
    "{'name': 'arm', 'space': [{'name': 'elbow', 'min': 0, 'max': 140, 'rest': 5, 'clamp': false, 'scale': 1},\n"
    "{'name': 'turn', 'rotation': 'twist', 'about': 'x', 'rest': [0, 0, 0, 1]}],\n"
    "'weigh': {'kind': 'cardinal', 'kernel': 'bspline', 'linear': true, 'radius': 1.5, 'ridge': 0},\n"
    "'shape': 'positions',\n"
    "'examples': [{'name': 'straight', 'mesh': 's.obj', 'at': {'elbow': 0}},\n"
    "{'name': 'bent', 'mesh': 'b.obj', 'at': {'elbow': 90, 'turn': {'x': 30}}}],\n"
    "'pseudo': [{'from': {'elbow': 60}, 'at': {'elbow': 75}}, {'weights': {'bent': 1}, 'at': {'elbow': 120}}],\n"
    "'mask': {'colour': 'r'}},\n"
    "{'name': 'dials', 'space': [{'name': 'smile', 'min': 0, 'max': 1}], 'weigh': {'kind': 'direct'},\n"
    "'examples': [{'name': 'grin', 'mesh': 'g.obj'}]},\n"
    "{'name': 'near', 'space': [{'name': 'where', 'min': 0, 'max': 1}], 'weigh': {'kind': 'nearest', 'k': 3},\n"
    "'examples': [{'name': 'n', 'mesh': 'n.obj', 'at': {'where': 0, 'turn': [0, 1, 0, 0]}}]},\n"
    "{'name': 'far', 'space': [{'name': 'elbow', 'min': 0, 'max': 1}], 'weigh': {'kind': 'shepard', 'power': 2},\n"
    "'examples': [{'name': 'n', 'mesh': 'n.obj', 'at': {'elbow': 0}}]}]}\n";

typedef struct change {
    const char *from, *to; /* the first occurrence of `from` in the sound text */
    const char *place;     /* start of the sentence after the file's name */
    const char *words;     /* other words in it, or NULL */
} change;

static const change changes[] = {
    /* the whole */
    {"'exemplar': 1,", "", "exemplar: missing", NULL},
    {"'exemplar': 1", "'exemplar': 0", "exemplar: ", "version number 1"},
    {"'exemplar': 1", "'exemplar': 1.0", "exemplar: ", "version number 1"},
    {"'exemplar': 1", "'exemplar': '1'", "exemplar: ", NULL},
    {"'mesh': 'm.obj',", "", "mesh: missing", NULL},
    {"'m.obj'", "7", "mesh: ", "text in quotes"},
    {"'m.obj'", "''", "mesh: ", "must not be empty"},
    {"'unit'", "'units'", "units: unknown key", "did you mean \"unit\"?"},
    {"'unit'", "'xyzzy'", "xyzzy: unknown key", NULL},
    {"'unit': 'm'", "'unit': 'yard'", "unit: ", "\"cm\""},
    {"'unit': 'm'", "'unit': 0", "unit: ", NULL},
    {"'unit': 'm'", "'unit': 1e-320", "unit: ", "1e-15 to 1e15"},
    {"'unit': 'm'", "'unit': 1e38", "unit: ", "1e-15 to 1e15"},
    {"'unit': 'm'", "'unit': -2", "unit: ", NULL},
    {"'unit': 'm'", "'unit': null", "unit: ", NULL},
    {"'up': 'y'", "'up': 'x'", "up: ", NULL},
    {"'up': 'y'", "'up': true", "up: \"y\" or \"z\" is needed here", NULL},
    /* layers */
    {"'layers': [", "'layers': {}, 'x': [", "x: unknown key", NULL},
    {"{'name': 'dials'", "3, {'name': 'dials'", "layers[1]: an object", NULL},
    {"'name': 'arm', ", "", "layers[0].name: missing", NULL},
    {"'name': 'dials'", "'name': 'arm'", "layers[1].name: layer 1 is also called 'arm'", NULL},
    {"'name': 'arm'", "'name': 'a\\u0007b'", "layers[0].name: ", "readable"},
    {"'shape'", "'shapes'", "layers[0].shapes: unknown key", "did you mean \"shape\"?"},
    {"'positions'", "'position'", "layers[0].shape: unknown value \"position\"", "did you mean \"positions\"?"},
    {"'positions'", "'offset'", "layers[0].shape: unknown value \"offset\"", "did you mean \"offsets\"?"},
    {"'positions'", "'heights'",
     "layers[0].shape: \"positions\", \"unposed\", \"pixels\", \"offsets\", \"trajectory\" or \"displacement\" is "
     "needed here",
     NULL},
    {"'positions'", "'displacement'", "layers[0].shape: displacements act on a refined surface", "\"limit\": \"all\""},
    {"'positions'", "'trajectory'", "layers[0].examples: the example that is the mesh itself", NULL},
    {"'positions'", "'unposed'", "layers[0].shape: un-posing needs a skeleton", "\"positions\""},
    {"'positions'", "'pixels'", "layers[0].texture: \"base_color\", \"normal\", \"metallic_roughness\", ",
     "needed here"},
    {"'positions'", "'positions', 'texture': 'normal'", "layers[0].texture: only a layer with", "pixels"},
    /* axes */
    {"[{'name': 'smile', 'min': 0, 'max': 1}]", "[]", "layers[1].space: a list", NULL},
    {"[{'name': 'smile', 'min': 0, 'max': 1}]", "{}", "layers[1].space: a list", NULL},
    {"'name': 'elbow', ", "", "layers[0].space[0].name: missing", NULL},
    {"'name': 'turn'", "'name': 'elbow'", "layers[0].space[1].name: this space already has an axis 'elbow'", NULL},
    {"'name': 'elbow'", "'name': 'a=b'", "layers[0].space[0].name: ", NULL},
    {"'name': 'elbow'", "'name': 'a,b'", "layers[0].space[0].name: ", NULL},
    {"'name': 'elbow'", "'name': 'time'", "layers[0].space[0].name: ", "'time'"},
    {"'name': 'elbow'", "'name': 'joint:wrist'", "layers[0].space[0].name: ", NULL},
    {"'min': 0, 'max': 140", "'min': 0", "layers[0].space[0].max: missing", NULL},
    {"'min': 0, 'max': 140", "'max': 140", "layers[0].space[0].min: missing", NULL},
    {"'min': 0, 'max': 140", "'min': 140, 'max': 140", "layers[0].space[0]: max (140)", NULL},
    {"'min': 0, 'max': 140", "'min': 0, 'max': '140'", "layers[0].space[0].max: a number", NULL},
    {"'min': 0, 'max': 140", "'min': 0, 'mac': 140", "layers[0].space[0].mac: ", "did you mean \"max\"?"},
    {"'rest': 5", "'rest': [0, 0, 0, 1]", "layers[0].space[0].rest: a number", NULL},
    {"'clamp': false", "'clamp': 0", "layers[0].space[0].clamp: true or false", NULL},
    {"'scale': 1", "'scale': 0", "layers[0].space[0].scale: must be above 0", NULL},
    {"'scale': 1", "'scale': -1", "layers[0].space[0].scale: must be above 0", NULL},
    {"'twist'", "'twits'", "layers[0].space[1].rotation: ", "did you mean \"twist\"?"},
    {"'twist'", "'full'", "layers[0].space[1].about: ", NULL},
    {"'about': 'x', ", "", "layers[0].space[1]: ", "\"about\""},
    {"'about': 'x'", "'about': 'q'", "layers[0].space[1].about: ", NULL},
    {"'about': 'x'", "'about': [1, 0]", "layers[0].space[1].about: ", NULL},
    {"'about': 'x'", "'about': [1, 0, 'a']", "layers[0].space[1].about[2]: a number", NULL},
    {"'about': 'x'", "'about': [0, 0, 0]", "layers[0].space[1].about: this direction is zero", NULL},
    {"'about': 'x'", "'about': 'x', 'min': 0", "layers[0].space[1].min: unknown key", NULL},
    {"'rest': [0, 0, 0, 1]", "'rest': 0", "layers[0].space[1].rest: a rotation", NULL},
    {"'rest': [0, 0, 0, 1]", "'rest': [0, 0, 0, 0]", "layers[0].space[1].rest: a rotation cannot be four zeros", NULL},
    {"'rest': [0, 0, 0, 1]", "'rest': [0, 0, 1]", "layers[0].space[1].rest: ", "four numbers"},
    {"'rest': [0, 0, 0, 1]", "'rest': [0, null, 0, 1]", "layers[0].space[1].rest[1]: a number", NULL},
    /* weighers */
    {"{'kind': 'direct'}", "'direct'", "layers[1].weigh: an object", NULL},
    {"'cardinal'", "'cardnal'", "layers[0].weigh.kind: ", "did you mean \"cardinal\"?"},
    {"'cardinal'", "'xyzzy'", "layers[0].weigh.kind: \"cardinal\", \"direct\", \"shepard\", \"nearest\", \"gaussian\"",
     "convex"},
    {"'bspline'", "'b-spline'", "layers[0].weigh.kernel: ", "did you mean \"bspline\"?"},
    {"'bspline'", "4", "layers[0].weigh.kernel: ", "\"multiquadric\""},
    {"'linear': true", "'linear': 'yes'", "layers[0].weigh.linear: true or false", NULL},
    {"'bspline', 'linear': true", "'thin_plate', 'linear': false", "layers[0].weigh.linear: ", "thin_plate"},
    {"'bspline', 'linear': true", "'triharmonic', 'linear': false", "layers[0].weigh.linear: ", "triharmonic"},
    {"'radius': 1.5", "'radius': 0", "layers[0].weigh.radius: must be above 0", NULL},
    {"'ridge': 0", "'ridge': -1", "layers[0].weigh.ridge: must not be negative", NULL},
    {"'ridge': 0", "'power': 2", "layers[0].weigh.power: unknown key", NULL},
    {"'k': 3", "'kernel': 'bspline'", "layers[2].weigh.kernel: unknown key", NULL},
    {"'k': 3", "'k': 0", "layers[2].weigh.k: a whole number", NULL},
    {"'k': 3", "'k': 2.5", "layers[2].weigh.k: a whole number", NULL},
    {"'k': 3", "'k': 65", "layers[2].weigh.k: a whole number from 1 to 64", NULL},
    {"'k': 3", "'k': 4294967297", "layers[2].weigh.k: a whole number", NULL},
    {"'k': 3", "'form': 'papers'", "layers[2].weigh.form: ", "did you mean \"paper\"?"},
    {"'power': 2", "'power': 0", "layers[3].weigh.power: must be above 0", NULL},
    {"'power': 2", "'power': 65", "layers[3].weigh.power: ", "at most 64"},
    /* examples */
    {"[{'name': 'grin', 'mesh': 'g.obj'}]", "[]", "layers[1].examples: a list", NULL},
    {"'name': 'straight', ", "", "layers[0].examples[0].name: missing", NULL},
    {"'mesh': 'b.obj', ", "", "layers[0].examples[1].mesh: missing", NULL},
    {"'name': 'bent'", "'name': 'straight'", "layers[0].examples[1].name: example 1 of this layer", "'straight'"},
    {"'mesh': 's.obj', 'at'", "'mesh': 's.obj', 'att'", "layers[0].examples[0].att: ", "did you mean \"at\"?"},
    {", 'at': {'elbow': 0}},\n", "},\n", "layers[0].examples[0]: \"at\" is missing", NULL},
    {"'at': {'elbow': 90", "'at': {'elbw': 90", "layers[0].examples[1].at.elbw: ", "did you mean 'elbow'?"},
    {"'at': {'elbow': 90", "'at': {'knee': 90", "layers[0].examples[1].at.knee: ", "no axis 'knee'"},
    {"'at': {'elbow': 90", "'at': {'elbow': '90'", "layers[0].examples[1].at.elbow: a number", NULL},
    {"'at': {'elbow': 0}", "'at': [0]", "layers[0].examples[0].at: an object", NULL},
    {"{'x': 30}", "30", "layers[0].examples[1].at.turn: a rotation", NULL},
    {"{'x': 30}", "{'w': 30}", "layers[0].examples[1].at.turn.w: ", "x, y and z"},
    {"{'x': 30}", "{'xx': 30}", "layers[0].examples[1].at.turn.xx: ", NULL},
    {"{'x': 30}", "{'x': '30'}", "layers[0].examples[1].at.turn.x: a number", NULL},
    {"{'x': 30}", "[1, 2, 3]", "layers[0].examples[1].at.turn: ", "four numbers"},
    {"'turn': [0, 1, 0, 0]", "'turn': 'x'", "layers[2].examples[0].at.turn: a rotation", NULL},
    {"'turn': [0, 1, 0, 0]", "'smile': {'x': 1}", "layers[2].examples[0].at.smile: a number", NULL},
    {"'mesh': 'g.obj'", "'mesh': 'g.obj', 'at': {'smile': 1}", "layers[1].examples[0].at: ", "direct"},
    {"[{'name': 'grin', 'mesh': 'g.obj'}]", "[{'name': 'a', 'mesh': 'a.obj'}, {'name': 'b', 'mesh': 'b.obj'}]",
     "layers[1].examples: a direct layer needs one example per axis", "2 for 1"},
    {"[{'name': 'smile', 'min': 0, 'max': 1}]",
     "[{'name': 'smile', 'min': 0, 'max': 1}, {'name': 'frown', 'min': 0, 'max': 1}]",
     "layers[1].examples: a direct layer needs one example per axis", "1 for 2"},
    /* pseudo-examples */
    {"[{'from': {'elbow': 60}, 'at': {'elbow': 75}}, {'weights': {'bent': 1}, 'at': {'elbow': 120}}]", "3",
     "layers[0].pseudo: a list", NULL},
    {"'from': {'elbow': 60}, ", "", "layers[0].pseudo[0]: ", "\"from\" or \"weights\""},
    {"'from': {'elbow': 60}", "'from': {}, 'weights': {}", "layers[0].pseudo[0]: ", "\"from\" or \"weights\""},
    {"'weights': {'bent': 1}, 'at'", "'weights': {'bent': 1}, 'to'", "layers[0].pseudo[1].to: unknown key", NULL},
    {", 'at': {'elbow': 120}", "", "layers[0].pseudo[1].at: missing", NULL},
    {"{'bent': 1}", "{'bend': 1}", "layers[0].pseudo[1].weights.bend: ", "did you mean 'bent'?"},
    {"{'bent': 1}", "{'qqqq': 1}", "layers[0].pseudo[1].weights.qqqq: this layer has no example 'qqqq'", NULL},
    {"{'bent': 1}", "{'bent': 'x'}", "layers[0].pseudo[1].weights.bent: a number", NULL},
    {"{'bent': 1}", "[0, 1]", "layers[0].pseudo[1].weights: an object", NULL},
    {"'from': {'elbow': 60}", "'from': {'ellbow': 60}", "layers[0].pseudo[0].from.ellbow: ", "'elbow'?"},
    {"'weigh': {'kind': 'direct'}", "'weigh': {'kind': 'direct'}, 'pseudo': [{'from': {}, 'at': {}}]",
     "layers[1].pseudo: a direct layer", NULL},
    /* keys that need a skeleton, in a project without one */
    {"'up': 'y'", "'skinning': 'linear'", "skinning: skinning needs a skeleton", "\"skeleton\""},
    {"'name': 'smile'", "'name': 'smile', 'joint': 'jaw', 'angle': 'x'", "layers[1].space[0].joint: ", "\"skeleton\""},
    {"'mesh': 'g.obj'", "'mesh': 'g.obj', 'skeleton': 's.glb'", "layers[1].examples[0].skeleton: ", "the project's"},
    {"'mesh': 'g.obj'", "'mesh': 'g.obj', 'joints': {}", "layers[1].examples[0].joints: the project has no joints",
     NULL},
    {"{'colour': 'r'}", "{'joints': ['a']}", "layers[0].mask.joints: the project has no joints", "\"skeleton\""},
    /* masks */
    {"{'colour': 'r'}", "{'colour': 'a'}", "layers[0].mask.colour: ", NULL},
    {"{'colour': 'r'}", "{'colour': 'rg'}", "layers[0].mask.colour: ", NULL},
    {"{'colour': 'r'}", "{'colour': 1}", "layers[0].mask.colour: a text", NULL},
    {"{'colour': 'r'}", "{'color': 'r'}", "layers[0].mask: one of", NULL},
    {"{'colour': 'r'}", "{'colour': 'r', 'group': 'g'}", "layers[0].mask: one of", NULL},
    {"{'colour': 'r'}", "'r'", "layers[0].mask: one of", NULL},
};

/* The same for a project with a skeleton. */
static const char posed[] =
    "{'exemplar': 1, 'mesh': 'm.obj', 'skeleton': 's.glb', 'skinning': 'linear', 'unit': 'cm', 'layers': [\n"
    "{'name': 'arm', 'space': [{'name': 'elbow', 'joint': 'forearm', 'angle': 'x', 'min': -90, 'max': 140, 'rest': "
    "0},\n"
    "{'name': 'reach', 'joint': 'forearm', 'slide': [0, 1, 0], 'min': 0, 'max': 5},\n"
    "{'name': 'thick', 'joint': 'forearm', 'stretch': 'z', 'min': 1, 'max': 2, 'rest': 1.0},\n"
    "{'name': 'ball', 'joint': 'upper', 'rotation': 'swing', 'about': 'y', 'rest': {}},\n"
    "{'name': 'dial', 'min': 0, 'max': 1}],\n"
    "'shape': 'unposed', 'examples': [{'name': 'a', 'mesh': 'a.obj', 'at': {'elbow': 0, 'dial': 1}},\n"
    "{'name': 'b', 'mesh': 'b.obj', 'skeleton': 'b.glb', 'at': {'elbow': 90}, 'joints': {'hand': {'x': 20}}}],\n"
    "'mask': {'joints': ['forearm', 'hand']}},\n"
    "{'name': 'skin', 'shape': 'pixels', 'texture': 'base_color', 'space': [\n"
    "{'name': 'elbow', 'joint': 'forearm', 'angle': [2, 0, 0], 'min': 0, 'max': 100}],\n"
    "'examples': [{'name': 'p', 'image': 'p.png', 'at': {'elbow': 0}}]},\n"
    "{'name': 'fists', 'space': [{'name': 'fx', 'joint': 'hand', 'angle': 'x', 'min': 0, 'max': 2},\n"
    "{'name': 'fy', 'joint': 'hand', 'angle': 'y', 'min': 0, 'max': 2},\n"
    "{'name': 'fz', 'joint': 'hand', 'angle': 'z', 'min': 0, 'max': 2}], 'weigh': {'kind': 'direct'},\n"
    "'examples': [{'name': 'x', 'mesh': 'x.obj'}, {'name': 'y', 'mesh': 'y.obj'}, {'name': 'z', 'mesh': 'z.obj'}]}],\n"
    "'subdivide': {'scheme': 'loop', 'levels': 2, 'limit': true, 'boundary': 'edges'}}\n";

static const change posed_changes[] = {
    /* the whole */
    {"'s.glb'", "7", "skeleton: a text in quotes", NULL},
    {"'linear'", "'dual'", "skinning: \"linear\" or \"dual_quaternion\" is needed here", NULL},
    {"'linear'", "'liner'", "skinning: unknown value \"liner\"; did you mean \"linear\"?", NULL},
    {"'skeleton': 's.glb', ", "", "skinning: skinning needs a skeleton", NULL},
    {"'scheme': 'loop', ", "", "subdivide.scheme: \"catmull_clark\", \"loop\" or \"bilinear\" is needed here", NULL},
    {"'scheme': 'loop'", "'scheme': 'lop'", "subdivide.scheme: ", "did you mean \"loop\"?"},
    {"'levels': 2", "'levels': 11", "subdivide.levels: a whole number from 0 to 10 is needed here", NULL},
    {"'levels': 2", "'levels': -1", "subdivide.levels: a whole number from 0 to 10", NULL},
    {"'levels': 2", "'levels': 1.5", "subdivide.levels: a whole number from 0 to 10", NULL},
    {"'levels': 2, 'limit': true", "'levels': 0", "subdivide.levels: 0 levels refine nothing", "\"limit\": true"},
    {"'limit': true", "'limit': 1", "subdivide.limit: true, false or \"all\"", NULL},
    {"'boundary': 'edges'", "'boundary': 'corners'", "subdivide.boundary: ", "\"edges_and_corners\""},
    {"'boundary': 'edges'", "'border': 'edges'", "subdivide.border: unknown key", NULL},
    {"{'scheme': 'loop', 'levels': 2, 'limit': true, 'boundary': 'edges'}", "'loop'", "subdivide: an object", NULL},
    /* axes */
    {"'angle': 'x', ", "", "layers[0].space[0]: an axis with a joint needs one of ", "here is none"},
    {"'angle': 'x'", "'angle': 'x', 'slide': 'x'", "layers[0].space[0]: an axis with a joint needs one of ",
     "here are several"},
    {"'joint': 'forearm', 'angle': 'x'", "'angle': 'x'", "layers[0].space[0].angle: this is read from a joint",
     "\"joint\": \"NAME\""},
    {"'joint': 'forearm', 'slide'", "'slide'", "layers[0].space[1].slide: this is read from a joint", NULL},
    {"'joint': 'forearm', 'stretch'", "'stretch'", "layers[0].space[2].stretch: this is read from a joint", NULL},
    {"'joint': 'upper', 'rotation'", "'stretch': 'x', 'rotation'", "layers[0].space[3].stretch: this is read from",
     NULL},
    {"'joint': 'forearm', 'angle': 'x'", "'joint': '', 'angle': 'x'", "layers[0].space[0].joint: must not be empty",
     NULL},
    {"'joint': 'forearm', 'angle': 'x'", "'joint': 3, 'angle': 'x'", "layers[0].space[0].joint: a text", NULL},
    {"'angle': 'x'", "'angle': 'w'", "layers[0].space[0].angle: a direction is", "three numbers"},
    {"'angle': 'x'", "'angle': 30", "layers[0].space[0].angle: a direction is", "three numbers"},
    {"'angle': 'x'", "'angle': [0, 0, 0]", "layers[0].space[0].angle: this direction is zero", NULL},
    {"'slide': [0, 1, 0]", "'slide': [0, 1]", "layers[0].space[1].slide: a direction is", NULL},
    {"'slide': [0, 1, 0]", "'slide': 'y', 'metres': 0", "layers[0].space[1].metres: must be from 1e-15", NULL},
    {"'slide': [0, 1, 0]", "'slide': 'y', 'metres': 1e308", "layers[0].space[1].metres: must be from 1e-15", NULL},
    {"'slide': [0, 1, 0]", "'slide': 'y', 'metres': 1e-320", "layers[0].space[1].metres: must be from 1e-15", NULL},
    {"'slide': [0, 1, 0]", "'slide': 'y', 'metres': 'cm'", "layers[0].space[1].metres: a number", NULL},
    {"'stretch': 'z'", "'stretch': 'z', 'metres': 1", "layers[0].space[2].metres: unknown key", NULL},
    {"'stretch': 'z'", "'stretch': [0, 0, 1]", "layers[0].space[2].stretch: \"x\", \"y\" or \"z\" is needed here",
     NULL},
    {"'angle': 'x', 'min': -90, ", "'angle': 'x', ", "layers[0].space[0].min: missing", NULL},
    {"'angle': 'x'", "'angle': 'x', 'about': 'y'", "layers[0].space[0].about: unknown key", NULL},
    {"'about': 'y'", "'about': 'y', 'min': 0", "layers[0].space[3].min: unknown key", NULL},
    {"'rest': 0}", "'rest': 10}", "layers[0].space[0].rest: joint 'forearm' is at 0 in the rest pose",
     "leave \"rest\" out"},
    {"'rest': 0}", "'rest': 360}", "layers[0].space[0].rest: joint 'forearm' is at 0 in the rest pose", NULL},
    {"'min': -90, 'max': 140, 'rest': 0}", "'min': 300, 'max': 400, 'rest': 0}",
     "layers[0].space[0].rest: joint 'forearm' is at 360 in the rest pose", NULL},
    {"'max': 5}", "'max': 5, 'rest': 1}", "layers[0].space[1].rest: joint 'forearm' is at 0 in the rest pose", NULL},
    {"'rest': 1.0", "'rest': 0", "layers[0].space[2].rest: joint 'forearm' is at 1 in the rest pose", NULL},
    {"'rest': {}", "'rest': {'x': 10}", "layers[0].space[3].rest: joint 'upper' is at no rotation in the rest pose",
     NULL},
    /* one name, one input */
    {"'joint': 'forearm', 'angle': [2, 0, 0]", "'joint': 'hand', 'angle': [2, 0, 0]",
     "layers[1].space[0]: 'elbow' is the angle of joint 'hand' about 2 0 0, but in layers[0].space[0] it is the angle "
     "of "
     "joint 'forearm' about 1 0 0: axes of the same name must agree",
     NULL},
    {"'angle': [2, 0, 0]", "'angle': [-2, 0, 0]", "layers[1].space[0]: 'elbow' is the angle", "about -2 0 0"},
    {"'angle': [2, 0, 0]", "'stretch': 'x'",
     "layers[1].space[0]: 'elbow' is the stretch of joint 'forearm' along 1 0 0", "layers[0].space[0]"},
    {"'joint': 'forearm', 'angle': [2, 0, 0], ", "", "layers[1].space[0]: 'elbow' is a dial, but in layers[0].space[0]",
     "the angle of joint 'forearm'"},
    {"'angle': [2, 0, 0], 'min': 0, 'max': 100", "'rotation': 'full'",
     "layers[1].space[0]: 'elbow' is the rotation of joint 'forearm', but in layers[0].space[0]", NULL},
    {"{'name': 'elbow', 'joint': 'forearm', 'angle': [2, 0, 0], 'min': 0, 'max': 100}",
     "{'name': 'elbow', 'min': 0, 'max': 1, 'joint': 'forearm', 'angle': 'x'}, {'name': 'reach', 'joint': 'forearm', "
     "'slide': 'y', 'metres': 1, 'min': 0, 'max': 1}",
     "layers[1].space[1]: 'reach' is the slide of joint 'forearm' along 0 1 0 in units of 1 metres, but in "
     "layers[0].space[1] it is the slide of joint 'forearm' along 0 1 0 in units of 0.01 metres: ",
     NULL},
    /* layers */
    {"'texture': 'base_color'", "'texture': 'base_colour'", "layers[1].texture: ", "did you mean \"base_color\"?"},
    {"'texture': 'base_color', ", "", "layers[1].texture: \"base_color\", ", NULL},
    {"'shape': 'unposed'", "'texture': 'normal'", "layers[0].texture: only a layer with \"shape\": \"pixels\"", NULL},
    {"'shape': 'pixels'", "'mask': {'group': 'g'}, 'shape': 'pixels'", "layers[1].mask: a layer of pixels has no ",
     NULL},
    {"['forearm', 'hand']", "[]", "layers[0].mask.joints: a list of names", NULL},
    {"['forearm', 'hand']", "'forearm'", "layers[0].mask.joints: a list of names", NULL},
    {"['forearm', 'hand']", "['forearm', 1]", "layers[0].mask.joints[1]: the name of a joint", NULL},
    {"['forearm', 'hand']", "['hand', 'a', 'hand']", "layers[0].mask.joints[2]: joint 'hand' is already in this list",
     NULL},
    {"{'joints': ['forearm', 'hand']}", "{'joint': 'forearm'}", "layers[0].mask: one of", "\"joints\""},
    /* files of examples */
    {"'mesh': 'a.obj'", "'image': 'a.png'", "layers[0].examples[0].image: only a layer with \"shape\": \"pixels\"",
     NULL},
    {"'image': 'p.png'", "'mesh': 'p.obj'", "layers[1].examples[0].mesh: an example of a layer of pixels", "\"image\""},
    {"'image': 'p.png'", "'image': 'p.png', 'skeleton': 'p.glb'", "layers[1].examples[0].skeleton: ", "\"image\""},
    {"'image': 'p.png', ", "", "layers[1].examples[0].image: missing", NULL},
    {"'skeleton': 'b.glb'", "'skeleton': ''", "layers[0].examples[1].skeleton: must not be empty", NULL},
    /* whole poses */
    {"{'hand': {'x': 20}}", "['hand']", "layers[0].examples[1].joints: an object of joint names", NULL},
    {"{'hand': {'x': 20}}", "{'hand': 20}", "layers[0].examples[1].joints.hand: a rotation is written", NULL},
    {"{'hand': {'x': 20}}", "{'hand': [0, 0, 0, 0]}", "layers[0].examples[1].joints.hand: ", "four zeros"},
    {"'at': {'elbow': 90}", "'at': {'elbow': 300}",
     "layers[0].examples[1].at.elbow: 300 degrees is the same turn as -60, which is nearer the middle of the range: "
     "write "
     "-60",
     NULL},
    {"'at': {'elbow': 90}", "'at': {'elbow': 565.25}", "layers[0].examples[1].at.elbow: 565.25 degrees",
     "write -154.75"},
    {"'elbow': 0, 'dial': 1", "'reach': 1e30", "layers[0].examples[0].at.reach: joint 'forearm' cannot be moved there",
     NULL},
    {"'elbow': 0, 'dial': 1", "'fx': 30, 'fy': 20, 'fz': 10",
     "layers[0].examples[0].at.fx: 'fx' and 'fz' both move joint 'hand' and disturb each other: 'fx' then reads ",
     "not 30; give the joint's rotation in \"joints\", or by one axis with \"rotation\""},
    {"{'hand': {'x': 20}}", "{'forearm': [0, 1, 0, 0]}",
     "layers[0].examples[1].at.elbow: joint 'forearm' cannot be moved", "reads 0, not 90"},
    {"'min': 0, 'max': 2}", "'min': 400, 'max': 402}",
     "layers[2].examples[0]: in a direct layer this example is where "
     "'fx' is 1, but joint 'hand' reads 361 there",
     NULL},
};

static char *changed(const char *from, const change *c) {
    const char *at = strstr(from, c->from);
    if (!at)
        fail_msg("'%s' does not stand in the sound project", c->from);
    size_t before = (size_t)(at - from), size = strlen(from) + strlen(c->to) + 1;
    char *text = malloc(size);
    assert_non_null(text);
    snprintf(text, size, "%.*s%s%s", (int)before, from, c->to, at + strlen(c->from));
    return text;
}

static void the_sound_ones_are_read(void **state) {
    (void)state;
    ex_project_destroy(parse_project(sound));
    ex_project_destroy(parse_project(posed));
}

static void name_places(const char *from, const change *list, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const change *c = &list[i];
        char *text = changed(from, c), start[1200];
        ex_project *project = (ex_project *)(uintptr_t)1;
        ex_error error = {0};
        ex_result result = try_parse(text, &project, &error);
        snprintf(start, sizeof start, "%s: %s", scratch_path("x.json"), c->place);
        if (result != EX_ERROR_DATA || error.result != EX_ERROR_DATA)
            fail_msg("%s -> %s: result %d, '%s'", c->from, c->to, (int)result, error.text);
        assert_null(project);
        if (strncmp(error.text, start, strlen(start)) != 0 || (c->words && !strstr(error.text, c->words)))
            fail_msg("%s -> %s: '%s'", c->from, c->to, error.text);
        /* Without an error to fill the result is the same. */
        assert_int_equal(try_parse(text, &project, NULL), EX_ERROR_DATA);
        free(text);
    }
}

static void names_the_place(void **state) {
    (void)state;
    name_places(sound, changes, sizeof changes / sizeof *changes);
}

static void names_the_place_in_posed_projects(void **state) {
    (void)state;
    name_places(posed, posed_changes, sizeof posed_changes / sizeof *posed_changes);
}

/* Half a turn either way is the same, and the joint reads the negative one. */
static void names_the_end_of_the_range(void **state) {
    (void)state;
    ex_project *project = NULL;
    ex_error error = {0};
    assert_int_equal(
        try_parse("{'exemplar': 1, 'mesh': 'm.obj', 'skeleton': 's.glb', 'layers': [{'name': 'a', 'space': [\n"
                  "{'name': 't', 'joint': 'j', 'angle': 'x', 'min': -180, 'max': 180}],\n"
                  "'examples': [{'name': 'e', 'mesh': 'm.obj', 'at': {'t': 180}}]}]}",
                  &project, &error),
        EX_ERROR_DATA);
    assert_non_null(strstr(error.text, "layers[0].examples[0].at.t: 180 degrees is the same turn as -180, which "
                                       "the joint reads: write -180"));
}

/* Text that is not JSON is refused with its line. */
static void names_the_line(void **state) {
    (void)state;
    const struct {
        const char *text;
        int line;
        const char *words;
    } cases[] = {
        {"\n\n", 3, ""},
        {"{'exemplar': 1,\n'mesh': 'm.obj',\n'mesh': 'n.obj', 'layers': []}", 3, "duplicate"},
        {"{'exemplar': 1, 'mesh': 'm.obj', 'layers': []}\nmore", 2, "end of file expected"},
        {"{'exemplar': 1, 'mesh': 'm.obj', 'layers': []} {}", 1, "end of file expected"},
        {"{'exemplar': NaN}", 1, "NaN"},
        {"{'exemplar': Infinity}", 1, ""},
        {"{'unit': 1e999}", 1, "overflow"},
        {"{'exemplar': 99999999999999999999}", 1, "big"},
        {"{'exemplar': 1,}", 1, ""},
        {"{'exemplar': 01}", 1, ""},
        {"{exemplar: 1}", 1, ""},
        {"{'mesh': 'a\\u0000b'}", 1, "NUL"},
        {"{'mesh': 'a\nb'}", 1, ""},
        {"/* no */ {}", 1, ""},
        {"{'mesh': 'm.obj'", 1, ""},
        {"'text'", 1, ""},
        {"7", 1, ""},
        {"{'mesh': '\xff\xfe'}", 1, "decode byte"},
        {"\x7f"
         "ELF\x02\x01\x01",
         1, ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_project *project = (ex_project *)(uintptr_t)1;
        ex_error error = {0};
        ex_result result = try_parse(cases[i].text, &project, &error);
        char start[1100];
        snprintf(start, sizeof start, "%s:%d:", scratch_path("x.json"), cases[i].line);
        if (result != EX_ERROR_FORMAT || strncmp(error.text, start, strlen(start)) != 0 ||
            !strstr(error.text, cases[i].words))
            fail_msg("%s: result %d, '%s'", cases[i].text, (int)result, error.text);
        assert_null(project);
    }
}

static void refuses_what_is_no_object(void **state) {
    (void)state;
    ex_project *project;
    ex_error error;
    assert_int_equal(try_parse("[]", &project, &error), EX_ERROR_DATA);
    assert_non_null(strstr(error.text, "a project is a JSON object"));
    assert_int_equal(try_parse("{'exemplar': 1, 'mesh': 'm.obj', 'layers': {}}", &project, &error), EX_ERROR_DATA);
    assert_non_null(strstr(error.text, "x.json: layers: a list of layers"));
}

static void refuses_other_versions(void **state) {
    (void)state;
    ex_project *project;
    ex_error error;
    /* A newer project may have keys that this program does not know: its version is checked first. */
    assert_int_equal(try_parse("{'news': 7, 'exemplar': 2, 'mesh': 'm.obj', 'layers': []}", &project, &error),
                     EX_ERROR_VERSION);
    assert_non_null(strstr(error.text, "version 2"));
    assert_null(project);
}

static void refuses_deep_nesting(void **state) {
    (void)state;
    const size_t depth = 1000000;
    char *text = malloc(depth);
    assert_non_null(text);
    memset(text, '[', depth);
    ex_project *project;
    ex_error error;
    assert_int_equal(ex_project_parse(text, depth, "deep.json", &project, &error), EX_ERROR_FORMAT);
    assert_non_null(strstr(error.text, "deep.json:1:"));
    assert_non_null(strstr(error.text, "depth"));
    free(text);
}

static void reads_no_further_than_its_size(void **state) {
    (void)state;
    char *text = with_quotes(sound);
    ex_project *project;
    for (size_t size = 0; size < strlen(text) - 2; size += 7) {
        char *exact = malloc(size + 1);
        assert_non_null(exact);
        memcpy(exact, text, size);
        assert_int_equal(ex_project_parse(exact, size, "cut.json", &project, NULL), EX_ERROR_FORMAT);
        free(exact);
    }
    free(text);
}

static void names_files_that_cannot_be_read(void **state) {
    (void)state;
    ex_project *project;
    ex_error error;
    assert_int_equal(ex_project_read(scratch_path("missing.json"), &project, &error), EX_ERROR_FILE);
    assert_non_null(strstr(error.text, "missing.json"));
    scratch_write("rig.json", "glTF\2\0\0\0", 8);
    assert_int_equal(ex_project_read(scratch_path("rig.json"), &project, &error), EX_ERROR_FORMAT);
    assert_non_null(strstr(error.text, "this is a .glb file, not a project"));
    assert_string_equal(error.kind, "no_project");
    scratch_write("gltf.json", "glT", 3);
    assert_int_equal(ex_project_read(scratch_path("gltf.json"), &project, &error), EX_ERROR_FORMAT);
    assert_null(error.kind);
    scratch_write("empty.json", "", 0);
    assert_int_equal(ex_project_read(scratch_path("empty.json"), &project, &error), EX_ERROR_FORMAT);
    assert_null(project);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sound_ones_are_read),
        cmocka_unit_test(names_the_place),
        cmocka_unit_test(names_the_place_in_posed_projects),
        cmocka_unit_test(names_the_end_of_the_range),
        cmocka_unit_test(names_the_line),
        cmocka_unit_test(refuses_what_is_no_object),
        cmocka_unit_test(refuses_other_versions),
        cmocka_unit_test(refuses_deep_nesting),
        cmocka_unit_test(reads_no_further_than_its_size),
        cmocka_unit_test(names_files_that_cannot_be_read),
    };
    return cmocka_run_group_tests_name("author.project.read_errors", tests, scratch_set_up, scratch_tear_down);
}
