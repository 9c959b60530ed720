/*
 * The look of the cloth of the demo `outfit`. Its threads run along and around each limb, so texture coordinates are
 * angles about the limbs' axes and lengths along them. Limbs meet at seams, as in clothes that are sewn. The materials
 * are those of what the person wears.
 */
#include "demos/human/outfit_weave.h"
#include "demos/human/person.h"
#include "demos/vector.h"

#include "common/array.h"

#include <exemplar/author/formats.h>
#include <exemplar/maths.h>

#include <stdlib.h>
#include <string.h>

#define PI   3.14159265358979323846
#define TILE 0.2 /* metres of cloth that the image shows */

/* ---- texture coordinates ---- */

static const int around[OUTFIT_LIMBS] = {5, 2, 2, 3, 3}; /* images around a limb */

/* Angle about the axis, from 0 to 2 pi: 0 is at the back of the trunk and of legs. */
static double angle_of(const exi_outfit_axis *axis, const double across[3]) {
    double side[3];
    cross(axis->along, (const double[3]){0, 0, -1}, side);
    unit3(side);
    const double x = dot3(across, side), angle = ex_corner(fabs(x), -across[2]);
    return x < 0 ? 2 * PI - angle : angle;
}

static exi_outfit_limb limb_of(const exi_outfit_axis axes[OUTFIT_LIMBS], bool upper, const double p[3]) {
    const bool right = p[0] < 0;
    if (!upper)
        return right ? OUTFIT_LEG_R : OUTFIT_LEG_L;
    const exi_outfit_limb arm = right ? OUTFIT_ARM_R : OUTFIT_ARM_L;
    return exi_outfit_sleeve(&axes[arm], p) > 0.5 ? arm : OUTFIT_TRUNK;
}

/* A vertex has up to two places on the image per limb: at both ends of a turn. */
enum { PLACES = 2 * OUTFIT_LIMBS };

static void lay(const exi_outfit_axis axes[OUTFIT_LIMBS], int face, bool upper, int *places, ex_mesh *mesh) {
    const int *corners = mesh->corners + 3 * (size_t)face;
    double middle[3] = {0, 0, 0}, angles[3], lengths[3], least = 2 * PI, most = 0;
    for (int i = 0; i < 9; i++)
        middle[i % 3] += mesh->positions[3 * (size_t)corners[i / 3] + (size_t)(i % 3)] / 3;
    const exi_outfit_limb limb = limb_of(axes, upper, middle);
    for (int i = 0; i < 3; i++) {
        double across[3];
        lengths[i] = exi_outfit_along(&axes[limb], mesh->positions + 3 * (size_t)corners[i], across);
        angles[i] = angle_of(&axes[limb], across);
        least = fmin(least, angles[i]);
        most = fmax(most, angles[i]);
    }
    for (int i = 0; i < 3; i++) {
        const bool wraps = most - least > PI && angles[i] < PI;
        int *place = &places[PLACES * (size_t)corners[i] + 2 * (size_t)limb + wraps];
        if (*place < 0) {
            *place = mesh->texcoord_count++;
            mesh->texcoords[2 * *place] = (angles[i] / (2 * PI) + wraps) * around[limb];
            mesh->texcoords[2 * *place + 1] = -lengths[i] / TILE;
        }
        mesh->corner_texcoords[3 * face + i] = *place;
    }
}

static bool name_materials(int shirt_faces, ex_mesh *mesh) {
    static const char *const names[2] = {"shirt", "trousers"};
    mesh->material_names = calloc(2, sizeof *mesh->material_names);
    mesh->face_materials = array_allocate((size_t)mesh->face_count, sizeof *mesh->face_materials);
    mesh->group_names = calloc(2, sizeof *mesh->group_names);
    mesh->face_groups = array_allocate((size_t)mesh->face_count, sizeof *mesh->face_groups);
    if (!mesh->material_names || !mesh->face_materials || !mesh->group_names || !mesh->face_groups)
        return false;
    mesh->material_count = mesh->group_count = 2;
    for (int i = 0; i < 2; i++) {
        mesh->material_names[i] = array_copy(names[i], strlen(names[i]) + 1, 1);
        mesh->group_names[i] = array_copy(names[i], strlen(names[i]) + 1, 1);
        if (!mesh->material_names[i] || !mesh->group_names[i])
            return false;
    }
    for (int f = 0; f < mesh->face_count; f++)
        mesh->face_groups[f] = mesh->face_materials[f] = f >= shirt_faces;
    return true;
}

