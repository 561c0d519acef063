# shares.py - two functions that do three quarters and one quarter of the work.
# SPDX-License-Identifier: MIT
import gc


def spin(n):
    total = 0
    for i in range(n):
        total += i * i  # the line of most samples
    return total


def large():
    return spin(30000)


def small():
    return spin(10000)


def caught():
    try:
        sorted([1], key=fails)
    except ValueError:
        pass


def fails(n):
    raise ValueError("an exception leaves a call")


for _ in range(600):
    large()
    small()
for _ in range(100):
    caught()
for _ in range(5):
    gc.collect()
