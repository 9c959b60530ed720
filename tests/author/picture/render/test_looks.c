/*
 * Looks: materials read from glTF, and drawn: factors, images and their places, vertex colours, alpha, sides, normal
 * maps, light. Unlit looks have exactly the colour that was given, so most cases use them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "author/base/array.h"
#include "author/picture/render/creases.h"
#include "author/picture/render/render.h"
#include "support/check.h"
#include "support/pictures.h"

#include <exemplar/author/formats.h>
#include <exemplar/author/looks.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* IEC 61966-2-1, in double. */
static double code_of(double linear) {
    return 255 * (linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055);
}

static void assert_colour(const ex_image *image, int x, int y, double red, double green, double blue) {
    const double wanted[3] = {red, green, blue};
    for (int k = 0; k < 3; k++)
        if (fabs(channel_at(image, x, y, k) - wanted[k]) > 2)
            fail_msg("channel %d at %d %d is %d, not %g", k, x, y, channel_at(image, x, y, k), wanted[k]);
}

static ex_material plain(char *name, double red, double green, double blue, double alpha) {
    ex_material look = ex_material_default();
    look.name = name;
    look.unlit = look.double_sided = true;
    const double colour[4] = {red, green, blue, alpha};
    memcpy(look.colour, colour, sizeof colour);
    return look;
}

/* A sheet of two faces, left and right, with the materials "left" and "right". */
typedef struct scenery {
    ex_mesh *sheet;
    ex_material looks[2];
    ex_looks list;
    ex_render_item item;
    ex_render_def def;
    int faces[2];
    char *names[2];
} scenery;

static char left_name[] = "left", right_name[] = "right";

static void set_up(scenery *s) {
    *s = (scenery){.sheet = sheet_mesh(2, 2, 2, 1), .faces = {0, 1}, .names = {left_name, right_name}};
    s->looks[0] = plain(left_name, 0.2, 0.4, 0.6, 1);
    s->looks[1] = plain(right_name, 0.9, 0.5, 0.1, 1);
    s->list = (ex_looks){.look_count = 2, .looks = s->looks};
    s->sheet->face_materials = s->faces;
    s->sheet->material_names = s->names;
    s->sheet->material_count = 2;
    s->item = item_of(s->sheet);
    s->item.looks = &s->list;
    s->def = plain_def(&s->item, 1);
}

static void tear_down(scenery *s) {
    s->sheet->face_materials = NULL;
    s->sheet->material_names = NULL;
    s->sheet->material_count = 0;
    ex_mesh_destroy(s->sheet);
}

/* ---- drawing ---- */

static void faces_have_their_own_materials(void **state) {
    (void)state;
    scenery s;
    set_up(&s);
    ex_image *image = picture_of(&s.def);
    assert_colour(image, 20, 32, code_of(0.2), code_of(0.4), code_of(0.6));
    assert_colour(image, 44, 32, code_of(0.9), code_of(0.5), code_of(0.1));
    ex_image_destroy(image);
    /* Vertex colours multiply, in linear light. */
    float colours[3 * 16];
    for (int i = 0; i < 48; i++)
        colours[i] = 0.5f;
    s.sheet->colours = colours;
    s.item.vertex_colours = true;
    image = picture_of(&s.def);
    assert_colour(image, 20, 32, code_of(0.1), code_of(0.2), code_of(0.3));
    s.sheet->colours = NULL;
    ex_image_destroy(image);
    /* A material without a look, and a face without a material, are clay. */
    s.names[1] = left_name;
    s.list.look_count = 1;
    s.faces[0] = -1;
    image = picture_of(&s.def);
    assert_colour(image, 44, 32, code_of(0.2), code_of(0.4), code_of(0.6));
    assert_true(channel_at(image, 20, 32, 0) > channel_at(image, 20, 32, 2));
    ex_image_destroy(image);
    tear_down(&s);
}

