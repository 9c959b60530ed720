/*
 * cli/help/complete.c - completes a command line from the tables that -h prints: commands, options, values of options,
 * and arguments. The lines of usage tell what an argument is: by
 *   drive add RIG.glb --driver FORM --driven FORM [-o NEW.glb]
 * the first argument is a file that ends with .glb, and there is no second one. For axis=value the rig is read and its
 * axes are offered.
 */
#include "complete.h"

#include "cli/base/options.h"
#include "cli/base/plain.h"

#include <exemplar/author.h>

#include <ctype.h>
#include <string.h>

#define FORMS ".obj|.ply|.off|.glb|.gltf"

/* Placeholders that stand for files and have no ending themselves. */
static const struct {
    const char *placeholder, *values; /* values as in ex_option, "" for all files, "/" for folders */
} kinds[] = {
    {"DIR", "/"},
    {"FILE", ""},
    {"FORM", FORMS},
    {"SCULPT", FORMS},
    {"MESH", FORMS},
    {"OTHER", FORMS},
    {"A", FORMS},
    {"B", FORMS},
    {"C", FORMS},
    {"CACHE", ".pc2|.mdd|.abc|.obj"},
    {"OUT", ".glb|.pc2|.mdd|.abc|.obj"},
};

typedef struct completion {
    FILE *file;
    const ex_command *command;
    ex_option options[EXI_OPTION_MAX];
    bool given[EXI_OPTION_MAX];
    int option_count;
    const char *rig;    /* first argument, or NULL */
    int argument_count; /* before the word */
    const char *word;   /* to be completed */
    char endings[128];  /* of the files to offer, " .obj .ply" */
    bool files, all_files, folders;
    bool failed; /* true if memory ran out */
} completion;

/* Prints "BEFORE TEXT AFTER" (without the spaces) and its summary, which may be NULL, if the word fits. */
static void offer(const completion *c, const char *before, const char *text, size_t length, const char *after,
                  const char *summary) {
    char line[256];
    snprintf(line, sizeof line, "%s%.*s%s", before, (int)length, text, after);
    const bool complete = strcmp(line, c->word) == 0 && strchr(line, ':'); /* the user goes on from here */
    if (strncmp(line, c->word, strlen(c->word)) == 0 && !complete)
        fprintf(c->file, "%s%s%s\n", line, summary && *summary ? "\t" : "", summary ? summary : "");
}

/* ---- values ---- */

/* Notes files of an ending, ".obj"; folders for "/", all files for "". */
static void note_files(completion *c, const char *ending, size_t length) {
    char spaced[16] = "";
    c->folders = c->folders || *ending == '/';
    c->all_files = c->all_files || length == 0;
    c->files = c->files || *ending != '/';
    if (*ending != '.' || length + 2 > sizeof spaced)
        return;
    snprintf(spaced, sizeof spaced, " %.*s", (int)length, ending);
    const char *found = strstr(c->endings, spaced);
    const bool known = found && (found[length + 1] == ' ' || found[length + 1] == '\0');
    if (!known && strlen(c->endings) + strlen(spaced) < sizeof c->endings)
        strcat(c->endings, spaced);
}

static void offer_files(const completion *c) {
    if (c->files)
        fprintf(c->file, ":files%s\n", c->all_files ? "" : c->endings);
    else if (c->folders)
        fputs(":folders\n", c->file);
}

/* Offers each of "y|z", and files for each of ".obj|.ply". */
static void offer_values(completion *c, const char *values) {
    do {
        const size_t length = strcspn(values, "|");
        if (length == 0 || values[0] == '.' || values[0] == '/')
            note_files(c, values, length);
        else
            offer(c, "", values, length, "", NULL);
        values += length;
    } while (*values++ == '|');
}

/* Offers what a part of a placeholder stands for: "RIG.glb", "DIR", "y". */
static void offer_part(completion *c, const char *text, size_t size, bool choice) {
    const size_t name = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");
    if (name == 0 && choice)
        offer(c, "", text, size, "", NULL);
    if (name && text[name] == '.') {
        const size_t ending = strspn(text + name + 1, "abcdefghijklmnopqrstuvwxyz0123456789");
        if (ending) {
            note_files(c, text + name, 1 + ending);
            return;
        }
    }
    const bool whole = name == size || text[name] == '.'; /* "A", "A...", but not "A,B" */
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (whole && strlen(kinds[i].placeholder) == name && memcmp(kinds[i].placeholder, text, name) == 0)
            offer_values(c, kinds[i].values);
}

