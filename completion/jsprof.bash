# jsprof.bash - completion of the jsprof command for bash.
#
# SPDX-License-Identifier: MIT
#
# The commands and options come from the tool's own help, so the completion has all of them.

_jsprof_commands() { command "$1" --help 2>/dev/null | sed -n 's/^  \([a-z]\{1,\}\)  .*/\1/p'; }

# All options in the help of a command, also those that share a line with others.
_jsprof_options()
{
    command "$1" help "$2" 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u
    echo --help
}

# The values that the help lists after an option, as in "--clock cpu|wall".
_jsprof_values()
{
    command "$1" help "$2" 2>/dev/null |
        sed -n "s/.*$3 \([a-z]\{1,\}|[a-z|]*\).*/\1/p" | tr '|' '\n'
}

_jsprof()
{
    local tool=${COMP_WORDS[0]} command=${COMP_WORDS[1]} words=''
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
    if [ "$COMP_CWORD" -eq 1 ]; then
        words="$(_jsprof_commands "$tool") help --help --version"
    elif [ "$command" = help ]; then
        words=$(_jsprof_commands "$tool")
    elif [ "${word#-}" != "$word" ]; then
        words=$(_jsprof_options "$tool" "$command")
    elif [ "${before#--}" != "$before" ]; then
        words=$(_jsprof_values "$tool" "$command" "$before")
    fi
    if [ -n "$words" ]; then
        mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    else
        mapfile -t COMPREPLY < <(compgen -f -- "$word")
    fi
}
complete -o filenames -F _jsprof jsprof