/* An image of four pixels, red green over blue white: place of each corner under transforms and wrapping. */
static void images_lie_where_they_should(void **state) {
    (void)state;
    scenery s;
    set_up(&s);
    unsigned char pixels[4][4] = {{255, 0, 0, 255}, {0, 255, 0, 255}, {0, 0, 255, 255}, {255, 255, 255, 255}};
    const ex_image four = {.width = 2, .height = 2, .pixels = pixels[0]};
    ex_material_map *map = &s.looks[0].colour_map;
    s.faces[1] = 0;
    s.looks[0] = plain(left_name, 1, 1, 1, 1);
    map->image = &four;
    map->nearest = true;
    /* The sheet fills most of the picture: coordinates 0 to 1 from 5 to 59. */
    ex_image *image = picture_of(&s.def);
    assert_colour(image, 18, 18, 255, 0, 0);
    assert_colour(image, 46, 18, 0, 255, 0);
    assert_colour(image, 18, 46, 0, 0, 255);
    ex_image_destroy(image);
    /* Scaled by 2 it repeats, is mirrored or continued: the third quarter from the left. */
    const int wanted[3][3] = {{255, 0, 0}, {0, 255, 0}, {0, 255, 0}};
    map->scale[0] = 2;
    for (int wrap = 0; wrap < 3; wrap++) {
        map->wrap[0] = (ex_wrap)wrap;
        image = picture_of(&s.def);
        assert_colour(image, 38, 18, wanted[wrap][0], wanted[wrap][1], wanted[wrap][2]);
        assert_colour(image, 10, 18, 255, 0, 0);
        ex_image_destroy(image);
    }
    /* A quarter turn: u' = v, v' = -u, so the upper right corner (1, 0) reads (0, -1), which is the upper left pixel's
     * row again, and the lower left corner (0, 1) reads (1, 0), the upper right pixel. */
    *map = ex_material_default().colour_map;
    map->image = &four;
    map->nearest = true;
    map->rotation = 1.5707963267948966;
    image = picture_of(&s.def);
    assert_colour(image, 18, 18, 0, 0, 255);     /* (0.25, 0.25) reads (0.25, -0.25) */
    assert_colour(image, 18, 46, 255, 255, 255); /* (0.25, 0.75) reads (0.75, -0.25) */
    assert_colour(image, 46, 18, 255, 0, 0);     /* (0.75, 0.25) reads (0.25, -0.75) */
    ex_image_destroy(image);
    map->rotation = 0;
    map->offset[0] = 0.5;
    image = picture_of(&s.def);
    assert_colour(image, 18, 18, 0, 255, 0);
    ex_image_destroy(image);
    tear_down(&s);
}

/* Between two pixels, light is interpolated, not codes: the middle of black and white has the code of half the light.
 */
static void images_are_interpolated_in_light(void **state) {
    (void)state;
    scenery s;
    set_up(&s);
    unsigned char pixels[2][4] = {{0, 0, 0, 255}, {255, 255, 255, 255}};
    const ex_image two = {.width = 2, .height = 1, .pixels = pixels[0]};
    s.faces[1] = 0;
    s.looks[0] = plain(left_name, 1, 1, 1, 1);
    s.looks[0].colour_map.image = &two;
    s.looks[0].colour_map.wrap[0] = EX_WRAP_CLAMP;
    ex_image *image = picture_of(&s.def);
    const double middle = (channel_at(image, 31, 32, 0) + channel_at(image, 32, 32, 0)) / 2.0;
    assert_true(fabs(middle - code_of(0.5)) < 4);
    assert_colour(image, 8, 32, 0, 0, 0);
    ex_image_destroy(image);
    tear_down(&s);
}

/* A red sheet in front of a blue one. */
static void alpha_hides_or_mixes(void **state) {
    (void)state;
    ex_mesh *front = sheet_mesh(2, 2, 1, 1), *back = sheet_mesh(2, 2, 1, 1);
    for (int v = 0; v < back->vertex_count; v++)
        back->positions[3 * v + 2] -= 0.01;
    ex_material red = plain(left_name, 1, 0, 0, 0.25), blue = plain(right_name, 0, 0, 1, 1);
    const ex_looks reds = {.look_count = 1, .looks = &red}, blues = {.look_count = 1, .looks = &blue};
    ex_render_item items[2] = {item_of(front), item_of(back)};
    items[0].looks = &reds;
    items[1].looks = &blues;
    ex_render_def def = plain_def(items, 2);
    const struct {
        ex_scene_alpha mode;
        double cutoff, red, blue;
    } cases[] = {{EX_SCENE_OPAQUE, 0.5, 1, 0},
                 {EX_SCENE_MASK, 0.5, 0, 1},
                 {EX_SCENE_MASK, 0.2, 1, 0},
                 {EX_SCENE_BLEND, 0.5, 0.25, 0.75}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        red.alpha = cases[i].mode;
        red.alpha_cutoff = cases[i].cutoff;
        ex_image *image = picture_of(&def);
        assert_colour(image, 32, 32, code_of(cases[i].red), 0, code_of(cases[i].blue));
        ex_image_destroy(image);
    }
    /* Half a red sheet has half the alpha in a transparent picture. */
    def.item_count = 1;
    def.background = EX_BACKGROUND_TRANSPARENT;
    red.colour[3] = 0.5;
    ex_image *image = picture_of(&def);
    assert_true(abs(channel_at(image, 32, 32, 3) - 128) <= 2);
    ex_image_destroy(image);
    ex_mesh_destroy(front);
    ex_mesh_destroy(back);
}

