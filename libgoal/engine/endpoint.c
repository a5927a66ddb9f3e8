// SPDX-License-Identifier: BSD-3-Clause
/*
 * Our own segment (shm.h): made at open, watched for mailboxes that peers add, given back at
 * close. Called by engine.c and progress.c.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host.h"

static u64 round_up(u64 n, u64 to)
{
	return (n + to - 1) / to * to;
}

/* Read a small file whole, 0-terminated. Bytes, or -errno. */
static ssize_t slurp(const char *path, char *text, size_t bytes)
{
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	n = read(fd, text, bytes - 1);
	if (n < 0)
		n = -errno;
	else
		text[n] = 0;
	close(fd);
	return n;
}

u64 host_process_since(u32 pid)
{
	unsigned long long since = 0;
	char path[64], text[1024];
	const char *p;
	int i;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	if (slurp(path, text, sizeof(text)) <= 0)
		return 0;
	/* The name, field 2, may contain anything: count from its closing parenthesis. */
	p = strrchr(text, ')');
	/* A process that its parent has not waited for is gone all the same. */
	if (p && (!strncmp(p, ") Z", 3) || !strncmp(p, ") X", 3)))
		return 0;
	for (i = 2; p && i < 22; i++) {
		p = strchr(p, ' ');
		if (p)
			p++;
	}
	if (p)
		sscanf(p, "%llu", &since);
	return since;
}

/* The kernel's boot id, which tells machines apart; zero where it cannot be read. */
static void boot_id(u8 id[16])
{
	unsigned int byte;
	char text[64];
	const char *p = text;
	int i;

	memset(id, 0, 16);
	if (slurp("/proc/sys/kernel/random/boot_id", text, sizeof(text)) <= 0)
		return;
	for (i = 0; i < 16; i++) {
		while (*p == '-')
			p++;
		if (sscanf(p, "%2x", &byte) != 1)
			return;
		id[i] = (u8)byte;
		p += 2;
	}
}

