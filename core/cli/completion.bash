# Completion of peat in bash: the program itself says what may follow.
_peat()
{
    local IFS=$'\n' current=${COMP_WORDS[COMP_CWORD]} offered paths=
    offered=$("${COMP_WORDS[0]/#\~/$HOME}" help --complete -- \
        "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    [ "$current" != = ] || current=
    case $offered in
        '<dir>') paths=-d ;;
        '<file>') paths=-f ;;
    esac
    if [ -n "$paths" ]; then
        compopt -o filenames 2>/dev/null
        COMPREPLY=($(compgen "$paths" -- "$current"))
    else
        COMPREPLY=($(compgen -W "$offered" -- "$current"))
    fi
}
complete -o default -F _peat peat
