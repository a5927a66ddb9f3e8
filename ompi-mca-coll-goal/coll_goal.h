/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * coll/goal: every MPI collective as a GOAL schedule on an engine of libgoal. The declarations
 * that the component's files share.
 *
 * The way of a call: the file of its family turns the MPI arguments into a key (what the graph
 * depends on, as bytes and codes) and two sides (how the user's memory becomes the packed bytes
 * that schedules move); the cache finds or builds the plan (a loaded schedule) of the key; one
 * of the three forms binds the sides and runs the plan: blocking (run.c), nonblocking and
 * persistent (request.c).
 *
 * Locks: mca_coll_goal_component.lock, taken only under MPI_THREAD_MULTIPLE or with a progress
 * thread, held for list and counter updates only, and never around a call into Open MPI or the
 * engine that may call back. And one for each communicator, under MPI_THREAD_MULTIPLE: between
 * finding a call's plan and having a reference to it, since Open MPI's own collectives
 * (MPI_Comm_idup) may be started on the communicator by any thread that makes progress. It may be
 * taken again by its owner, and is taken before the other.
 */
#ifndef COLL_GOAL_H
#define COLL_GOAL_H

#include "coll_goal_compat.h"

#include <errno.h>
#include <goal/goal.h>
#include <pthread.h>

#define coll_goal_likely(x)   __builtin_expect(!!(x), 1)
#define coll_goal_unlikely(x) __builtin_expect(!!(x), 0)

struct coll_goal_vote;
struct coll_goal_grave;
struct coll_goal_request;

enum coll_goal_engine_choice {
	COLL_GOAL_ENGINE_AUTO,
	COLL_GOAL_ENGINE_HOST,
	COLL_GOAL_ENGINE_KERNEL
};

/* What the user sets (params.c). */
struct coll_goal_params {
	int priority;
	int verbose;
	int engine;                /* enum coll_goal_engine_choice */
	int algorithm[GOAL_COLLS]; /* enum goal_algorithm */
	unsigned int node_ranks;
	unsigned int cache_size;
	unsigned int eager;
	unsigned int ring_slots;
	unsigned int ring_bytes;
	unsigned int spin;
	unsigned int yields;
	unsigned int sleep_us;
	unsigned int kernel_bytes;
	unsigned int kernel_runs;
	unsigned int kernel_area;
	bool progress_thread;
	char *disable;
	uint32_t disabled; /* bits by enum goal_coll, from disable */
};

/* Counters of the component itself; the engine has more (pvars.c). */
struct coll_goal_stats {
	unsigned long long builds, allocs, hits, declined, votes, probes;
};

struct coll_goal_component {
	mca_coll_base_component_t super;
	struct coll_goal_params params;
	struct coll_goal_stats stats;
	struct goal_engine *engine; /* the host engine */
	struct goal_engine *kernel; /* the kernel engine, or NULL */
	char kernel_why[160];       /* it is of no use, if it is known here */
	bool kernel_lost;           /* its frames get no answer: it joins no more groups */
	bool kernel_told;           /* the user was told, or need not be */
	int output;                 /* stream of verbose messages */
	bool threads;               /* locks are needed */
	bool deferred;              /* a progress thread ends runs, and may not call Open MPI */
	bool refused;               /* a parameter is wrong, and the user was told */
	bool registered;            /* our callback with opal_progress */
	bool wait_known;            /* the engine was told about cores (wait.c) */
	opal_mutex_t lock;
	volatile int32_t work;              /* what the progress callback has to look after */
	struct coll_goal_vote *votes;       /* under way */
	struct coll_goal_vote *votes_left;  /* failed; the PML may hold their buffers */
	struct coll_goal_grave *graves;     /* groups and plans the engine was still busy with */
	struct coll_goal_request *requests; /* for reuse */
	struct coll_goal_request *finished; /* ended by the progress thread */
	struct coll_goal_module *modules;   /* that have a group; for fault tolerance */
};

extern __attribute__((visibility("default"))) struct coll_goal_component mca_coll_goal_component;

/*
 * What a plan depends on, and nothing else: two calls with equal keys on one communicator run
 * the same schedule. Engine values and copies of arrays, never handles, which are reused.
 */
