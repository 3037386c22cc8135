/* schedutil.h - what of libflux-schedutil the module uses, see core.h beside it. */
#ifndef FAKE_FLUX_SCHEDUTIL_H
#define FAKE_FLUX_SCHEDUTIL_H

#include <flux/core.h>

typedef struct schedutil schedutil_t;
struct schedutil_ops {
    void (*alloc)(flux_t *h, const flux_msg_t *msg, void *arg);
    void (*free)(flux_t *h, const flux_msg_t *msg, const char *R, void *arg);
    void (*cancel)(flux_t *h, const flux_msg_t *msg, void *arg);
    void (*prioritize)(flux_t *h, const flux_msg_t *msg, void *arg);
};
#define SCHEDUTIL_HELLO_PARTIAL_OK 2

schedutil_t *schedutil_create(flux_t *h, int flags, const struct schedutil_ops *ops, void *arg);
void schedutil_destroy(schedutil_t *util);
int schedutil_alloc_respond_annotate_pack(schedutil_t *util, const flux_msg_t *msg, const char *format, ...);
int schedutil_alloc_respond_deny(schedutil_t *util, const flux_msg_t *msg, const char *note);
int schedutil_alloc_respond_cancel(schedutil_t *util, const flux_msg_t *msg);

#endif
