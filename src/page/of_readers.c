/* page/of_readers.c - the page of one or two readers that are open.
 *
 * SPDX-License-Identifier: MIT
 */
#include "of_readers.h"

#include "page.h"
#include "read/reader.h"

int jsp_page_of_readers(const struct jsp_page_readers *h, struct jsp_sink *out,
                        struct jsp_page_refused *refused)
{
    static const uint32_t hidden[] = {
        [JSP_SHOW_ALL] = 0,
        [JSP_SHOW_VM] = 1u << JSP_HTML_LOOP | 1u << JSPROF_KIND_NATIVE | 1u << JSP_KIND_KERNEL,
        [JSP_SHOW_USUAL] = 1u << JSP_HTML_LOOP,
    };
    struct jsp_page_capture parts[JSP_HTML_MOST];
    for (uint32_t i = 0; i < h->n; i++) {
        jsprof_reader *r = h->readers[i];
        parts[i] = (struct jsp_page_capture){ &r->profile, r->choice.select, &r->rows,
                                              h->labels[i], r->choice.idle.value };
    }
    return jsp_page_write(&(struct jsp_html){ parts, h->n, hidden[parts[0].select.show], out,
                                              h->has_sources, refused });
}