struct coll_goal_key {
	uint64_t code;         /* collective and reduction, see coll_goal_key_code() */
	int64_t root;          /* as the builders take it */
	uint64_t send, recv;   /* bytes, or elements of a reduction */
	uint32_t nsend, nrecv; /* blocks described in vec */
	const uint64_t *vec;   /* bytes[nsend], off[nsend], bytes[nrecv], off[nrecv] */
};

/* A schedule ready to run, kept in its communicator's cache (cache.c). */
struct coll_goal_plan {
	struct coll_goal_key key;             /* vec is a copy behind the structure */
	struct coll_goal_plan *older, *newer; /* by last use */
	struct coll_goal_plan *chain;         /* of its hash bucket */
	uint64_t hash;
	/* What runs, and where: known when the communicator's vote is over (settled), or before. */
	struct goal_group *group;
	struct goal_loaded *loaded;
	struct goal_schedule *schedule; /* until it is loaded */
	uint32_t ntags;
	int32_t refs;                  /* the cache and the requests that use it */
	struct coll_goal_grave *grave; /* memory set aside for burying it */
	struct goal_loaded *apart;     /* the same on the host engine, for m->apart, if it is
					* not loaded there anyway */
	struct coll_goal_grave *apart_grave;
};

struct coll_goal_cache {
	struct coll_goal_plan **bucket;
	uint32_t nbuckets; /* power of two; 0: nothing was ever cached */
	uint32_t plans;
	struct coll_goal_plan *newest, *oldest;
};

/* One datatype's worth of user memory. */
struct coll_goal_block {
	char *addr;
	size_t count;
	ompi_datatype_t *type;
	uint64_t bytes; /* when packed */
};

/*
 * How one buffer of a call is bound. Direct: the user's own memory. Packed: a temporary copy,
 * filled before the run and written back after it (bind.c).
 */
struct coll_goal_side {
	char *base; /* what is bound */
	uint64_t len;
	/* The rest is meaningful only when packed is set. */
	bool packed;
	bool load;        /* the run reads it, or must leave some of it as it is */
	bool store;       /* the run writes it */
	bool retained;    /* the types have a reference of ours */
	uint32_t nblocks; /* in blocks; 0: one */
	struct coll_goal_block one;
	struct coll_goal_block *blocks;
	uint64_t store_len; /* bytes to write back */
};

/* Reductions that the component computes itself (op.c). */
struct coll_goal_reducer {
	ompi_op_t *op; /* NULL: the engine reduces */
	ompi_datatype_t *type;
};

/*
 * Which calls a call is counted with, for its name among the members (stream.c). Most with all
 * others; but some members need not take part in
 */
enum coll_goal_stream {
	COLL_GOAL_PLAIN,  /* every member calls */
	COLL_GOAL_ROOTED, /* rooted, on an intercommunicator: MPI_PROC_NULL callers do not */
	COLL_GOAL_NEAR,   /* blocking and uniform among neighbors: those without data do not */
	COLL_GOAL_STREAMS
};

/* A run's name, the same at every member, and its first tag over the PML. */
struct coll_goal_ident {
	uint32_t op_id, start;
	int32_t tag;
};

/* One call, from the MPI arguments to what run.c needs. */
struct coll_goal_call {
	struct coll_goal_key key;
	enum coll_goal_stream stream;
	struct coll_goal_side side[2]; /* GOAL_BUF_SEND, GOAL_BUF_RECV */
	struct coll_goal_reducer reducer;
};

/*
 * Where word of failed runs is received (remote.c, deferred.c): a receive that could not be taken
 * back is kept for the next look.
 */
#define COLL_GOAL_WORD_BYTES 32
struct coll_goal_ear {
	ompi_request_t *request;
	struct coll_goal_order *order;
	char word[COLL_GOAL_WORD_BYTES];
};

