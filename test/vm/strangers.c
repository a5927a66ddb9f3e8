// SPDX-License-Identifier: BSD-3-Clause
/*
 * Processes that know more than they should: one of another user, and one of the same user's other job, that
 * name an endpoint's cookie and send to it. One that takes more than its share: of nodes to speak to. And
 * one that says of a node that it is where it is not.
 *
 *	strangers
 *
 * Root only: the other user is 54321, and the device must be open to all for the while.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <goal/collectives.h>

#include "device.h"

#define SECRET 0x1234567890abcdefull

static int to_victim[2], to_stranger[2];
static uint64_t out_at; /* where the last run's result lies in the mapping */

struct card {
	uint64_t cookie;
	struct espgoal_peer peer;
};

static struct card card_of(const struct device *d)
{
	struct card c = { .cookie = d->open.cookie };

	memcpy(c.peer.node, d->open.node, sizeof(c.peer.node));
	memcpy(c.peer.link, d->open.link, sizeof(c.peer.link));
	return c;
}

static uint32_t group(struct device *d, const struct card *victim, const struct card *stranger,
		      uint32_t rank, uint64_t nonce)
{
	struct espgoal_rank ranks[2] = { { .cookie = victim->cookie },
					 { .cookie = stranger->cookie } };
	struct espgoal_group g = { .nonce = nonce,
				   .nranks = 2,
				   .npeers = 1,
				   .rank = rank,
				   .ranks = (uintptr_t)ranks,
				   .peers = (uintptr_t)&victim->peer };
	int rc = request(d->fd, ESPGOAL_GROUP, &g);

	if (rc)
		die("ESPGOAL_GROUP of rank %u: %s", rank, strerror(-rc));
	return g.id;
}

/* One operation between rank 0 and rank 1, started; the run's id. */
static uint32_t start(struct device *d, uint32_t grp, uint32_t rank)
{
	struct espgoal_load l = { .flags = 0 };
	struct espgoal_run r = { .flags = 0 };
	struct espgoal_start s = { .group = grp, .op_id = 1 };
	static uint64_t secret = SECRET;
	struct goal_schedule *c;
	struct goal_graph *g;
	size_t bytes;
	int rc;

	if (goal_graph_create(rank, 2, &g) ||
	    (rank ? goal_send(g, 0, 0, 8, 0, 0) : goal_recv(g, 0, 0, 8, 1, 0)) < 0 ||
	    goal_compile(g, &c, NULL))
		die("no schedule");
	l.data = (uintptr_t)goal_schedule_data(c, &bytes);
	l.bytes = bytes;
	l.buf[0] = rank ? ESPGOAL_BUF_IN : ESPGOAL_BUF_OUT;
	rc = request(d->fd, ESPGOAL_LOAD, &l);
	r.sched = l.id;
	if (!rc)
		rc = request(d->fd, ESPGOAL_RUN, &r);
	s.run = r.id;
	out_at = r.off[0];
	if (rank) {
		s.nsegs = 1;
		s.seg[0] = (struct espgoal_seg){ (uintptr_t)&secret, 8 };
	}
	if (!rc)
		rc = request(d->fd, ESPGOAL_START, &s);
	if (rc)
		die("starting rank %u's run: %s", rank, strerror(-rc));
	return r.id;
}

static void stranger(uid_t uid, uint64_t nonce)
{
	struct card mine, victim;
	struct device d;
	uint32_t run;
	char done;

	if (uid && (setgid(uid) || setuid(uid)))
		die("setuid: %s", strerror(errno));
	device_open(&d, 0, 0);
	mine = card_of(&d);
	if (write(to_victim[1], &mine, sizeof(mine)) != sizeof(mine) ||
	    read(to_stranger[0], &victim, sizeof(victim)) != sizeof(victim))
		die("pipe: %s", strerror(errno));
	run = start(&d, group(&d, &victim, &mine, 1, nonce), 1);
	/* Until the victim has looked. */
	if (read(to_stranger[0], &done, 1) != 1)
		die("pipe: %s", strerror(errno));
	printf("the stranger's run: %s, status %d\n", d.word[run].over ? "over" : "waits",
	       d.word[run].status);
	/* Another user's endpoint is none that could ever be in the group. */
	if (uid && d.word[run].status != -EACCES)
		complain("a stranger's send is not refused");
	device_close(&d, true);
	fflush(stdout);
	_exit(complaints != 0);
}

