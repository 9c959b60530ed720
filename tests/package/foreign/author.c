/* Reads a mesh and a project that is none with the installed authoring library: its own code, and its JSON reader. */
#include <exemplar/author.h>

#include <stdio.h>
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
    return argc == 2 && strcmp(argv[1], ex_version().text) == 0 && read && refused ? 0 : 1;
}