struct coll_goal_module {
	mca_coll_base_module_t super;
	ompi_communicator_t *comm;
	mca_coll_base_comm_coll_t prev; /* the functions we replaced, retained */
	uint32_t declined;              /* collectives handed to prev, bits by enum goal_coll */
	bool voted;                     /* the vote was started */
	bool ready;                     /* it is over, nothing waits for it, and not broken */
	bool settled;                   /* every member knows that it was started (run.c) */
	int broken;                     /* MPI error that every call gets; 0: none */
	uint64_t next_blocking;         /* calls of the plain stream */
	uint64_t next_nonblocking;
	uint32_t next_init;          /* persistent ones */
	uint32_t next_near;          /* of COLL_GOAL_NEAR */
	uint32_t *next_rooted;       /* by root in the remote group, ourselves last */
	int32_t stream_tag;          /* first of COLL_GOAL_STREAM_TAGS for the other streams */
	int32_t blocking_tag;        /* first of COLL_GOAL_BLOCKING_TAGS for blocking calls */
	uint32_t blocking_used;      /* of them, since they last began anew */
	int32_t open_tag;            /* first that is not set aside, when all are */
	pthread_mutex_t calls;       /* with threads: plans, names, and the start of the vote */
	struct coll_goal_ear ear[2]; /* of group and apart */
	bool lower;                  /* inter: ours is the group whose leader comes first */
	struct goal_group *group;
	struct coll_goal_grave *grave; /* memory set aside for burying the group */
	bool kernel_wanted;            /* every member has the kernel engine, and it is of use */
	struct goal_group *kernel;     /* the members on it; NULL: not agreed on */
	struct coll_goal_grave *kernel_grave;
	struct goal_loaded *probe_loaded; /* probe.c */
	struct coll_goal_grave *probe_grave;
	struct goal_run *probe;
	uint32_t degree;          /* most neighbors of any member, with the kernel engine */
	struct goal_group *apart; /* all over the PML, for COLL_GOAL_NEAR before the vote */
	struct coll_goal_grave *apart_grave;
	struct goal_comm shape;     /* of the communicator, for the builders */
	uint32_t *node;             /* owned; shape.node points here or is NULL */
	struct goal_neighbors near; /* owned arrays; read at the first neighborhood call */
	bool near_known;
	struct coll_goal_plan *last[GOAL_COLLS]; /* what this collective ran last */
	struct coll_goal_cache cache;
	struct coll_goal_request *queue, *queue_end; /* runs that wait for the vote */
	uint64_t *scratch;                           /* for key.vec of the call under way */
	size_t scratch_words;
	struct coll_goal_module *next_module, *prev_module; /* in the component's list, if */
	bool listed;
	struct coll_goal_module *next_lingering; /* progress.c */
	bool lingers;
};
typedef struct coll_goal_module coll_goal_module_t;
OBJ_CLASS_DECLARATION(coll_goal_module_t);

/* What a process publishes, and what is known of the others (modex.c). */
#define COLL_GOAL_MASK_BYTES 256
struct coll_goal_card {
	uint32_t magic, version;
	uint32_t arch;       /* as opal_proc_t has it */
	uint32_t node;       /* number that splits the machine (coll_goal_node_ranks) */
	uint8_t machine[16]; /* boot id */
	struct goal_address address;
	struct goal_address kernel;      /* all 0: it has no kernel engine */
	char mask[COLL_GOAL_MASK_BYTES]; /* CPUs the process may use; "": unknown */
};

static inline void coll_goal_lock(void)
{
	if (coll_goal_unlikely(mca_coll_goal_component.threads))
		opal_mutex_lock(&mca_coll_goal_component.lock);
}

static inline void coll_goal_unlock(void)
{
	if (coll_goal_unlikely(mca_coll_goal_component.threads))
		opal_mutex_unlock(&mca_coll_goal_component.lock);
}

static inline void coll_goal_calls_lock(struct coll_goal_module *m)
{
	if (coll_goal_unlikely(ompi_mpi_thread_multiple))
		(void)pthread_mutex_lock(&m->calls);
}

static inline void coll_goal_calls_unlock(struct coll_goal_module *m)
{
	if (coll_goal_unlikely(ompi_mpi_thread_multiple))
		(void)pthread_mutex_unlock(&m->calls);
}

static inline void coll_goal_work(int32_t more)
{
	if (coll_goal_unlikely(mca_coll_goal_component.threads))
		__atomic_fetch_add(&mca_coll_goal_component.work, more, __ATOMIC_RELAXED);
	else
		mca_coll_goal_component.work += more;
}

