/* hwloc_read.c - reads this machine, or the XML of a machine, by libhwloc.
 *
 * cluster0 -> node, called by the host's name -> socket (hwloc: Package) -> numanode, in packages with several -> core;
 * groups and caches (KB of 2^10 bytes) only on demand. Objects outside of packages are in the node. A NUMA node gives a
 * memory pool (MB of 2^20 bytes, property "kind" where known to hwloc), but none without processors, such as the memory
 * of a GPU. A GPU is a single pool however many drivers show the device, by PCI address; an accelerator in partitions
 * has as many GPUs on its PCI device as the best driver shows there. A disk of known size is "storage" (GB). Cores
 * count 0, 1, ... over the node; a GPU has the number of its driver where unique.
 *
 * Further facts that hwloc knows are in properties. Sockets have "caches". GPUs and disks have "model", "pci", the
 * address, and "bridges", the addresses of the PCI bridges above, the outermost first. Where network adapters hang
 * there is "nics": names and address of each, by semicolons.
 *
 * Main invariant: containers[0] is the node; an object belongs into the smallest container with all of its processors,
 * of several the last one made.
 */
#include "format/input.h"
#include "format/hwloc/hwloc_types.h"

#include <hwloc.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"

/* A vertex that will contain further vertices. */
struct container {
    weir_vertex v;
    unsigned type; /* an enum weir_hwloc_type */
    hwloc_obj_t obj;
};

#define GPUS_MAX 4096

/* A GPU. GPUs without a PCI address are distinguished by number. */
struct gpu {
    hwloc_obj_t pci; /* NULL: no PCI address */
    int driver;      /* source of `number` and `obj`: lower is better */
    int64_t number, id;
    hwloc_obj_t obj;
};

struct hwloc_reader {
    const char *source;
    weir_err *err;
    unsigned what; /* enum weir_hwloc_type, or-ed */
    hwloc_topology_t topology;
    weir_graph *g;
    struct container *containers;
    uint32_t ncontainers, containers_cap;
    struct gpu *gpus;
    uint32_t ngpus, gpus_cap;
};

/* ---- containers -------------------------------------------------------------------------------------------------- */

static int add_container(struct hwloc_reader *r, weir_vertex v, unsigned type, hwloc_obj_t obj)
{
    return WEIR_ARRAY_ADD(r->containers, r->ncontainers, r->containers_cap, (struct container){v, type, obj})
               ? weir_fail_nomem(r->err)
               : WEIR_OK;
}

static bool has_cpus(hwloc_obj_t obj)
{
    return obj->cpuset && !hwloc_bitmap_iszero(obj->cpuset);
}

static bool is_nearer(const struct container *a, const struct container *b)
{
    return hwloc_bitmap_weight(a->obj->cpuset) <= hwloc_bitmap_weight(b->obj->cpuset);
}

#define ANY_PLACE (~0u)

/* The nearest container, of one of several types, with all processors of obj. */
static weir_vertex find_container(const struct hwloc_reader *r, hwloc_obj_t obj, unsigned types)
{
    const struct container *best = &r->containers[0];

    if (!has_cpus(obj) || obj->type == HWLOC_OBJ_MACHINE)
        return best->v;
    for (const struct container *p = r->containers + 1; p < r->containers + r->ncontainers; p++)
        if ((p->type & types) && hwloc_bitmap_isincluded(obj->cpuset, p->obj->cpuset) &&
            (best == r->containers || is_nearer(p, best)))
            best = p;
    return best->v;
}

static int add_pool(struct hwloc_reader *r, weir_vertex parent, const char *type, int64_t id, weir_vertex *v)
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

static int add_quantity(struct hwloc_reader *r, weir_vertex parent, const char *type, int64_t id, uint64_t size,
                        const char *unit, weir_vertex *v)
{
    weir_pool_desc d = quantity(type, id, size, unit);
    return weir_graph_add(r->g, parent, &d, v, r->err);
}

/* Records a piece of information of hwloc as a property of a pool. */
static int set_info(struct hwloc_reader *r, weir_vertex v, const char *key, const char *value)
{
    if (!value || !*value || !weir_text_utf8(value, strlen(value)))
        return WEIR_OK;
    return weir_vertex_set(r->g, v, WEIR_PROPERTIES, key, value, r->err);
}