/* From behind, a face with one side is not there, unless back faces are asked for. */
static void sides_count(void **state) {
    (void)state;
    ex_mesh *sheet = sheet_mesh(2, 2, 1, 1);
    ex_material red = plain(left_name, 1, 0, 0, 1);
    const ex_looks reds = {.look_count = 1, .looks = &red};
    ex_render_item item = item_of(sheet);
    item.looks = &reds;
    ex_render_def def = plain_def(&item, 1);
    def.background = EX_BACKGROUND_TRANSPARENT;
    for (int i = 0; i < 4; i++) {
        const bool behind = i & 1, two = i & 2;
        def.camera.yaw = behind ? 180 : 0;
        red.double_sided = two;
        ex_image *image = picture_of(&def);
        assert_int_equal(channel_at(image, 32, 32, 3), behind && !two ? 0 : 255);
        ex_image_destroy(image);
    }
    red.double_sided = false;
    def.backfaces = true;
    ex_image *image = picture_of(&def);
    assert_int_equal(channel_at(image, 32, 32, 3), 255);
    ex_image_destroy(image);
    ex_mesh_destroy(sheet);
}

/* A mask lets light through: the sheet below is lit where the one above is left out. */
static double light_under(ex_scene_alpha mode, bool covered_by_it) {
    ex_mesh *above = sheet_mesh(6, 6, 1, 1), *below = sheet_mesh(2, 2, 1, 1);
    for (int v = 0; v < above->vertex_count; v++)
        above->positions[3 * v + 2] += 0.4;
    ex_material hidden = plain(left_name, 1, 1, 1, 0);
    hidden.alpha = mode;
    const ex_looks list = {.look_count = 1, .looks = &hidden};
    ex_render_item items[2] = {item_of(below), item_of(above)};
    items[1].looks = &list;
    ex_render_def def = plain_def(items, covered_by_it ? 2 : 1);
    def.camera.points = (const float[]){-1, -1, 0, 1, 1, 0.01f};
    def.camera.point_count = 2;
    ex_image *image = picture_of(&def);
    const double light = light_at(image, 32, 32);
    ex_image_destroy(image);
    ex_mesh_destroy(above);
    ex_mesh_destroy(below);
    return light;
}

static void what_is_left_out_casts_no_shadow(void **state) {
    (void)state;
    const double usual = light_under(EX_SCENE_MASK, false);
    assert_true(fabs(usual - light_under(EX_SCENE_MASK, true)) < 2);
    assert_true(fabs(usual - light_under(EX_SCENE_BLEND, true)) < 2);
}

/* Lit: emission adds, metal has no diffuse part, occlusion darkens, smooth is shinier; a flat normal map changes
 * nothing, and a tilted one turns the light. */
static double lit(void (*change)(ex_material *, ex_image *), unsigned char pixel[4]) {
    ex_mesh *sheet = sheet_mesh(2, 2, 1, 1);
    ex_image image = {.width = 1, .height = 1, .pixels = pixel};
    ex_material look = plain(left_name, 0.4, 0.4, 0.4, 1);
    look.unlit = false;
    if (change)
        change(&look, &image);
    const ex_looks list = {.look_count = 1, .looks = &look};
    ex_render_item item = item_of(sheet);
    item.looks = &list;
    ex_render_def def = plain_def(&item, 1);
    ex_image *picture = picture_of(&def);
    /* Both triangles of the sheet have the same light. */
    const double light = light_at(picture, 24, 24);
    assert_true(fabs(light - light_at(picture, 40, 40)) < 1.5);
    ex_image_destroy(picture);
    ex_mesh_destroy(sheet);
    return light;
}
static void emit(ex_material *look, ex_image *image) {
    (void)image;
    look->emissive[0] = look->emissive[1] = look->emissive[2] = 0.2;
}
static void make_metal(ex_material *look, ex_image *image) {
    look->metallic = 1;
    look->metallic_map.image = image; /* blue: metallic */
}
static void occlude(ex_material *look, ex_image *image) {
    look->occlusion_map.image = image;
}
static void map_normals(ex_material *look, ex_image *image) {
    look->normal_map.image = image;
}