bool exi_outfit_weave(const exi_outfit_body *body, int shirt_faces, ex_mesh *mesh) {
    const size_t count = PLACES * (size_t)mesh->vertex_count;
    exi_outfit_axis axes[OUTFIT_LIMBS];
    int *places = array_allocate(count, sizeof *places);
    mesh->texcoords = array_allocate(2 * (size_t)mesh->corner_count, sizeof *mesh->texcoords);
    mesh->corner_texcoords = array_allocate((size_t)mesh->corner_count, sizeof *mesh->corner_texcoords);
    const bool room = places && mesh->texcoords && mesh->corner_texcoords && name_materials(shirt_faces, mesh);
    for (size_t i = 0; room && i < count; i++)
        places[i] = -1;
    for (int limb = 0; limb < OUTFIT_LIMBS; limb++)
        axes[limb] = exi_outfit_find_axis(body, (exi_outfit_limb)limb);
    for (int f = 0; room && f < mesh->face_count; f++)
        lay(axes, f, f < shirt_faces, places, mesh);
    free(places);
    return room;
}

/* ---- materials ---- */

static bool is_worn(const char *name) {
    return name && (strcmp(name, "shirt") == 0 || strcmp(name, "trousers") == 0);
}

static void drop_materials(ex_scene *looks) {
    int count = 0;
    for (int i = 0; i < looks->material_count; i++)
        if (is_worn(looks->materials[i].name)) {
            looks->materials[count++] = looks->materials[i];
        } else {
            free(looks->materials[i].name);
            free(looks->materials[i].rest);
        }
    looks->material_count = count;
}

/* Each image has a texture of its own. */
static void drop_images(ex_scene *looks) {
    int images = 0, textures = 0;
    for (int i = 0; i < looks->texture_count; i++) {
        ex_scene_texture texture = looks->textures[i];
        bool used = false;
        for (int m = 0; m < looks->material_count; m++)
            if (looks->materials[m].base_texture == i) {
                looks->materials[m].base_texture = textures;
                used = true;
                break;
            }
        if (used) {
            ex_scene_image kept = looks->images[texture.image];
            looks->images[texture.image] = looks->images[images];
            looks->images[images] = kept;
            texture.image = images++;
            looks->textures[i] = looks->textures[textures];
            looks->textures[textures++] = texture;
        }
    }
    for (int i = textures; i < looks->texture_count; i++) {
        free(looks->textures[i].name);
        free(looks->textures[i].rest);
    }
    for (int i = images; i < looks->image_count; i++) {
        free(looks->images[i].name);
        free(looks->images[i].path);
        free(looks->images[i].mime_type);
        free(looks->images[i].bytes);
    }
    looks->texture_count = textures;
    looks->image_count = images;
}

/* The person's own images are cut to her shirt and trousers: plain cloth takes their place. False if out of memory. */
static bool lay_cloth(ex_scene *looks) {
    for (int i = 0; i < looks->image_count; i++) {
        ex_scene_image *image = &looks->images[i];
        size_t size;
        const void *cloth = exi_person_cloth(strcmp(image->name, "trousers") == 0, &size);
        unsigned char *bytes = array_copy(cloth, size, 1);
        if (!bytes)
            return false;
        free(image->bytes);
        image->bytes = bytes;
        image->size = size;
    }
    return true;
}

ex_result exi_outfit_looks(const ex_rig *person, ex_scene **looks, ex_error *error) {
    const ex_result result = ex_rig_looks(person, looks, error);
    if (result == EX_OK && *looks) {
        drop_materials(*looks);
        drop_images(*looks);
        if (!lay_cloth(*looks))
            return ex_error_memory(error, "cloth", 0);
    }
    return result;
}
