/*
 * Functions of glibc that have a newer version than 2.17, bound to the version that all systems have since: so that one
 * file works on every Linux distribution of the last ten years. scripts/wheel links with --wrap for each of them.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

#if defined(__x86_64__)
#define OLDEST       "GLIBC_2.2.5"
#define STAT_VERSION 1 /* of the kernel's struct stat */
#else
#define OLDEST       "GLIBC_2.17"
#define STAT_VERSION 0
#endif

#define BIND_1(type, name)                                                                                             \
    type old_##name(type);                                                                                             \
    __asm__(".symver old_" #name ", " #name "@" OLDEST);                                                               \
    type __wrap_##name(type);                                                                                          \
    type __wrap_##name(type x) {                                                                                       \
        return old_##name(x);                                                                                          \
    }
#define BIND_2(type, name)                                                                                             \
    type old_##name(type, type);                                                                                       \
    __asm__(".symver old_" #name ", " #name "@" OLDEST);                                                               \
    type __wrap_##name(type, type);                                                                                    \
    type __wrap_##name(type x, type y) {                                                                               \
        return old_##name(x, y);                                                                                       \
    }

BIND_1(double, exp)
BIND_1(double, exp2)
BIND_1(double, log)
BIND_2(double, pow)
BIND_2(double, hypot)
BIND_1(float, exp2f)
BIND_1(float, log2f)
BIND_2(float, powf)

/* Before 2.33 the functions of files were inline, around these. */
int __xstat(int, const char *, struct stat *);
int __fxstat(int, int, struct stat *);
int __lxstat(int, const char *, struct stat *);
int __wrap_stat(const char *, struct stat *);
int __wrap_fstat(int, struct stat *);
int __wrap_lstat(const char *, struct stat *);
int __fxstatat(int, int, const char *, struct stat *, int);
int __wrap_fstatat(int, const char *, struct stat *, int);

int __wrap_stat(const char *path, struct stat *status) {
    return __xstat(STAT_VERSION, path, status);
}
int __wrap_fstat(int file, struct stat *status) {
    return __fxstat(STAT_VERSION, file, status);
}
int __wrap_lstat(const char *path, struct stat *status) {
    return __lxstat(STAT_VERSION, path, status);
}
int __wrap_fstatat(int folder, const char *path, struct stat *status, int flags) {
    return __fxstatat(STAT_VERSION, folder, path, status, flags);
}

/* Before 2.34 threads were in a library of their own, which every Python has loaded. */
int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_join(pthread_t, void **);
int __wrap_pthread_mutex_trylock(pthread_mutex_t *);
int __wrap_pthread_sigmask(int, const sigset_t *, sigset_t *);
int old_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int old_pthread_join(pthread_t, void **);
int old_pthread_mutex_trylock(pthread_mutex_t *);
int old_pthread_sigmask(int, const sigset_t *, sigset_t *);
__asm__(".symver old_pthread_create, pthread_create@" OLDEST);
__asm__(".symver old_pthread_join, pthread_join@" OLDEST);
__asm__(".symver old_pthread_mutex_trylock, pthread_mutex_trylock@" OLDEST);
__asm__(".symver old_pthread_sigmask, pthread_sigmask@" OLDEST);

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *user) {
    return old_pthread_create(thread, attributes, run, user);
}
int __wrap_pthread_join(pthread_t thread, void **result) {
    return old_pthread_join(thread, result);
}
int __wrap_pthread_mutex_trylock(pthread_mutex_t *mutex) {
    return old_pthread_mutex_trylock(mutex);
}
int __wrap_pthread_sigmask(int how, const sigset_t *set, sigset_t *old) {
    return old_pthread_sigmask(how, set, old);
}

/* Static libraries of x86-64 systems may be compiled for programs: they address these variables of glibc as their own.
 * So they get their own. */
FILE *__wrap_stdin, *__wrap_stdout, *__wrap_stderr;
extern FILE *__real_stdin, *__real_stdout, *__real_stderr;

__attribute__((constructor)) static void copy_streams(void) {
    __wrap_stdin = __real_stdin;
    __wrap_stdout = __real_stdout;
    __wrap_stderr = __real_stderr;
}