static void light_follows_the_model(void **state) {
    (void)state;
    unsigned char none[4] = {255, 255, 0, 255}, all[4] = {255, 255, 255, 255}, dark[4] = {0, 0, 0, 255};
    unsigned char flat[4] = {128, 128, 255, 255}, up[4] = {128, 220, 220, 255}, down[4] = {128, 36, 220, 255};
    unsigned char left[4] = {36, 128, 220, 255}, right[4] = {220, 128, 220, 255};
    const double usual = lit(NULL, all);
    assert_true(lit(emit, all) > usual + 10);
    assert_true(fabs(lit(make_metal, none) - usual) < 0.5); /* blue 0: not metallic */
    assert_true(lit(make_metal, all) < usual - 10);
    assert_true(lit(occlude, dark) < usual - 5);
    assert_true(fabs(lit(occlude, all) - usual) < 0.5);
    assert_true(fabs(lit(map_normals, flat) - usual) < 1.5);
    /* The key light is at the upper left. */
    assert_true(lit(map_normals, up) > lit(map_normals, down) + 10);
    assert_true(lit(map_normals, left) > lit(map_normals, right) + 10);
}

/* A ball of one look, lit from the left. */
static ex_image *ball_of(const ex_material *look) {
    ex_mesh *ball = ball_mesh(1, 0, 0, 0, 64);
    const ex_looks list = {.look_count = 1, .looks = (ex_material *)look};
    ex_render_item item = item_of(ball);
    item.looks = &list;
    ex_render_def def = plain_def(&item, 1);
    def.light_yaw = -90;
    def.light_pitch = 0;
    ex_image *picture = picture_of(&def);
    ex_mesh_destroy(ball);
    return picture;
}

static double red_share(const ex_image *image, int x) {
    return channel_at(image, x, 32, 0) / (channel_at(image, x, 32, 1) + 1.0);
}

/* Skin: light reaches around the edge of the shade, red farthest; what faces the light keeps its colour. */
static void skin_is_red_where_shade_begins(void **state) {
    (void)state;
    ex_material look = plain(left_name, 0.5, 0.5, 0.5, 1);
    look.unlit = false;
    ex_image *stone = ball_of(&look);
    look.scatter[0] = 0.8;
    look.scatter[1] = 0.2;
    look.scatter[2] = 0.1;
    ex_image *skin = ball_of(&look);
    /* The middle of the ball is where the light grazes it. */
    assert_true(red_share(skin, 34) > red_share(stone, 34) + 0.1);
    assert_true(channel_at(skin, 34, 32, 0) > channel_at(stone, 34, 32, 0) + 15);
    assert_true(fabs(red_share(skin, 12) - red_share(stone, 12)) < 0.06);
    assert_true(fabs(light_at(skin, 47, 32) - light_at(stone, 47, 32)) < 4);
    ex_image_destroy(stone);
    ex_image_destroy(skin);
}

/* Cloth: brighter at its edge, in the colour of the fibres, and hardly changed where it faces the eye. */
static void cloth_shines_at_its_edge(void **state) {
    (void)state;
    ex_material look = plain(left_name, 0.1, 0.1, 0.1, 1);
    look.unlit = false;
    look.roughness = 1;
    ex_image *bare = ball_of(&look);
    look.sheen[1] = 0.8;
    look.sheen_roughness = 0.4;
    ex_image *cloth = ball_of(&look);
    assert_true(channel_at(cloth, 56, 32, 1) > channel_at(bare, 56, 32, 1) + 25);
    assert_true(channel_at(cloth, 56, 32, 1) > channel_at(cloth, 56, 32, 0) + 25);
    assert_true(abs(channel_at(cloth, 17, 32, 1) - channel_at(bare, 17, 32, 1)) < 12);
    ex_image_destroy(bare);
    ex_image_destroy(cloth);
}

