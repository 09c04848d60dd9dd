/* Runs collectives, and writes each message that each rank sends: the program behind test_openmpi.py.
 *
 *     mpirun ... --mca pml_monitoring_enable 1 ... collective CASES TRACE
 *
 * CASES has a line a call: collective P count itemsize root commutative. The first P ranks make it, on a communicator
 * of their own. Rank r writes TRACE.r: "call" before a call, "destination bytes" for each message that it starts, and
 * "ok" or "unsupported" after the call.
 *
 * Open MPI's component pml/monitoring reports every message to mca_common_monitoring_record_pml, which adds it to the
 * totals that it writes in MPI_Finalize. The totals cannot be read before: Open MPI removes this component's MPI_T
 * variables in MPI_Init (open-mpi/ompi issue 9260). So this program, which the dynamic linker asks first, has a function
 * of that name, which writes the message down and passes it on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static FILE *trace;

static void stop(const char *message) {
    fprintf(stderr, "collective.c: %s\n", message);
    exit(1);
}

void mca_common_monitoring_record_pml(int destination, size_t nbytes, int tag) {
    static void (*record)(int, size_t, int);
    if (!record) *(void **)&record = dlsym(RTLD_NEXT, "mca_common_monitoring_record_pml");
    if (!record) stop("libmca_common_monitoring has no mca_common_monitoring_record_pml");
    fprintf(trace, "%d %zu\n", destination, nbytes);
    record(destination, nbytes, tag);
}

static MPI_Datatype element(int itemsize) {
    switch (itemsize) {
    case 1: return MPI_SIGNED_CHAR;
    case 4: return MPI_INT;
    case 8: return MPI_DOUBLE;
    default: stop("itemsize must be 1, 4 or 8"); return MPI_DATATYPE_NULL;
    }
}

static void keep_right(void *left, void *right, int *count, MPI_Datatype *type) {
    (void)left, (void)right, (void)count, (void)type;
}

static int call(const char *name, MPI_Comm comm, int P, int count, MPI_Datatype type, int root, MPI_Op op, char *in,
                char *out) {
    int counts[P], starts[P];
    for (int r = 0; r < P; r++) {
        counts[r] = count;
        starts[r] = r * count;
    }
#define IS(collective) (strcmp(name, #collective) == 0)
    if (IS(allgather)) return MPI_Allgather(in, count, type, out, count, type, comm);
    if (IS(allgatherv)) return MPI_Allgatherv(in, count, type, out, counts, starts, type, comm);
    if (IS(allreduce)) return MPI_Allreduce(in, out, count, type, op, comm);
    if (IS(alltoall)) return MPI_Alltoall(in, count, type, out, count, type, comm);
    if (IS(alltoallv)) return MPI_Alltoallv(in, counts, starts, type, out, counts, starts, type, comm);
    if (IS(barrier)) return MPI_Barrier(comm);
    if (IS(bcast)) return MPI_Bcast(in, count, type, root, comm);
    if (IS(exscan)) return MPI_Exscan(in, out, count, type, op, comm);
    if (IS(gather)) return MPI_Gather(in, count, type, out, count, type, root, comm);
    if (IS(reduce)) return MPI_Reduce(in, out, count, type, op, root, comm);
    if (IS(reduce_scatter)) return MPI_Reduce_scatter(in, out, counts, type, op, comm);
    if (IS(reduce_scatter_block)) return MPI_Reduce_scatter_block(in, out, count, type, op, comm);
    if (IS(scan)) return MPI_Scan(in, out, count, type, op, comm);
    if (IS(scatter)) return MPI_Scatter(in, count, type, out, count, type, root, comm);
#undef IS
    stop("unknown collective");
    return MPI_ERR_ARG;
}

int main(int argc, char **argv) {
    const char *mine = getenv("OMPI_COMM_WORLD_RANK");
    if (argc != 3 || !mine) stop("run me under mpirun: collective CASES TRACE");
    char path[4096], name[32];
    snprintf(path, sizeof path, "%s.%s", argv[2], mine);
    FILE *cases = fopen(argv[1], "r");
    trace = fopen(path, "w"); /* Not closed: MPI_Finalize may send. */
    if (!cases || !trace) stop("CASES or TRACE cannot be opened");

    int rank, ranks, P, count, itemsize, root, commutative, class;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Op right;
    MPI_Op_create(keep_right, 0, &right);

    /* Not MPI_Comm_split: it calls collectives, which may be forced to an algorithm that does not work on all ranks. */
    MPI_Comm first[ranks + 1];
    MPI_Group world, group;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (P = rank + 1; P <= ranks; P++) {
        MPI_Group_range_incl(world, 1, (int[][3]){{0, P - 1, 1}}, &group);
        MPI_Comm_create_group(MPI_COMM_WORLD, group, P, &first[P]);
        MPI_Comm_set_errhandler(first[P], MPI_ERRORS_RETURN);
        MPI_Group_free(&group);
    }

    while (fscanf(cases, "%31s %d %d %d %d %d", name, &P, &count, &itemsize, &root, &commutative) == 6) {
        if (P > ranks) stop("a case has more ranks than there are");
        if (rank >= P) continue;
        size_t nbytes = (size_t)P * count * itemsize + 1;
        char *in = calloc(nbytes, 1), *out = calloc(nbytes, 1);
        if (!in || !out) stop("no memory");
        fprintf(trace, "call\n");
        int error = call(name, first[P], P, count, element(itemsize), root, commutative ? MPI_SUM : right, in, out);
        MPI_Error_class(error, &class);
        if (class != MPI_SUCCESS && class != MPI_ERR_UNSUPPORTED_OPERATION) stop("a call failed");
        fprintf(trace, class == MPI_SUCCESS ? "ok\n" : "unsupported\n");
        free(in);
        free(out);
    }
    fclose(cases);
    for (P = rank + 1; P <= ranks; P++) MPI_Comm_free(&first[P]);
    MPI_Group_free(&world);
    MPI_Op_free(&right);
    MPI_Finalize();
    return 0;
}
