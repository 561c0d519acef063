# shares.pl - two functions that do three quarters and one quarter of the work.
# SPDX-License-Identifier: MIT
use strict;
use warnings;

sub spin {
    my ($n) = @_;
    my ($total, $i) = (0, 0);
    while ($i < $n) {
        $total += $i++ * $i;    # the line of most samples
    }
    return $total;
}

sub large {
    return spin(30000);
}

sub small {
    return spin(10000);
}

sub caught {
    return eval { fails(); 1 };
}

sub fails {
    die "an exception leaves a call\n";
}

for (1 .. 300) {
    large();
    small();
}
caught() for 1 .. 100;
