/*
 * Runs a fuzz target on every file of a folder, without a fuzzer: fuzz_replay TARGET FOLDER. Also on nothing, and on
 * both halves of each file. The file's name is printed first, so that it is the last line if the target aborts.
 */
#include <exemplar/author/files.h>

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TARGET(name) int exi_fuzz_##name(const uint8_t *data, size_t size);
#include "fuzz_targets.inl"
#undef TARGET

typedef int (*fuzz_target)(const uint8_t *data, size_t size);

static fuzz_target find_target(const char *name) {
#define TARGET(it)                                                                                                     \
    if (strcmp(name, #it) == 0)                                                                                        \
        return exi_fuzz_##it;
#include "fuzz_targets.inl"
#undef TARGET
    return NULL;
}

/* The bytes are copied, so that a sanitizer sees a read past their end. */
static void run(fuzz_target target, const char *bytes, size_t size) {
    uint8_t *copy = calloc(size + (size == 0), 1);
    if (!copy)
        abort();
    memcpy(copy, bytes, size);
    target(copy, size);
    free(copy);
}

static bool replay(fuzz_target target, const char *folder, const char *name) {
    char path[4096], *bytes = NULL;
    size_t size = 0;
    ex_error error = {0};
    snprintf(path, sizeof path, "%s/%s", folder, name);
    printf("%s\n", path);
    fflush(stdout);
    if (ex_file_read(path, &bytes, &size, &error) != EX_OK) {
        fprintf(stderr, "%s\n", error.text);
        return false;
    }
    run(target, bytes, size);
    run(target, bytes, size / 2);
    run(target, bytes + size / 2, size - size / 2);
    free(bytes);
    return true;
}

int main(int argc, char **argv) {
    const fuzz_target target = argc == 3 ? find_target(argv[1]) : NULL;
    if (!target) {
        fprintf(stderr, "usage: fuzz_replay TARGET FOLDER\n");
        return 2;
    }
    run(target, "", 0);
    int count = 0;
    bool good = true;
    DIR *folder = opendir(argv[2]);
    for (struct dirent *entry; folder && (entry = readdir(folder));)
        if (entry->d_name[0] != '.') {
            good = replay(target, argv[2], entry->d_name) && good;
            count++;
        }
    if (folder)
        closedir(folder);
    if (count == 0)
        fprintf(stderr, "'%s' has no files: a target needs seeds\n", argv[2]);
    return good && count > 0 ? 0 : 1;
}
