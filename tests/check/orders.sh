#!/bin/sh
# check/orders.sh - every memory order has its reason: an "ORDER: name, ..." in the
# comment right above the statement or on its line, and the name is the one used.
# The atomic operations that take no order are not used at all.
#
# SPDX-License-Identifier: MIT
set -eu
cd "$SRCDIR"
awk '
    function complain(why) { print "orders: " FILENAME ":" FNR ": " why; bad = 1 }
    FNR == 1 { reason = ""; comment = 0 }
    /ORDER:/ { reason = ""; collecting = 1 }
    {
        starts = $0 ~ /^[[:space:]]*\/\*/
        whole = comment || starts
        if (whole || /ORDER:/) { if (collecting) reason = reason " " tolower($0) }
        if (starts) comment = 1
        if (/\*\//) { comment = 0; collecting = 0 }
        if (whole) next
    }
    /memory_order_|__ATOMIC_/ {
        n++
        match($0, /memory_order_[a-z_]+|__ATOMIC_[A-Z_]+/)
        order = tolower(substr($0, RSTART, RLENGTH))
        sub(/memory_order_|__atomic_/, "", order)
        if (reason == "")
            complain("atomic without an ORDER: reason")
        else if (!index(reason, order) && !index(reason, "signal fence"))
            complain("the reason does not speak of " order)
    }
    /atomic_(load|store|exchange|(fetch|flag|compare_exchange)_[a-z_]+)[[:space:]]*\(/ &&
        !/_explicit|__atomic_/ { complain("atomic operation without an order") }
    /[;{}][[:space:]]*(\/\*.*\*\/)?[[:space:]]*\\?$/ { reason = "" }
    END { if (!n) { print "orders: no atomic found at all"; bad = 1 } exit bad }
' $(find include src bindings -name '*.[ch]' -o -name '*.cpp' | sort)