/* One more, in the statistics. */
static inline void coll_goal_count(unsigned long long *counter)
{
	if (coll_goal_unlikely(mca_coll_goal_component.threads))
		__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
	else
		++*counter;
}

/*
 * key.code: the collective, whether in place, and for reductions whether commutative, the codes
 * and the bytes of an element.
 */
static inline uint64_t coll_goal_key_code(enum goal_coll coll, bool in_place)
{
	return (uint64_t)coll | (uint64_t)in_place << 8;
}

static inline enum goal_coll coll_goal_key_coll(const struct coll_goal_key *key)
{
	return (enum goal_coll)(key->code & 0xff);
}

static inline bool coll_goal_key_equal(const struct coll_goal_key *a, const struct coll_goal_key *b)
{
	return a->code == b->code && a->root == b->root && a->send == b->send &&
	       a->recv == b->recv && a->nsend == b->nsend && a->nrecv == b->nrecv &&
	       (coll_goal_likely(!(a->nsend | a->nrecv)) ||
		!memcmp(a->vec, b->vec, 2 * ((size_t)a->nsend + a->nrecv) * sizeof(*a->vec)));
}

/*
 * What a prepare function returns when no member has data to move: no run, no name, no tags,
 * since the MPI layer may not even have called us elsewhere.
 */
#define COLL_GOAL_NOTHING 1000000

/* alloc.c: malloc() and calloc() that are counted in the statistics. */
void *coll_goal_malloc(size_t bytes);
void *coll_goal_calloc(size_t n, size_t bytes);

/*
 * say.c: a message of help-mpi-coll-goal.txt; where all processes of the job, or all members of
 * @comm, would say it: the first of a node; where it is not known who would: whoever comes first to
 * the same words.
 */
void coll_goal_say(const char *topic, ...);
void coll_goal_say_once(const char *topic, ...);
void coll_goal_say_first(const char *topic, ...);
void coll_goal_say_member(ompi_communicator_t *comm, const char *topic, ...);

/* params.c */
int coll_goal_params_register(mca_base_component_t *component);
/* Check what enumerations cannot; OMPI_ERR_BAD_PARAM after a message. */
int coll_goal_params_check(void);

/* pvars.c */
int coll_goal_pvars_register(mca_base_component_t *component);

/* modex.c */
int coll_goal_modex_publish(void);
/* What the process @name published; NULL: nothing. Stays valid until coll_goal_modex_forget(). */
const struct coll_goal_card *coll_goal_modex_card(opal_process_name_t name);
const struct coll_goal_card *coll_goal_modex_mine(void);
/* Do frames get through to @name? Of this node: yes. Others: once they did. */
bool coll_goal_modex_answers(opal_process_name_t name);
void coll_goal_modex_answered(opal_process_name_t name);
void coll_goal_modex_forget(void);

/* wait.c: tell the engine how many processes share how many cores, at first use. */
void coll_goal_wait_setup(void);

/* module.c */
int coll_goal_init_query(bool progress_threads, bool mpi_threads);
mca_coll_base_module_t *coll_goal_comm_query(ompi_communicator_t *comm, int *priority);
/* slots.c: install our functions; remember, retain and release those of others. */
void coll_goal_slots_install(struct coll_goal_module *m, bool inter);
void coll_goal_slots_save(struct coll_goal_module *m);
void coll_goal_slots_drop(struct coll_goal_module *m);
/* Somebody else provides every form of @coll. */
bool coll_goal_slots_complete(const struct coll_goal_module *m, enum goal_coll coll);

/* group.c: the communicator as the engine and the builders know it. */
int coll_goal_group_shape(struct coll_goal_module *m);
int coll_goal_group_add(struct coll_goal_module *m, uint64_t nonce); /* 0 or -errno */
/* Did the engine open the memory of every peer of our node? */
bool coll_goal_group_near(struct coll_goal_module *m);
/* A group in the place of the former, all of whose peers are remote: 0 or -errno. */
int coll_goal_group_far(struct coll_goal_module *m);
/* Have m->apart: 0 or -errno. */
int coll_goal_group_apart(struct coll_goal_module *m);
void coll_goal_group_drop(struct coll_goal_module *m);
/* A member that cannot take part: its rank, with @remote set for one of the remote group; or -1. */
int coll_goal_group_stranger(ompi_communicator_t *comm, bool *remote);

