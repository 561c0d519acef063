/* page/frame.h - the page around the data, as bytes that the build makes from the files
 * in src/page/browser/ (see embed.sh there).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_PAGE_FRAME_H
#define JSP_PAGE_FRAME_H

extern const unsigned char jsp_page_frame_head[], jsp_page_frame_middle[],
    jsp_page_frame_tail[];
extern const unsigned int jsp_page_frame_head_size, jsp_page_frame_middle_size,
    jsp_page_frame_tail_size;

#endif
