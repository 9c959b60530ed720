/*
 * cli/files.h - the tool's view of files: what kind a file is, where results go, and leaving nothing behind.
 *
 * Reading and writing themselves are the library's. Main thread only.
 */
#ifndef EXEMPLAR_CLI_FILES_H
#define EXEMPLAR_CLI_FILES_H

#include "command.h"

#include <exemplar/author.h>

typedef enum exi_file_kind {
    EXI_FILE_UNKNOWN,
    EXI_FILE_PROJECT,
    EXI_FILE_RIG,
    EXI_FILE_SCENE, /* glTF that is no rig */
    EXI_FILE_FORM,  /* .obj, .ply */
    EXI_FILE_IMAGE, /* .png */
    EXI_FILE_CLIP,  /* .bvh */
    EXI_FILE_CACHE, /* .pc2, .mdd */
    EXI_FILE_C3D,   /* markers over time, .c3d */
    EXI_FILE_TRC    /* the same as text, .trc */
} exi_file_kind;

/* By content where that is clear, else by the name's ending. Unknown for what is missing or no regular file, too. */
exi_file_kind exi_file_kind_of(const char *path);

/* "a rig", "a project", … */
const char *exi_file_kind_name(exi_file_kind kind);

/* Whether the file may be read as that kind; if it is clearly another, false and a sentence that says what to do. */
bool exi_expect_kind(const char *path, exi_file_kind expected);

/* Also for a link that leads nowhere. */
bool exi_file_exists(const char *path);
/* Whether something is there that is not a folder. */
bool exi_file_is_no_folder(const char *path);
/* Whether there is no such folder, or nothing in it. */
bool exi_folder_is_empty(const char *path);
/* Bytes in the file, or 0. */
double exi_file_size(const char *path);

/* Whether a result goes to standard output: "-" or "/dev/stdout", the name that the library knows. */
bool exi_is_standard_output(const char *path);

/*
 * Whether a result may be written to path: its name has the ending (or one of several: ".obj, .ply or .glb"), or it is
 * no regular file (/dev/null), and it is not `source`; standard output always is fine. False after printing why;
 * *exit_code is set then.
 */
bool exi_output_check(const ex_command *command, const char *path, const char *endings, const char *source,
                      int *exit_code);

/* Whether the folder that path stands in is there: asked before hours of work. False after printing that it is not. */
bool exi_output_folder_check(const char *path);

/* "a/b/NAME.json" with another ending: "a/b/NAME.glb"; and its "NAME" alone. To be freed; NULL without memory. */
char *exi_path_with_ending(const char *path, const char *ending);
char *exi_path_stem(const char *path);
/* "FOLDER/NAME" with an ending after it, "FOLDER/NAME.json". To be freed; NULL without memory. */
char *exi_path_inside(const char *folder, const char *name, const char *ending);

/*
 * Notes how much of a folder's path exists before it is filled. If filling fails, exi_folder_undo removes what was put
 * into a folder that was new or empty, and the new folders; a folder that held something is left alone.
 */
typedef struct exi_folder {
    char *path;
    size_t old_length; /* characters of the path that existed before */
    bool existed;
    bool empty; /* or was not there */
} exi_folder;

bool exi_folder_note(exi_folder *folder, const char *path);
void exi_folder_undo(exi_folder *folder);
/* The same after an interrupt (interrupt.h), with a line that says what is left; `overwrote`: files that were there may
 * have been written over. Returns the exit code. */
int exi_folder_interrupted(exi_folder *folder, bool overwrote);
void exi_folder_forget(exi_folder *folder);

#endif
