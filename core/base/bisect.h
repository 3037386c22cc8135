/* bisect.h - binary search. */
#ifndef WEIR_BISECT_H
#define WEIR_BISECT_H

/* Set the variable `at` to the first of the positions lo, lo + 1, ... for which `before`, an expression of `at`, is
 * false; to hi without. `before` must not become true again after the first position with false. O(log (hi - lo)) */
#define WEIR_BISECT(at, lo, hi, before)                                                                                \
    do {                                                                                                               \
        __typeof__(at) lo_ = (lo), hi_ = (hi);                                                                         \
        while (lo_ < hi_) {                                                                                            \
            (at) = lo_ + (hi_ - lo_) / 2;                                                                              \
            if (before)                                                                                                \
                lo_ = (at) + 1;                                                                                        \
            else                                                                                                       \
                hi_ = (at);                                                                                            \
        }                                                                                                              \
        (at) = lo_;                                                                                                    \
    } while (0)

#endif
