// SPDX-License-Identifier: BSD-3-Clause
/*
 * Other endpoints of this node: found by their address, opened through /proc, checked, given a
 * mailbox of ours at the first message, watched for death. Called by group.c, send.c, wait.c.
 */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mailbox.h"

bool host_address_valid(const struct goal_address *a, struct host_address *out)
{
	memcpy(out, a->bytes, sizeof(*out));
	return out->magic == SHM_MAGIC && out->version == SHM_VERSION && out->cookie;
}

/* Can the endpoint at @a share memory with us? Whether it does, attaching tells. */
bool host_address_near(const struct goal_engine *e, const struct host_address *a)
{
	return e->fd >= 0 && a->fd >= 0 && a->node == e->address.node && a->uid == e->address.uid &&
	       !memcmp(a->boot, e->address.boot, sizeof(a->boot));
}

/* The peer at address @a, made if it is not known; the caller gets a reference. */
int host_peer_get(struct goal_engine *e, const struct goal_address *a, struct host_peer **peer)
{
	struct host_peer **bucket, *p;
	struct host_address h;

	if (!host_address_valid(a, &h))
		return -EINVAL;
	bucket = &e->peer_hash[host_hash(h.cookie, 0, HOST_PEER_HASH)];
	for (p = *bucket; p; p = p->hash_next) {
		if (p->cookie != h.cookie)
			continue;
		if (memcmp(&p->address, a, sizeof(*a)))
			return -EINVAL; /* two endpoints never have the same cookie */
		p->refs++;
		*peer = p;
		return 0;
	}
	p = host_alloc(e, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->engine = e;
	p->address = *a;
	p->cookie = h.cookie;
	p->pid = h.pid;
	p->since = h.since;
	p->fd = -1;
	p->pidfd = -1;
	p->rx = HOST_NO_RX;
	p->self = h.cookie == e->address.cookie;
	p->refs = 1;
	list_init(&p->pending);
	list_append(&e->peers, &p->all);
	p->hash_next = *bucket;
	*bucket = p;
	*peer = p;
	return 0;
}

/* It is freed when it is dead, by host_peers_check(), or with the engine. */
void host_peer_put(struct goal_engine *e, struct host_peer *p)
{
	(void)e;
	p->refs--;
}

static bool power_of_two(u64 n)
{
	return n && !(n & (n - 1));
}

/*
 * The header of @p's segment is mapped: is it what its address promised, and sound? Then take
 * over what it says, each value read once.
 */
static bool take_geometry(struct host_peer *p, u64 file_bytes, u32 eager)
{
	struct shm_header *h = p->shm;
	u64 page = (u64)sysconf(_SC_PAGESIZE);
	u32 slots = READ_ONCE(h->slots), bytes = READ_ONCE(h->bytes);
	u32 theirs = READ_ONCE(h->eager);

	p->first = READ_ONCE(h->first);
	p->stride = READ_ONCE(h->stride);
	p->boxes = READ_ONCE(h->boxes);
	if (READ_ONCE(h->magic) != SHM_MAGIC || READ_ONCE(h->version) != SHM_VERSION ||
	    READ_ONCE(h->cookie) != p->cookie)
		return false;
	if (!power_of_two(slots) || slots > 1u << 16 || !power_of_two(bytes) || bytes < 1024 ||
	    bytes > 1u << 28 || p->boxes > SHM_BOXES)
		return false;
	if (p->first < sizeof(*h) || p->first % page || p->first > 1ull << 30 ||
	    p->stride < shm_box_bytes(slots, bytes) || p->stride % page || p->stride > 1ull << 30 ||
	    p->first + p->boxes * p->stride > file_bytes)
		return false;

	p->slot_mask = slots - 1;
	p->slot_shift = (u32)__builtin_ctz(slots);
	p->data_mask = bytes - 1;
	p->eager = theirs < eager ? theirs : eager;
	if (p->eager > bytes / 2)
		p->eager = bytes / 2;
	p->credit_msgs = 2 * slots;
	p->credit_bytes = 2 * bytes;
	return true;
}

/* Open and check @p's segment. 0 or -errno; -EHOSTUNREACH: there is no such endpoint here. */
int host_peer_attach(struct goal_engine *e, struct host_peer *p)
{
	struct host_address h;
	char path[64];
	struct stat st;
	void *map;
	int fd, rc;

	if (p->dead)
		return -EHOSTUNREACH;
	if (p->self)
		return 0;
	if (p->shm)
		return host_peer_gone(p) ? -EHOSTUNREACH : 0;
	host_address_valid(&p->address, &h);
	if (!host_address_near(e, &h))
		return -EHOSTUNREACH;
	snprintf(path, sizeof(path), "/proc/%u/fd/%d", h.pid, h.fd);
	fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -errno
									     : -EHOSTUNREACH;
	/* Without the seal its owner could take the pages away under our feet. */
	rc = -EHOSTUNREACH;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != e->address.uid ||
	    (u64)st.st_size < sizeof(struct shm_header) ||
	    !(fcntl(fd, F_GET_SEALS) & F_SEAL_SHRINK))
		goto close_fd;
	map = mmap(NULL, sizeof(struct shm_header), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (map == MAP_FAILED) {
		rc = -ENOMEM;
		goto close_fd;
	}
	madvise(map, sizeof(struct shm_header), MADV_DONTFORK);
	madvise(map, sizeof(struct shm_header), MADV_DONTDUMP);
	p->shm = map;
	if (!take_geometry(p, (u64)st.st_size, e->attr.eager))
		goto unmap;
	p->pidfd = (int)syscall(SYS_pidfd_open, h.pid, 0);
	/* It might have died, and its number been given away, since we opened its file. */
	if (h.since && host_process_since(h.pid) != h.since)
		goto close_pidfd;
	p->fd = fd;
	return 0;

close_pidfd:
	if (p->pidfd >= 0)
		close(p->pidfd);
	p->pidfd = -1;
unmap:
	munmap(map, sizeof(struct shm_header));
	p->shm = NULL;
close_fd:
	close(fd);
	return rc;
}

/* Find a free mailbox in @p's segment and make it ours. 0 or -errno. */
int host_peer_claim(struct goal_engine *e, struct host_peer *p)
{
	u32 i, state = SHM_FREE, claimed = shm_claimed(e->address.pid);
	u64 at, bytes;
	void *map;
	int rc;

	if (!p->shm) {
		rc = host_peer_attach(e, p);
		if (rc)
			return rc;
	}
	for (i = 0; i < p->boxes; i++) {
		state = SHM_FREE;
		if (__atomic_compare_exchange_n(&p->shm->state[i], &state, claimed, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			break;
	}
	if (i == p->boxes)
		return -ENOSPC;

	bytes = shm_box_bytes(p->slot_mask + 1, p->data_mask + 1);
	at = p->first + i * p->stride;
	if (fallocate(p->fd, 0, (off_t)at, (off_t)bytes)) {
		rc = -errno;
		goto release;
	}
	map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, p->fd, (off_t)at);
	if (map == MAP_FAILED) {
		rc = -errno;
		goto release;
	}
	madvise(map, bytes, MADV_DONTFORK);
	madvise(map, bytes, MADV_DONTDUMP);
	p->map = map;
	p->map_bytes = bytes;
	p->box = map;
	p->box_index = i;
	p->slots = shm_slots(p->box);
	p->data = shm_data(p->box, p->slot_mask + 1);
	memcpy(p->box->address, &e->address, sizeof(e->address));
	close(p->fd);
	p->fd = -1;
	box_refresh(p);
	__atomic_store_n(&p->shm->state[i], SHM_READY, __ATOMIC_RELEASE);
	__atomic_fetch_add(&p->shm->bell, 1, __ATOMIC_RELEASE);
	return 0;

release:
	__atomic_store_n(&p->shm->state[i], SHM_FREE, __ATOMIC_RELEASE);
	return rc;
}

/*
 * @p waits for word of us, and a mailbox there is not to be had (none is free, or there is no memory
 * or descriptor for one). It is said in our own segment, where @p looks when nothing comes.
 */
void host_peer_unheard(struct goal_engine *e, const struct host_peer *p)
{
	struct shm_header *h = e->shm;
	u32 n = h->nunheard;

	WRITE_ONCE(h->unheard[n % SHM_UNHEARD], p->cookie);
	__atomic_store_n(&h->nunheard, n + 1, __ATOMIC_RELEASE);
}

/* Does @p say so of us? When too many are named, it is taken to. */
static bool says_unheard(const struct goal_engine *e, struct host_peer *p)
{
	u32 n = __atomic_load_n(&p->shm->nunheard, __ATOMIC_ACQUIRE);
	u32 news = n - p->unheard;

	p->unheard = n;
	if (news > SHM_UNHEARD)
		return true;
	for (; news; news--)
		if (READ_ONCE(p->shm->unheard[(n - news) % SHM_UNHEARD]) == e->address.cookie)
			return true;
	return false;
}

/* Its process has ended, or its engine was closed. */
bool host_peer_gone(struct host_peer *p)
{
	struct pollfd fd = { .fd = p->pidfd, .events = POLLIN };

	if (!p->shm)
		return false;
	if (__atomic_load_n(&p->shm->closed, __ATOMIC_ACQUIRE))
		return true;
	if (p->pidfd >= 0)
		return poll(&fd, 1, 0) == 1;
	if (kill((pid_t)p->pid, 0) && errno == ESRCH)
		return true;
	return p->since && host_process_since(p->pid) != p->since;
}

/* Does @r still need the peer with rank @rank? */
static bool needs(const struct goal_run *r, u32 rank)
{
	u32 i;

	for (i = 0; i < r->core.sched->hdr->nops; i++) {
		const struct goal_op *o = &r->core.sched->op[i];

		if (o->peer != rank || r->core.state[i] == CORE_OP_DONE)
			continue;
		if (o->code == GOAL_OP_SEND)
			return true;
		if (o->code == GOAL_OP_RECV && !r->core.arrived[o->slot])
			return true;
	}
	return false;
}

/*
 * Nothing will come from @p any more: runs that wait for it end with @status, others may still
 * finish; and its groups end with it, if @all.
 */
static void end_runs(struct goal_engine *e, struct host_peer *p, int status, bool all)
{
	struct list *l, *m, *next;
	u32 i;

	list_for(l, &e->groups)
	{
		struct goal_group *g = list_entry(l, struct goal_group, link);

		for (i = 0; i < g->npeers; i++)
			if (g->peer[i] == p)
				break;
		if (i == g->npeers)
			continue;
		g->left = true;
		if (all && !g->status) {
			g->status = status;
			g->status_peer = i;
		}
		list_for_safe(m, next, &g->runs)
		{
			struct goal_run *r = list_entry(m, struct goal_run, group_link);

			if (needs(r, i))
				host_run_fail(r, status, i);
			/* One that had failed before waits for answers which nobody owes it now. */
			if (all && r->failing)
				host_failed_release(r);
		}
	}
}

static void bury(struct goal_engine *e, struct host_peer *p)
{
	bool clean = __atomic_load_n(&p->shm->closed, __ATOMIC_ACQUIRE);

	/* What it sent before it went counts, also in a mailbox that we have not seen yet. */
	host_poll(e);
	while (p->rx != HOST_NO_RX && !host_rx_empty(&e->rx[p->rx]))
		if (!host_poll(e))
			break;
	p->dead = true;
	p->room = 0;
	host_xfers_drop(e, p);
	/* After a clean end what it sent may be all that runs to come need of it. */
	end_runs(e, p, -ECONNRESET, !clean);
}

/* @r has just been started, on a group that some peers have left: can it do without them? */
void host_run_check_peers(struct goal_run *r)
{
	struct goal_group *g = r->group;
	u32 i;

	for (i = 0; i < g->npeers && !r->over; i++) {
		const struct host_peer *p = g->peer[i];

		if (p && (p->dead || p->mute) && needs(r, i))
			host_run_fail(r, p->dead ? -ECONNRESET : -ENOBUFS, i);
	}
}

static void unmap(struct host_peer *p, bool forked)
{
	if (!forked) {
		if (p->map)
			munmap(p->map, p->map_bytes);
		if (p->shm)
			munmap(p->shm, sizeof(struct shm_header));
	}
	if (p->fd >= 0)
		close(p->fd);
	if (p->pidfd >= 0)
		close(p->pidfd);
}

static void release(struct goal_engine *e, struct host_peer *p, bool forked)
{
	struct host_peer **at = &e->peer_hash[host_hash(p->cookie, 0, HOST_PEER_HASH)];

	while (*at != p)
		at = &(*at)->hash_next;
	*at = p->hash_next;
	list_remove(&p->all);
	e->stats.msgs_local += p->msgs;
	e->stats.bytes_local += p->bytes;
	unmap(p, forked);
	free(p);
}

void host_peers_check(struct goal_engine *e)
{
	struct list *l, *next;

	list_for_safe(l, next, &e->peers)
	{
		struct host_peer *p = list_entry(l, struct host_peer, all);

		if (p->dead || p->self)
			continue;
		if (host_peer_gone(p)) {
			bury(e, p);
		} else if (p->shm && says_unheard(e, p)) {
			p->mute = true;
			end_runs(e, p, -ENOBUFS, false);
		}
	}
	host_endpoint_retire(e);
	host_endpoint_reclaim(e);
	list_for_safe(l, next, &e->peers)
	{
		struct host_peer *p = list_entry(l, struct host_peer, all);

		if (p->dead && !p->refs)
			release(e, p, false);
	}
}

/* Close our mailboxes at the peers', and forget them all. */
void host_peers_free(struct goal_engine *e, bool forked)
{
	while (!list_empty(&e->peers)) {
		struct host_peer *p = list_entry(e->peers.next, struct host_peer, all);

		if (!forked && p->box) {
			__atomic_store_n(&p->shm->state[p->box_index], SHM_CLOSED,
					 __ATOMIC_RELEASE);
			__atomic_fetch_add(&p->shm->bell, 1, __ATOMIC_RELEASE);
		}
		release(e, p, forked);
	}
}
