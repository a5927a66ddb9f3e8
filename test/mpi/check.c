/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Start and end of a test program, its failures, goal's counters and watched buffers; used by
 * every program in this folder.
 */
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

#define TAG_END     29999
#define GUARD       64
#define MAX_PRINTED 10
#define EXIT_SKIP   77

int check_rank, check_size;
bool check_stock;
uint64_t check_seed = 1;

static char context[512];
static uint64_t failures;
static const char *program;

static const char *const names[COUNTERS] = {
	"coll_goal_runs",     "coll_goal_runs_kernel",    "coll_goal_runs_failed",
	"coll_goal_builds",   "coll_goal_allocs",         "coll_goal_cache_hits",
	"coll_goal_declined", "coll_goal_messages_local", "coll_goal_messages_remote",
	"coll_goal_votes",
};
static MPI_T_pvar_session session;
static MPI_T_pvar_handle handles[COUNTERS];

static void die(const char *what)
{
	fprintf(stderr, "FAIL %s: rank %d: %s\n", program, check_rank, what);
	MPI_Abort(MPI_COMM_WORLD, 3);
	exit(3);
}

/* The runner ends what hangs; each rank then says where it is. Only async-signal-safe calls. */
static void on_term(int sig)
{
	static const char head[] = "HANG in: ", tail[] = "\n";

	if (write(2, head, sizeof(head) - 1) < 0 || write(2, context, strlen(context)) < 0 ||
	    write(2, tail, 1) < 0)
		_exit(4);
	_exit(128 + sig);
}

static void open_counters(void)
{
	for (int i = 0; i < COUNTERS; i++) {
		int index, count, class = MPI_T_PVAR_CLASS_COUNTER;
		char text[128];

		if (MPI_T_pvar_get_index(names[i], class, &index) != MPI_SUCCESS ||
		    MPI_T_pvar_handle_alloc(session, index, NULL, &handles[i], &count) !=
			    MPI_SUCCESS ||
		    count != 1) {
			snprintf(text, sizeof(text),
				 "no performance variable %s: coll/goal is not loaded", names[i]);
			die(text);
		}
	}
}

void check_init(int *argc, char ***argv, int thread)
{
	const char *slash = strrchr((*argv)[0], '/'), *stock = getenv("GOAL_TEST_STOCK");
	int provided, out = 1;

	program = slash ? slash + 1 : (*argv)[0];
	check_stock = stock && strcmp(stock, "1") == 0;
	if (MPI_Init_thread(argc, argv, thread, &provided) != MPI_SUCCESS) {
		fprintf(stderr, "FAIL %s: MPI_Init_thread\n", program);
		exit(3);
	}
	signal(SIGTERM, on_term);
	MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
	MPI_Comm_size(MPI_COMM_WORLD, &check_size);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	if (provided < thread)
		check_skip("this Open MPI does not provide the thread level");
	for (int in = 1; in < *argc; in++) {
		if (strcmp((*argv)[in], "-s") == 0 && in + 1 < *argc)
			check_seed = strtoull((*argv)[++in], NULL, 0);
		else
			(*argv)[out++] = (*argv)[in];
	}
	*argc = out;
	(*argv)[out] = NULL;
	if (check_stock)
		return;
	if (MPI_T_init_thread(thread, &provided) != MPI_SUCCESS ||
	    MPI_T_pvar_session_create(&session) != MPI_SUCCESS)
		die("MPI_T does not start");
	open_counters();
}

int check_end(void)
{
	uint64_t total = failures, other;

	/* Point to point only: a broken collective must not hide its own failures. */
	if (check_rank) {
		MPI_Send(&failures, 1, MPI_UINT64_T, 0, TAG_END, MPI_COMM_WORLD);
	} else {
		for (int i = 1; i < check_size; i++) {
			MPI_Recv(&other, 1, MPI_UINT64_T, i, TAG_END, MPI_COMM_WORLD,
				 MPI_STATUS_IGNORE);
			total += other;
		}
		printf("%s %s: %llu failures\n", total ? "FAIL" : "PASS", program,
		       (unsigned long long)total);
		if (check_counter(CTR_RUNS_KERNEL))
			printf("KERNEL %s: %llu of %llu runs of rank 0\n", program,
			       (unsigned long long)check_counter(CTR_RUNS_KERNEL),
			       (unsigned long long)check_counter(CTR_RUNS));
		fflush(stdout);
	}
	if (!check_stock) {
		MPI_T_pvar_session_free(&session);
		MPI_T_finalize();
	}
	if (MPI_Finalize() != MPI_SUCCESS) {
		fprintf(stderr, "FAIL %s: rank %d: MPI_Finalize\n", program, check_rank);
		return 1;
	}
	return total != 0;
}

void check_skip(const char *why)
{
	if (check_rank == 0)
		printf("SKIP %s: %s\n", program, why);
	MPI_Finalize();
	exit(check_rank == 0 ? EXIT_SKIP : 0);
}

void check_context(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(context, sizeof(context), fmt, ap);
	va_end(ap);
}

