/* serve/screen.h - a terminal that is drawn again and again, and the keys that are pressed there.
 *
 * A terminal without escapes (TERM=dumb) gets the pictures one after another. One thread.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_SERVE_SCREEN_H
#define JSP_SERVE_SCREEN_H

#include <stdbool.h>

enum { SCREEN_ESCAPE = 27, SCREEN_ENTER = 13, SCREEN_ERASE = 127 };

/* Take the terminal, and let exit() give it back. Return false if standard output is none. */
bool screen_open(void);

/* Give it back as it was. Nothing happens if it is not taken. */
void screen_close(void);

/* Begin a picture: what is printed until screen_end appears at once, as much of it as the
 * terminal has room for. */
void screen_begin(void);

/* Show the picture. */
void screen_end(void);

/* Return the number of rows of the terminal. */
int screen_rows(void);

/* Wait for a key until `ms` have passed, or `fd` (-1: none) can be read. Return its byte, or 0:
 * no key. */
int screen_key(int ms, int fd);

#endif
