/* text_json.c - weir_text_to_json(): documents of several formats as JSON, for programs in need of more than the graph.
 *
 * Invariant: the reader of the format has read and checked the document, so limits and errors are those of the reader.
 */
#include "format/grug/grug.h"
#include "request/request.h"

#include <string.h>

/* ---- YAML and JSON -------------------------------------------------------------------------------------------- */

static int read_document(const char *text, size_t len, const char *source, bool yaml, json_t **out, weir_err *err)
{
    weir_json_document d = {.source = source};
    int rc = yaml ? weir_json_document_read_yaml(&d, text, len, err) : weir_json_document_read_json(&d, text, len, err);

    *out = rc == WEIR_OK ? json_incref(d.root) : NULL;
    weir_json_document_free(&d);
    return rc;
}

/* ---- recipes -------------------------------------------------------------------------------------------------- */

static const char *const field_names[FIELDS] = {
    [ROOT] = "root",
    [TYPE] = "type",
    [BASENAME] = "basename",
    [UNIT] = "unit",
    [SIZE] = "size",
    [SUBSYSTEM] = "subsystem",
    [PROPERTIES] = "properties",
    [E_SUBSYSTEM] = "e_subsystem",
    [RELATION] = "relation",
    [RRELATION] = "rrelation",
    [GEN_METHOD] = "gen_method",
    [ID_SCOPE] = "id_scope",
    [ID_START] = "id_start",
    [ID_STRIDE] = "id_stride",
    [MULTI_SCALE] = "multi_scale",
    [AS_TGT_SUBSYSTEM] = "as_tgt_subsystem",
    [AS_TGT_UPLVL] = "as_tgt_uplvl",
    [AS_SRC_UPLVL] = "as_src_uplvl",
};

static bool is_number(int field)
{
    return field == ROOT || field == SIZE || field == ID_SCOPE || field == ID_START || field == ID_STRIDE ||
           field == MULTI_SCALE || field == AS_TGT_UPLVL || field == AS_SRC_UPLVL;
}

/* The JSON object of a node or edge of a recipe; NULL: out of memory. */
static json_t *element_json(const struct grug_element *p)
{
    int first = p->source ? NODE_FIELDS : 0, last = p->source ? FIELDS : NODE_FIELDS;
    json_t *o = json_object();
    int rc = o ? 0 : -1;

    for (int i = first; rc == 0 && i < last; i++)
        rc =
            json_object_set_new(o, field_names[i], is_number(i) ? json_integer(p->number[i]) : json_string(p->text[i]));
    if (rc == 0 && p->source)
        rc = json_object_set_new(o, "from", json_integer(p->from)) | json_object_set_new(o, "to", json_integer(p->to));
    if (rc == 0)
        return o;
    json_decref(o);
    return NULL;
}

static json_t *elements_json(const struct grug_element *elements, uint32_t n)
{
    json_t *list = json_array();

    for (uint32_t i = 0; list && i < n; i++)
        if (json_array_append_new(list, element_json(&elements[i])) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

static int read_recipe(const char *text, size_t len, const char *source, json_t **out, weir_err *err)
{
    struct recipe r = {.source = source, .err = err, .data = NONE};
    int rc = weir_recipe_read(&r, text, len);
    json_t *o = rc == WEIR_OK ? json_object() : NULL;

    if (rc == WEIR_OK && (json_object_set_new(o, "nodes", elements_json(r.nodes, r.nnodes)) != 0 ||
                          json_object_set_new(o, "edges", elements_json(r.edges, r.nedges)) != 0)) {
        json_decref(o);
        o = NULL;
        rc = weir_fail_nomem(err);
    }
    weir_recipe_free(&r);
    *out = o;
    return rc;
}

/* ---- all of them ---------------------------------------------------------------------------------------------- */

static int read_any(const char *text, size_t len, const char *source, const char *format, json_t **out, weir_err *err)
{
    if (strcmp(format, "yaml") == 0 || strcmp(format, "json") == 0)
        return read_document(text, len, source, *format == 'y', out, err);
    if (strcmp(format, "grug") == 0)
        return read_recipe(text, len, source, out, err);
    if (strcmp(format, "hwloc") == 0)
        return weir_hwloc_objects(text, len, source, out, err);
    return weir_fail(err, WEIR_EINVAL, "no format \"%.32s\" here; there are yaml, json, grug, hwloc", format);
}

char *weir_text_to_json(const char *text, size_t len, const char *source, const char *format, weir_err *err)
{
    weir_buf b = {0};
    json_t *root = NULL;

    if (read_any(text, len, source, format, &root, err) != WEIR_OK)
        return NULL;
    weir_json_write(root, false, &b);
    json_decref(root);
    return weir_buf_result(&b, WEIR_OK, err);
}