/* Cloth seen straight on, where rounding makes the cosine of two equal unit vectors more than 1. */
static void cloth_seen_straight_on_has_a_colour(void **state) {
    (void)state;
    exi_render render = {.lights = {.sky_light = {1, 1, 1}, .ground_light = {1, 1, 1}}};
    const exi_seen seen = {1, 1};
    exi_surface cloth = {.sheen = {0.1f, 0.8f, 0.1f}, .roughness = 1, .sheen_roughness = 0.4f, .occlusion = 1};
    int beyond = 0;
    for (int i = 0; i < 1000; i++) {
        cloth.normal = exi_v3_unit((exi_v3){1, 0.001f * (float)i, 0.3f});
        const exi_spot spot = {.towards = cloth.normal};
        const exi_v3 colour = exi_light_surface(&render, &spot, seen, &cloth);
        beyond += exi_v3_dot(cloth.normal, cloth.normal) > 1;
        assert_true(isfinite(colour.x) && isfinite(colour.y) && isfinite(colour.z) && colour.y > 0);
    }
    assert_true(beyond > 0);
}

/* Eyes: on a smooth surface the light is a small bright spot, on a rough one there is none. */
static void smooth_has_a_sharp_spot(void **state) {
    (void)state;
    double contrast[2];
    for (int i = 0; i < 2; i++) {
        ex_material look = plain(left_name, 0.02, 0.02, 0.02, 1);
        look.unlit = false;
        look.roughness = i ? 0.05 : 0.9;
        ex_image *image = ball_of(&look);
        double most = 0;
        for (int x = 8; x < 30; x++)
            most = light_at(image, x, 32) > most ? light_at(image, x, 32) : most;
        contrast[i] = most - light_at(image, 32, 32);
        ex_image_destroy(image);
    }
    assert_true(contrast[1] > contrast[0] + 40);
}

/* ---- hard edges ---- */

/* A box whose corners have the normals of their faces keeps them when it is sheared; with one normal per vertex it has
 * no hard edges. */
static void hard_edges_stay(void **state) {
    (void)state;
    const double low[3] = {-1, -1, -1}, high[3] = {1, 1, 1};
    ex_mesh *rest = box_mesh(low, high), *posed = box_mesh(low, high);
    ex_error error = {.result = EX_OK};
    bool hard = true;
    assert_int_equal(exi_keep_creases(rest, posed, &hard, &error), EX_OK);
    assert_false(hard); /* no normals at all */
    rest->normals = calloc(3 * (size_t)rest->face_count, sizeof(double));
    rest->corner_normals = calloc((size_t)rest->corner_count, sizeof(int));
    assert_true(rest->normals && rest->corner_normals);
    rest->normal_count = rest->face_count;
    for (int f = 0; f < rest->face_count; f++) {
        double middle[3] = {0, 0, 0};
        for (int c = rest->face_offsets[f]; c < rest->face_offsets[f + 1]; c++) {
            rest->corner_normals[c] = f;
            for (int k = 0; k < 3; k++)
                middle[k] += rest->positions[3 * rest->corners[c] + k] / 4;
        }
        memcpy(rest->normals + 3 * f, middle, sizeof middle); /* of a cube of size 2: the normal itself */
    }
    for (int v = 0; v < posed->vertex_count; v++)
        posed->positions[3 * v] += posed->positions[3 * v + 1]; /* x + y: faces at -x and x tilt by 45 degrees */
    assert_int_equal(exi_keep_creases(rest, posed, &hard, &error), EX_OK);
    assert_true(hard);
    for (int c = 0; c < posed->corner_count; c++) {
        const double *r = rest->normals + 3 * rest->corner_normals[c],
                     *n = posed->normals + 3 * posed->corner_normals[c];
        const double tilt = fabs(r[0]) > 0.5 ? sqrt(0.5) : 0;
        const double wanted[3] = {r[0] * (tilt > 0 ? tilt : 1), r[1] - r[0] * tilt, r[2]};
        for (int k = 0; k < 3; k++)
            assert_true(fabs(n[k] - wanted[k]) < 1e-12);
    }
    for (int c = 0; c < rest->corner_count; c++)
        rest->corner_normals[c] = 0;
    assert_int_equal(exi_keep_creases(rest, posed, &hard, &error), EX_OK);
    assert_false(hard);
    ex_mesh_destroy(rest);
    ex_mesh_destroy(posed);
}