/* Offers what a placeholder of an option or of a line of usage stands for: "RIG.glb|PROJECT.json", "y|z", "DIR". */
static void offer_placeholder(completion *c, const char *text, size_t size) {
    const bool choice = memchr(text, '|', size);
    for (size_t at = 0, part; at < size; at += part + 1) {
        const char *bar = memchr(text + at, '|', size - at);
        part = bar ? (size_t)(bar - text) - at : size - at;
        offer_part(c, text + at, part, choice);
    }
}

static void offer_axes(completion *c) {
    ex_error error = {.result = EX_OK};
    ex_rig *rig = NULL;
    const ex_result result = c->rig ? ex_rig_read(c->rig, NULL, &rig, &error) : EX_OK;
    c->failed = c->failed || result == EX_ERROR_MEMORY;
    if (!rig)
        return;
    /* A name that shells cannot show is left out: they would print it as it is. */
    for (int i = 0; i < ex_rig_input_count(rig); i++) {
        const char *name = ex_rig_input_name(rig, i), *unit = ex_rig_input_unit(rig, i);
        if (exi_is_plain(name))
            offer(c, "", name, strlen(name), "=", exi_is_plain(unit) ? unit : NULL);
    }
    ex_rig_destroy(rig);
}

/* ---- options ---- */

/* The option that a word names, "--output" or "-o" or "--output=x"; NULL if it names none. *index is its number. */
static const ex_option *find_option(const completion *c, const char *word, int *index) {
    for (int i = 0; i < c->option_count; i++) {
        const size_t length = strlen(c->options[i].name);
        const bool named = strncmp(word, "--", 2) == 0 && strncmp(word + 2, c->options[i].name, length) == 0 &&
                           (word[2 + length] == '\0' || strchr("= ]", word[2 + length]));
        const bool lettered = word[0] == '-' && c->options[i].letter && word[1] == c->options[i].letter &&
                              (word[2] == '\0' || strchr(" ]", word[2]));
        if (named || lettered) {
            *index = i;
            return &c->options[i];
        }
    }
    return NULL;
}

static void offer_option_names(const completion *c) {
    for (int i = 0; i < c->option_count; i++)
        if (!c->given[i] || c->options[i].words)
            offer(c, "--", c->options[i].name, strlen(c->options[i].name), "", c->options[i].help);
}

/* True if a list, "gaussian,calm,", has the name. */
static bool is_listed(const char *list, size_t size, const char *name) {
    for (size_t at = 0, length; at < size; at += length + 1) {
        length = strcspn(list + at, ",");
        if (length == strlen(name) && memcmp(list + at, name, length) == 0)
            return true;
    }
    return false;
}

/* Offers each name that is not in the list yet, after the names that are. */
static void offer_listed(const completion *c, const char *(*name)(int index)) {
    const char *comma = strrchr(c->word, ',');
    const size_t size = comma ? (size_t)(comma - c->word) + 1 : 0;
    char before[160] = "";
    if (size >= sizeof before)
        return;
    memcpy(before, c->word, size);
    for (int i = 0; name(i); i++)
        if (!is_listed(before, size, name(i)))
            offer(c, before, name(i), strlen(name(i)), "", NULL);
}

static void offer_option_values(completion *c, const ex_option *option) {
    if (option->value_name)
        offer_listed(c, option->value_name);
    else if (option->values)
        offer_values(c, option->values);
    else if (option->argument)
        offer_placeholder(c, option->argument, strlen(option->argument));
}

/* ---- arguments ---- */

/* Returns the n-th argument in a line of usage and its length; the last one if it is repeated ("C..."). NULL if the
 * line has fewer. */
