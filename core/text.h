/* text.h - what a text may be. */
#ifndef WEIR_TEXT_H
#define WEIR_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the bytes are UTF-8. */
bool weir_text_utf8(const char *s, size_t len);

#endif
