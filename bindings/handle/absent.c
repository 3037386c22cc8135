/* absent.c - names in the error of a match the type that the machine has no pool of, and the name that was meant,
 * perhaps. */
#include "handle/weirlua.h"

#include <stdio.h>
#include <string.h>

/* Whether a graph has a pool of a type, or a subsystem of the name, of which a request may want units. */
static bool is_there(const weir_graph *g, const char *type)
{
    if (weir_graph_total(g, type) > 0)
        return true;
    for (uint32_t i = 0; i < weir_subsystem_count(g); i++)
        if (strcmp(weir_subsystem_name(g, i), type) == 0)
            return true;
    return false;
}

/* Returns the first type of the resources that the graph lacks; NULL: the graph has all types. */
static const char *first_absent(const weir_graph *g, const weir_resource *list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const char *below;

        if (!list[i].slot && !is_there(g, list[i].type))
            return list[i].type;
        below = first_absent(g, list[i].with, list[i].nwith);
        if (below)
            return below;
    }
    return NULL;
}

void weirlua_tell_absent(lua_State *L, const weir_graph *g, const weir_request *r, weir_err *err)
{
    uint32_t n;
    const weir_resource *list = weir_request_resources(r, &n);
    const char *type = first_absent(g, list, n), *hint;
    size_t used = strlen(err->text);

    if (!type)
        return;
    hint = weirlua_hint_of_types(L, type, g);
    snprintf(err->text + used, sizeof err->text - used, ": there is no \"%.100s\" here%s", type, hint);
    lua_pop(L, 1);
}
