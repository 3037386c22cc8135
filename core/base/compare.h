/* compare.h - comparisons of records, for qsort() and bsearch(). */
#ifndef WEIR_COMPARE_H
#define WEIR_COMPARE_H

#include <string.h>

/* A number below, equal to or above 0 where x is below, equal to or above y. */
#define WEIR_COMPARE(x, y) (((x) > (y)) - ((x) < (y)))

/* Compares two elements of an array of texts. */
static inline int weir_compare_texts(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Define a function `name` that compares records of a type by a member, or by the first of several members that
 * differs, in ascending order. */
#define WEIR_COMPARE_BY(name, type, member)                                                                            \
    static int name(const void *a, const void *b)                                                                      \
    {                                                                                                                  \
        const type *x = a, *y = b;                                                                                     \
        return WEIR_COMPARE(x->member, y->member);                                                                     \
    }
#define WEIR_COMPARE_BY2(name, type, first, second)                                                                    \
    static int name(const void *a, const void *b)                                                                      \
    {                                                                                                                  \
        const type *x = a, *y = b;                                                                                     \
        return x->first != y->first ? WEIR_COMPARE(x->first, y->first) : WEIR_COMPARE(x->second, y->second);           \
    }
#define WEIR_COMPARE_BY3(name, type, first, second, third)                                                             \
    static int name(const void *a, const void *b)                                                                      \
    {                                                                                                                  \
        const type *x = a, *y = b;                                                                                     \
        if (x->first != y->first)                                                                                      \
            return WEIR_COMPARE(x->first, y->first);                                                                   \
        return x->second != y->second ? WEIR_COMPARE(x->second, y->second) : WEIR_COMPARE(x->third, y->third);         \
    }

#endif
