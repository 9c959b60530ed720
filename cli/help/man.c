/*
 * cli/help/man.c - the help of a command as roff, from the table that -h prints.
 *
 * Only macros that both groff and mandoc know are used: TH, SH, PP, TP, RS, RE, nf, fi. Options and commands are bold,
 * placeholders are italic. A '-' that people may copy is written as '\-', because a plain one becomes a hyphen.
 */
#include "man.h"

#include "cli/base/options.h"

#include <exemplar/base.h>

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- characters and words ---- */

static void print_character(FILE *file, char c, bool literal) {
    switch (c) {
    case '\\':
        fputs("\\e", file);
        break;
    case '\'':
        fputs("\\(aq", file);
        break;
    case '`':
        fputs("\\(ga", file);
        break;
    case '^':
        fputs("\\(ha", file);
        break;
    case '~':
        fputs("\\(ti", file);
        break;
    case '-':
        fputs(literal ? "\\-" : "-", file);
        break;
    default:
        fputc(c, file);
    }
}

/* Prints text to be copied as it is: names of commands and files, shell lines. */
static void print_literal(FILE *file, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (i == 0 && text[i] == '.')
            fputs("\\&", file);
        print_character(file, text[i], true);
    }
}

static void print_font(FILE *file, char font, const char *text, size_t length) {
    fprintf(file, "\\f%c", font);
    print_literal(file, text, length);
    fputs("\\fR", file);
}

/* Length of the option at the start of the text, "--name" or "-n"; 0 if there is none. */
static size_t option_length(const char *text) {
    const size_t dashes = strspn(text, "-");
    size_t length = dashes;
    while (dashes && dashes <= 2 && (isalnum((unsigned char)text[length]) || (length > dashes && text[length] == '-')))
        length++;
    return length > dashes ? length : 0;
}

/* Prints prose; options in it are bold. */
static void print_prose(FILE *file, const char *text, size_t length) {
    if (length && text[0] == '.')
        fputs("\\&", file);
    bool start = true; /* of a word */
    for (size_t i = 0; i < length; i++) {
        const size_t option = start ? option_length(text + i) : 0;
        if (option) {
            print_font(file, 'B', text + i, option);
            i += option - 1;
        } else {
            print_character(file, text[i], start && text[i] == '-');
        }
        start = text[i] == ' ' || text[i] == '(' || text[i] == '\'';
    }
}

/* Prints a line of a synopsis after the command's name: options are bold, placeholders, which begin with a capital,
 * italic. */
static void print_synopsis(FILE *file, const char *text, size_t length) {
    for (size_t i = 0; i < length;) {
        size_t word = option_length(text + i);
        if (word) {
            print_font(file, 'B', text + i, word);
        } else if (isupper((unsigned char)text[i])) {
            while (i + word < length && (isalnum((unsigned char)text[i + word]) || strchr("._", text[i + word])))
                word++;
            print_font(file, 'I', text + i, word);
        } else {
            print_literal(file, text + i, word = 1);
        }
        i += word;
    }
}

/* ---- blocks ---- */

static size_t line_length(const char *text) {
    return strcspn(text, "\n");
}

static const char *next_line(const char *text) {
    text += line_length(text);
    return text + (*text == '\n');
}

/* Prints paragraphs. Indented lines, a list made by hand, stay lines. */
static void print_paragraphs(FILE *file, const char *text) {
    bool list = false;
    for (; *text; text = next_line(text)) {
        const size_t length = line_length(text);
        const bool indented = text[0] == ' ';
        if (indented != list && length) {
            fputs(indented ? ".nf\n" : ".fi\n", file);
            list = indented;
        }
        if (length == 0)
            fputs(list ? ".fi\n.PP\n" : ".PP\n", file);
        list = list && length > 0;
        print_prose(file, text, length);
        if (length)
            fputc('\n', file);
    }
    if (list)
        fputs(".fi\n", file);
}

/* Prints lines as they are, indented. */
static void print_block(FILE *file, const char *text) {
    fputs(".RS 4\n.nf\n", file);
    for (; *text; text = next_line(text)) {
        print_literal(file, text, line_length(text));
        fputc('\n', file);
    }
    fputs(".fi\n.RE\n", file);
}

/* Prints "exemplar-example-add(1)". */
static void print_reference(FILE *file, const ex_command *command) {
    fputs("\\fBexemplar", file);
    if (command->name[0])
        fputs("\\-", file);
    for (const char *c = command->name; *c; c++)
        print_character(file, *c == ' ' ? '-' : *c, true);
    fputs("\\fR(1)", file);
}

