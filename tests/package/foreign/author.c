/* Reads a mesh, an invalid project, and a picture that it writes itself, with the installed authoring library: its own
 * code, its JSON reader, its PNG reader. */
#include <exemplar/author.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char triangle[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
static const char nonsense[] = "{ \"exemplar\": 1, \"no such key\": 2 }";

int main(int argc, char **argv) {
    ex_error error;
    ex_mesh *mesh;
    if (ex_obj_parse(triangle, strlen(triangle), "triangle.obj", &mesh, &error) != EX_OK) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    bool read = mesh->vertex_count == 3 && mesh->face_count == 1;
    ex_mesh_destroy(mesh);

    ex_project *project;
    bool refused = ex_project_parse(nonsense, strlen(nonsense), "nonsense.json", &project, &error) != EX_OK;
    printf("%s: %s\n", ex_version().text, refused ? error.text : "a project with an unknown key was accepted");

    ex_image *white = ex_image_create(2, 2), *back = NULL;
    unsigned char *bytes = NULL;
    size_t size;
    bool drawn = white && memset(white->pixels, 255, 16) && ex_image_encode(white, &bytes, &size, &error) == EX_OK &&
                 ex_image_parse(bytes, size, "white.png", &back, &error) == EX_OK &&
                 memcmp(back->pixels, white->pixels, 16) == 0;
    ex_image_destroy(white);
    ex_image_destroy(back);
    free(bytes);
    return argc == 2 && strcmp(argv[1], ex_version().text) == 0 && read && refused && drawn ? 0 : 1;
}