/* Records the caches of a package as a property, such as "8 L3 of 16 MB, 24 L2 of 512 KB". */
static int set_caches(struct hwloc_reader *r, weir_vertex v, hwloc_obj_t package)
{
    static const struct {
        const char *name;
        hwloc_obj_type_t kind;
    } levels[] = {{"L3", HWLOC_OBJ_L3CACHE}, {"L2", HWLOC_OBJ_L2CACHE}, {"L1d", HWLOC_OBJ_L1CACHE}};
    char text[160] = "";
    size_t n = 0;

    for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
        int count = hwloc_get_nbobjs_inside_cpuset_by_type(r->topology, package->cpuset, levels[i].kind);
        hwloc_obj_t c = hwloc_get_obj_inside_cpuset_by_type(r->topology, package->cpuset, levels[i].kind, 0);
        uint64_t kb = c && c->attr ? c->attr->cache.size >> 10 : 0;
        bool mb = kb >= 1024 && kb % 1024 == 0;
        if (count > 0 && kb > 0)
            n += (size_t)snprintf(text + n, sizeof text - n, "%s%d %s of %" PRIu64 " %s", n > 0 ? ", " : "", count,
                                  levels[i].name, mb ? kb >> 10 : kb, mb ? "MB" : "KB");
    }
    return set_info(r, v, "caches", text);
}

static int add_node(struct hwloc_reader *r)
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
    rc = rc ? rc : weir_graph_add(r->g, cluster, &d, &v, r->err);
    weir_mem_free(basename);
    return rc < 0 ? rc : add_container(r, v, WEIR_HWLOC_NODE, machine);
}

/* Adds a vertex for each object of a type, in its container. hwloc numbers objects from 0 at each depth; ids here
 * continue over all depths of a type, of which groups may have several. */
static int add_objects(struct hwloc_reader *r, unsigned type, const char *name, hwloc_obj_type_t kind, bool in_package)
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
            rc = add_pool(r, find_container(r, p, ANY_PLACE), name, above + p->logical_index, &v);
            if (rc == WEIR_OK && has_cpus(p))
                rc = add_container(r, v, type, p);
            if (rc == WEIR_OK && kind == HWLOC_OBJ_PACKAGE && has_cpus(p))
                rc = set_caches(r, v, p);
        }
        above += hwloc_get_nbobjs_by_depth(r->topology, depth);
    }
    return rc;
}

/* Adds the packages as sockets; a group may contain packages, or be in a package. */
static int add_sockets(struct hwloc_reader *r)
{
    int rc = WEIR_OK;

    if (r->what & WEIR_HWLOC_GROUP)
        rc = add_objects(r, WEIR_HWLOC_GROUP, "group", HWLOC_OBJ_GROUP, false);
    if (rc == WEIR_OK && (r->what & WEIR_HWLOC_SOCKET))
        rc = add_objects(r, WEIR_HWLOC_SOCKET, "socket", HWLOC_OBJ_PACKAGE, false);
    if (rc == WEIR_OK && (r->what & WEIR_HWLOC_GROUP))
        rc = add_objects(r, WEIR_HWLOC_GROUP, "group", HWLOC_OBJ_GROUP, true);
    return rc;
}

/* Types of the containers of NUMA nodes. */
#define OUTER (WEIR_HWLOC_GROUP | WEIR_HWLOC_SOCKET)

/* Number of NUMA nodes with processors in the container v. */
static unsigned count_memories(const struct hwloc_reader *r, weir_vertex v)
{
    hwloc_obj_t m = NULL;
    unsigned n = 0;

    while ((m = hwloc_get_next_obj_by_type(r->topology, HWLOC_OBJ_NUMANODE, m)))
        n += has_cpus(m) && find_container(r, m, OUTER) == v;
    return n;
}

/* Adds NUMA nodes as vertices: in packages with several, in machines without packages, or on demand. */
static int add_numanodes(struct hwloc_reader *r)
{
    hwloc_obj_t m = NULL;
    bool packages = r->ncontainers > 1;
    int rc = WEIR_OK;

    while (rc == WEIR_OK && (m = hwloc_get_next_obj_by_type(r->topology, HWLOC_OBJ_NUMANODE, m))) {
        weir_vertex in = find_container(r, m, OUTER), v;
        bool alone = (packages && in == r->containers[0].v) || count_memories(r, in) < 2;
        if (!has_cpus(m) || (alone && !(r->what & WEIR_HWLOC_LISTED)))
            continue;
        rc = add_pool(r, in, "numanode", m->logical_index, &v);
        rc = rc ? rc : add_container(r, v, WEIR_HWLOC_NUMANODE, m);
    }
    return rc;
}