/* kernel.c */
void coll_goal_kernel_open(void);
/* Every member has the kernel engine (an intracommunicator's); where one has not, it says why. */
bool coll_goal_kernel_all(struct coll_goal_module *m);
bool coll_goal_kernel_wanted(struct coll_goal_module *m); /* of use, where all have it */
/* If this is member @odd: say why it goes without, once in the life of a process. */
void coll_goal_kernel_say(struct coll_goal_module *m, int odd);
/* Add the members to the kernel engine, or give that up: 0 or -errno. */
int coll_goal_kernel_join(struct coll_goal_module *m, uint64_t nonce);
void coll_goal_kernel_leave(struct coll_goal_module *m);
uint32_t coll_goal_kernel_degree(struct coll_goal_module *m); /* UINT32_MAX: not known */
/* May calls of @key run there; will they, now that the vote is over? */
bool coll_goal_kernel_eligible(const struct coll_goal_key *key);
bool coll_goal_kernel_takes(const struct coll_goal_module *m, const struct coll_goal_key *key);

/* probe.c: a barrier on the kernel engine, to see whether frames get through. */
bool coll_goal_probe_known(struct coll_goal_module *m); /* they do, to all members */
int coll_goal_probe_load(struct coll_goal_module *m);   /* so that it can start: 0 or -errno */
int coll_goal_probe_start(struct coll_goal_module *m);
int coll_goal_probe_test(struct coll_goal_module *m);  /* as goal_run_test() */
void coll_goal_probe_drop(struct coll_goal_module *m); /* it is not, or no more, needed */

/* grave.c: free what the engine may still be busy with, now or later. */
struct coll_goal_grave *coll_goal_grave_new(void);
void coll_goal_bury(struct coll_goal_grave *grave, struct goal_group *group,
		    struct goal_loaded *loaded);
void coll_goal_reap(void);

/* vote.c */
/* The first call on a communicator, or one on a broken one. OMPI_SUCCESS: go on. */
int coll_goal_begin(struct coll_goal_module *m);
int coll_goal_votes_progress(void);
uint64_t coll_goal_nonce(void); /* a group's name that nobody else has */
/* Wait for the vote of @m: OMPI_SUCCESS, or the error that broke the communicator. */
int coll_goal_vote_wait(struct coll_goal_module *m);
/* The communicators are gone: free what failed votes have left. */
void coll_goal_votes_fini(void);

/* progress.c */
int coll_goal_progress(void);
void coll_goal_progress_need(void);
/* A nonblocking run would not start: make progress until its peers know. */
void coll_goal_linger(struct coll_goal_module *m);
/* Open MPI's other progress, while a blocking call waits. */
void coll_goal_idle(void);

/*
 * stream.c: what names a run of @c with @ntags tags; of blocking calls, that of the plain stream is
 * run.c's. 0 or an MPI error.
 */
#define COLL_GOAL_STREAM_TAGS   (1 << 16)
#define COLL_GOAL_BLOCKING_TAGS (1 << 20)
/* Behind the former, those for word of failed runs, of group and apart. */
#define COLL_GOAL_WORD_TAGS 2
int coll_goal_ident(struct coll_goal_module *m, const struct coll_goal_call *c, uint32_t ntags,
		    bool persistent, struct coll_goal_ident *ident);

/* tags.c: reserve @n tags of @m's communicator, the first of which is returned; they count down. */
int32_t coll_goal_tags(struct coll_goal_module *m, uint32_t n);
/* Set aside those that are used again and again, when the communicator is made. */
void coll_goal_tags_set_aside(struct coll_goal_module *m);

/* remote.c */
extern const struct goal_remote_ops coll_goal_remote_ops;
/* deferred.c */
extern const struct goal_remote_ops coll_goal_deferred_ops;
int coll_goal_deferred_progress(void);
void coll_goal_deferred_forget(const struct coll_goal_module *m); /* it goes */

