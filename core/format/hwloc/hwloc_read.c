/* hwloc_read.c - reads this machine, or the XML of another, by libhwloc.
 *
 * cluster0 -> node, called by the host's name -> socket (hwloc: Package) -> numanode, where a package has several ->
 * core; groups and caches (KB of 2^10 bytes) only where they are asked for. What hwloc does not place in a package lies in
 * the node. A NUMA node gives a memory pool (MB of 2^20 bytes, property "kind" where hwloc tells); one without processors,
 * such as the memory of a GPU, gives none. A GPU is one pool however many drivers show it: what has the same PCI address
 * is the same. A disk whose size hwloc knows is "storage" (GB). Cores count 0, 1, ... over the node; a GPU has the number
 * of its driver where that is unique.
 *
 * Main invariant: places[0] is the node; an object belongs into the smallest place that has all of its processors, the
 * last one made where several are as small.
 */
#include "format/input.h"
#include "format/hwloc/hwloc_types.h"

#include <hwloc.h>
#include <stdlib.h>
#include <string.h>

/* A vertex that others are put into. */
struct place {
    weir_vertex v;
    unsigned type; /* one of enum weir_hwloc_type */
    hwloc_obj_t obj;
};

#define GPUS_MAX 4096

/* A GPU. Those without a PCI address are told apart by their number. */
struct gpu {
    hwloc_obj_t pci; /* or NULL */
    int driver;      /* that `number` and `obj` are from: lower is better */
    int64_t number, id;
    hwloc_obj_t obj;
};

struct reader {
    const char *source;
    weir_err *err;
    unsigned what; /* of enum weir_hwloc_type */
    hwloc_topology_t topology;
    weir_graph *g;
    struct place *places;
    uint32_t nplaces, places_cap;
    struct gpu *gpus;
    uint32_t ngpus, gpus_cap;
};

/* ---- places --------------------------------------------------------------------------------------------------- */

static int add_place(struct reader *r, weir_vertex v, unsigned type, hwloc_obj_t obj)
{
    if (weir_array_reserve(&r->places, &r->places_cap, (size_t)r->nplaces + 1, sizeof *r->places) < 0)
        return weir_fail_nomem(r->err);
    r->places[r->nplaces++] = (struct place){v, type, obj};
    return WEIR_OK;
}

static bool has_cpus(hwloc_obj_t obj)
{
    return obj->cpuset && !hwloc_bitmap_iszero(obj->cpuset);
}

static bool is_nearer(const struct place *a, const struct place *b)
{
    return hwloc_bitmap_weight(a->obj->cpuset) <= hwloc_bitmap_weight(b->obj->cpuset);
}

#define ANY_PLACE (~0u)

/* The nearest place, of one of these types, that has all processors of obj. */
static weir_vertex find_place(const struct reader *r, hwloc_obj_t obj, unsigned types)
{
    const struct place *best = &r->places[0];

    if (!has_cpus(obj) || obj->type == HWLOC_OBJ_MACHINE)
        return best->v;
    for (const struct place *p = r->places + 1; p < r->places + r->nplaces; p++)
        if ((p->type & types) && hwloc_bitmap_isincluded(obj->cpuset, p->obj->cpuset) &&
            (best == r->places || is_nearer(p, best)))
            best = p;
    return best->v;
}

static int add_pool(struct reader *r, weir_vertex parent, const char *type, int64_t id, weir_vertex *v)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;

    d.type = type;
    d.id = id;
    return weir_graph_add(r->g, parent, &d, v, r->err);
}

static weir_pool_desc quantity(const char *type, int64_t id, uint64_t size, const char *unit)
{
    weir_pool_desc d = WEIR_POOL_DESC_INIT;

    d.type = type;
    d.id = id;
    d.size = size < 1 ? 1 : size > INT64_MAX / 4 ? INT64_MAX / 4 : (int64_t)size;
    d.unit = unit;
    return d;
}

static int add_quantity(struct reader *r, weir_vertex parent, const char *type, int64_t id, uint64_t size,
                        const char *unit, weir_vertex *v)
{
    weir_pool_desc d = quantity(type, id, size, unit);
    return weir_graph_add(r->g, parent, &d, v, r->err);
}

/* Keeps what hwloc tells about a pool as a property. */
static int set_info(struct reader *r, weir_vertex v, const char *key, const char *value)
{
    if (!value || !*value || !weir_text_utf8(value, strlen(value)))
        return WEIR_OK;
    return weir_vertex_set(r->g, v, WEIR_PROPERTIES, key, value, r->err);
}