/* ---- sections ---- */

static void print_title(FILE *file, const ex_command *command) {
    const char *epoch = getenv("SOURCE_DATE_EPOCH");
    const time_t now = epoch ? (time_t)strtoll(epoch, NULL, 10) : time(NULL);
    const struct tm *day = gmtime(&now);
    char date[16] = "";
    if (day)
        strftime(date, sizeof date, "%Y-%m-%d", day);
    fputs(".TH EXEMPLAR", file);
    if (command->name[0])
        fputs("\\-", file);
    for (const char *c = command->name; *c; c++)
        print_character(file, *c == ' ' ? '-' : (char)toupper((unsigned char)*c), true);
    /* No hyphens and no stretched spaces: commands in the text are to be copied. */
    fprintf(file, " 1 \"%s\" \"Exemplar %s\" \"Exemplar commands\"\n.nh\n.ad l\n", date, ex_version().text);
}

static void print_usage(FILE *file, const ex_command *command) {
    const size_t name = strlen(command->name);
    fputs(".SH SYNOPSIS\n.nf\n", file);
    for (const char *line = command->usage; *line; line = next_line(line)) {
        fputs("\\fBexemplar", file);
        if (name)
            fputc(' ', file);
        print_literal(file, command->name, name);
        fputs("\\fR", file);
        if (!name)
            fputc(' ', file);
        print_synopsis(file, line + name, line_length(line) - name);
        fputc('\n', file);
    }
    fputs(".fi\n", file);
}

static void print_commands(FILE *file, const ex_command *command) {
    if (command->command_count)
        fputs(".SH COMMANDS\n", file);
    for (int i = 0; i < command->command_count; i++) {
        fputs(".TP\n", file);
        print_reference(file, command->commands[i]);
        fputc('\n', file);
        print_prose(file, command->commands[i]->summary, strlen(command->commands[i]->summary));
        fputc('\n', file);
    }
}

static void print_options(FILE *file, const ex_command *command) {
    ex_option options[EXI_OPTION_MAX];
    const int count = exi_options_list(command, options);
    fputs(".SH OPTIONS\n", file);
    for (int i = 0; i < count; i++) {
        fputs(".TP\n", file);
        if (options[i].letter) {
            print_font(file, 'B', (const char[]){'-', options[i].letter}, 2);
            fputs(", ", file);
        }
        fputs("\\fB\\-\\-", file);
        print_literal(file, options[i].name, strlen(options[i].name));
        fputs("\\fR", file);
        if (options[i].argument) {
            fputc(' ', file);
            print_font(file, 'I', options[i].argument, strlen(options[i].argument));
        }
        fputc('\n', file);
        print_prose(file, options[i].help, strlen(options[i].help));
        fputc('\n', file);
    }
}

/* The command that this one is a subcommand of. */
static const ex_command *parent_of(const ex_command *command) {
    for (int i = 0; i < exi_tool.command_count; i++)
        for (int k = 0; k < exi_tool.commands[i]->command_count; k++)
            if (exi_tool.commands[i]->commands[k] == command)
                return exi_tool.commands[i];
    return &exi_tool;
}

void exi_man_print(FILE *file, const ex_command *command) {
    const bool is_tool = command == &exi_tool;
    print_title(file, command);
    fputs(".SH NAME\nexemplar", file);
    if (!is_tool)
        fputs("\\-", file);
    for (const char *c = command->name; *c; c++)
        print_character(file, *c == ' ' ? '-' : *c, true);
    fputs(" \\- ", file);
    print_prose(file, command->summary, strlen(command->summary));
    fputc('\n', file);
    print_usage(file, command);
    fputs(".SH DESCRIPTION\n", file);
    print_paragraphs(file, command->description);
    print_commands(file, command);
    if (!is_tool)
        print_options(file, command);
    fputs(".SH EXAMPLES\n", file);
    print_block(file, command->examples);
    if (!is_tool) {
        fputs(
            ".SH EXIT STATUS\n"
            "0 when done, 1 when something failed, 2 for wrong usage, 130 or 143 when Ctrl-C or kill ended the work.\n"
            ".SH SEE ALSO\n",
            file);
        print_reference(file, parent_of(command));
        fputc('\n', file);
    }
}
