# bash completion for exemplar, for bash 4 or later. Needs nothing of the package bash-completion.
# bash splits words at '=' and ':' (COMP_WORDBREAKS): they are joined again, and only the last part is completed.
_exemplar() {
    local words=() word='' part line ending glued=''
    for word in "${COMP_WORDS[@]:1:COMP_CWORD}"; do
        if [[ $word == [=:] && ${#words[@]} -gt 0 ]]; then
            words[-1]+=$word glued=1
        elif [[ $glued ]]; then
            words[-1]+=$word glued=''
        else
            words+=("$word")
        fi
    done
    word=${words[-1]} part=${word##*=} COMPREPLY=()
    [[ $COMP_WORDBREAKS == *=* ]] && word=$part
    while IFS= read -r line; do
        case $line in
        :folders)
            compopt -o filenames 2>/dev/null
            mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "$part") ;;
        :files)
            compopt -o filenames 2>/dev/null
            mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$part") ;;
        :files*)
            compopt -o filenames 2>/dev/null
            mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- "$part"
                for ending in ${line#:files}; do compgen -f -X "!*$ending" -- "$part"; done) ;;
        *) COMPREPLY+=("${line%%$'\t'*}") ;;
        esac
    done < <("$1" completion --words -- "${words[@]}" 2>/dev/null)
    COMPREPLY=("${COMPREPLY[@]/#/${word%"$part"}}")
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[=:] ]] && compopt -o nospace 2>/dev/null
    return 0
}
complete -F _exemplar exemplar
