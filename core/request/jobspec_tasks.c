/* jobspec_tasks.c - checks the tasks of a jobspec, and makes default tasks. Matching ignores tasks; tasks are kept
 * and passed on, so the only errors are tasks that no job shell could run. Version 1 also requires the label of an
 * existing slot; the full grammar does not, because jobspecs in use name slots that do not exist.
 */
#include "request/request.h"

#include <stdio.h>
#include <string.h>

struct task_checker {
    weir_json_document *doc;
    const json_t *labels;
    weir_err *err;
    bool v1;
    char path[40];
};

#define FAIL(c, value, around, ...)                                                                                    \
    weir_json_document_fail((c)->doc, (struct weir_spot){value, around, (c)->path}, (c)->err, WEIR_EINVAL, __VA_ARGS__)

static int check_command(struct task_checker *c, const json_t *task)
{
    const json_t *command = json_object_get(task, "command");

    if (c->v1 && json_is_string(command)) /* the schema of RFC 25 accepts a string */
        return WEIR_OK;
    if (!json_is_array(command) || json_array_size(command) == 0)
        return FAIL(c, command, task, "command must be a list of strings, such as [\"app\"], not %s",
                    json_is_array(command) ? "an empty one" : weir_json_kind(command));
    for (size_t i = 0; i < json_array_size(command); i++) {
        const json_t *word = json_array_get(command, i);
        if (!json_is_string(word))
            return FAIL(c, word, command, "command[%zu] must be a string, not %s; put it in quotes", i,
                        weir_json_kind(word));
    }
    return WEIR_OK;
}

/* The label of some slot, for an error message; "" if there is no slot. */
static const char *a_label(const struct task_checker *c)
{
    const char *label;
    json_t *of_slot;

    json_object_foreach((json_t *)c->labels, label, of_slot)
    {
        if (json_is_true(of_slot))
            return label;
    }
    return "";
}

static int check_slot(struct task_checker *c, const json_t *task)
{
    const json_t *slot = json_object_get(task, "slot");
    char quoted[WEIR_QUOTE], known[WEIR_QUOTE];

    if (!json_is_string(slot))
        return FAIL(c, slot, task, "slot must be the label of a slot, not %s", weir_json_kind(slot));
    if (c->v1 && !json_is_true(json_object_get(c->labels, json_string_value(slot))))
        return FAIL(c, slot, task, "slot %s is not the label of a slot, which is %s",
                    weir_quote(json_string_value(slot), quoted), weir_quote(a_label(c), known));
    return WEIR_OK;
}

static bool is_positive(const json_t *value)
{
    return json_is_integer(value) && json_integer_value(value) > 0;
}

static int check_entry(struct task_checker *c, const json_t *count, const char *key, const json_t *value)
{
    bool per_slot = strcmp(key, "per_slot") == 0, per_resource = strcmp(key, "per_resource") == 0;

    if (!per_slot && !per_resource && strcmp(key, "total") != 0)
        return WEIR_OK;
    if (per_resource) {
        if (!json_is_string(json_object_get(value, "type")) || !is_positive(json_object_get(value, "count")))
            return FAIL(c, value, count, "count.per_resource must have a type and a count of 1 or more");
        return WEIR_OK;
    }
    if (!is_positive(value))
        return FAIL(c, value, count, "count.%s must be an integer of 1 or more", key);
    return WEIR_OK;
}

static int check_count(struct task_checker *c, const json_t *task)
{
    const json_t *count = json_object_get(task, "count");
    const char *key;
    json_t *value;

    if (!json_is_object(count) || json_object_size(count) != 1)
        return FAIL(c, count, task, "count must be a dictionary with one of per_slot, per_resource and total%s%s",
                    json_is_object(count) ? "" : ", not ", json_is_object(count) ? "" : weir_json_kind(count));
    json_object_foreach((json_t *)count, key, value)
    {
        int rc = check_entry(c, count, key, value);
        if (rc != WEIR_OK)
            return rc;
    }
    return WEIR_OK;
}

/* Fails on a key unknown to RFC 14. */
static int check_keys(struct task_checker *c, const json_t *task)
{
    static const char *const known[] = {"command", "slot", "count", "distribution", "attributes", NULL};
    const char *key = weir_json_unknown(task, known);
    char quoted[WEIR_QUOTE];

    if (!key)
        return WEIR_OK;
    return FAIL(c, json_object_get(task, key), task,
                "unknown key %s; known: command, slot, count, distribution, attributes", weir_quote(key, quoted));
}

static int check_extras(struct task_checker *c, const json_t *task)
{
    const json_t *distribution = json_object_get(task, "distribution");
    const json_t *attributes = json_object_get(task, "attributes");

    if (distribution && !json_is_string(distribution))
        return FAIL(c, distribution, task, "distribution must be a string, not %s", weir_json_kind(distribution));
    if (attributes && !json_is_object(attributes))
        return FAIL(c, attributes, task, "attributes must be a dictionary, not %s", weir_json_kind(attributes));
    return WEIR_OK;
}

static int check_task(struct task_checker *c, const json_t *tasks, const json_t *task)
{
    int rc;

    if (!json_is_object(task))
        return FAIL(c, task, tasks, "a task must be a dictionary with command, slot and count, not %s",
                    weir_json_kind(task));
    rc = check_keys(c, task);
    rc = rc ? rc : check_command(c, task);
    rc = rc ? rc : check_slot(c, task);
    rc = rc ? rc : check_count(c, task);
    return rc == WEIR_OK ? check_extras(c, task) : rc;
}

int weir_jobspec_check_tasks(weir_json_document *d, const json_t *tasks, const json_t *labels, bool v1, weir_err *err)
{
    struct task_checker c = {d, labels, err, v1, "tasks"};

    if (!json_is_array(tasks) || json_array_size(tasks) == 0)
        return FAIL(&c, tasks, d->root, "must be a list with a task in it, not %s",
                    json_is_array(tasks) ? "an empty one" : weir_json_kind(tasks));
    for (size_t i = 0; i < json_array_size(tasks); i++) {
        int rc;
        snprintf(c.path, sizeof c.path, "tasks[%zu]", i);
        rc = check_task(&c, tasks, json_array_get(tasks, i));
        if (rc != WEIR_OK)
            return rc;
    }
    return WEIR_OK;
}

static bool add_task(json_t *tasks, const char *slot)
{
    json_t *task = json_pack("{s:[s], s:s, s:{s:i}}", "command", "true", "slot", slot, "count", "per_slot", 1);
    return task && json_array_append_new(tasks, task) == 0;
}

json_t *weir_jobspec_default_tasks(const weir_request *r)
{
    json_t *tasks = json_array();
    bool made = tasks != NULL;

    for (uint32_t i = 0; i < r->count && made; i++)
        if (r->order[i]->slot)
            made = add_task(tasks, r->order[i]->label);
    if (made && json_array_size(tasks) == 0)
        made = add_task(tasks, "default");
    if (made)
        return tasks;
    json_decref(tasks);
    return NULL;
}