static int add_node(struct reader *r)
{
    hwloc_obj_t machine = hwloc_get_root_obj(r->topology);
    const char *host = hwloc_obj_get_info_by_name(machine, "HostName");
    weir_pool_desc d = WEIR_POOL_DESC_INIT;
    weir_vertex cluster, v = WEIR_NONE;
    char *basename = NULL;
    int rc = add_pool(r, WEIR_NONE, "cluster", 0, &cluster);

    d.type = "node";
    d.rank = d.id = 0;
    if (host && !weir_text_fault(host, true) && weir_text_utf8(host, strlen(host))) {
        basename = weir_mem_alloc(strlen(host) + 1);
        if (!basename)
            return weir_fail_nomem(r->err);
        weir_host_describe(host, basename, &d);
    }
    if (rc == WEIR_OK)
        rc = weir_graph_add(r->g, cluster, &d, &v, r->err);
    weir_mem_free(basename);
    return rc < 0 ? rc : add_place(r, v, WEIR_HWLOC_NODE, machine);
}

/* One vertex for each object of a type, in the place where it lies. Where a type is at several depths, as groups may be, hwloc
 * counts from 0 at each of them; here they are counted on. */
static int add_places(struct reader *r, unsigned type, const char *name, hwloc_obj_type_t kind, bool in_package)
{
    unsigned above = 0;
    int rc = WEIR_OK;

    for (int depth = 0; rc == WEIR_OK && depth < hwloc_topology_get_depth(r->topology); depth++) {
        hwloc_obj_t p = NULL;
        if (hwloc_get_depth_type(r->topology, depth) != kind)
            continue;
        while (rc == WEIR_OK && (p = hwloc_get_next_obj_by_depth(r->topology, depth, p))) {
            weir_vertex v;
            if (in_package != (hwloc_get_ancestor_obj_by_type(r->topology, HWLOC_OBJ_PACKAGE, p) != NULL))
                continue;
            rc = add_pool(r, find_place(r, p, ANY_PLACE), name, above + p->logical_index, &v);
            if (rc == WEIR_OK && has_cpus(p))
                rc = add_place(r, v, type, p);
        }
        above += hwloc_get_nbobjs_by_depth(r->topology, depth);
    }
    return rc;
}

/* A group may have packages in it, or lie in one. */
static int add_sockets(struct reader *r)
{
    int rc = WEIR_OK;

    if (r->what & WEIR_HWLOC_GROUP)
        rc = add_places(r, WEIR_HWLOC_GROUP, "group", HWLOC_OBJ_GROUP, false);
    if (rc == WEIR_OK && (r->what & WEIR_HWLOC_SOCKET))
        rc = add_places(r, WEIR_HWLOC_SOCKET, "socket", HWLOC_OBJ_PACKAGE, false);
    if (rc == WEIR_OK && (r->what & WEIR_HWLOC_GROUP))
        rc = add_places(r, WEIR_HWLOC_GROUP, "group", HWLOC_OBJ_GROUP, true);
    return rc;
}

/* Where NUMA nodes lie. */
#define OUTER (WEIR_HWLOC_GROUP | WEIR_HWLOC_SOCKET)

/* How many NUMA nodes with processors lie in the place v. */
static unsigned count_memories(const struct reader *r, weir_vertex v)
{
    hwloc_obj_t m = NULL;
    unsigned n = 0;

    while ((m = hwloc_get_next_obj_by_type(r->topology, HWLOC_OBJ_NUMANODE, m)))
        n += has_cpus(m) && find_place(r, m, OUTER) == v;
    return n;
}

/* A NUMA node is a vertex where it is one of several in its package, or in a machine without packages, or asked for. */
static int add_numanodes(struct reader *r)
{
    hwloc_obj_t m = NULL;
    bool packages = r->nplaces > 1;
    int rc = WEIR_OK;

    while (rc == WEIR_OK && (m = hwloc_get_next_obj_by_type(r->topology, HWLOC_OBJ_NUMANODE, m))) {
        weir_vertex in = find_place(r, m, OUTER), v;
        bool alone = (packages && in == r->places[0].v) || count_memories(r, in) < 2;
        if (!has_cpus(m) || (alone && !(r->what & WEIR_HWLOC_LISTED)))
            continue;
        rc = add_pool(r, in, "numanode", m->logical_index, &v);
        if (rc == WEIR_OK)
            rc = add_place(r, v, WEIR_HWLOC_NUMANODE, m);
    }
    return rc;
}

