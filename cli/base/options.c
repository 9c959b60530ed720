/*
 * cli/base/options.c - one parser and one help printer for every command. Both walk the command's own options and then
 * the common ones, so the help always matches what is accepted.
 */
#include "options.h"

#include "common/pool.h"
#include "report.h"

#include <exemplar/author/project.h>

#include <stdlib.h>
#include <string.h>

#define COMMON_MAX   4
#define HELP_COLUMNS 78

/* The options that every command has. */
typedef struct common {
    bool json, quiet, help;
    int threads;
    ex_option options[COMMON_MAX];
    int option_count;
} common;

static void common_fill(common *shared, const ex_command *command) {
    *shared = (common){.json = false};
    int n = 0;
    if (command->json) {
        shared->options[n++] =
            (ex_option){.name = "json", .help = "print data as one line of JSON", .flag = &shared->json};
    }
    shared->options[n++] = (ex_option){.name = "threads",
                                       .argument = "N",
                                       .help = "use at most N threads (default: one per core); the result is the same",
                                       .count = &shared->threads,
                                       .count_max = EXI_THREAD_MAX};
    shared->options[n++] = (ex_option){
        .name = "quiet", .letter = 'q', .help = "print only requested data and errors", .flag = &shared->quiet};
    shared->options[n++] = (ex_option){.name = "help", .letter = 'h', .help = "print this page", .flag = &shared->help};
    shared->option_count = n;
}

static int option_total(const ex_command *command, const common *shared) {
    return command->option_count + shared->option_count;
}

static const ex_option *option_at(const ex_command *command, const common *shared, int index) {
    return index < command->option_count ? &command->options[index] : &shared->options[index - command->option_count];
}

bool exi_command_has(const ex_command *command, const char *option) {
    for (int i = 0; i < command->option_count; i++)
        if (strcmp(command->options[i].name, option) == 0)
            return true;
    return false;
}

int exi_options_list(const ex_command *command, ex_option options[EXI_OPTION_MAX]) {
    common shared;
    common_fill(&shared, command);
    int count = 0;
    for (; count < option_total(command, &shared) && count < EXI_OPTION_MAX; count++)
        options[count] = *option_at(command, &shared, count);
    return count;
}

int exi_wrong_usage(const ex_command *command, const char *format, ...) {
    va_list list;
    va_start(list, format);
    char prefix[64], suffix[64];
    snprintf(prefix, sizeof prefix, "exemplar %s", command->name);
    snprintf(suffix, sizeof suffix, " (see 'exemplar %s -h')", command->name);
    exi_message(prefix, suffix, format, list);
    va_end(list);
    return EX_EXIT_USAGE;
}

/* ---- parsing ---- */

typedef struct parser {
    const ex_command *command;
    common *shared;
    int word_count;
    char *const *words;
    int position; /* the next word */
    bool given[EXI_OPTION_MAX];
} parser;

static const ex_option *find_name(const parser *p, const char *name, size_t length) {
    for (int i = 0; i < option_total(p->command, p->shared); i++) {
        const ex_option *option = option_at(p->command, p->shared, i);
        if (strlen(option->name) == length && memcmp(option->name, name, length) == 0)
            return option;
    }
    return NULL;
}

static const ex_option *find_letter(const parser *p, char letter) {
    for (int i = 0; i < option_total(p->command, p->shared); i++) {
        const ex_option *option = option_at(p->command, p->shared, i);
        if (option->letter && option->letter == letter)
            return option;
    }
    return NULL;
}

