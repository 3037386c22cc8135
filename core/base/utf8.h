/* utf8.h - what a text may be; numbers as texts. */
#ifndef WEIR_TEXT_H
#define WEIR_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the bytes are UTF-8. */
bool weir_text_utf8(const char *s, size_t len);

/* Writes a number, which takes at most WEIR_INT_MAX bytes, without a NUL. Returns the place behind it. */
#define WEIR_INT_MAX 20
char *weir_put_int(char *at, int64_t n);

#endif