static int add_caches(struct reader *r)
{
    static const struct {
        unsigned type;
        hwloc_obj_type_t kind;
        const char *basename;
    } caches[] = {{WEIR_HWLOC_L3, HWLOC_OBJ_L3CACHE, "L3cache"},
                  {WEIR_HWLOC_L2, HWLOC_OBJ_L2CACHE, "L2cache"},
                  {WEIR_HWLOC_L1, HWLOC_OBJ_L1CACHE, "L1cache"}};
    int rc = WEIR_OK;

    for (size_t i = 0; i < sizeof caches / sizeof *caches; i++) {
        hwloc_obj_t c = NULL;
        while (rc == WEIR_OK && (r->what & caches[i].type) &&
               (c = hwloc_get_next_obj_by_type(r->topology, caches[i].kind, c))) {
            weir_pool_desc d = quantity("cache", c->logical_index, c->attr->cache.size >> 10, "KB");
            weir_vertex v;
            d.basename = caches[i].basename;
            rc = weir_graph_add(r->g, find_place(r, c, ANY_PLACE), &d, &v, r->err);
            if (rc == WEIR_OK)
                rc = add_place(r, v, caches[i].type, c);
        }
    }
    return rc;
}

/* ---- what is in them ------------------------------------------------------------------------------------------ */

static int add_processors(struct reader *r, hwloc_obj_t core, weir_vertex v)
{
    hwloc_obj_t p = NULL;
    int rc = WEIR_OK;

    while (rc == WEIR_OK &&
           (p = hwloc_get_next_obj_inside_cpuset_by_type(r->topology, core->cpuset, HWLOC_OBJ_PU, p))) {
        weir_vertex pu;
        rc = add_pool(r, v, "pu", p->logical_index, &pu);
    }
    return rc;
}

/* Where hwloc knows of no cores, its processors are the cores. */
static int add_cores(struct reader *r)
{
    hwloc_obj_type_t type = HWLOC_OBJ_CORE;
    hwloc_obj_t c = NULL;
    int rc = WEIR_OK;

    if (hwloc_get_nbobjs_by_type(r->topology, type) <= 0)
        type = HWLOC_OBJ_PU;
    while (rc == WEIR_OK && (c = hwloc_get_next_obj_by_type(r->topology, type, c))) {
        weir_vertex v = find_place(r, c, ANY_PLACE);
        if (r->what & WEIR_HWLOC_CORE)
            rc = add_pool(r, v, "core", c->logical_index, &v);
        if (rc == WEIR_OK && (r->what & WEIR_HWLOC_PU))
            rc = add_processors(r, c, v);
    }
    return rc;
}

static int add_memories(struct reader *r)
{
    hwloc_obj_t m = NULL;
    int rc = WEIR_OK;

    while (rc == WEIR_OK && (m = hwloc_get_next_obj_by_type(r->topology, HWLOC_OBJ_NUMANODE, m))) {
        weir_vertex in = find_place(r, m, OUTER), v;
        if (!has_cpus(m))
            continue;
        for (uint32_t i = 0; i < r->nplaces; i++)
            if (r->places[i].obj == m)
                in = r->places[i].v;
        rc = add_quantity(r, in, "memory", m->logical_index, m->attr->numanode.local_memory >> 20, "MB", &v);
        if (rc == WEIR_OK)
            rc = set_info(r, v, "kind", m->subtype);
    }
    return rc;
}

/* Where an I/O device lies. */
static weir_vertex device_place(const struct reader *r, hwloc_obj_t device)
{
    return find_place(r, hwloc_get_non_io_ancestor_obj(r->topology, device), ANY_PLACE);
}