static int unknown_name(const parser *p, const char *name, size_t length) {
    const char *candidates[EXI_OPTION_MAX];
    int count = 0;
    for (int i = 0; i < option_total(p->command, p->shared) && count < EXI_OPTION_MAX; i++)
        candidates[count++] = option_at(p->command, p->shared, i)->name;
    char word[64];
    const char *near = NULL;
    if (length < sizeof word) {
        memcpy(word, name, length);
        word[length] = '\0';
        near = ex_suggest(word, candidates, count);
    }
    if (near) {
        return exi_wrong_usage(p->command, "there is no option '--%.*s': did you mean '--%s'?", (int)length, name,
                               near);
    }
    if (strstr(p->command->usage, "axis=value") && name[length] == '=' && length < 200)
        return exi_wrong_usage(p->command, "there is no option '--%.*s': an axis is set without dashes, %.200s",
                               (int)length, name, name);
    return exi_wrong_usage(p->command, "there is no option '--%.*s'", length > 200 ? 200 : (int)length, name);
}

static int store_value(const parser *p, const ex_option *option, const char *value) {
    if (option->text) {
        if (*value == '\0')
            return exi_wrong_usage(p->command, "--%s needs %s, not an empty value", option->name, option->argument);
        *option->text = value;
        return EX_EXIT_DONE;
    }
    char *end;
    long number = strtol(value, &end, 10);
    const int least = option->count_min < 0 ? 0 : option->count_min > 1 ? option->count_min : 1;
    if (end == value || *end || number < least || number > option->count_max) {
        return exi_wrong_usage(p->command, "--%s needs a whole number from %d to %d, not '%s'", option->name, least,
                               option->count_max, value);
    }
    *option->count = (int)number;
    return EX_EXIT_DONE;
}

/* The first word is always taken, and the command checks it; further ones only if they cannot be anything else. */
static int store_words(parser *p, const ex_option *option, const char *value) {
    ex_word_list *list = option->words;
    while (list->count < EX_WORDS_MAX) {
        list->places[list->count] = p->position;
        list->words[list->count++] = value;
        if (p->position == p->word_count || p->words[p->position][0] == '-' || !strchr(p->words[p->position], '='))
            return EX_EXIT_DONE;
        value = p->words[p->position++];
    }
    return exi_wrong_usage(p->command, "--%s takes at most %d settings", option->name, EX_WORDS_MAX);
}

/* Notes that an option was given; false if it was given before. */
static bool note_given(parser *p, const ex_option *option) {
    int index = 0;
    while (option_at(p->command, p->shared, index) != option)
        index++;
    if (index >= EXI_OPTION_MAX)
        return true;
    bool first = !p->given[index];
    p->given[index] = true;
    return first;
}

/* Stores a flag or a value; `attached` is the value in the same word, or NULL. */
static int store(parser *p, const ex_option *option, const char *attached) {
    if (!note_given(p, option) && !option->words)
        return exi_wrong_usage(p->command, "--%s is given twice%s", option->name,
                               option->listed ? ": list several with commas between" : "");
    if (option->flag) {
        if (attached)
            return exi_wrong_usage(p->command, "--%s takes no value", option->name);
        *option->flag = true;
        return EX_EXIT_DONE;
    }
    if (!attached) {
        if (p->position == p->word_count)
            return exi_wrong_usage(p->command, "--%s needs %s after it", option->name, option->argument);
        attached = p->words[p->position++];
    }
    return option->words ? store_words(p, option, attached) : store_value(p, option, attached);
}

static int parse_long(parser *p, const char *word) {
    const char *name = word + 2;
    const char *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    const ex_option *option = find_name(p, name, length);
    return option ? store(p, option, equals ? equals + 1 : NULL) : unknown_name(p, name, length);
}

static int parse_short(parser *p, const char *word) {
    for (const char *letter = word + 1; *letter; letter++) {
        const ex_option *option = find_letter(p, *letter);
        if (!option)
            return exi_wrong_usage(p->command, "there is no option '-%c' in '%s'", *letter, word);
        int exit_code = store(p, option, !option->flag && letter[1] ? letter + 1 : NULL);
        if (exit_code != EX_EXIT_DONE || !option->flag)
            return exit_code;
    }
    return EX_EXIT_DONE;
}

