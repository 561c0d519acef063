# shares.py - two functions that do three quarters and one quarter of the work.
# SPDX-License-Identifier: MIT


def spin(n):
    total = 0
    for i in range(n):
        total += i * i  # the line of most samples
    return total


def large():
    return spin(30000)


def small():
    return spin(10000)


for _ in range(600):
    large()
    small()
