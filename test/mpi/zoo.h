/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Datatypes with one signature (ZOO_INTS ints per element) and as many different layouts as
 * users have, so that ranks of one collective may each use another.
 */
#ifndef TEST_MPI_ZOO_H
#define TEST_MPI_ZOO_H

#include "check.h"

#define ZOO_INTS 12

enum zoo {
	ZOO_PLAIN,       /* contiguous */
	ZOO_VECTOR,      /* holes between */
	ZOO_RESIZED,     /* negative lower bound, gaps at both ends */
	ZOO_INDEXED,     /* blocks in another order than memory's */
	ZOO_STRUCT,      /* blocks at odd places of a larger element */
	ZOO_NEGATIVE,    /* data before the buffer's address */
	ZOO_INTERLEAVED, /* elements that mesh: extent smaller than what they span */
	ZOO_NESTED,      /* a vector of vectors */
	ZOO_TYPES
};

/* Elements of ZOO_INTERLEAVED that fit before they would overlap. */
#define ZOO_INTERLEAVED_MAX 256

void zoo_open(void);
void zoo_close(void);
MPI_Datatype zoo_type(enum zoo which);
const char *zoo_name(enum zoo which);
/* @which, or ZOO_PLAIN where @count elements of it in a row would overlap. */
enum zoo zoo_fit(enum zoo which, size_t count);

#endif /* TEST_MPI_ZOO_H */