/*
 * @nonce names the victim's group, @theirs the stranger's. A short send needs no receiver to succeed: what
 * counts is what the victim gets.
 */
static void attack(uid_t uid, uint64_t nonce, uint64_t theirs, const char *who)
{
	struct card mine, other;
	struct device d;
	uint64_t got;
	uint32_t run;
	int status;
	pid_t pid;

	if (pipe(to_victim) || pipe(to_stranger))
		die("pipe: %s", strerror(errno));
	fflush(stdout);
	pid = fork();
	if (!pid)
		stranger(uid, theirs);
	device_open(&d, 0, 0);
	mine = card_of(&d);
	if (read(to_victim[0], &other, sizeof(other)) != sizeof(other) ||
	    write(to_stranger[1], &mine, sizeof(mine)) != sizeof(mine))
		die("pipe: %s", strerror(errno));
	/* It even expects a message from that rank. */
	run = start(&d, group(&d, &mine, &other, 0, nonce), 0);
	usleep(1500000);
	memcpy(&got, (const char *)d.map + out_at, 8);
	if (got == SECRET)
		complain("%s: the stranger's bytes are in the victim's memory", who);
	if (peek(&d.word[run].over) && !d.word[run].status)
		complain("%s: the victim's receive has succeeded", who);
	if (write(to_stranger[1], "", 1) != 1)
		die("pipe: %s", strerror(errno));
	waitpid(pid, &status, 0);
	if (status)
		complain("%s: the stranger ended with 0x%x", who, status);
	printf("%s: %llu refused, the victim's run is %s, status %d\n", who,
	       (unsigned long long)device_counter(&d, ESPGOAL_SET_NODE, "refused_local"),
	       d.word[run].over ? "over" : "waiting", d.word[run].status);
	device_close(&d, true);
	close(to_victim[0]);
	close(to_victim[1]);
	close(to_stranger[0]);
	close(to_stranger[1]);
}

/* A group whose first rank we are; each of the @n others is on a node of its own, which does not exist. */
static int name_nodes(struct device *d, uint32_t n, uint64_t nonce)
{
	struct espgoal_rank *rank = calloc(n + 1, sizeof(*rank));
	struct espgoal_peer *peer = calloc(n + 1, sizeof(*peer));
	struct espgoal_group g = { .nonce = nonce,
				   .nranks = n + 1,
				   .npeers = n + 1,
				   .ranks = (uintptr_t)rank,
				   .peers = (uintptr_t)peer };
	uint32_t i;
	int rc;

	if (!rank || !peer)
		die("no memory");
	rank[0].cookie = d->open.cookie;
	peer[0] = card_of(d).peer;
	for (i = 1; i <= n; i++) {
		uint64_t name = scramble(nonce << 32 | i);

		rank[i] = (struct espgoal_rank){ .cookie = name, .peer = i };
		peer[i] = peer[0];
		memset(peer[i].node, 0, sizeof(peer[i].node));
		memcpy(peer[i].node, &name, sizeof(name));
	}
	rc = request(d->fd, ESPGOAL_GROUP, &g);
	free(rank);
	free(peer);
	return rc;
}

/*
 * A group of this node and of one that does not exist, with one link, and a short message to that: the
 * run's id.
 */
static uint32_t send_astray(struct device *d, uint64_t node, uint8_t link, uint64_t nonce,
			    uint32_t *id)
{
	struct espgoal_rank ranks[2] = { { .cookie = 7, .peer = 1 }, { .cookie = d->open.cookie } };
	struct espgoal_peer peers[2] = { card_of(d).peer, card_of(d).peer };
	struct espgoal_group g = { .nonce = nonce,
				   .nranks = 2,
				   .npeers = 2,
				   .rank = 1,
				   .ranks = (uintptr_t)ranks,
				   .peers = (uintptr_t)peers };
	int rc;

	memset(peers[1].node, 0, sizeof(peers[1].node));
	memcpy(peers[1].node, &node, sizeof(node));
	/* It ends with the address: 02:00:00:00:00:@link. */
	memset(peers[1].link, 0, sizeof(peers[1].link));
	memcpy(peers[1].link, peers[0].link, 4);
	peers[1].link[0].bytes[4] = 2;
	peers[1].link[0].bytes[9] = link;
	rc = request(d->fd, ESPGOAL_GROUP, &g);
	if (rc)
		die("ESPGOAL_GROUP: %s", strerror(-rc));
	*id = g.id;
	return start(d, g.id, 1);
}

