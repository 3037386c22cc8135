/* document.h - documents: a JSON graph with clock, jobs and all else that a save keeps (format/jgf/jgf_metadata.c).
 * Private to the core. */
#ifndef WEIR_DOCUMENT_H
#define WEIR_DOCUMENT_H

#include "format/input.h"

/* Makes the graph of a document, or of any other JSON graph. The jobs are made only if all of them fit. */
weir_reader weir_document_read;

#endif
