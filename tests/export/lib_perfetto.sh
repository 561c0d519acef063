# export/lib_perfetto.sh - a trace of Perfetto's as lines (see perfetto.awk). Sourced; needs protoc.
#
# SPDX-License-Identifier: MIT
perfetto_lines() # FILE
{
    protoc --decode=Trace --proto_path="$SRCDIR/tests/export" perfetto.proto <"$1" |
        awk -f "$SRCDIR/tests/export/perfetto.awk"
}
