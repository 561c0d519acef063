# shares.tcl - two procedures that do three quarters and one quarter of the work.
# SPDX-License-Identifier: MIT

proc spin {n} {
    global numbers
    set total 0
    for {set i 0} {$i < $n} {incr i} {
        set total [lindex [lsort -integer $numbers] $i] ;# the line of most samples
    }
    return $total
}

proc large {} {
    spin 30
}

proc small {} {
    spin 10
}

proc caught {} {
    catch {
        fails
    }
}

proc fails {} {
    error "an error leaves a call"
}

for {set i 0} {$i < 500} {incr i} {
    lappend numbers [expr {$i * 7919 % 1000}]
}
for {set round 0} {$round < 300} {incr round} {
    large
    small
}
for {set round 0} {$round < 100} {incr round} {
    caught
}