static int add_caches(struct hwloc_reader *r)
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
            rc = weir_graph_add(r->g, find_container(r, c, ANY_PLACE), &d, &v, r->err);
            rc = rc ? rc : add_container(r, v, caches[i].type, c);
        }
    }
    return rc;
}

/* ---- contents of containers -------------------------------------------------------------------------------------- */

static int add_processors(struct hwloc_reader *r, hwloc_obj_t core, weir_vertex v)
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

/* Adds the cores; processors take the place of cores in a topology without cores. */
static int add_cores(struct hwloc_reader *r)
{
    hwloc_obj_type_t type = HWLOC_OBJ_CORE;
    hwloc_obj_t c = NULL;
    int rc = WEIR_OK;

    if (hwloc_get_nbobjs_by_type(r->topology, type) <= 0)
        type = HWLOC_OBJ_PU;
    while (rc == WEIR_OK && (c = hwloc_get_next_obj_by_type(r->topology, type, c))) {
        weir_vertex v = find_container(r, c, ANY_PLACE);
        if (r->what & WEIR_HWLOC_CORE)
            rc = add_pool(r, v, "core", c->logical_index, &v);
        if (rc == WEIR_OK && (r->what & WEIR_HWLOC_PU))
            rc = add_processors(r, c, v);
    }
    return rc;
}

static int add_memories(struct hwloc_reader *r)
{
    hwloc_obj_t m = NULL;
    int rc = WEIR_OK;

    while (rc == WEIR_OK && (m = hwloc_get_next_obj_by_type(r->topology, HWLOC_OBJ_NUMANODE, m))) {
        weir_vertex in = find_container(r, m, OUTER), v;
        if (!has_cpus(m))
            continue;
        for (uint32_t i = 0; i < r->ncontainers; i++)
            if (r->containers[i].obj == m)
                in = r->containers[i].v;
        rc = add_quantity(r, in, "memory", m->logical_index, m->attr->numanode.local_memory >> 20, "MB", &v);
        rc = rc ? rc : set_info(r, v, "kind", m->subtype);
    }
    return rc;
}

/* The container of an I/O device. */
static weir_vertex device_container(const struct hwloc_reader *r, hwloc_obj_t device)
{
    return find_container(r, hwloc_get_non_io_ancestor_obj(r->topology, device), ANY_PLACE);
}

/* Whether a device is a GPU for computing, with *driver set to the driver that shows the device, and *number to the
 * number there. */
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

/* Whether two drivers' GPUs are compared: they share a PCI device, or have none and share a number. */
static bool is_beside(const struct gpu *a, const struct gpu *b)
{
    return a->pci == b->pci && (a->pci || a->number == b->number);
}

/* Removes what worse drivers show of a GPU. */
static void drop_worse(struct hwloc_reader *r, const struct gpu *found)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < r->ngpus; i++)
        if (!is_beside(&r->gpus[i], found) || r->gpus[i].driver <= found->driver)
            r->gpus[n++] = r->gpus[i];
    r->ngpus = n;
}

/* Records a GPU unless a better driver shows it. The best driver of a PCI device may show several GPUs there, the
 * partitions of an accelerator. O(GPUs) */
static int note_gpu(struct hwloc_reader *r, hwloc_obj_t dev, int driver, int64_t number)
{
    struct gpu found = {pci_of(dev), driver, number, 0, dev};

    for (uint32_t i = 0; i < r->ngpus; i++) {
        const struct gpu *g = &r->gpus[i];
        if (is_beside(g, &found) && (g->driver < driver || (g->driver == driver && g->number == number)))
            return WEIR_OK;
    }
    drop_worse(r, &found);
    if (r->ngpus == GPUS_MAX)
        return weir_fail_at(r->err, WEIR_ELIMIT, r->source, 0, 0, "more than %d GPUs", GPUS_MAX);
    return WEIR_ARRAY_ADD(r->gpus, r->ngpus, r->gpus_cap, found) ? weir_fail_nomem(r->err) : WEIR_OK;
}

