/* support.h - what every file of the binding uses: userdata that own C memory, suggestions, results, options. */
#ifndef WEIRLUA_SUPPORT_H
#define WEIRLUA_SUPPORT_H

#include "handle/state.h"

/* A userdata that owns one piece of C memory and frees the piece once, with `release`. */
struct weirlua_owner {
    void *p;
    void (*release)(void *p);
};
struct weirlua_owner *weirlua_owner_push(lua_State *L, void (*release)(void *p));
void weirlua_owner_clear(struct weirlua_owner *b);
void weirlua_owner_open(lua_State *L, struct weirlua *s);

/* Reports `bytes` of C memory owned by a new handle to the collector, which advances as if Lua had allocated the
 * bytes. */
void weirlua_weigh(lua_State *L, size_t bytes);

/* Replaces the value at `arg` by the name of the value's type where tostring would show an address. */
void weirlua_hide_address(lua_State *L, int arg);
/* Pushes and returns the text of the value as scripts see the text: without an address. */
const char *weirlua_show(lua_State *L, int idx);
/* Pushes an array of the keys of the table at idx, a positive index, in order, so that results do not depend on the
 * order of pairs. All keys must be strings without zero bytes; the table keeps the keys alive. */
const char **weirlua_push_keys(lua_State *L, int idx, size_t *count);
/* Pushes and returns a text for an error that quotes a caller: at most 100 bytes, with "..." for the rest. */
const char *weirlua_quote(lua_State *L, const char *text);

/* Pushes and returns ` (did you mean "x"?)` for the known word nearest to a mistyped word, or "" where none is near.
 * known: ends with NULL. */
const char *weirlua_hint(lua_State *L, const char *word, const char *const *known);
/* As weirlua_hint(), among the keys of a table that are texts. */
const char *weirlua_hint_of_keys(lua_State *L, const char *word, int table);
/* As weirlua_hint(), among the types and the subsystems of a graph. */
const char *weirlua_hint_of_types(lua_State *L, const char *word, const weir_graph *g);

/* Returns the place of the text at `arg` in a list that ends with NULL, as luaL_checkoption does. */
int weirlua_check_option(lua_State *L, int arg, const char *otherwise, const char *const list[]);

/* Pushes nil, message, code. The message begins with the place (source, line) of the error. Returns 3. */
int weirlua_fail(lua_State *L, const weir_err *err, int code);
/* Pushes nil, message, code for an error whose text already says the place. Returns 3. */
int weirlua_refuse(lua_State *L, const weir_err *err);
/* Raises the text of an error. */
int weirlua_raise(lua_State *L, const weir_err *err);
/* Pushes true where rc is 0, else nil, message, code. Returns the number of values. */
int weirlua_status(lua_State *L, int rc, const weir_err *err);
/* Pushes text made by the core and frees the text; pushes nil, message, code where text is NULL. The caller pushed `b`
 * before asking the core. Returns the number of values. */
int weirlua_text(lua_State *L, struct weirlua_owner *b, char *text, const weir_err *err);

/* Sets a field of the table on top of the stack. A text that is NULL is nil. May raise for want of memory. */
void weirlua_set_integer(lua_State *L, const char *key, lua_Integer value);
void weirlua_set_number(lua_State *L, const char *key, lua_Number value);
void weirlua_set_boolean(lua_State *L, const char *key, bool value);
void weirlua_set_text(lua_State *L, const char *key, const char *value);
void weirlua_push_time(lua_State *L, int64_t us); /* seconds; math.huge for no end */
int64_t weirlua_check_time(lua_State *L, int arg);
int64_t weirlua_check_duration(lua_State *L, int arg); /* a positive number is at least 1 microsecond: 0 means no end */
/* Raises for a key of the options table at `arg` outside the NULL-terminated list. Nil and none become an empty table,
 * so that a table is at `arg` afterwards. */
void weirlua_options(lua_State *L, int arg, const char *const *known);
/* Return a field of an options table, or `otherwise` for nil. A value of a wrong type raises, with the field's name.
 * Strings live as long as the table. */
const char *weirlua_field_string(lua_State *L, int table, const char *key, const char *otherwise);
/* Returns the position of a field's word in a list of words that ends with NULL; `otherwise` for nil. Raises for any
 * word that is not in the list. */
int weirlua_field_choice(lua_State *L, int table, const char *key, int otherwise, const char *const *list);
/* Returns the place of a word in a list that ends with NULL; -1: the word is not in the list. */
int weirlua_word(const char *const *list, const char *word);
int64_t weirlua_field_integer(lua_State *L, int table, const char *key, int64_t otherwise);
int64_t weirlua_field_time(lua_State *L, int table, const char *key, int64_t otherwise);
int64_t weirlua_field_duration(lua_State *L, int table, const char *key, int64_t otherwise);
bool weirlua_field_boolean(lua_State *L, int table, const char *key, bool otherwise);
/* Notes what was looked for without a hit, with the empty list on top of the stack, for a REPL that prints it: `what`
 * is a text, or NULL for jobs. Nothing happens where no REPL has a table for it in the registry. */
#define WEIRLUA_EMPTIES "weir.empties"
void weirlua_note_empty(lua_State *L, const char *what);

/* Returns the bits of enum weir_strict, from the booleans with these names. */
#define WEIRLUA_STRICT "strict_levels", "strict_pools", "strict_slots"
unsigned weirlua_field_strict(lua_State *L, int table);
FILE *weirlua_check_file(lua_State *L, int arg);               /* raises unless the file is open */
int weirlua_to_file(void *file, const char *text, size_t len); /* a weir_sink */

#endif
