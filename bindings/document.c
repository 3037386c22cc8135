/* document.c - texts in formats that stand for plain data: YAML, JSON, recipes, hwloc's objects, hostlists. */
#include "weirlua.h"

#include <string.h>

/* document(text, {format=, source=, keys=}): the value, or nil, message, code. With `keys` an object also has its keys,
 * in their order, as a list. */
int weirlua_document(lua_State *L)
{
    static const char *const known[] = {"format", "source", "keys", NULL};
    size_t len;
    const char *text = luaL_checklstring(L, 1, &len), *format, *source;
    bool keys;
    struct weirlua_box *box;
    weir_err err = {0};

    weirlua_options(L, 2, known);
    format = weirlua_field_string(L, 2, "format", "json");
    source = weirlua_field_string(L, 2, "source", "<string>");
    keys = weirlua_field_boolean(L, 2, "keys", false);
    box = weirlua_box_push(L, weir_free);
    box->p = weir_text_to_json(text, len, source, format, &err);
    if (!box->p)
        return weirlua_fail(L, &err, err.code ? err.code : WEIR_ENOMEM);
    return weirlua_json_read_as(L, box->p, strlen(box->p), keys);
}

#define HOSTS_MAX 1048576 /* names of one list */

static void free_hosts(void *p)
{
    weir_hostlist_free(p);
}

/* hosts(text): the names as a list, or nil, message, code. */
int weirlua_hosts(lua_State *L)
{
    size_t len;
    const char *text = luaL_checklstring(L, 1, &len);
    struct weirlua_box *box = weirlua_box_push(L, free_hosts);
    weir_hostlist *h = NULL;
    weir_err err = {0};
    char name[WEIR_NAME_MAX + 1];
    int rc = weir_hostlist_parse(text, len, &h, &err);

    if (rc)
        return weirlua_fail(L, &err, rc);
    box->p = h;
    if (weir_hostlist_count(h) > HOSTS_MAX)
        return weirlua_fail(L, &(weir_err){.code = WEIR_ELIMIT, .text = "more than 1048576 hosts"}, WEIR_ELIMIT);
    lua_newtable(L);
    for (uint64_t i = 0, n = weir_hostlist_count(h); i < n; i++) {
        lua_pushlstring(L, name, weir_hostlist_nth(h, i, name, sizeof name));
        lua_rawseti(L, -2, (lua_Integer)i + 1);
    }
    return 1;
}
