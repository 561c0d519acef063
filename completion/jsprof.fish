# jsprof.fish - completion of the jsprof command for fish.
#
# SPDX-License-Identifier: MIT
#
# The commands and options come from the tool's own help, so the completion has all of them.

function __jsprof_commands
    command jsprof --help 2>/dev/null | sed -n 's/^  \([a-z]\{1,\}\)  *\(.*\)/\1\t\2/p'
end

# All options in the help of the command on the line, and the values that it lists after one.
function __jsprof_options
    set -l words (commandline -opc)
    begin
        command jsprof help $words[2] 2>/dev/null | grep -oE -- '--[a-z][a-z-]*' | sort -u
        echo --help
    end | sort -u
end

function __jsprof_values
    set -l words (commandline -opc)
    command jsprof help $words[2] 2>/dev/null |
        sed -n "s/.*$words[-1] \([a-z]\{1,\}|[a-z|]*\).*/\1/p" | tr '|' '\n'
end

# After an option with a list of values; files are offered after any other.
function __jsprof_wants_value
    set -l words (commandline -opc)
    string match -q -- '--*' $words[-1]; and count (__jsprof_values) >/dev/null
end

function __jsprof_wants_command
    set -l words (commandline -opc)
    test (count $words) -eq 1; or test "$words[2]" = help
end

complete -c jsprof -f -n __jsprof_wants_command -a '(__jsprof_commands)'
complete -c jsprof -f -n 'test (count (commandline -opc)) -eq 1' -a 'help --help --version'
complete -c jsprof -n 'not __jsprof_wants_command; and string match -q -- "-*" (commandline -ct)' \
    -a '(__jsprof_options)'
complete -c jsprof -f -n __jsprof_wants_value -a '(__jsprof_values)'
