/* job_annotation.h - see job_annotation.c. Private to the core. */
#ifndef WEIR_ANNOTATION_H
#define WEIR_ANNOTATION_H

#include "graph/graph.h"

#define ANNOTATION_LISTED 12 /* jobs named in an error */

/* WEIR_EBUSY, with the names of the jobs, where a job has anything at, above or below v. */
int weir_refuse_used(const weir_graph *g, weir_vertex v, weir_err *err);

#endif