/* Whether GPU number i may not have an id: a GPU before i has the id, or the id is the number of a different GPU. */
static bool id_taken(const struct hwloc_reader *r, uint32_t i, int64_t id)
{
    for (uint32_t k = 0; k < r->ngpus; k++)
        if ((k < i && r->gpus[k].id == id) || (k != i && id != r->gpus[i].number && r->gpus[k].number == id))
            return true;
    return false;
}

WEIR_COMPARE_BY(compare_gpus, struct gpu, id)

/* Gives ids to the GPUs: the first GPU of each number keeps the number, all others get the lowest ids left. O(n^2) */
static void number_gpus(struct hwloc_reader *r)
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

#define ADDRESS_MAX 16 /* of a PCI device, such as "0000:03:00.0" */

static void write_address(char text[ADDRESS_MAX], const struct hwloc_pcidev_attr_s *pci)
{
    snprintf(text, ADDRESS_MAX, "%04x:%02x:%02x.%01x", (unsigned)pci->domain & 0xffff, pci->bus, pci->dev,
             (unsigned)pci->func & 0xf);
}

/* Records the bridges between the host and a PCI device as a property: addresses, the outermost first. Of more bridges
 * than fit, those next to the device are left out. */
static int set_bridges(struct hwloc_reader *r, weir_vertex v, hwloc_obj_t pci)
{
    char text[20 * ADDRESS_MAX] = "", address[ADDRESS_MAX];

    for (hwloc_obj_t b = pci->parent; b && b->type == HWLOC_OBJ_BRIDGE; b = b->parent) {
        size_t n = strlen(text);
        if (!b->attr || b->attr->bridge.upstream_type != HWLOC_OBJ_BRIDGE_PCI)
            continue;
        write_address(address, &b->attr->bridge.upstream.pci);
        if (n + strlen(address) + 2 > sizeof text)
            n = sizeof text - strlen(address) - 2;
        memmove(text + strlen(address) + (n > 0), text, n);
        memcpy(text, address, strlen(address));
        if (n > 0)
            text[strlen(address)] = ' ';
        text[n + strlen(address) + (n > 0)] = '\0';
    }
    return set_info(r, v, "bridges", text);
}

/* Records the address of the PCI device of a device as a property, and the bridges above. */
static int set_pci(struct hwloc_reader *r, weir_vertex v, hwloc_obj_t dev)
{
    hwloc_obj_t pci = pci_of(dev);
    char text[ADDRESS_MAX];
    int rc;

    if (!pci || !pci->attr)
        return WEIR_OK;
    write_address(text, &pci->attr->pcidev);
    rc = set_info(r, v, "pci", text);
    return rc < 0 ? rc : set_bridges(r, v, pci);
}

/* ---- the network ------------------------------------------------------------------------------------------------- */

/* Whether a device is a network adapter on PCI. */
static bool is_nic(hwloc_obj_t dev)
{
    hwloc_obj_t pci = pci_of(dev);

    return pci && pci->attr && dev->name && dev->attr &&
           (dev->attr->osdev.type == HWLOC_OBJ_OSDEV_NETWORK || dev->attr->osdev.type == HWLOC_OBJ_OSDEV_OPENFABRICS);
}

/* Appends the names of the adapter of `first`, of its first device, and its address, as far as they fit. */
static void append_nic(const struct hwloc_reader *r, hwloc_obj_t first, char *text, size_t size)
{
    size_t had = strlen(text), n = had;
    char address[ADDRESS_MAX];

    n += (size_t)snprintf(text + n, size - n, "%s", n > 0 ? "; " : "");
    for (hwloc_obj_t dev = first; dev && n < size; dev = hwloc_get_next_osdev(r->topology, dev))
        if (is_nic(dev) && pci_of(dev) == pci_of(first))
            n += (size_t)snprintf(text + n, size - n, "%s ", dev->name);
    write_address(address, &pci_of(first)->attr->pcidev);
    if (n < size)
        n += (size_t)snprintf(text + n, size - n, "%s", address);
    if (n >= size)
        text[had] = '\0';
}

