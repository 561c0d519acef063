#!/bin/sh
# check/contract.sh - every public function has a word for its callers: its declaration
# ends in JSPROF_COLD, JSPROF_OWNER or JSPROF_SIGSAFE.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
# One declaration a line, without comments and preprocessor lines.
declarations=$(grep -v '^[[:space:]]*#' include/jsprof.h | tr '\n' ' ' |
    sed 's@/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/@@g; s/[;{}]/&\n/g' |
    sed -n 's/^[[:space:]]*//; s/[[:space:]]\+/ /g; /^JSPROF_API extern/d; /^JSPROF_API.*;$/p
            /^static inline.*jsprof_[a-z_]*(.*;$/p')
[ -n "$declarations" ] || { echo 'contract: found no declarations'; exit 1; }
if echo "$declarations" | grep -vE ' JSPROF_(COLD|OWNER|SIGSAFE);$'; then
    echo 'contract: no safety word at the end of the above'
    exit 1
fi
echo "contract: $(echo "$declarations" | wc -l) public functions, each with its word"
