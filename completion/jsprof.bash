# jsprof.bash - completion of the jsprof command for bash.
#
# SPDX-License-Identifier: MIT

_jsprof()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    local command=${COMP_WORDS[1]} commands='info report tree dump help'
    local words=''
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="$commands --help --version"
    elif [ "$command" = help ]; then
        words='info report tree dump'
    else
        case $before in
        --sort) words='self total samples name' ;;
        --limit | --thread | --min | --depth) return ;;
        esac
        if [ -z "$words" ] && [ "${word#-}" != "$word" ]; then
            case $command in
            report) words='--sort --limit --thread --native --vm --lines --csv --help' ;;
            tree)
                words='--bottom-up --inverted --recursion --native --vm --lines --min
                    --depth --thread --help' ;;
            *) words='--help' ;;
            esac
        fi
    fi
    if [ -n "$words" ]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}
complete -o filenames -F _jsprof jsprof
