/*
 * cli/base/command.h - a command of the tool: one file cli/cmd_NAME.c with one `const ex_command cmd_NAME`, and one
 * line in the table of cli/main.c.
 *
 * A command declares its options; parsing, help and the common options (--json, --threads, --quiet, -h) follow from the
 * declaration (options.h). Its run function calls the library, prints data on stdout and messages on stderr (report.h),
 * and returns one of the three exit codes. Commands run once per process, in the main thread.
 */
#ifndef EXEMPLAR_CLI_COMMAND_H
#define EXEMPLAR_CLI_COMMAND_H

#include <stdbool.h>

/* Exit codes of the tool. */
typedef enum ex_exit { EX_EXIT_DONE = 0, EX_EXIT_FAILED = 1, EX_EXIT_USAGE = 2 } ex_exit;

/* Words of an option that takes several, up to the first without '=': `--at elbow=90 wrist=x20`. */
#define EX_WORDS_MAX 256
typedef struct ex_word_list {
    const char *words[EX_WORDS_MAX];
    int places[EX_WORDS_MAX]; /* of the words in the command line, ascending: which option came before which */
    int count;
} ex_word_list;

/* One option of a command. Exactly one of the four targets is set and determines the kind of option. If the option is
 * not given, its target keeps its initial value, which is the default. */
typedef struct ex_option {
    const char *name;     /* "output" for --output */
    char letter;          /* 'o' for -o; 0 for none */
    const char *argument; /* placeholder in the help, "FILE"; NULL for a flag */
    const char *values; /* for completion: words that the argument can be, "cage|limit", or endings of files that it can
                         * name, ".svg|.png"; NULL where the placeholder says enough */
    /* For completion: returns a name, or NULL after the last one, where the argument is some of them with commas
     * between; may be NULL. */
    const char *(*value_name)(int index);
    const char *help; /* effect of the option, without a full stop; the help printer breaks lines */
    bool listed;      /* true if the text is several words with commas between */
    bool *flag;
    const char **text;
    ex_word_list *words; /* may be given several times */
    int *count;
    int count_min, count_max; /* with count: smallest (0 means 1, -1 means 0) and largest value accepted */
} ex_option;

typedef struct ex_command ex_command;

/* A parsed command line. */
typedef struct ex_call {
    const ex_command *command;
    const char *program; /* name that the tool was called by, for the commands it suggests */
    int argument_count;
    const char *const *arguments; /* [argument_count]: the words that are not options */
    bool json;                    /* true to print data as JSON */
    bool quiet;                   /* true to print only data and errors */
    int threads;                  /* at least 1; default: the number of cores */
} ex_call;

struct ex_command {
    const char *name;
    const char *summary;      /* one line, lower case, without a full stop */
    const char *usage;        /* lines with '\n' between, each without the leading "exemplar ". Completion reads from
                               * them what arguments are: RIG.glb, DIR, axis=value... (cli/help/complete.c) */
    const char *description;  /* paragraphs, wrapped by hand at 78 columns, no '\n' at the end */
    const char *examples;     /* lines with '\n' between, each a complete shell command or a # comment */
    const ex_option *options; /* [option_count], without the common ones */
    int option_count;
    bool json;                      /* true if it prints data, so that --json is offered */
    int argument_min, argument_max; /* number of arguments; argument_max -1: no limit */
    /* For completion: returns a name that the first argument can be, or NULL after the last one; may be NULL. */
    const char *(*argument_name)(int index);
    int (*run)(const ex_call *call);   /* returns an ex_exit, or 128 + a signal */
    const ex_command *const *commands; /* [command_count]: subcommands, called by this name and theirs ("example add");
                                        * or NULL */
    int command_count;
};

/* True if the command has an option of that name. */
bool exi_command_has(const ex_command *command, const char *option);

/* The tool itself, in cli/main.c: a command without a name, with all others as its subcommands. */
extern const ex_command exi_tool;
/* The subcommand that this word calls ("build" of exi_tool, "add" of "example"); NULL if there is none. */
const ex_command *exi_command_inner(const ex_command *command, const char *word);
/* The word that calls this subcommand: "add" for "example add". */
const char *exi_command_word(const ex_command *inner);

/* Prints "exemplar NAME: SENTENCE (see 'exemplar NAME -h')" on stderr. Returns EX_EXIT_USAGE. */
int exi_wrong_usage(const ex_command *command, const char *format, ...) __attribute__((format(printf, 2, 3)));

extern const ex_command cmd_bake;
extern const ex_command cmd_bench;
extern const ex_command cmd_build;
extern const ex_command cmd_check;
extern const ex_command cmd_completion;
extern const ex_command cmd_demo;
extern const ex_command cmd_diff;
extern const ex_command cmd_drive;
extern const ex_command cmd_edit;
extern const ex_command cmd_example;
extern const ex_command cmd_farm;
extern const ex_command cmd_figures;
extern const ex_command cmd_info;
extern const ex_command cmd_init;
extern const ex_command cmd_plot;
extern const ex_command cmd_pose;
extern const ex_command cmd_redo;
extern const ex_command cmd_render;
extern const ex_command cmd_scan;
extern const ex_command cmd_sheet;
extern const ex_command cmd_undo;
extern const ex_command cmd_unpack;
extern const ex_command cmd_warp;
extern const ex_command cmd_weights;

#endif
