/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Debian's libopenmpi-dev leaves this header out although ompi/op/op.h includes it. It says how a
 * C int becomes a Fortran INTEGER; the two are the same size wherever Open MPI's packages are
 * built, which the assertion below holds us to. The folder comes last in the include path, so an
 * Open MPI that has its own header uses that.
 */
#ifndef GOAL_STANDIN_FINT_2_INT_H
#define GOAL_STANDIN_FINT_2_INT_H

#include "ompi_config.h"

_Static_assert(sizeof(ompi_fortran_integer_t) == sizeof(int),
	       "Fortran INTEGER and C int differ: this Open MPI must bring fint_2_int.h itself");

#define OMPI_INT_2_FINT(a)   (a)
#define OMPI_FINT_2_INT(a)   (a)
#define OMPI_PFINT_2_PINT(a) (a)

#endif /* GOAL_STANDIN_FINT_2_INT_H */