/* ---- reading ---- */

static const char document[] =
    "{\"asset\":{\"version\":\"2.0\"},"
    "\"images\":[{\"uri\":\"data:image/png;base64,%s\"},{\"uri\":\"data:image/png;base64,AAAA\",\"name\":\"bad\"}],"
    "\"samplers\":[{\"wrapS\":33071,\"wrapT\":33648,\"magFilter\":9728}],"
    "\"textures\":[{\"source\":0,\"sampler\":0},{\"source\":1},{\"source\":0}],"
    "\"materials\":[{\"name\":\"shirt\",\"doubleSided\":true,\"alphaMode\":\"MASK\",\"alphaCutoff\":0.3,"
    "\"pbrMetallicRoughness\":{\"baseColorFactor\":[0.1,0.2,0.3,0.4],\"metallicFactor\":0.5,\"roughnessFactor\":0.6,"
    "\"baseColorTexture\":{\"index\":0,\"extensions\":{\"KHR_texture_transform\":"
    "{\"offset\":[0.1,0.2],\"rotation\":0.7,\"scale\":[2,3]}}},\"metallicRoughnessTexture\":{\"index\":2}},"
    "\"normalTexture\":{\"index\":2,\"scale\":0.8},\"occlusionTexture\":{\"index\":2,\"strength\":0.9},"
    "\"emissiveTexture\":{\"index\":1},\"emissiveFactor\":[0.5,0.25,1],"
    "\"extensions\":{\"KHR_materials_emissive_strength\":{\"emissiveStrength\":4},"
    "\"KHR_materials_sheen\":{\"sheenColorFactor\":[0.25,0.5,7],\"sheenRoughnessFactor\":0.3},"
    "\"KHR_materials_diffuse_transmission\":{\"diffuseTransmissionFactor\":0.5,"
    "\"diffuseTransmissionColorFactor\":[1,0.5,-1]}}},"
    "{\"name\":\"sign\",\"extensions\":{\"KHR_materials_unlit\":{}}}]}";

/* A PNG of one pixel. */
static const char pixel[] =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

static void materials_are_read(void **state) {
    (void)state;
    char text[4096];
    ex_scene *scene = NULL;
    ex_looks *looks = NULL;
    ex_error error = {.result = EX_OK};
    snprintf(text, sizeof text, document, pixel);
    assert_int_equal(ex_scene_parse(text, strlen(text), "a.gltf", false, &scene, &error), EX_OK);
    assert_int_equal(ex_looks_from_scene(scene, &looks, &error), EX_OK);
    assert_int_equal(looks->look_count, 2);
    const ex_material *shirt = &looks->looks[ex_looks_find(looks, "shirt")];
    assert_true(shirt->double_sided && !shirt->unlit && shirt->alpha == EX_SCENE_MASK);
    assert_true(shirt->alpha_cutoff == 0.3 && shirt->colour[3] == 0.4 && shirt->metallic == 0.5);
    assert_true(shirt->roughness == 0.6 && shirt->normal_scale == 0.8 && shirt->occlusion == 0.9);
    assert_true(shirt->emissive[0] == 2 && shirt->emissive[1] == 1 && shirt->emissive[2] == 4);
    assert_true(shirt->sheen[0] == 0.25 && shirt->sheen[1] == 0.5 && shirt->sheen[2] == 1);
    assert_true(shirt->sheen_roughness == 0.3);
    assert_true(shirt->scatter[0] == 0.5 && shirt->scatter[1] == 0.25 && shirt->scatter[2] == 0);
    assert_true(shirt->colour_map.wrap[0] == EX_WRAP_CLAMP && shirt->colour_map.wrap[1] == EX_WRAP_MIRROR);
    assert_true(shirt->colour_map.nearest && shirt->colour_map.rotation == 0.7);
    assert_true(shirt->colour_map.offset[1] == 0.2 && shirt->colour_map.scale[1] == 3);
    assert_true(shirt->normal_map.wrap[0] == EX_WRAP_REPEAT && shirt->normal_map.scale[0] == 1);
    assert_non_null(shirt->colour_map.image);
    assert_ptr_equal(shirt->normal_map.image, shirt->colour_map.image);
    assert_ptr_equal(shirt->metallic_map.image, shirt->colour_map.image);
    assert_ptr_equal(shirt->occlusion_map.image, shirt->colour_map.image);
    /* An image that cannot be read is left out, and said once. */
    assert_null(shirt->emissive_map.image);
    assert_int_equal(looks->note_count, 1);
    assert_non_null(strstr(looks->notes[0], "bad"));
    const ex_material *sign = &looks->looks[ex_looks_find(looks, "sign")];
    assert_true(sign->unlit && sign->sheen[0] == 0 && sign->scatter[0] == 0);
    assert_int_equal(ex_looks_find(looks, "shoe"), -1);
    /* A rig's own textures. */
    const ex_image painted = {.width = 1, .height = 1};
    ex_looks *copy = ex_looks_share(looks);
    assert_non_null(copy);
    assert_int_equal(ex_looks_paint(copy, "sign/base_color", &painted), 1);
    assert_int_equal(ex_looks_paint(copy, "normal", &painted), 0);
    assert_ptr_equal(copy->looks[1].colour_map.image, &painted);
    assert_ptr_equal(copy->looks[0].colour_map.image, shirt->colour_map.image);
    assert_int_equal(ex_looks_paint(copy, "base_color", &painted), 2);
    assert_ptr_not_equal(looks->looks[0].colour_map.image, &painted);
    ex_looks_destroy(copy);
    ex_looks_destroy(looks);
    ex_scene_destroy(scene);
}

