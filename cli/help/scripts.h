/*
 * cli/help/scripts.h - the scripts that make shells ask the tool for completions (complete.h): completion.bash,
 * completion.zsh and completion.fish, which the build puts into the tool as text (cli/CMakeLists.txt).
 */
#ifndef EXEMPLAR_CLI_SCRIPTS_H
#define EXEMPLAR_CLI_SCRIPTS_H

extern const char exi_script_bash[], exi_script_zsh[], exi_script_fish[];

#endif
