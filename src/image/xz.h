/* image/xz.h - a decoder of xz files, for the symbols in .gnu_debugdata.
 *
 * It reads what `xz` writes without further filters: one stream of LZMA2 blocks. The
 * output is its own dictionary, so decoding costs the output and 29 KB. No byte is
 * trusted: the sizes are added up and compared with JSP_XZ_MOST before anything is
 * allocated. The decoder skips the checksums: the same file's .symtab has none.
 *
 * Outside the handler only.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_IMAGE_XZ_H
#define JSP_IMAGE_XZ_H

#include <stddef.h>
#include <stdint.h>

enum { JSP_XZ_MOST = 1 << 27 }; /* bytes of output; larger files are refused */

struct jsp_xz_output {
    uint8_t *bytes; /* owned by the caller: jsp_block_free */
    size_t size;    /* more than 0 */
};

/* Decode the `n` bytes at `in`. Return 0, -EBADMSG (damaged, empty or too large), -ENOTSUP
 * (another filter than LZMA2) or -ENOMEM. On failure `out` is untouched. */
int jsp_xz_decode(const uint8_t *in, size_t n, struct jsp_xz_output *out);

#endif