static inline int32_t coll_goal_word_tag(const struct coll_goal_module *m, int ear)
{
	return m->stream_tag - COLL_GOAL_STREAM_TAGS - ear;
}

/* error.c */
int coll_goal_error(struct coll_goal_module *m, int status); /* -errno to an MPI error */
/*
 * No call shall start any more: it gets MPI error @code. Runs that are active go on. Also after a
 * call that failed before it had its name, here alone: this member's names no longer fit the
 * others'.
 */
void coll_goal_spoil(struct coll_goal_module *m, int code);
/* The same, and those who wait for this member on the kernel engine get an error instead of waiting. */
void coll_goal_abandon(struct coll_goal_module *m, int code);
/* The communicator is broken for good: every run ends with MPI error @code. */
void coll_goal_break(struct coll_goal_module *m, int code, int64_t peer);
void coll_goal_ft_check(void);

/* cache.c */
struct coll_goal_plan *coll_goal_cache_find(struct coll_goal_cache *cache,
					    const struct coll_goal_key *key, uint64_t hash);
int coll_goal_cache_add(struct coll_goal_module *m, struct coll_goal_plan *plan);
/* coll_goal_plan_settle() for all of them: 0 or -errno. */
int coll_goal_cache_settle(struct coll_goal_module *m);
void coll_goal_cache_drop(struct coll_goal_module *m);
uint64_t coll_goal_key_hash(const struct coll_goal_key *key);

/* plan.c */
void coll_goal_plan_ref(struct coll_goal_plan *plan);
void coll_goal_plan_unref(struct coll_goal_plan *plan);
/* Find or build the plan of @key: 0 and *@plan, which stays the cache's; or an MPI error. */
int coll_goal_plan_get(struct coll_goal_module *m, const struct coll_goal_key *key,
		       struct coll_goal_plan **plan);
/* The vote is over: have @plan loaded where it runs. 0 or -errno. */
int coll_goal_plan_settle(struct coll_goal_module *m, struct coll_goal_plan *plan);
/* The same on the host engine, whatever the vote said: 0 and *@loaded, or -errno. */
int coll_goal_plan_apart(struct coll_goal_module *m, struct coll_goal_plan *plan,
			 struct goal_loaded **loaded);

/* build.c: the one place where keys become graphs. Result of the builder. */
int coll_goal_build(struct coll_goal_module *m, const struct coll_goal_key *key,
		    struct goal_graph **graph);

/* topo.c */
int coll_goal_topo_read(struct coll_goal_module *m);

/* op.c */
/*
 * Which codes stand for (@op, @type), and the bytes of an element in memory; 0 with codes USER: the
 * component reduces packed elements.
 */
uint32_t coll_goal_op_codes(ompi_op_t *op, ompi_datatype_t *type, uint32_t *dtype, uint32_t *rop);
int coll_goal_op_reduce(void *reducer, const void *in, void *inout, uint64_t count);

/* bind.c */
int coll_goal_side_load(struct coll_goal_side *side);
int coll_goal_side_store(struct coll_goal_side *side);
void coll_goal_side_release(struct coll_goal_side *side);
void coll_goal_side_retain(struct coll_goal_side *side);
/* pack.c: move one block into or out of @packed; @bytes of it at most. */
int coll_goal_pack(const struct coll_goal_block *block, char *packed);
int coll_goal_unpack(const struct coll_goal_block *block, const char *packed, uint64_t bytes);

/* run.c, request.c: the three forms. They take over what the sides of @call own. */
int coll_goal_blocking(struct coll_goal_module *m, struct coll_goal_call *call);
int coll_goal_nonblocking(struct coll_goal_module *m, struct coll_goal_call *call,
			  ompi_request_t **request);
int coll_goal_persistent(struct coll_goal_module *m, struct coll_goal_call *call,
			 ompi_request_t **request);
void coll_goal_requests_fini(void);
/* The vote of @m is over: start what waited for it, or refuse it. */
void coll_goal_queue_start(struct coll_goal_module *m, bool agreed);
/* Complete what the progress thread ended: how many. */
int coll_goal_finished(void);

#endif /* COLL_GOAL_H */
