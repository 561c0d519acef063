/* export/html_page.h - the page around the data, as bytes; the build makes them of the
 * files in src/export/html/ (see embed.sh there).
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef JSP_EXPORT_HTML_PAGE_H
#define JSP_EXPORT_HTML_PAGE_H

extern const unsigned char jsp_html_page_head[], jsp_html_page_middle[],
    jsp_html_page_tail[];
extern const unsigned int jsp_html_page_head_size, jsp_html_page_middle_size,
    jsp_html_page_tail_size;

#endif