static const char *usage_argument(const completion *c, const char *line, int n, size_t *length) {
    const size_t size = strcspn(line, "\n");
    const char *found = NULL;
    int count = 0, index;
    *length = 0;
    bool value = false; /* true if the word belongs to the option before it */
    for (size_t at = strlen(c->command->name), word; at < size; at += word) {
        at += strspn(line + at, " [");
        word = strcspn(line + at, " ]\n");
        const ex_option *option = find_option(c, line + at, &index);
        if (line[at] != '-' && !value && isalpha((unsigned char)line[at])) {
            *length = word;
            found = line + at;
            if (count++ == n)
                return found;
        }
        value = option && option->argument;
        word += strspn(line + at + word, " ]");
    }
    return found && *length > 3 && strncmp(found + *length - 3, "...", 3) == 0 ? found : NULL;
}

static void offer_arguments(completion *c) {
    if (c->command->argument_max >= 0 && c->argument_count >= c->command->argument_max)
        return;
    if (c->argument_count == 0 && c->command->argument_name)
        for (int i = 0; c->command->argument_name(i); i++)
            offer(c, "", c->command->argument_name(i), strlen(c->command->argument_name(i)), "", NULL);
    bool axes = false;
    for (const char *line = c->command->usage; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        size_t length;
        const char *argument = usage_argument(c, line, c->argument_count, &length);
        if (!argument)
            continue;
        if (memchr(argument, '=', length))
            axes = true;
        else
            offer_placeholder(c, argument, length);
    }
    if (axes)
        offer_axes(c);
}

/* ---- the line ---- */

static void offer_commands(const completion *c, const ex_command *command) {
    for (int i = 0; i < command->command_count; i++) {
        const char *word = exi_command_word(command->commands[i]);
        offer(c, "", word, strlen(word), "", command->commands[i]->summary);
    }
}

/* The words after 'help': a command, its subcommand. */
static void complete_help(completion *c, int count, const char *const *words) {
    if (count > 1 && strcmp(words[0], "--man") == 0) {
        count--;
        words++;
    } else if (count == 1 && c->word[0] == '-') {
        offer(c, "--", "man", 3, "", "print the page as roff, for man(1)");
    }
    const ex_command *command = count == 1 ? &exi_tool : exi_command_inner(&exi_tool, words[0]);
    if (command && count <= 2)
        offer_commands(c, command);
}

/* The words after the command's name. */
static void complete_command(completion *c, int count, const char *const *words) {
    c->option_count = exi_options_list(c->command, c->options);
    const ex_option *pending = NULL; /* the option whose value comes next */
    bool ended = false;
    for (int i = 0; i + 1 < count; i++) {
        int index;
        const ex_option *option = !ended && !pending ? find_option(c, words[i], &index) : NULL;
        if (option)
            c->given[index] = true;
        else if (!pending && (ended || words[i][0] != '-'))
            c->rig = c->argument_count++ == 0 ? words[i] : c->rig;
        ended = ended || (!pending && strcmp(words[i], "--") == 0);
        pending = option && option->argument && !strchr(words[i], '=') ? option : NULL;
    }
    int index;
    const char *equals = strchr(c->word, '=');
    if (!pending && equals && c->word[0] == '-' && !ended)
        pending = find_option(c, c->word, &index);
    c->word = equals ? equals + 1 : c->word;
    if (pending)
        offer_option_values(c, pending);
    else if (equals)
        return;
    else if (c->word[0] == '-' && !ended)
        offer_option_names(c);
    else if (c->command->command_count == 0)
        offer_arguments(c);
    offer_files(c);
}

bool exi_complete_print(FILE *file, int count, const char *const *words) {
    completion c = {.file = file, .word = count > 0 ? words[count - 1] : ""};
    if (count <= 1) {
        offer_commands(&c, &exi_tool);
        offer(&c, "", "help", 4, "", "print the page of a command");
        if (c.word[0] == '-') {
            offer(&c, "--", "help", 4, "", "print the overview");
            offer(&c, "--", "version", 7, "", "print the version");
        }
        return true;
    }
    if (strcmp(words[0], "help") == 0) {
        complete_help(&c, count - 1, words + 1);
        return true;
    }
    c.command = exi_command_inner(&exi_tool, words[0]);
    if (!c.command)
        return true;
    const ex_command *inner = count > 2 ? exi_command_inner(c.command, words[1]) : NULL;
    if (count == 2)
        offer_commands(&c, c.command);
    if (inner)
        c.command = inner;
    complete_command(&c, count - (inner ? 2 : 1), words + (inner ? 2 : 1));
    return !c.failed;
}
