/* command.h - what the files of `flux weir` share. Exit status: 0 success, 1 the scheduler refused, 2 wrong usage. */
#ifndef FLUX_WEIR_COMMAND_H
#define FLUX_WEIR_COMMAND_H

#include <flux/core.h>
#include <jansson.h>

/* Prints a message about wrong usage, and the usage. Returns 2. */
int command_misuse(const char *text);
/* Prints the error of a future, and destroys it. Returns 1. */
int command_failed(flux_future_t *f);
/* Returns {"words": [...], "texts": {...}, "f58": ...} of the words. Words from number `plain` on may name files, whose
 * texts are sent along. NULL: failed, with a message printed. */
json_t *command_words(int argc, char **argv, int plain);

/* shadow start|status|stop, see shadow.c. */
int command_shadow(flux_t *h, int argc, char **argv);

#endif
