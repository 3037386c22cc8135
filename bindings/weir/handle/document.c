/* document.c - texts in formats for plain data, as Lua values: YAML, JSON, recipes, hwloc's objects. */
#include "handle/graph.h"
#include "handle/support.h"
#include "system/json.h"

#include <string.h>

/* document(text, {format=, source=, keys=}): the value, or nil, message, code. With `keys` an object also has the list
 * of all keys, in the order of the text. */
int weirlua_document(lua_State *L)
{
    static const char *const known[] = {"format", "source", "keys", NULL};
    size_t len;
    const char *text = luaL_checklstring(L, 1, &len), *format, *source;
    bool keys;
    struct weirlua_owner *handle;
    weir_err err = {0};

    weirlua_options(L, 2, known);
    format = weirlua_field_string(L, 2, "format", "json");
    source = weirlua_field_string(L, 2, "source", "<string>");
    keys = weirlua_field_boolean(L, 2, "keys", false);
    handle = weirlua_owner_push(L, weir_free);
    handle->p = weir_text_to_json(text, len, source, format, &err);
    if (!handle->p)
        return weirlua_fail(L, &err, err.code ? err.code : WEIR_ENOMEM);
    return weirlua_json_read_as(L, handle->p, strlen(handle->p), keys);
}