/* Whether a device is a GPU that can compute, by the driver that shows it, and its number there. */
static bool is_gpu(hwloc_obj_t dev, int *driver, int64_t *number)
{
    static const char *const drivers[] = {"cuda", "rsmi", "nvml", "ze", "opencl"};
    const char *kind = hwloc_obj_get_info_by_name(dev, "OpenCLDeviceType"), *rest = NULL;

    if (!dev->name || !dev->attr ||
        (dev->attr->osdev.type != HWLOC_OBJ_OSDEV_COPROC && dev->attr->osdev.type != HWLOC_OBJ_OSDEV_GPU))
        return false;
    for (int i = 0; i < (int)(sizeof drivers / sizeof *drivers); i++) {
        size_t n = strlen(drivers[i]);
        if (strncmp(dev->name, drivers[i], n) == 0 && dev->name[n] >= '0' && dev->name[n] <= '9') {
            *driver = i;
            rest = dev->name + n;
        }
    }
    if (!rest)
        return false;
    if (strcmp(drivers[*driver], "opencl") == 0) { /* "opencl", platform, "d", device */
        rest = strchr(rest, 'd');
        if (!rest || !kind || strcmp(kind, "GPU") != 0)
            return false;
        rest++;
    }
    *number = strtoll(rest, NULL, 10);
    return true;
}

static hwloc_obj_t pci_of(hwloc_obj_t dev)
{
    while (dev && dev->type != HWLOC_OBJ_PCI_DEVICE)
        dev = dev->parent;
    return dev;
}

static int note_gpu(struct reader *r, hwloc_obj_t dev, int driver, int64_t number)
{
    struct gpu found = {pci_of(dev), driver, number, 0, dev};

    for (uint32_t i = 0; i < r->ngpus; i++) {
        struct gpu *g = &r->gpus[i];
        if (g->pci == found.pci && (g->pci || g->number == number)) {
            if (driver < g->driver)
                *g = found;
            return WEIR_OK;
        }
    }
    if (r->ngpus == GPUS_MAX)
        return weir_fail_at(r->err, WEIR_ELIMIT, r->source, 0, 0, "more than %d GPUs", GPUS_MAX);
    if (weir_array_reserve(&r->gpus, &r->gpus_cap, (size_t)r->ngpus + 1, sizeof *r->gpus) < 0)
        return weir_fail_nomem(r->err);
    r->gpus[r->ngpus++] = found;
    return WEIR_OK;
}

/* Whether the i-th GPU may not have this id: one before it does, or it is the number of another. */
static bool id_taken(const struct reader *r, uint32_t i, int64_t id)
{
    for (uint32_t k = 0; k < r->ngpus; k++)
        if ((k < i && r->gpus[k].id == id) || (k != i && id != r->gpus[i].number && r->gpus[k].number == id))
            return true;
    return false;
}