/* Whether no device before `dev` is on the same adapter. */
static bool is_first_of_nic(const struct hwloc_reader *r, hwloc_obj_t dev)
{
    hwloc_obj_t other = NULL;

    while ((other = hwloc_get_next_osdev(r->topology, other)) && other != dev)
        if (is_nic(other) && pci_of(other) == pci_of(dev))
            return false;
    return true;
}

/* Records the network adapters of each container as a property, such as "eth0 0000:81:00.0; ib0 mlx5_0 0000:84:00.0".
 * O(containers x devices^2) */
static int set_nics(struct hwloc_reader *r)
{
    int rc = WEIR_OK;

    for (uint32_t i = 0; rc == WEIR_OK && i < r->ncontainers; i++) {
        hwloc_obj_t dev = NULL;
        char text[512] = "";
        while ((dev = hwloc_get_next_osdev(r->topology, dev)))
            if (is_nic(dev) && device_container(r, dev) == r->containers[i].v && is_first_of_nic(r, dev))
                append_nic(r, dev, text, sizeof text);
        rc = set_info(r, r->containers[i].v, "nics", text);
    }
    return rc;
}

static int add_gpus(struct hwloc_reader *r)
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
        rc = add_pool(r, device_container(r, r->gpus[i].obj), "gpu", r->gpus[i].id, &v);
        rc = rc ? rc : set_info(r, v, "model", hwloc_obj_get_info_by_name(r->gpus[i].obj, "GPUModel"));
        rc = rc ? rc : set_pci(r, v, r->gpus[i].obj);
    }
    return rc;
}

/* Adds disks. hwloc gives the size of a disk in units of 1000 bytes. */
static int add_storages(struct hwloc_reader *r)
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
        rc = add_quantity(r, device_container(r, dev), "storage", id++, strtoull(size, NULL, 10) / 1000000, "GB", &v);
        rc = rc ? rc : set_info(r, v, "device", dev->name);
        rc = rc ? rc : set_info(r, v, "LinuxDeviceID", hwloc_obj_get_info_by_name(dev, "LinuxDeviceID"));
        rc = rc ? rc : set_info(r, v, "model", hwloc_obj_get_info_by_name(dev, "Model"));
        rc = rc ? rc : set_pci(r, v, dev);
    }
    return rc;
}

/* ---- machines ------------------------------------------------------------------------------------------------- */

static int add_all(struct hwloc_reader *r)
{
    static const struct {
        unsigned types;
        int (*add)(struct hwloc_reader *r);
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
    return rc < 0 ? rc : set_nics(r);
}

static int build(struct hwloc_reader *r)
{
    int rc;

    r->g = weir_graph_new();
    if (!r->g)
        return weir_fail_nomem(r->err);
    weir_graph_begin(r->g);
    rc = add_all(r);
    return rc < 0 ? rc : weir_graph_end(r->g, r->err);
}

/* Loads the topology of the XML, or of this machine. For this machine, Linux reports PCI devices (libpciaccess, which
 * hwloc would use, too, leaks memory), and no X server is queried for displays. */
static int load(struct hwloc_reader *r, const char *text, size_t len, bool all)
{
    if (hwloc_topology_init(&r->topology) < 0) {
        r->topology = NULL;
        return weir_fail_nomem(r->err);
    }
    if (hwloc_topology_set_io_types_filter(r->topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) < 0 ||
        hwloc_topology_set_flags(r->topology, all ? HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED : 0) < 0)
        return weir_fail(r->err, WEIR_EIO, "hwloc does not take its options");
    if (!text) { /* both components only cost time and memory here; a hwloc without them refuses to disable them */
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

static int read_machine(const char *text, size_t len, const char *source, unsigned what, weir_graph **out,
                        weir_err *err)
{
    struct hwloc_reader r = {.source = source, .err = err, .what = what};
    int rc = load(&r, text, len, what & WEIR_HWLOC_ALL);

    rc = rc ? rc : build(&r);
    if (r.topology)
        hwloc_topology_destroy(r.topology);
    WEIR_FREE(r.containers, r.gpus);
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

    rc = rc ? rc : weir_hwloc_check(in->text, in->len, source, err);
    return rc < 0 ? rc : read_machine(in->text, in->len, source, what, out, err);
}
