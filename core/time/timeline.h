/* timeline.h - units of one pool in use over time.
 *
 * A timeline is a step function used(t): 0 everywhere at first, raised by weir_timeline_add() over [start, end). Times
 * are microseconds; WEIR_FOREVER as an end means no end. A level is never below 0 and never above INT64_MAX. Only the
 * n points where the level changes are stored: 80 bytes hold up to four, an array up to 64, a balanced tree any number.
 */
#ifndef WEIR_TIMELINE_H
#define WEIR_TIMELINE_H

#include "base/base.h"

typedef struct weir_timeline weir_timeline;

weir_timeline *weir_timeline_new(void) WEIR_CHECKED; /* NULL: out of memory */
void weir_timeline_free(weir_timeline *p);
weir_timeline *weir_timeline_copy(const weir_timeline *p) WEIR_CHECKED; /* NULL: out of memory. O(n) */

/* Adds `amount` to the level over [start, end); a negative amount subtracts. WEIR_EINVAL, and no change, where the
 * interval is empty or the level would fall below 0 or grow too large. To subtract a whole earlier addition needs
 * no memory, so never fails with WEIR_ENOMEM. O(log n) */
int weir_timeline_add(weir_timeline *p, int64_t start, int64_t end, int64_t amount) WEIR_CHECKED;

int64_t weir_timeline_used_at(const weir_timeline *p, int64_t t); /* O(log n) */
/* The highest level in [t0, t1); 0 for an empty interval. O(log n) */
int64_t weir_timeline_max(const weir_timeline *p, int64_t t0, int64_t t1);
/* The first time after t at which the level changes, or WEIR_FOREVER. O(log n) */
int64_t weir_timeline_next_change(const weir_timeline *p, int64_t t);
/* The earliest t >= from with a level of at most `limit` throughout [t, t + duration), or WEIR_FOREVER. Times
 * saturate at WEIR_FOREVER. O(log n) for each busy stretch passed over. */
int64_t weir_timeline_first_fit(const weir_timeline *p, int64_t from, int64_t duration, int64_t limit);

/* Number of points where the level changes. */
uint32_t weir_timeline_points(const weir_timeline *p);
/* The i-th point in order of time: *used is the level from *time on. False where i is out of range. */
bool weir_timeline_point(const weir_timeline *p, uint32_t i, int64_t *time, int64_t *used);

size_t weir_timeline_bytes(const weir_timeline *p); /* memory held */
/* Verifies every invariant. WEIR_EINVAL names the first violation. O(n) */
int weir_timeline_check(const weir_timeline *p, weir_err *err);

#endif
