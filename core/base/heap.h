/* heap.h - binary heaps in arrays. Invariant: no element is before the element at (position - 1) / 2, so the first
 * element is at position 0.
 *
 * `before` is an expression of two pointers to elements, a and b, whose names the caller gives: whether *a is before
 * *b. `moved` is a statement run for each element that has a new position, with its position in at_.
 */
#ifndef WEIR_HEAP_H
#define WEIR_HEAP_H

/* Move the element at position `from` toward position 0, until the invariant holds. O(log n) */
#define WEIR_HEAP_UP_MOVED(list, from, a, b, before, moved)                                                            \
    do {                                                                                                               \
        __typeof__(from) at_ = (from);                                                                                 \
        const __typeof__(*(list)) item_ = (list)[at_], *a = &item_, *b;                                                \
        while (at_ > 0 && (b = &(list)[(at_ - 1) / 2], before)) {                                                      \
            (list)[at_] = *b;                                                                                          \
            moved;                                                                                                     \
            at_ = (at_ - 1) / 2;                                                                                       \
        }                                                                                                              \
        (list)[at_] = item_;                                                                                           \
        moved;                                                                                                         \
    } while (0)

/* Move the element at position `from` of n elements away from position 0, until the invariant holds. O(log n) */
#define WEIR_HEAP_DOWN_MOVED(list, n, from, a, b, before, moved)                                                       \
    do {                                                                                                               \
        __typeof__(n) at_ = (from), kid_;                                                                              \
        const __typeof__(*(list)) item_ = (list)[at_], *a, *b;                                                         \
        while ((kid_ = 2 * at_ + 1) < (n)) {                                                                           \
            a = &(list)[kid_ + 1], b = &(list)[kid_];                                                                  \
            if (kid_ + 1 < (n) && (before))                                                                            \
                kid_++;                                                                                                \
            a = &(list)[kid_], b = &item_;                                                                             \
            if (!(before))                                                                                             \
                break;                                                                                                 \
            (list)[at_] = *a;                                                                                          \
            moved;                                                                                                     \
            at_ = kid_;                                                                                                \
        }                                                                                                              \
        (list)[at_] = item_;                                                                                           \
        moved;                                                                                                         \
    } while (0)

/* Shorter forms for callers that record no positions. */
#define WEIR_HEAP_UP(list, from, a, b, before)      WEIR_HEAP_UP_MOVED(list, from, a, b, before, (void)0)
#define WEIR_HEAP_DOWN(list, n, from, a, b, before) WEIR_HEAP_DOWN_MOVED(list, n, from, a, b, before, (void)0)

/* Make a heap of n elements. O(n) */
#define WEIR_HEAP_MAKE(list, n, a, b, before)                                                                          \
    for (uint32_t make_ = (n) / 2; make_-- > 0;)                                                                       \
    WEIR_HEAP_DOWN(list, n, make_, a, b, before)

#endif
