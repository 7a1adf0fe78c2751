# Completion of peat in bash: the program itself says what the last word may become.
_peat()
{
    local IFS=$'\n' current=${COMP_WORDS[COMP_CWORD]} offered word
    [ "$current" != = ] || current=
    mapfile -t offered < <("${COMP_WORDS[0]/#\~/$HOME}" help --complete -- \
        "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    COMPREPLY=()
    for word in "${offered[@]}"; do
        case $word in
        '<dir>' | '<file>')
            compopt -o filenames 2>/dev/null
            word=${word#<}
            COMPREPLY+=($(compgen "-${word:0:1}" -- "$current"))
            ;;
        *)
            [ "${word: -1}" != = ] || compopt -o nospace 2>/dev/null
            COMPREPLY+=("$word")
            ;;
        esac
    done
}
complete -o default -F _peat peat
