# Completion of peat in fish: the program itself says what the last word may become.
function __peat_offers
    set -l words (commandline -opc)
    set -l program (string replace -r '^~' $HOME -- $words[1])
    set -e words[1]
    set -l current (commandline -ct)
    set -l before (string match -r '^[^=]*=' -- "$current")
    set -l begun (string replace -r '^[^=]*=' '' -- "$current")
    for offer in ($program help --complete -- $words "$current" 2>/dev/null)
        switch $offer
            case '<file>'
                printf '%s\n' "$before"(__fish_complete_path "$begun")
            case '<dir>'
                printf '%s\n' "$before"(__fish_complete_directories "$begun" '')
            case '*'
                printf '%s\n' $offer
        end
    end
end
complete -c peat -f -a '(__peat_offers)'
