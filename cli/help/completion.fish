# fish completion for exemplar, for fish 3.
function __exemplar_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l part (string replace -r '^.*=' '' -- $words[-1])
    set -l before (string sub -l (math (string length -- $words[-1]) - (string length -- $part)) -- $words[-1])
    for line in ($words[1] completion --words -- $words[2..-1] 2>/dev/null)
        switch $line
            case ':folders' ':files *'
                for found in (__fish_complete_directories $part '')
                    echo -- $before$found
                end
            case ':files'
                for found in (__fish_complete_path $part)
                    echo -- $before$found
                end
            case '*'
                echo -- $before$line
        end
        for ending in (string match -ar '\.\w+' -- (string replace -rf '^:files ' '' -- $line))
            for found in $part*$ending
                echo -- $before$found
            end
        end
    end
end
complete -c exemplar -f -a '(__exemplar_complete)'