/* As many mailboxes as the limit on file sizes leaves room for. */
static u32 boxes_within_limit(u64 first, u64 stride)
{
	struct rlimit limit;
	u64 most;

	if (getrlimit(RLIMIT_FSIZE, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return SHM_BOXES;
	most = limit.rlim_cur > first ? (limit.rlim_cur - first) / stride : 0;
	return most < SHM_BOXES ? (u32)most : SHM_BOXES;
}

static int make_file(struct goal_engine *e, u64 bytes, u64 header)
{
	int fd, rc;

	fd = memfd_create("goal", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	/* Allocated, not only promised: later a full memory would be a SIGBUS. */
	if (ftruncate(fd, (off_t)bytes) || fallocate(fd, 0, 0, (off_t)header) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW)) {
		rc = -errno;
		close(fd);
		return rc;
	}
	e->fd = fd;
	return 0;
}

int host_endpoint_open(struct goal_engine *e, struct goal_error *error)
{
	u64 page = (u64)sysconf(_SC_PAGESIZE);
	u64 first = round_up(sizeof(struct shm_header), page);
	u64 stride = round_up(shm_box_bytes(e->attr.ring_slots, e->attr.ring_bytes), page);
	bool alone = e->attr.flags & GOAL_ENGINE_REMOTE_ONLY;
	u32 boxes = alone ? 0 : boxes_within_limit(first, stride);
	struct shm_header *shm;
	void *map;
	int rc;

	e->fd = -1;
	e->map_bytes = first + boxes * stride;
	if (!alone) {
		rc = make_file(e, e->map_bytes, first);
		if (rc)
			return host_error(error, rc, 0, "cannot make a shared memory file: %s",
					  strerror(-rc));
	}
	/* A child must not write where the parent's messages arrive: it gets no mapping. */
	map = mmap(NULL, e->map_bytes, PROT_READ | PROT_WRITE,
		   alone ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED | MAP_NORESERVE, e->fd, 0);
	if (map == MAP_FAILED) {
		rc = host_error(error, -errno, 0, "cannot map %zu bytes of shared memory: %s",
				e->map_bytes, strerror(errno));
		goto close_fd;
	}
	madvise(map, e->map_bytes, MADV_DONTFORK);
	/* A core dump would fill every hole of it with a page. */
	madvise(map, e->map_bytes, MADV_DONTDUMP);
	shm = map;
	if (getrandom(&e->address.cookie, sizeof(e->address.cookie), 0) !=
	    sizeof(e->address.cookie)) {
		rc = host_error(error, -EIO, 0, "cannot draw a random number");
		goto unmap;
	}
	shm->pid = (u32)getpid();
	shm->cookie = e->address.cookie;
	shm->slots = e->attr.ring_slots;
	shm->bytes = e->attr.ring_bytes;
	shm->eager = e->attr.eager;
	shm->boxes = boxes;
	shm->first = first;
	shm->stride = stride;
	shm->version = SHM_VERSION;
	shm->magic = SHM_MAGIC;
	e->shm = shm;
	e->boxes = boxes;
	e->first = first;
	e->stride = stride;

	e->address.magic = SHM_MAGIC;
	e->address.version = SHM_VERSION;
	e->address.pid = shm->pid;
	e->address.uid = (u32)geteuid();
	e->address.node = e->attr.node;
	e->address.fd = e->fd;
	e->address.since = host_process_since(shm->pid);
	boot_id(e->address.boot);
	return 0;

unmap:
	munmap(map, e->map_bytes);
close_fd:
	if (e->fd >= 0)
		close(e->fd);
	return rc;
}

/* In a forked child only the descriptor is there to be closed. */
void host_endpoint_close(struct goal_engine *e, bool forked)
{
	if (!forked)
		munmap(e->shm, e->map_bytes);
	if (e->fd >= 0)
		close(e->fd);
	free(e->rx);
}

static struct shm_box *box_at(const struct goal_engine *e, u32 i)
{
	return (struct shm_box *)((char *)e->shm + e->first + i * e->stride);
}

/* Mailbox @i has a producer now: poll it. */
static void add(struct goal_engine *e, u32 i)
{
	struct shm_box *box = box_at(e, i);
	struct goal_address address;
	struct host_peer *p;
	struct host_rx *rx;

	if (e->nrx == e->room_rx) {
		u32 room = e->room_rx ? 2 * e->room_rx : 8;

		e->stats.allocs++;
		rx = realloc(e->rx, room * sizeof(*rx));
		if (!rx)
			return; /* looked at again at the next bell */
		e->rx = rx;
		e->room_rx = room;
	}
	memcpy(address.bytes, box->address, sizeof(address.bytes));
	if (host_peer_get(e, &address, &p))
		return; /* not an endpoint: nothing is read from there */
	if (p->rx != HOST_NO_RX) {
		host_peer_put(e, p);
		return; /* one mailbox each */
	}
	p->rx = e->nrx;
	rx = &e->rx[e->nrx++];
	memset(rx, 0, sizeof(*rx));
	rx->next = shm_slots(box);
	rx->lap = 1;
	rx->index = i;
	rx->box = box;
	rx->peer = p;
	e->known[i / 8] |= (u8)(1u << (i % 8));
}

/* Nobody uses mailbox @i any more. It is handed out with zero pages only, else stays as it is. */
static void give_back(struct goal_engine *e, u32 i)
{
	if (fallocate(e->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
		      (off_t)(e->first + i * e->stride), (off_t)e->stride) == 0)
		__atomic_store_n(&e->shm->state[i], SHM_FREE, __ATOMIC_RELEASE);
}

/* The producer of @rx is gone and everything is taken: give its memory back. */
static void retire(struct goal_engine *e, u32 at)
{
	struct host_rx *rx = &e->rx[at];
	u32 i = rx->index;

	rx->peer->rx = HOST_NO_RX;
	host_peer_put(e, rx->peer);
	e->known[i / 8] &= (u8) ~(1u << (i % 8));
	e->rx[at] = e->rx[--e->nrx];
	if (at < e->nrx)
		e->rx[at].peer->rx = at;
	give_back(e, i);
}

/* Free mailboxes whose claimers died before they were ready. */
void host_endpoint_reclaim(struct goal_engine *e)
{
	u32 i;

	for (i = 0; i < e->boxes; i++) {
		u32 state = __atomic_load_n(&e->shm->state[i], __ATOMIC_ACQUIRE);
		u32 pid = state >> 8;

		/* A number that was given to another process by now keeps it: no harm. */
		if (!pid || state != shm_claimed(pid) || !kill((pid_t)pid, 0) || errno != ESRCH)
			continue;
		/* It may have become ready, been written to and ended in between. */
		if (__atomic_load_n(&e->shm->state[i], __ATOMIC_ACQUIRE) == state)
			give_back(e, i);
	}
}

bool host_rx_empty(const struct host_rx *rx)
{
	return __atomic_load_n(&rx->next->stamp, __ATOMIC_ACQUIRE) != rx->lap;
}

/* Forget mailboxes whose producers are gone. */
void host_endpoint_retire(struct goal_engine *e)
{
	u32 at = 0;

	while (at < e->nrx) {
		struct host_rx *rx = &e->rx[at];
		u32 state = __atomic_load_n(&e->shm->state[rx->index], __ATOMIC_ACQUIRE);

		if ((state == SHM_CLOSED || rx->peer->dead) && !rx->held && host_rx_empty(rx))
			retire(e, at);
		else
			at++;
	}
}

void host_endpoint_scan(struct goal_engine *e)
{
	u32 i;

	e->bell = __atomic_load_n(&e->shm->bell, __ATOMIC_ACQUIRE);
	for (i = 0; i < e->boxes; i++) {
		u32 state = __atomic_load_n(&e->shm->state[i], __ATOMIC_ACQUIRE);

		/* One that was filled and closed before we looked still has messages for us. */
		if ((state == SHM_READY || state == SHM_CLOSED) &&
		    !(e->known[i / 8] & (1u << (i % 8))))
			add(e, i);
	}
	host_endpoint_retire(e);
}
