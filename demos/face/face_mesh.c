/*
 * Assembles the generic head of the demo `face`: memory for its mesh, the parts added to it, and the attributes of its
 * vertices.
 */
#include "face.h"

#include "common/array.h"

#include <stdlib.h>
#include <string.h>

enum { CAPACITY = 4000 }; /* more than the formulas make */

/* ---- growing the mesh ---- */

int exi_face_add_vertex(exi_face *face, point p) {
    int v = face->mesh->vertex_count++;
    memcpy(face->mesh->positions + 3 * (size_t)v, (double[]){p.x, p.y, p.z}, 3 * sizeof(double));
    return v;
}

int exi_face_add_texcoord(exi_face *face, double u, double v) {
    int t = face->mesh->texcoord_count++;
    face->mesh->texcoords[2 * t] = u;
    face->mesh->texcoords[2 * t + 1] = v;
    return t;
}

void exi_face_add_polygon(exi_face *face, face_group group, int count, const int *vertices, const int *texcoords) {
    ex_mesh *mesh = face->mesh;
    memcpy(mesh->corners + mesh->corner_count, vertices, (size_t)count * sizeof *vertices);
    memcpy(mesh->corner_texcoords + mesh->corner_count, texcoords, (size_t)count * sizeof *texcoords);
    mesh->corner_count += count;
    mesh->face_groups[mesh->face_count] = (int)group;
    mesh->face_offsets[++mesh->face_count] = mesh->corner_count;
}

/* ---- the head ---- */

static bool allocate(exi_face *face) {
    static const char *const names[FACE_GROUP_COUNT] = {"head", "eyes", "ears"};
    ex_mesh *mesh = face->mesh = ex_mesh_create();
    if (!mesh)
        return false;
    mesh->positions = array_allocate(3 * CAPACITY, sizeof(double));
    mesh->texcoords = array_allocate(2 * CAPACITY, sizeof(double));
    mesh->face_offsets = array_allocate(CAPACITY + 1, sizeof(int));
    mesh->face_groups = array_allocate(CAPACITY, sizeof(int));
    mesh->corners = array_allocate(4 * CAPACITY, sizeof(int));
    mesh->corner_texcoords = array_allocate(4 * CAPACITY, sizeof(int));
    mesh->group_names = calloc(FACE_GROUP_COUNT, sizeof *mesh->group_names);
    face->paint = calloc(CAPACITY, FACE_PAINT_COUNT * sizeof(double));
    face->blink = calloc(CAPACITY, 3 * sizeof(double));
    face->normals = array_allocate(CAPACITY, sizeof *face->normals);
    bool done = mesh->positions && mesh->texcoords && mesh->face_offsets && mesh->face_groups && mesh->corners &&
                mesh->corner_texcoords && mesh->group_names && face->paint && face->blink && face->normals;
    if (done)
        mesh->face_offsets[0] = 0;
    for (int i = 0; done && i < FACE_GROUP_COUNT; i++) {
        mesh->group_names[i] = text_copy(names[i]);
        done = mesh->group_names[i] != NULL;
        mesh->group_count += done;
    }
    return done;
}

/* The lips' edges stay sharp under refinement; otherwise they would separate. */
static bool allocate_creases(ex_mesh *mesh) {
    mesh->tags = calloc(FACE_MOUTH, sizeof *mesh->tags);
    bool done = mesh->tags != NULL;
    for (int i = 0; done && i < FACE_MOUTH; i++) {
        ex_tag *tag = &mesh->tags[mesh->tag_count++];
        tag->name = text_copy("crease");
        tag->ints = array_allocate(2, sizeof *tag->ints);
        tag->floats = array_copy((double[]){10}, 1, sizeof *tag->floats);
        done = tag->name && tag->ints && tag->floats;
        tag->int_count = 2;
        tag->float_count = 1;
    }
    return done;
}

exi_face *exi_face_create(void) {
    exi_face *face = calloc(1, sizeof *face);
    if (!face || !allocate(face) || !allocate_creases(face->mesh) || !exi_face_add_head(face)) {
        exi_face_destroy(face);
        return NULL;
    }
    for (int i = 0; i < FACE_MOUTH; i++) {
        face->mesh->tags[i].ints[0] = face->mouth[i];
        face->mesh->tags[i].ints[1] = face->mouth[(i + 1) % FACE_MOUTH];
    }
    exi_face_add_eyes(face);
    exi_face_add_ears(face);
    for (int v = 0; v < face->mesh->vertex_count; v++) {
        const double *p = face->mesh->positions + 3 * v, *paint = face->paint + v * FACE_PAINT_COUNT;
        bool skin = paint[FACE_EYE] + paint[FACE_EAR] == 0;
        face->normals[v] = skin ? exi_face_normal((point){p[0], p[1], p[2]}) : (point){0, 0, 1};
    }
    return face;
}

void exi_face_destroy(exi_face *face) {
    if (!face)
        return;
    ex_mesh_destroy(face->mesh);
    free(face->paint);
    free(face->blink);
    free(face->normals);
    free(face);
}
