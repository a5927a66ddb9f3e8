// SPDX-License-Identifier: BSD-3-Clause
/*
 * The node that test/sim/stranger.c talks to: the protocol's core in the home of the unit tests, one
 * node of it, with a socket instead of a network. Plays the part that the stranger's text
 * expects, and looks at what arrived. Usage: stranger_host STRANGER (the program).
 */
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "home.h"

static int sock;

static void fail(const char *what)
{
	fprintf(stderr, "stranger_host: %s\n", what);
	home_dump();
	exit(1);
}

/* Frames for the stranger go to the socket. */
static int to_stranger(u32 from, u32 to, const u8 *bytes, u32 len)
{
	static u8 frame[14 + ESP_MTU_MAX];
	static const u8 head[14] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0x88, 0xb5 };

	(void)from;
	(void)to;
	memcpy(frame, head, sizeof(head));
	memcpy(frame + 14, bytes, len);
	if (send(sock, frame, 14 + len, MSG_NOSIGNAL) < 0)
		home.fate = NULL; /* it has left */
	return HOME_DROP;
}

static void pattern(struct home_run *r)
{
	u32 i;

	for (i = 0; i < 100000; i++)
		r->buf[i] = (u8)(i * 7 + r->erun.opid);
}

static void whole(struct home_run *r, u32 len)
{
	u32 i;

	if (!r->over || r->run.status || r->run.rlen[0] != len)
		fail("a run of the node did not end well");
	for (i = 0; i < len; i++)
		if (r->buf[200000 + i] != (u8)(i * 7 + r->erun.opid))
			fail("wrong bytes from the stranger");
}

static u64 clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (u64)t.tv_sec * ESP_S + (u64)t.tv_nsec;
}

/* Frames in, time on; false: the stranger has closed its end. */
static bool turn(u64 *last)
{
	static u8 frame[16384];
	struct pollfd p = { sock, POLLIN, 0 };
	struct esp_addr from = home.peer[1].addr[0];
	u64 now;
	ssize_t n;

	if (poll(&p, 1, 1) > 0) {
		n = recv(sock, frame, sizeof(frame), 0);
		if (n <= 0)
			return false;
		if (n > 14)
			home_inject(0, 0, &from, frame + 14, (u32)n - 14);
	}
	now = clock_ns();
	home_pass(now - *last, NULL);
	*last = now;
	return true;
}

static struct home_run *receive(u32 opid, u64 len)
{
	struct home_op op = { GOAL_OP_RECV, 1, 0, 200000, len };

	return home_start(home.node[0], opid, &op, 1);
}

static void parameters(char *node, char *cookie, char *nonce, char *own)
{
	u32 i;

	for (i = 0; i < 16; i++)
		sprintf(node + 2 * i, "%02x", home.peer[0].node[i]);
	sprintf(cookie, "%" PRIx64, home.rank[0].cookie);
	sprintf(nonce, "%" PRIx64, home.node[0]->m.nonce);
	sprintf(own, "%" PRIx64, home.rank[1].cookie);
}

int main(int argc, char **argv)
{
	char fd[16], node[40], cookie[24], nonce[24], own[24];
	struct home_op sends[2] = { { GOAL_OP_SEND, 1, 0, 0, 8 },
				    { GOAL_OP_SEND, 1, 1, 0, 50000 } };
	struct home_op last = { GOAL_OP_SEND, 1, 0, 0, 8 };
	struct home_run *r[8] = { NULL };
	struct esp_params p;
	int pair[2], status;
	u64 time;
	pid_t pid;
	u32 i;

	if (argc != 2)
		return 2;
	esp_params_default(&p);
	home_open(1, 1, &p);
	for (i = 0; i < 16; i++)
		home.peer[1].node[i] = 0xa0 + i;
	home.peer[1].addr[0] = home.peer[0].addr[0];
	home.peer[1].addr[0].addr[5] = 1;
	home.rank[1].cookie = env_random(NULL);
	home.rank[1].peer = 1;
	home.nnodes = 2;
	home.table.nranks = 2;
	home.table.npeers = 2;
	home.fate = to_stranger;
	home.fill = pattern;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair))
		fail("no socketpair");
	sock = pair[0];
	sprintf(fd, "%d", pair[1]);
	parameters(node, cookie, nonce, own);
	pid = fork();
	if (pid == 0) {
		close(pair[0]);
		execl(argv[1], argv[1], fd, node, cookie, nonce, own, (char *)NULL);
		_exit(127);
	}
	close(pair[1]);
	r[1] = receive(1, 64);
	r[7] = receive(7, 64);
	time = clock_ns();
	while (turn(&time)) {
		if (!r[2] && home.node[0]->count[ESP_C_rx_kept])
			r[2] = receive(2, 64);
		if (!r[3] && home.node[0]->count[ESP_C_refused_run])
			r[3] = receive(3, 100000);
		/* Its own messages come when the stranger is through with its long one. */
		if (!r[4] && r[3] && r[3]->over)
			r[4] = home_start(home.node[0], 4, sends, 2);
		if (r[7]->over && !r[5]) {
			r[5] = home_start(home.node[0], 5, &last, 1);
			r[6] = receive(6, 64);
		}
	}
	if (waitpid(pid, &status, 0) != pid || status)
		fail("the stranger is not content");
	if (!r[2] || !r[3])
		fail("nothing came ahead of its run");
	whole(r[1], 8);
	whole(r[2], 16);
	whole(r[3], 100000);
	whole(r[7], 1);
	if (r[4]->run.status || r[5]->run.status)
		fail("a send of the node failed");
	if (!r[6]->over || r[6]->run.status != -ECONNRESET || r[6]->run.err_peer != 1)
		fail("ABORT did not end the run");
	for (i = ESP_C_drop_short; i <= ESP_C_drop_payload_crc; i++)
		if (home.node[0]->count[i])
			printf("%s %" PRIu64 "\n", esp_count_name(i), home.node[0]->count[i]);
	home.nnodes = 1;
	home_close();
	return 0;
}
