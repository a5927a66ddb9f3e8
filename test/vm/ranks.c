// SPDX-License-Identifier: BSD-3-Clause
/* Functions of ranks.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <goal/collectives.h>

#include "ranks.h"

int ranks_try_join(struct device *d, uint32_t rank, uint32_t size, uint64_t nonce, uint32_t *id)
{
	struct espgoal_rank *entry = calloc(size, sizeof(*entry));
	struct espgoal_peer peer = { 0 };
	struct espgoal_group g = { .nonce = nonce,
				   .nranks = size,
				   .npeers = 1,
				   .rank = rank,
				   .ranks = (uintptr_t)entry,
				   .peers = (uintptr_t)&peer };
	uint32_t i;
	int rc;

	if (!entry)
		die("no memory");
	for (i = 0; i < size; i++)
		entry[i].cookie = d[i].open.cookie;
	memcpy(peer.node, d->open.node, sizeof(peer.node));
	memcpy(peer.link, d->open.link, sizeof(peer.link));
	rc = request(d[rank].fd, ESPGOAL_GROUP, &g);
	free(entry);
	*id = g.id;
	return rc;
}

uint32_t ranks_join(struct device *d, uint32_t rank, uint32_t size, uint64_t nonce)
{
	uint32_t id;
	int rc = ranks_try_join(d, rank, size, nonce, &id);

	if (rc)
		die("rank %u cannot join: %s", rank, strerror(-rc));
	return id;
}

static uint8_t byte_of(uint32_t i)
{
	return (uint8_t)(scramble(i) >> 24);
}

void batch_load(struct batch *b, struct device *d, uint32_t rank, uint32_t size, uint32_t peer,
		uint32_t n, uint32_t bytes, bool sends)
{
	struct espgoal_load l = { .flags = 0 };
	struct goal_schedule *s;
	struct goal_graph *g;
	uint32_t i;
	size_t len;
	int rc;

	*b = (struct batch){ .d = d, .n = n, .bytes = bytes, .sends = sends };
	if (goal_graph_create(rank, size, &g))
		die("no graph");
	for (i = 0; i < n; i++)
		if ((sends ? goal_send(g, 0, (uint64_t)i * bytes, bytes, peer, i)
			   : goal_recv(g, 0, (uint64_t)i * bytes, bytes, peer, i)) < 0)
			die("no operation");
	if (goal_compile(g, &s, NULL))
		die("no schedule");
	l.data = (uintptr_t)goal_schedule_data(s, &len);
	l.bytes = len;
	l.buf[0] = sends ? ESPGOAL_BUF_IN : ESPGOAL_BUF_OUT;
	rc = request(d->fd, ESPGOAL_LOAD, &l);
	if (rc)
		die("ESPGOAL_LOAD: %s", strerror(-rc));
	goal_schedule_free(s);
	goal_graph_free(g);
	b->sched = l.id;
	rc = batch_again(b);
	if (rc < 0)
		die("ESPGOAL_RUN: %s", strerror(-rc));
	b->run = (uint32_t)rc;
	if (!sends)
		return;
	b->data = malloc((size_t)n * bytes + 1);
	if (!b->data)
		die("no memory");
	for (i = 0; i < n * bytes; i++)
		b->data[i] = byte_of(i);
}

int batch_again(struct batch *b)
{
	struct espgoal_run r = { .sched = b->sched };
	int rc = request(b->d->fd, ESPGOAL_RUN, &r);

	if (rc)
		return rc;
	b->out = r.off[0];
	return (int)r.id;
}

int batch_start(const struct batch *b, uint32_t run, uint32_t group, uint32_t op_id, uint32_t start)
{
	struct espgoal_start s = { .run = run, .group = group, .op_id = op_id, .start = start };

	if (b->sends) {
		s.nsegs = 1;
		s.seg[0] = (struct espgoal_seg){ (uintptr_t)b->data, (uint64_t)b->n * b->bytes };
	}
	return request(b->d->fd, ESPGOAL_START, &s);
}

int batch_wait(const struct batch *b, uint32_t run, double seconds)
{
	const struct espgoal_word *w = &b->d->word[run];
	double end = now() + seconds;

	/* Each object is started once, or waited for by who has started it before. */
	while (!peek(&w->over)) {
		if (now() > end)
			return -ETIMEDOUT;
		usleep(200);
	}
	return w->status;
}

bool batch_good(const struct batch *b)
{
	const uint8_t *got = (const uint8_t *)b->d->map + b->out;
	uint32_t i;

	for (i = 0; i < b->n * b->bytes; i++)
		if (got[i] != byte_of(i))
			return false;
	return true;
}

void batch_free(struct batch *b)
{
	free(b->data);
	b->data = NULL;
}
