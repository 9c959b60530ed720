/*
 * exemplar/base.h - what all other headers use: results and errors, the allocator, the task hook, version numbers.
 *
 * Any thread may call these functions. The library never prints, never exits, opens no files and starts no threads.
 * Memory and threads come from the caller, through the two hooks below. Vectors, quaternions, SIMD and the small dense
 * solvers are private to the runtime (src/runtime/base/).
 */
#ifndef EXEMPLAR_BASE_H
#define EXEMPLAR_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Marks exported functions. Define EX_API yourself to export them in another way. To export none, as a plug-in does:
 * -DEX_API= for the callers too, with -fvisibility=hidden for gcc and clang. */
#if defined(EX_API)
#elif defined(_WIN32) && defined(EX_SHARED)
#if defined(EX_BUILDING)
#define EX_API __declspec(dllexport)
#else
#define EX_API __declspec(dllimport)
#endif
#elif defined(__GNUC__)
#define EX_API __attribute__((visibility("default")))
#else
#define EX_API
#endif

/* Marks a function that takes a printf format and its arguments, so that compilers check them. */
#if defined(__GNUC__)
#define EX_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define EX_PRINTF(text, first)
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define EX_VERSION_MAJOR 0
#define EX_VERSION_MINOR 2
#define EX_VERSION_PATCH 0
#define EX_VERSION_TEXT  "0.2.0"

/* The number in the library's file name. A program built against one ABI number runs with every library that has the
 * same number. It changes with the version: before 1.0, every new minor version is a new ABI. */
#define EX_ABI 2

/* Version of the rig format that this library reads and writes. */
#define EX_FORMAT 7

/* Version of the linked library. The EX_VERSION_… macros are what the caller was compiled with. */
typedef struct ex_version_info {
    int major, minor, patch;
    int abi;
    int format;
    const char *text; /* "0.2.0" */
    const char *simd; /* as ex_simd_name */
} ex_version_info;

/* Returns the version of the linked library. */
EX_API ex_version_info ex_version(void);

/* Returns the name of the instruction set in use: "neon", "sse2", "avx2", "avx512", "wasm" or "scalar". On x86-64 a
 * build has three; the widest that the processor and the system support is used, from the first call on. */
EX_API const char *ex_simd_name(void);
/* Uses another instruction set from the next call on, to compare or to test: "sse2", "avx2" or "avx512" on x86-64.
 * NULL: the widest. Results of different sets differ by rounding. Returns false, and changes nothing, if the build or
 * the machine does not have it. Call it while no other function of this library runs. */
EX_API bool ex_simd_use(const char *name);

/* Results of functions that can fail, each with its general text. ex_error holds the specific message. */
#define EX_RESULT_LIST(X)                                                                                              \
    X(EX_OK, "done")                                                                                                   \
    X(EX_ERROR_ARGUMENT, "a parameter is outside what the function accepts")                                           \
    X(EX_ERROR_MEMORY, "not enough memory")                                                                            \
    X(EX_ERROR_LIMIT, "the input is larger than this version supports")                                                \
    X(EX_ERROR_DATA, "the input contradicts itself or holds numbers that are not finite")                              \
    X(EX_ERROR_SINGULAR, "the space cannot be solved")                                                                 \
    X(EX_ERROR_FORMAT, "the file does not have the expected format")                                                   \
    X(EX_ERROR_VERSION, "the file was written by another version")                                                     \
    X(EX_ERROR_CHECKSUM, "the file was damaged or rearranged after it was written")                                    \
    X(EX_ERROR_FILE, "a file cannot be read or written")                                                               \
    X(EX_ERROR_DEVICE, "the GPU or its driver reported an error")

typedef enum ex_result {
#define EX_RESULT_ENUM(name, text) name,
    EX_RESULT_LIST(EX_RESULT_ENUM)
#undef EX_RESULT_ENUM
        EX_RESULT_COUNT
} ex_result;

/* Returns the general text of a result. Never NULL; a number that is not a result gives "unknown result". */
EX_API const char *ex_result_text(ex_result result);

/*
 * An error message: one sentence for the person who must act on it, naming the file, line, key, example or vertex.
 * The caller owns it. Every function accepts NULL if the message is not needed. Unchanged if the call succeeds.
 */
#define EX_ERROR_SIZE 512
typedef struct ex_error {
    ex_result result;
    char text[EX_ERROR_SIZE];
    const char *kind; /* short name of the situation ("unknown_layer"), for programs that add their own advice: the
                         library knows no commands or buttons. Static; NULL if there is no advice to give */
} ex_error;

/*
 * Set an error the way the library does, for hooks and programs. Each function returns `result`, so that it can be
 * used in a return statement. ex_error_set writes the message; if it is longer than EX_ERROR_SIZE, its middle is cut
 * out. ex_error_within puts "where: " in front of the existing message, for callers that know the file, layer or key;
 * it does nothing if result is EX_OK. ex_error_kind sets `kind`, which ex_error_set leaves NULL. ex_error_memory writes
 * the usual message: `size` bytes were needed for `what`.
 */
EX_API ex_result ex_error_set(ex_error *error, ex_result result, const char *format, ...) EX_PRINTF(3, 4);
EX_API ex_result ex_error_within(ex_error *error, ex_result result, const char *format, ...) EX_PRINTF(3, 4);
EX_API ex_result ex_error_kind(ex_error *error, ex_result result, const char *kind);
EX_API ex_result ex_error_memory(ex_error *error, const char *what, size_t size);

/*
 * A memory hook for your own allocator. allocate returns memory aligned to at least 64 bytes, or NULL. release gets the
 * size that was passed to allocate. NULL in place of an allocator means malloc and free. Runtime objects remember their
 * allocator, so it must outlive them.
 */
typedef struct ex_allocator {
    void *(*allocate)(void *user, size_t size);
    void (*release)(void *user, void *memory, size_t size);
    void *user;
} ex_allocator;

/*
 * A threading hook for your own job system. run must call body(context, begin, end) for pieces that together cover [0,
 * count), and return when all are done. Pieces should not be smaller than grain. NULL in place of a hook runs
 * everything serially in the caller's thread. Results are the same, bit for bit, however the range is cut.
 */
typedef void (*ex_task_body)(void *context, int begin, int end);
typedef struct ex_tasks {
    void (*run)(void *user, int count, int grain, ex_task_body body, void *context);
    void *user;
} ex_tasks;

/*
 * A function to call on misuse by the programmer (a NULL rig, an input that the rig does not have), so that a debugger
 * can stop there. The call that was misused does nothing, and returns what stands for none: 0, -1, "" or NULL. Of
 * ex_evaluation, a replacement weigher that does not fit its layer is ignored: the rig's own is used. The default hook
 * does nothing in release builds and aborts in debug builds.
 */
typedef void (*ex_misuse_hook)(const char *function, const char *what);
/* Sets the misuse hook. Set it once, before other threads call the library. NULL restores the default. */
EX_API void ex_set_misuse_hook(ex_misuse_hook hook);

#ifdef __cplusplus
}
#endif
#endif
