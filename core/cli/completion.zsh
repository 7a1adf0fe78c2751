#compdef peat
# Completion of peat in zsh: the program itself says what the last word may become.
_peat()
{
    local word
    local -a offered plain open
    offered=("${(@f)$("${(Q)words[1]/#\~/$HOME}" help --complete -- \
        "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2>/dev/null)}")
    for word in "${offered[@]}"; do
        case $word in
        '' | '<dir>' | '<file>') ;;
        *=) open+=("$word") ;;
        *) plain+=("$word") ;;
        esac
    done
    (( ! $#plain )) || compadd -a plain
    (( ! $#open )) || compadd -S '' -a open
    [[ $PREFIX != *=* ]] || compset -P '*='
    (( ! ${offered[(I)<file>]} )) || _files
    (( ! ${offered[(I)<dir>]} )) || _files -/
}
_peat "$@"
