/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The one place that knows which Open MPI this is: 4.1 has the persistent collectives only under
 * the prefix MPIX, 5.0 under their MPI-4 names. Included by every program in this folder.
 */
#ifndef TEST_MPI_COMPAT_H
#define TEST_MPI_COMPAT_H

#include <mpi.h>

#if OMPI_MAJOR_VERSION < 5

#include <mpi-ext.h>

#ifndef OMPI_HAVE_MPI_EXT_PCOLLREQ
#error "this Open MPI was built without the extension pcollreq: install one that has it"
#endif

#define MPI_Allgather_init            MPIX_Allgather_init
#define MPI_Allgatherv_init           MPIX_Allgatherv_init
#define MPI_Allreduce_init            MPIX_Allreduce_init
#define MPI_Alltoall_init             MPIX_Alltoall_init
#define MPI_Alltoallv_init            MPIX_Alltoallv_init
#define MPI_Alltoallw_init            MPIX_Alltoallw_init
#define MPI_Barrier_init              MPIX_Barrier_init
#define MPI_Bcast_init                MPIX_Bcast_init
#define MPI_Exscan_init               MPIX_Exscan_init
#define MPI_Gather_init               MPIX_Gather_init
#define MPI_Gatherv_init              MPIX_Gatherv_init
#define MPI_Reduce_init               MPIX_Reduce_init
#define MPI_Reduce_scatter_init       MPIX_Reduce_scatter_init
#define MPI_Reduce_scatter_block_init MPIX_Reduce_scatter_block_init
#define MPI_Scan_init                 MPIX_Scan_init
#define MPI_Scatter_init              MPIX_Scatter_init
#define MPI_Scatterv_init             MPIX_Scatterv_init
#define MPI_Neighbor_allgather_init   MPIX_Neighbor_allgather_init
#define MPI_Neighbor_allgatherv_init  MPIX_Neighbor_allgatherv_init
#define MPI_Neighbor_alltoall_init    MPIX_Neighbor_alltoall_init
#define MPI_Neighbor_alltoallv_init   MPIX_Neighbor_alltoallv_init
#define MPI_Neighbor_alltoallw_init   MPIX_Neighbor_alltoallw_init

#endif

#endif /* TEST_MPI_COMPAT_H */
