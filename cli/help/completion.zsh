#compdef exemplar
# zsh completion for exemplar, for zsh 5. A word in `open` wants more after it, without a space.
_exemplar() {
    local line word
    local -a open closed endings
    local -a typed=("${(@Q)words[2,CURRENT]}")
    [[ $PREFIX == *=* ]] && compset -P '*='
    for line in "${(@f)$(${(Q)words[1]} completion --words -- "${typed[@]}" 2>/dev/null)}"; do
        case $line in
        '') ;;
        :folders) _files -/ ;;
        :files) _files ;;
        :files*) endings=(${(s: :)line#:files })
            _files -g "*(${(j:|:)endings}|.)" ;;
        *) word=${${line%%$'\t'*}//:/\\:}
            [[ $line == *$'\t'* ]] && word+=:${line#*$'\t'}
            [[ ${line%%$'\t'*} == *[=:] ]] && open+=($word) || closed+=($word) ;;
        esac
    done
    (( $#closed )) && _describe exemplar closed
    (( $#open )) && _describe exemplar open -S ''
    return 0
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _exemplar "$@"; else compdef _exemplar exemplar; fi