static int compare_gpus(const void *a, const void *b)
{
    const struct gpu *x = a, *y = b;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* The first of each number keeps it; others get the lowest ids that are left. O(n^2) */
static void number_gpus(struct reader *r)
{
    int64_t spare = 0;

    for (uint32_t i = 0; i < r->ngpus; i++) {
        int64_t id = r->gpus[i].number;
        if (id_taken(r, i, id))
            for (id = spare; id_taken(r, i, id); id++)
                ;
        spare = id == r->gpus[i].number ? spare : id + 1;
        r->gpus[i].id = id;
    }
    if (r->ngpus > 0)
        qsort(r->gpus, r->ngpus, sizeof *r->gpus, compare_gpus);
}

static int add_gpus(struct reader *r)
{
    hwloc_obj_t dev = NULL;
    int rc = WEIR_OK, driver = 0;
    int64_t number;

    while (rc == WEIR_OK && (dev = hwloc_get_next_osdev(r->topology, dev)))
        if (is_gpu(dev, &driver, &number))
            rc = note_gpu(r, dev, driver, number);
    number_gpus(r);
    for (uint32_t i = 0; rc == WEIR_OK && i < r->ngpus; i++) {
        weir_vertex v;
        rc = add_pool(r, device_place(r, r->gpus[i].obj), "gpu", r->gpus[i].id, &v);
        if (rc == WEIR_OK)
            rc = set_info(r, v, "model", hwloc_obj_get_info_by_name(r->gpus[i].obj, "GPUModel"));
    }
    return rc;
}

/* hwloc gives the size of a disk in units of 1000 bytes. */
static int add_storages(struct reader *r)
{
    hwloc_obj_t dev = NULL;
    int64_t id = 0;
    int rc = WEIR_OK;

    while (rc == WEIR_OK && (dev = hwloc_get_next_osdev(r->topology, dev))) {
        const char *size = hwloc_obj_get_info_by_name(dev, "Size");
        weir_vertex v;
        if (!dev->attr || dev->attr->osdev.type != HWLOC_OBJ_OSDEV_BLOCK || !size || strtoull(size, NULL, 10) == 0 ||
            (dev->subtype && strcmp(dev->subtype, "Disk") != 0))
            continue;
        rc = add_quantity(r, device_place(r, dev), "storage", id++, strtoull(size, NULL, 10) / 1000000, "GB", &v);
        if (rc == WEIR_OK)
            rc = set_info(r, v, "device", dev->name);
        if (rc == WEIR_OK)
            rc = set_info(r, v, "LinuxDeviceID", hwloc_obj_get_info_by_name(dev, "LinuxDeviceID"));
    }
    return rc;
}

/* ---- machines ------------------------------------------------------------------------------------------------- */

static int add_all(struct reader *r)
{
    static const struct {
        unsigned types;
        int (*add)(struct reader *r);
    } steps[] = {{WEIR_HWLOC_NODE, add_node},
                 {OUTER, add_sockets},
                 {WEIR_HWLOC_NUMANODE, add_numanodes},
                 {WEIR_HWLOC_L3 | WEIR_HWLOC_L2 | WEIR_HWLOC_L1, add_caches},
                 {WEIR_HWLOC_CORE | WEIR_HWLOC_PU, add_cores},
                 {WEIR_HWLOC_GPU, add_gpus},
                 {WEIR_HWLOC_MEMORY, add_memories},
                 {WEIR_HWLOC_STORAGE, add_storages}};
    int rc = WEIR_OK;

    for (size_t i = 0; rc == WEIR_OK && i < sizeof steps / sizeof *steps; i++)
        if (r->what & steps[i].types)
            rc = steps[i].add(r);
    return rc;
}

static int build(struct reader *r)
{
    int rc;

    r->g = weir_graph_new();
    if (!r->g)
        return weir_fail_nomem(r->err);
    weir_graph_begin(r->g);
    rc = add_all(r);
    return rc < 0 ? rc : weir_graph_end(r->g, r->err);
}

/* Loads the topology: of the XML, or of this machine. There, Linux itself tells what is on PCI (libpciaccess, which
 * hwloc would ask too, does not give its memory back), and no X server has to be asked for displays. */
static int load(struct reader *r, const char *text, size_t len, bool all)
{
    if (hwloc_topology_init(&r->topology) < 0) {
        r->topology = NULL;
        return weir_fail_nomem(r->err);
    }
    if (hwloc_topology_set_io_types_filter(r->topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) < 0 ||
        hwloc_topology_set_flags(r->topology, all ? HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED : 0) < 0)
        return weir_fail(r->err, WEIR_EIO, "hwloc does not take its options");
    if (!text) { /* these two only cost time and memory here; a hwloc without them refuses to leave them out */
        (void)hwloc_topology_set_components(r->topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "pci");
        (void)hwloc_topology_set_components(r->topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "gl");
    }
    if (text && hwloc_topology_set_xmlbuffer(r->topology, text, (int)len) < 0)
        return weir_fail_at(r->err, WEIR_EPARSE, r->source, 0, 0, "hwloc does not understand this XML");
    if (hwloc_topology_load(r->topology) < 0)
        return weir_fail_at(r->err, text ? WEIR_EPARSE : WEIR_EIO, r->source, 0, 0,
                            text ? "hwloc finds no machine in this XML" : "hwloc cannot look at this machine");
    return WEIR_OK;
}

static int read_machine(const char *text, size_t len, const char *source, unsigned what, weir_graph **out, weir_err *err)
{
    struct reader r = {.source = source, .err = err, .what = what};
    int rc = load(&r, text, len, what & WEIR_HWLOC_ALL);

    if (rc == WEIR_OK)
        rc = build(&r);
    if (r.topology)
        hwloc_topology_destroy(r.topology);
    weir_mem_free(r.places);
    weir_mem_free(r.gpus);
    if (rc < 0)
        weir_graph_free(r.g);
    else
        *out = r.g;
    return rc;
}

int weir_hwloc_discover(const char *types, weir_graph **out, weir_err *err)
{
    unsigned what;
    int rc = weir_hwloc_types(types, &what, err);

    return rc < 0 ? rc : read_machine(NULL, 0, "this machine", what, out, err);
}

int weir_hwloc_read(const struct weir_input *in, const char *source, weir_graph **out, weir_err *err)
{
    unsigned what;
    int rc = weir_hwloc_types(in->option, &what, err);

    if (rc == WEIR_OK)
        rc = weir_hwloc_check(in->text, in->len, source, err);
    return rc < 0 ? rc : read_machine(in->text, in->len, source, what, out, err);
}