static int check_arguments(const ex_command *command, const ex_call *call) {
    if (call->argument_count < command->argument_min) {
        return exi_wrong_usage(command, "an argument is missing; usage: exemplar %.*s",
                               (int)strcspn(command->usage, "\n"), command->usage);
    }
    if (command->argument_max >= 0 && call->argument_count > command->argument_max)
        return exi_wrong_usage(command, "'%s' is one argument too many", call->arguments[command->argument_max]);
    return EX_EXIT_DONE;
}

int exi_options_parse(const ex_command *command, int word_count, char *const *words, const char **arguments,
                      ex_call *call, bool *help) {
    common shared;
    common_fill(&shared, command);
    parser p = {.command = command, .shared = &shared, .word_count = word_count, .words = words};
    int argument_count = 0;
    bool ended = false;
    while (p.position < word_count) {
        const char *word = words[p.position++];
        int exit_code = EX_EXIT_DONE;
        if (ended || word[0] != '-' || word[1] == '\0')
            arguments[argument_count++] = word;
        else if (strcmp(word, "--") == 0)
            ended = true;
        else
            exit_code = word[1] == '-' ? parse_long(&p, word) : parse_short(&p, word);
        *help = shared.help;
        if (exit_code != EX_EXIT_DONE || shared.help)
            return exit_code;
    }
    *call = (ex_call){.command = command,
                      .argument_count = argument_count,
                      .arguments = arguments,
                      .json = shared.json,
                      .quiet = shared.quiet,
                      .threads = shared.threads ? shared.threads : exi_core_count()};
    return check_arguments(command, call);
}

/* ---- help ---- */

void exi_lines_print(FILE *file, const char *margin, const char *text) {
    while (*text) {
        size_t length = strcspn(text, "\n");
        fprintf(file, "%s%.*s\n", length ? margin : "", (int)length, text);
        text += length;
        text += *text == '\n';
    }
}

/* Writes "-o, --output FILE" into buffer. */
static void option_label(const ex_option *option, char *buffer, size_t size) {
    char letter[8] = "    ";
    if (option->letter)
        snprintf(letter, sizeof letter, "-%c, ", option->letter);
    snprintf(buffer, size, "%s--%s%s%s", letter, option->name, option->argument ? " " : "",
             option->argument ? option->argument : "");
}

/* Prints the option's help right of column `indent`, where the cursor already is, and breaks lines between words. */
static void print_wrapped(FILE *file, const char *text, int indent) {
    int column = indent;
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (column > indent && column + 1 + length > HELP_COLUMNS) {
            fprintf(file, "\n%*s", indent, "");
            column = indent;
        } else if (column > indent) {
            fputc(' ', file);
            column++;
        }
        fprintf(file, "%.*s", length, text);
        column += length;
        text += length;
        text += *text == ' ';
    }
    fputc('\n', file);
}

void exi_help_print(FILE *file, const ex_command *command) {
    common shared;
    common_fill(&shared, command);
    char label[80];
    int width = 0;
    for (int i = 0; i < option_total(command, &shared); i++) {
        option_label(option_at(command, &shared, i), label, sizeof label);
        width = (int)strlen(label) > width ? (int)strlen(label) : width;
    }
    fprintf(file, "exemplar %s: %s\n\nUsage:\n", command->name, command->summary);
    exi_lines_print(file, "  exemplar ", command->usage);
    fprintf(file, "\n%s\n\n", command->description);
    for (int i = 0; i < command->command_count; i++)
        fprintf(file, "%s  %-16s %s\n%s", i == 0 ? "Commands:\n" : "", command->commands[i]->name,
                command->commands[i]->summary, i + 1 == command->command_count ? "\n" : "");
    fprintf(file, "Options:\n");
    for (int i = 0; i < option_total(command, &shared); i++) {
        const ex_option *option = option_at(command, &shared, i);
        option_label(option, label, sizeof label);
        fprintf(file, "  %-*s  ", width, label);
        print_wrapped(file, option->help, width + 4);
    }
    fprintf(file, "\nExamples:\n");
    exi_lines_print(file, "  ", command->examples);
}
