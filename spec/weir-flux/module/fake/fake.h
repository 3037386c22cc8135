/* fake.h - a broker for one module in one process: the driver says what it answers, and sends it requests. */
#ifndef FAKE_H
#define FAKE_H

#include <flux/core.h>
#include <flux/schedutil.h>

struct fake_broker {
    /* Answers a request of the module, at once or later, with fake_reply. text: the payload, or NULL. */
    void (*serve)(struct fake_broker *b, flux_future_t *f, const char *topic, const char *text);
    /* Takes the answer to a request of fake_request. errnum 0: success; text: payload, or message of the error. */
    void (*answered)(struct fake_broker *b, const char *topic, int64_t tag, int errnum, const char *text);
    /* Called in each turn of the reactor. Returns false to end the module. */
    bool (*turn)(struct fake_broker *b);
    const char *config; /* JSON */
    unsigned long turns, logged;
    bool verbose; /* print what is logged */
};

/* Returns a handle for mod_main; to be closed after the module has ended. */
flux_t *fake_open(struct fake_broker *b);
void fake_close(flux_t *h);
/* Answers a request of the module. errnum 0: with a text. */
void fake_reply(flux_future_t *f, int errnum, const char *text);
/* Sends the module a request. tag: given to `answered`. */
void fake_request(flux_t *h, const char *topic, const char *text, int64_t tag, bool streaming);

#endif
