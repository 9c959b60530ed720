/* bench/machine.c - the name of the processor, as the system or the processor itself tells it. */
#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

/* The 48 characters of the brand string. */
static bool ask_processor(char name[EXI_MACHINE_SIZE]) {
    unsigned words[12];
    for (unsigned i = 0; i < 3; i++)
        if (!__get_cpuid(0x80000002u + i, &words[4 * i], &words[4 * i + 1], &words[4 * i + 2], &words[4 * i + 3]))
            return false;
    memcpy(name, words, sizeof words);
    name[sizeof words] = '\0';
    return name[0] != '\0';
}
#else
static bool ask_processor(char name[EXI_MACHINE_SIZE]) {
    (void)name;
    return false;
}
#endif

/* Arm processors have numbers; these are some that servers and small computers have. */
static const char *arm_part(long part) {
    static const struct {
        long part;
        const char *name;
    } parts[] = {{0xd08, "Cortex-A72"},  {0xd0b, "Cortex-A76"},  {0xd0c, "Neoverse-N1"}, {0xd40, "Neoverse-V1"},
                 {0xd49, "Neoverse-N2"}, {0xd4f, "Neoverse-V2"}, {0xd83, "Neoverse-V3"}, {0xd8e, "Neoverse-N3"}};
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (parts[i].part == part)
            return parts[i].name;
    return NULL;
}

/* Linux: "model name", or the part's number on Arm. */
static bool ask_system(char name[EXI_MACHINE_SIZE]) {
    char line[256];
    bool found = false;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && !found && fgets(line, sizeof line, file)) {
        const char *value = strchr(line, ':');
        if (!value)
            continue;
        value += 1 + strspn(value + 1, " ");
        if (strncmp(line, "model name", 10) == 0) {
            snprintf(name, EXI_MACHINE_SIZE, "%.*s", (int)strcspn(value, "\n"), value);
            found = true;
        } else if (strncmp(line, "CPU part", 8) == 0) {
            const long part = strtol(value, NULL, 16);
            const char *known = arm_part(part);
            if (known)
                snprintf(name, EXI_MACHINE_SIZE, "%s", known);
            else
                snprintf(name, EXI_MACHINE_SIZE, "Arm part 0x%lx", (unsigned long)part);
            found = true;
        }
    }
    if (file)
        fclose(file);
    return found;
}

void exi_machine_name(char name[EXI_MACHINE_SIZE]) {
    if (!ask_processor(name) && !ask_system(name))
        snprintf(name, EXI_MACHINE_SIZE, "unknown processor");
    char *from = name + strspn(name, " "), *to = name; /* brand strings begin and end with blanks */
    memmove(to, from, strlen(from) + 1);
    for (size_t end = strlen(name); end > 0 && name[end - 1] == ' '; end--)
        name[end - 1] = '\0';
}
