/* utf8.h - UTF-8 validity of texts; decimal texts of numbers. */
#ifndef WEIR_TEXT_H
#define WEIR_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True if the bytes are valid UTF-8. */
bool weir_text_utf8(const char *s, size_t len);

/* Writes a number in decimal, at most WEIR_INT_MAX bytes without a NUL. Returns the end of the digits. */
#define WEIR_INT_MAX 20
char *weir_put_int(char *at, int64_t n);

#endif