/*
 * Two tables have a node at two places, and it answers at neither. It counts as dead for the one that had
 * it where the first message went; but the other one's message, which was over at once, is lost with the
 * same flow, and its group must not wait for ever.
 */
static void astray(void)
{
	static const uint8_t link[2] = { 1, 2 };
	uint64_t node = scramble((uint64_t)getpid());
	uint32_t run[2], grp[2], i;
	struct device d;
	double end;

	device_open(&d, 0, 0);
	for (i = 0; i < 2; i++) {
		run[i] = send_astray(&d, node, link[i], 600 + i, &grp[i]);
		if (!peek(&d.word[run[i]].over) || d.word[run[i]].status)
			complain("a short message is not sent at once");
	}
	/* What fails the group ends the next run, which waits. */
	end = now() + 15;
	for (i = 0; i < 2; i++) {
		struct espgoal_start s = { .run = run[i], .group = grp[i], .op_id = 2 };

		while (peek(&d.word[run[i]].free) != 1 && now() < end)
			usleep(10000);
		s.flags = ESPGOAL_START_WAIT;
		s.timeout = 1000000000;
		s.nsegs = 1;
		s.seg[0] = (struct espgoal_seg){ (uintptr_t)&node, 8 };
		if (request(d.fd, ESPGOAL_START, &s))
			die("the message is not given up");
		if (d.word[run[i]].status != -EHOSTUNREACH)
			complain("group %u has lost a message, and does not know: status %d", i,
				 d.word[run[i]].status);
	}
	device_close(&d, true);
}

static void hog(uid_t uid, uint32_t most)
{
	struct device d;
	int rc;

	if (setgid(uid) || setuid(uid))
		die("setuid: %s", strerror(errno));
	device_open(&d, 0, 0);
	rc = name_nodes(&d, most - 1, 1000);
	if (rc)
		complain("a user may not name %u nodes: %s", most - 1, strerror(-rc));
	rc = name_nodes(&d, 2, 1001);
	if (rc != -EDQUOT)
		complain("a user may name more than %u nodes: %d", most, rc);
	if (write(to_victim[1], "", 1) != 1 || read(to_stranger[0], &rc, 1) != 1)
		die("pipe: %s", strerror(errno));
	device_close(&d, true);
	fflush(stdout);
	_exit(complaints != 0);
}

/* One user has all the nodes they may have; others still have theirs. */
static void take_all(uid_t uid)
{
	FILE *f = fopen("/sys/module/espgoal/parameters/flows_max", "r");
	struct device d;
	unsigned int most;
	int status, rc;
	char byte;

	if (!f || fscanf(f, "%u", &most) != 1)
		die("no parameter flows_max");
	fclose(f);
	if (pipe(to_victim) || pipe(to_stranger))
		die("pipe: %s", strerror(errno));
	fflush(stdout);
	if (!fork())
		hog(uid, most);
	if (read(to_victim[0], &byte, 1) != 1)
		die("pipe: %s", strerror(errno));
	device_open(&d, 0, 0);
	rc = name_nodes(&d, 100, 1002);
	if (rc)
		complain("another user's nodes leave none for us: %s", strerror(-rc));
	if (write(to_stranger[1], "", 1) != 1)
		die("pipe: %s", strerror(errno));
	wait(&status);
	if (status)
		complain("who takes all ended with 0x%x", status);
	device_close(&d, true);
}

int main(void)
{
	attack(54321, 500, 500, "another user, the same group");
	attack(54321, 501, 502, "another user, another group");
	attack(0, 503, 504, "the same user, another group");
	take_all(54321);
	astray();
	printf("%s\n", complaints ? "FAIL" : "PASS");
	return complaints != 0;
}
