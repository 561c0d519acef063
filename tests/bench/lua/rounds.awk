# rounds.awk - what the rounds of pairs.lua say: of each process the median of its undisturbed
# rounds, and of these medians the mean and the interval that has it with 95 % certainty.
#
# A round in which two equal turns differ by more than a 20th was disturbed, by a program on
# the same core or cache, and does not count. A median does not show an event of every tenth
# round, such as a write. So next to it is the time of all rounds that differ by less than a
# 10th, with samples over without.
#
# Prints: sampled, from, to; plain, from, to; all together; processes; rounds used; rounds.
#
# SPDX-License-Identifier: MIT
function near(x, y, limit) { return x < limit * y && y < limit * x }

function keep(values, n, x,  i) # sorted
{
    for (i = n; i >= 1 && values[i] > x; i--)
        values[i + 1] = values[i]
    values[i + 1] = x
}

function median(values, n)
{
    return (values[int((n + 1) / 2)] + values[int(n / 2) + 1]) / 2
}

# Student's t for 95 % and n values, a little too large beyond 20.
function student(n,  t)
{
    split("12.71 4.30 3.18 2.78 2.57 2.45 2.36 2.31 2.26 2.23 2.20 2.18 2.16 2.14 2.13 " \
          "2.12 2.11 2.10 2.09", t, " ")
    return n < 2 ? 99 : n <= 20 ? t[n - 1] : 2.09
}

function told(values, n,  i, sum, squares, half)
{
    for (i = 1; i <= n; i++) {
        sum += values[i]
        squares += values[i] * values[i]
    }
    if (n < 2)
        return sum " 0 9"
    squares = (squares - sum * sum / n) / (n - 1)
    half = student(n) * sqrt((squares > 0 ? squares : 0) / n)
    return sprintf("%.5f %.5f %.5f", sum / n, sum / n - half, sum / n + half)
}

NF == 4 {
    n_rounds++
    if (!near($1, $2, 1.1) || !near($3, $4, 1.1))
        next
    plain += $1 + $2
    sampled += $3 + $4
    if (!near($1, $2, 1.05) || !near($3, $4, 1.05))
        next
    keep(ratios, n, ($3 + $4) / ($1 + $2))
    keep(beside, n, $2 / $1)
    n++
    n_used++
}

# The last line of a process.
$1 == "around" {
    if (n >= 5) {
        n_processes++
        sampled_of[n_processes] = median(ratios, n)
        plain_of[n_processes] = median(beside, n)
    }
    n = 0
}

END {
    print told(sampled_of, n_processes), told(plain_of, n_processes), \
        plain ? sampled / plain : 0, n_processes + 0, n_used + 0, n_rounds + 0
}