void check_fail(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	/* Threads may fail at once; the number only tells none from some. */
	if (__atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED) >= MAX_PRINTED)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fprintf(stderr, "FAIL %s: rank %d of %d: seed %llu: %s: %s\n", program, check_rank,
		check_size, (unsigned long long)check_seed, context, text);
}

uint64_t check_failures(void)
{
	return __atomic_load_n(&failures, __ATOMIC_RELAXED);
}

void check_mpi(int err, const char *call)
{
	char text[MPI_MAX_ERROR_STRING];
	int len;

	if (err == MPI_SUCCESS)
		return;
	MPI_Error_string(err, text, &len);
	check_fail("%.100s: %s", call, text);
	/* What follows relies on it. */
	MPI_Abort(MPI_COMM_WORLD, 4);
}

static uint64_t read_counter(enum counter which)
{
	unsigned long long value = 0;

	if (MPI_T_pvar_read(session, handles[which], &value) != MPI_SUCCESS)
		die("a performance variable cannot be read");
	return value;
}

uint64_t check_counter(enum counter which)
{
	if (check_stock)
		return 0;
	return read_counter(which) + (which == CTR_RUNS ? read_counter(CTR_RUNS_KERNEL) : 0);
}

const char *check_counter_name(enum counter which)
{
	return names[which];
}

void check_ran(uint64_t before, uint64_t calls)
{
	uint64_t now;

	if (check_stock)
		return;
	now = check_counter(CTR_RUNS);
	CHECK(now - before >= calls, "%llu collectives were called, goal ran %llu",
	      (unsigned long long)calls, (unsigned long long)(now - before));
}

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

uint64_t check_random(uint64_t a, uint64_t b, uint64_t c)
{
	return mix(mix(mix(mix(check_seed) + a) + b) + c);
}

double check_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void check_spin(unsigned int microseconds)
{
	double end = check_now() + 1e-6 * microseconds;

	while (check_now() < end)
		;
}

static void *xmalloc(size_t bytes)
{
	void *p = malloc(bytes ? bytes : 1);

	if (!p)
		die("out of memory");
	return p;
}

void buf_new(struct buf *b, MPI_Datatype type, size_t count, uint64_t fill, bool absolute)
{
	MPI_Aint lb, extent, true_lb, true_extent, low, high, addr;
	int one = 1;

	MPI_Type_get_extent(type, &lb, &extent);
	MPI_Type_get_true_extent(type, &true_lb, &true_extent);
	low = true_lb;
	high = true_lb + true_extent;
	if (count > 1) {
		MPI_Aint last = (MPI_Aint)(count - 1) * extent;

		if (last < 0)
			low += last;
		else
			high += last;
	}
	if (count == 0 || high < low)
		low = high = 0;
	/* Displacement 0 itself stays inside, as do blocks displaced by whole extents. */
	if (low > 0)
		low = 0;
	if (high < 0)
		high = 0;
	/* Kept aligned: operations work on the elements in place. */
	low -= (low % 16 + 16) % 16;
	b->len = (size_t)(high - low) + 2 * GUARD;
	b->mem = xmalloc(b->len);
	b->origin = (size_t)(GUARD - low);
	b->type = type;
	b->made = MPI_DATATYPE_NULL;
	b->ptr = b->mem + b->origin;
	if (absolute) {
		MPI_Get_address(b->ptr, &addr);
		MPI_OK(MPI_Type_create_hindexed(1, &one, &addr, type, &b->made));
		MPI_OK(MPI_Type_commit(&b->made));
		b->type = b->made;
		b->ptr = MPI_BOTTOM;
	}
	buf_fill(b, fill);
}

void buf_fill(struct buf *b, uint64_t fill)
{
	uint64_t x = check_random(fill, 0, 0);
	size_t i;

	for (i = 0; i + 8 <= b->len; i += 8) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		memcpy(b->mem + i, &x, 8);
	}
	for (; i < b->len; i++)
		b->mem[i] = (unsigned char)(x >> (8 * (i % 8)));
}

void buf_copy(const struct buf *from, MPI_Datatype type, struct buf *to)
{
	*to = *from;
	to->mem = xmalloc(from->len);
	memcpy(to->mem, from->mem, from->len);
	to->type = type;
	to->made = MPI_DATATYPE_NULL;
	to->ptr = to->mem + to->origin;
}

void buf_free(struct buf *b)
{
	free(b->mem);
	if (b->made != MPI_DATATYPE_NULL)
		MPI_Type_free(&b->made);
	b->mem = NULL;
}

bool buf_same(const struct buf *got, const struct buf *want, const char *what)
{
	size_t first, bad = 0;

	if (memcmp(got->mem, want->mem, got->len) == 0)
		return true;
	for (first = 0; got->mem[first] == want->mem[first]; first++)
		;
	for (size_t i = first; i < got->len; i++)
		bad += got->mem[i] != want->mem[i];
	check_fail("%s: %zu of %zu bytes differ, the first at displacement %td: 0x%02x instead of "
		   "0x%02x",
		   what, bad, got->len, (ptrdiff_t)first - (ptrdiff_t)got->origin, got->mem[first],
		   want->mem[first]);
	return false;
}
