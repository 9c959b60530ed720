/*
 * cli/base/files.h - file kinds, output paths, and clean-up of folders after a failure.
 *
 * The library reads and writes the files themselves. Main thread only.
 */
#ifndef EXEMPLAR_CLI_FILES_H
#define EXEMPLAR_CLI_FILES_H

#include "command.h"

#include <exemplar/author.h>

typedef enum exi_file_kind {
    EXI_FILE_UNKNOWN,
    EXI_FILE_PROJECT,
    EXI_FILE_RIG,
    EXI_FILE_SCENE, /* glTF that is not a rig */
    EXI_FILE_FORM,  /* .obj, .ply, .off */
    EXI_FILE_IMAGE, /* .png, .jpg */
    EXI_FILE_CLIP,  /* .bvh */
    EXI_FILE_CACHE, /* .pc2, .mdd, .abc */
    EXI_FILE_C3D,   /* markers over time, .c3d */
    EXI_FILE_TRC    /* markers over time as text, .trc */
} exi_file_kind;

/* Kind by content where that is clear, otherwise by the name's ending. Unknown if the file is missing or not
 * regular. */
exi_file_kind exi_file_kind_of(const char *path);

/* "a rig", "a project", and so on. */
const char *exi_file_kind_name(exi_file_kind kind);

/* True if the file may be of that kind. If it is clearly another, a folder with one project, or a rig that is not built
 * yet, prints what to do and returns false. */
bool exi_expect_kind(const char *path, exi_file_kind expected);

/* The path of the only project in a folder. Caller frees; NULL if there is none, or several. */
char *exi_folder_project(const char *path);

/* True also for a dangling link. */
bool exi_file_exists(const char *path);
/* True if the path is a folder. */
bool exi_file_is_folder(const char *path);
/* True if the file's first bytes are the text, of at most 16 characters. */
bool exi_file_begins_with(const char *path, const char *text);
/* True if the folder does not exist or is empty; false with errno ENOMEM if there is not enough memory to look. */
bool exi_folder_is_empty(const char *path);
/* True if both paths lead to the same file. */
bool exi_file_is_same(const char *path, const char *other);
/* Size in bytes, or 0. */
double exi_file_size(const char *path);

/* True if path is "-" or "/dev/stdout", the library's name for standard output. */
bool exi_is_standard_output(const char *path);

/*
 * True if a result can be written to path: its name has the ending (or one of several: ".obj, .ply or .glb") or it is
 * not a regular file (/dev/null), it is not `source` (may be NULL), and its folder is there and takes new files.
 * Standard output is always fine. Otherwise prints the reason, sets *exit_code and returns false. Call it before any
 * work.
 */
bool exi_output_check(const ex_command *command, const char *path, const char *endings, const char *source,
                      int *exit_code);

/* The last part of it: true if path can be written, whatever its name. Otherwise prints the reason. */
bool exi_output_writable(const char *path);

/* True if results can be written into a folder, which need not exist yet. Otherwise prints the reason and returns
 * false. Call it before any work. */
bool exi_output_folder_check(const char *path);

/* The same, and the folder is missing or empty, unless `force`. */
bool exi_output_new_folder_check(const char *path, bool force);

/* Prints that the file exists already, and that --force or another `what` ("name", "folder") helps. Returns
 * EX_EXIT_FAILED. */
int exi_failed_exists(const char *path, const char *what);

/* "a/b/NAME.json" with another ending, "a/b/NAME.glb"; and its "NAME" alone. Caller frees; NULL if out of memory. */
char *exi_path_with_ending(const char *path, const char *ending);
char *exi_path_stem(const char *path);
/* "FOLDER/NAME" followed by an ending, "FOLDER/NAME.json". Caller frees; NULL if out of memory. */
char *exi_path_inside(const char *folder, const char *name, const char *ending);

/*
 * Notes how much of a folder's path exists before it is filled. If filling fails, exi_folder_undo removes the new
 * folders and everything put into a folder that was new or empty; a folder that was not empty is left alone.
 */
typedef struct exi_folder {
    char *path;
    size_t old_length; /* characters of the path that already existed */
    bool existed;
    bool empty; /* true if it was empty or did not exist */
} exi_folder;

bool exi_folder_note(exi_folder *folder, const char *path);
void exi_folder_undo(exi_folder *folder);
/* Undoes after an interrupt (interrupt.h) of writing a set of files, and says so. Returns the exit code. */
int exi_folder_interrupted(exi_folder *folder);
void exi_folder_forget(exi_folder *folder);

#endif