/* Names of a mesh's materials are those of its looks, and each finds its own, whatever the file calls them. */
static void equal_names_are_told_apart(void **state) {
    (void)state;
    static const char *const given[] = {"cloth", " cloth", "", "material.2", "a\tb", "a_b"};
    static const char *const names[] = {"cloth", "cloth 2", "material.2", "material.2 2", "a_b", "a_b 2"};
    ex_error error = {.result = EX_OK};
    ex_looks *looks = NULL;
    ex_mesh *mesh = NULL;
    ex_scene *scene = ex_scene_create();
    ex_mesh *sheet = sheet_mesh(1, 1, 1, 1);
    int face[] = {0};
    char *material[] = {left_name};
    sheet->face_materials = face;
    sheet->material_names = material;
    sheet->material_count = 1;
    assert_int_equal(ex_scene_add_mesh(scene, sheet, NULL, NULL, &error), EX_OK);
    sheet->face_materials = NULL;
    sheet->material_names = NULL;
    sheet->material_count = 0;
    ex_mesh_destroy(sheet);
    scene->materials = realloc(scene->materials, 6 * sizeof *scene->materials);
    assert_non_null(scene->materials);
    for (int i = 5; i >= 0; i--) {
        scene->materials[i] = scene->materials[0];
        if (i == 0)
            free(scene->materials[0].name);
        scene->materials[i].name = given[i][0] ? exi_text_copy(given[i], strlen(given[i])) : NULL;
    }
    scene->material_count = 6;
    assert_int_equal(ex_scene_to_mesh(scene, 0, &mesh, NULL, &error), EX_OK);
    assert_int_equal(ex_looks_from_scene(scene, &looks, &error), EX_OK);
    assert_int_equal(mesh->material_count, 6);
    assert_int_equal(looks->look_count, 6);
    for (int i = 0; i < 6; i++) {
        assert_string_equal(mesh->material_names[i], names[i]);
        assert_int_equal(ex_looks_find(looks, names[i]), i);
    }
    ex_mesh_destroy(mesh);
    ex_looks_destroy(looks);
    ex_scene_destroy(scene);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faces_have_their_own_materials),
        cmocka_unit_test(images_lie_where_they_should),
        cmocka_unit_test(images_are_interpolated_in_light),
        cmocka_unit_test(alpha_hides_or_mixes),
        cmocka_unit_test(sides_count),
        cmocka_unit_test(what_is_left_out_casts_no_shadow),
        cmocka_unit_test(light_follows_the_model),
        cmocka_unit_test(skin_is_red_where_shade_begins),
        cmocka_unit_test(cloth_shines_at_its_edge),
        cmocka_unit_test(cloth_seen_straight_on_has_a_colour),
        cmocka_unit_test(smooth_has_a_sharp_spot),
        cmocka_unit_test(hard_edges_stay),
        cmocka_unit_test(materials_are_read),
        cmocka_unit_test(equal_names_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
