/* hwloc_json.c - the objects of an hwloc XML as JSON, without the interpretation of hwloc_read.c. */
#include "format/input.h"

#include <hwloc.h>
#include <string.h>

static int set_infos(json_t *o, hwloc_obj_t obj)
{
    json_t *infos = json_object();
    int rc = infos ? 0 : -1;

    for (unsigned i = 0; rc == 0 && i < obj->infos_count; i++)
        if (weir_text_utf8(obj->infos[i].name, strlen(obj->infos[i].name)) &&
            weir_text_utf8(obj->infos[i].value, strlen(obj->infos[i].value)) &&
            !json_object_get(infos, obj->infos[i].name))
            rc = json_object_set_new(infos, obj->infos[i].name, json_string(obj->infos[i].value));
    return json_object_set_new(o, "infos", infos) | rc;
}

static int set_attributes(json_t *o, hwloc_obj_t obj)
{
    int rc = json_object_set_new(o, "type", json_string(hwloc_obj_type_string(obj->type))) |
             json_object_set_new(o, "index", json_integer(obj->logical_index));

    if (obj->name && weir_text_utf8(obj->name, strlen(obj->name)))
        rc |= json_object_set_new(o, "name", json_string(obj->name));
    if (hwloc_obj_type_is_cache(obj->type))
        rc |= json_object_set_new(o, "size", json_integer((json_int_t)obj->attr->cache.size));
    if (obj->type == HWLOC_OBJ_OS_DEVICE && obj->attr)
        rc |= json_object_set_new(o, "device", json_integer(obj->attr->osdev.type));
    return rc | set_infos(o, obj);
}

/* The JSON of an object and all objects below; NULL: out of memory. Recurses as deep as the XML, limited by
 * weir_hwloc_check(). */
static json_t *object_json(hwloc_topology_t topology, hwloc_obj_t obj)
{
    json_t *o = json_object(), *children = json_array();
    int rc = o && children ? set_attributes(o, obj) : -1;

    for (hwloc_obj_t c = NULL; rc == 0 && (c = hwloc_get_next_child(topology, obj, c));)
        rc = json_array_append_new(children, object_json(topology, c));
    if (rc == 0 && json_object_set(o, "children", children) == 0) {
        json_decref(children);
        return o;
    }
    json_decref(children);
    json_decref(o);
    return NULL;
}

static int load(hwloc_topology_t topology, const char *text, size_t len, const char *source, weir_err *err)
{
    if (hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) < 0 ||
        hwloc_topology_set_cache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_STRUCTURE) < 0 ||
        hwloc_topology_set_icache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_STRUCTURE) < 0)
        return weir_fail(err, WEIR_EIO, "hwloc does not take its options");
    if (hwloc_topology_set_xmlbuffer(topology, text, (int)len) < 0)
        return weir_fail_at(err, WEIR_EPARSE, source, 0, 0, "hwloc does not understand this XML");
    if (hwloc_topology_load(topology) < 0)
        return weir_fail_at(err, WEIR_EPARSE, source, 0, 0, "hwloc finds no machine in this XML");
    return WEIR_OK;
}

int weir_hwloc_objects(const char *text, size_t len, const char *source, json_t **out, weir_err *err)
{
    hwloc_topology_t topology;
    int rc = weir_hwloc_check(text, len, source, err);

    if (rc < 0)
        return rc;
    if (hwloc_topology_init(&topology) < 0)
        return weir_fail_nomem(err);
    rc = load(topology, text, len, source, err);
    if (rc == WEIR_OK) {
        *out = object_json(topology, hwloc_get_root_obj(topology));
        rc = *out ? WEIR_OK : weir_fail_nomem(err);
    }
    hwloc_topology_destroy(topology);
    return rc;
}
