/* loss.h - picks that cannot be had, and their holders. Private to the core. */
#ifndef WEIR_LOSS_H
#define WEIR_LOSS_H

#include "time/job_table.h"

/* Whether the units of a pick are free over [t0, t1). *open, at first WEIR_NONE, is a vertex known to be free above;
 * picks of siblings ask once for their ancestors. */
bool weir_pick_free(const weir_graph *g, const weir_pick *p, int64_t t0, int64_t t1, weir_vertex *open);
/* Returns WEIR_OK where all picks are available, and free over its time unless `held`: the caller holds the picks.
 * Otherwise WEIR_EBUSY, with the losses in *lost unless `lost` is NULL. */
int weir_booking_check(const weir_graph *g, const weir_booking *b, bool held, weir_losses *lost,
                       weir_err *err) WEIR_CHECKED;

#endif
