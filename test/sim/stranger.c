// SPDX-License-Identifier: BSD-3-Clause
/*
 * A second implementation of the protocol, as small as it can be, written from doc/protocol.md alone
 * and including nothing of ours. It speaks raw Ethernet frames over a socket with a node of
 * ours, and checks that it is answered as the document says.
 *
 *	stranger FD NODE COOKIE NONCE OWN_COOKIE
 *
 * FD: a SOCK_SEQPACKET socket, one frame each. NODE: 32 hexadecimal digits, the node it talks to, which is
 * rank 0 of the group; the stranger is rank 1. Their MAC addresses are 02:00:00:00:00:00 and
 * 02:00:00:00:00:01. The node plays its part of the conversation in test/sim/stranger_host.c.
 */
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define ETHERTYPE 0x88b5
#define HDR       32

enum {
	HELLO = 1,
	TOKEN,
	OPEN,
	ACCEPT,
	DATA,
	RESET,
	REJECT
};
enum {
	ACK = 1,
	MSG,
	RTS,
	PULLED,
	GRANT,
	NOT_READY,
	BUSY,
	READY,
	ABORT,
	PING,
	PAD,
	MTU,
	ADDR,
	PONG = 18,
	AHEAD
};

static int sock;
static uint8_t node[16], peer_node[16];
static uint64_t cookie, nonce, own_cookie, cid = 0x5172a96e00c0ffee, peer_cid, stamp = 1000;
static uint8_t token[16];
static uint32_t pn = 0xfffffff0, mid = 0xfffffffe; /* both wrap under way */
static uint32_t peer_cum;                          /* every number of the peer below it has come */
static bool peer_open;

/* What the last frame from the node was. */
static uint8_t in[10000];
static uint32_t in_len;

static void fail(const char *what)
{
	fprintf(stderr, "stranger: %s\n", what);
	exit(1);
}

static void need(bool ok, const char *what)
{
	if (!ok)
		fail(what);
}

static uint64_t get(const uint8_t *p, int n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | p[n];
	return v;
}

static void put(uint8_t *p, int n, uint64_t v)
{
	for (; n--; v >>= 8)
		*p++ = (uint8_t)v;
}

static uint32_t crc32c(uint32_t crc, const uint8_t *p, uint32_t n)
{
	int k;

	while (n--) {
		crc ^= *p++;
		for (k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82f63b78 : 0);
	}
	return crc;
}

static uint64_t rotate(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

static void sip_rounds(uint64_t *a, uint64_t *b, uint64_t *c, uint64_t *d, int n)
{
	while (n--) {
		*a += *b;
		*b = rotate(*b, 13) ^ *a;
		*a = rotate(*a, 32);
		*c += *d;
		*d = rotate(*d, 16) ^ *c;
		*a += *d;
		*d = rotate(*d, 21) ^ *a;
		*c += *b;
		*b = rotate(*b, 17) ^ *c;
		*c = rotate(*c, 32);
	}
}

static uint64_t siphash(const uint8_t *key, const uint8_t *p, uint32_t n)
{
	uint64_t k0 = get(key, 8), k1 = get(key + 8, 8), m;
	uint64_t a = k0 ^ 0x736f6d6570736575, b = k1 ^ 0x646f72616e646f6d;
	uint64_t c = k0 ^ 0x6c7967656e657261, d = k1 ^ 0x7465646279746573;
	uint32_t at;

	for (at = 0; at <= n; at += 8) {
		m = n - at >= 8 ? get(p + at, 8) : get(p + at, (int)(n - at)) | (uint64_t)n << 56;
		d ^= m;
		sip_rounds(&a, &b, &c, &d, 2);
		a ^= m;
	}
	c ^= 0xff;
	sip_rounds(&a, &b, &c, &d, 4);
	return a ^ b ^ c ^ d;
}

/* Section 3.3: the addresses are 02:00:00:00:00:00, the node's, and 02:00:00:00:00:01. */
static void hash(uint8_t *to, const uint8_t *name, int type)
{
	uint8_t b[58] = { 0 };

	b[1] = (uint8_t)type;
	put(b + 2, 8, cid);
	put(b + 10, 8, stamp);
	b[18] = 1;
	b[22] = 2;
	if (type == HELLO) {
		b[38] = 1;
		b[42] = 2;
		b[47] = 1;
	}
	put(to, 8, siphash(name, b, sizeof(b)));
	b[0] = 1;
	put(to + 8, 8, siphash(name, b, sizeof(b)));
}

/* A frame under construction. */
static uint8_t out[1600];
static uint32_t out_hdr, out_len;

static uint8_t *const esp = out + 14;

static void begin(int type, uint64_t to)
{
	memset(out, 0, sizeof(out));
	out[0] = 2;
	out[6] = 2;
	out[11] = 1;
	out[12] = ETHERTYPE >> 8;
	out[13] = ETHERTYPE & 0xff;
	esp[0] = 1;
	esp[1] = (uint8_t)type;
	put(esp + 8, 8, to);
	out_hdr = HDR;
	out_len = HDR;
}

/* A chunk of @len bytes in all. */
static uint8_t *chunk(int kind, int flags, uint32_t len)
{
	uint8_t *c = esp + out_hdr;

	need(out_hdr == out_len, "a chunk behind payload");
	c[0] = (uint8_t)kind;
	c[1] = (uint8_t)flags;
	put(c + 2, 2, len);
	out_hdr += len;
	out_len += len;
	return c;
}

static void payload(const uint8_t *p, uint32_t n)
{
	memcpy(esp + out_len, p, n);
	out_len += n;
}

static void seal(void)
{
	put(esp + 2, 2, out_hdr);
	put(esp + 4, 2, out_len);
	put(esp + 24, 4,
	    out_len > out_hdr ? ~crc32c(0xffffffff, esp + out_hdr, out_len - out_hdr) : 0);
	put(esp + 28, 4, 0);
	put(esp + 28, 4, ~crc32c(0xffffffff, esp, out_hdr));
}

static void transmit(void)
{
	seal();
	need(send(sock, out, 14 + out_len, 0) == (ssize_t)(14 + out_len), "cannot send");
}

/* Number it, ask for an acknowledgement at once, send it; its number. */
static uint32_t number(void)
{
	esp[7] = 3;
	put(esp + 16, 4, pn);
	/* The four frames before it may still be open: nothing earlier is waited for. */
	put(esp + 20, 2, 4);
	return pn++;
}

static void body(uint8_t *h, uint64_t my_cid, const uint8_t *tok)
{
	memcpy(h, node, 16);
	put(h + 16, 8, my_cid);
	put(h + 24, 8, stamp);
	memcpy(h + 32, tok, 16);
	put(h + 56, 4, 1); /* checksums over the payload */
	h[60] = 1;
	h[61] = 8;
	put(h + 62, 2, 1500);
	h[64] = 1;
	h[68] = 1; /* path 0: Ethernet */
	h[72] = 2;
	h[77] = 1;
	out_hdr += 148;
	out_len += 148;
}

/* The next frame within @ms, checked as section 3 says; false: none came. */
static bool receive(int ms)
{
	struct pollfd p = { sock, POLLIN, 0 };
	uint32_t hdr, total, crc;
	const uint8_t *e = in + 14;
	uint8_t zero[4] = { 0 };
	ssize_t n;

	if (poll(&p, 1, ms) <= 0)
		return false;
	n = recv(sock, in, sizeof(in), 0);
	need(n > 0, "the node has gone");
	need(n >= 14 + HDR, "a frame shorter than its header");
	need(in[0] == 2 && in[5] == 1 && in[6] == 2 && in[11] == 0, "wrong Ethernet addresses");
	need(in[12] == ETHERTYPE >> 8 && in[13] == (ETHERTYPE & 0xff), "wrong EtherType");
	in_len = (uint32_t)n - 14;
	hdr = (uint32_t)get(e + 2, 2);
	total = (uint32_t)get(e + 4, 2);
	need(e[0] == 1, "wrong version");
	need(hdr >= HDR && hdr <= 640 && total >= hdr && total <= in_len && total <= 1500,
	     "wrong lengths");
	need(!get(e + 22, 2), "reserved field is not 0");
	crc = crc32c(0xffffffff, e, 28);
	crc = crc32c(crc, zero, 4);
	crc = crc32c(crc, e + HDR, hdr - HDR);
	need(get(e + 28, 4) == (uint32_t)~crc, "wrong checksum over the header");
	need(get(e + 24, 4) ==
		     (total > hdr ? (uint32_t)~crc32c(0xffffffff, e + hdr, total - hdr) : 0),
	     "wrong checksum over the payload");
	if (e[1] != DATA)
		need(!e[6] && !e[7] && !get(e + 16, 6) && total == hdr,
		     "fields that are of DATA only");
	else
		need(get(e + 8, 8) == cid, "not our connection id");
	return true;
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* What the node said in DATA frames. */
static struct {
	uint32_t acked; /* every number of ours below it */
	bool some_ack;
	uint32_t granted_mid;
	uint64_t granted;
	uint32_t refused_mid;
	int refused; /* kind */
	int ready;
	uint32_t ready_opid;
	bool ready_upto;
	uint8_t small[64]; /* its MSG */
	uint32_t small_len, small_opid, smalls;
	uint32_t rts_mid, rts_total;
	uint8_t pulled[60000];
	bool pulled_here[60000];
	uint32_t pulled_bytes;
	int pings, aborts;
	uint64_t pong;
} said;

static uint32_t acknowledge; /* the highest number of the node that is not acknowledged */
static bool to_acknowledge;
static uint64_t pong; /* what its last PING said */
static bool to_pong;

static void take_chunk(const uint8_t *c, const uint8_t **pay)
{
	uint32_t len = (uint32_t)get(c + 2, 2), i;

	switch (c[0]) {
	case ACK: {
		uint32_t cum = (uint32_t)get(c + 8, 4);

		need((len - 12) % 8 == 0 && len <= 76 && c[1] == 0 && !get(c + 6, 2),
		     "ACK is malformed");
		need((int32_t)(cum - pn) <= 0, "ACK for what was not sent");
		if (!said.some_ack || (int32_t)(cum - said.acked) > 0)
			said.acked = cum;
		said.some_ack = true;
		return;
	}
	case MSG:
		need(len == 56 && get(c + 20, 8) == nonce && get(c + 28, 8) == own_cookie &&
			     get(c + 44, 4) == 0,
		     "MSG is not for us");
		said.small_len = (uint32_t)get(c + 16, 2);
		need(said.small_len <= 64 && get(c + 8, 4) == said.small_len, "MSG is not whole");
		memcpy(said.small, *pay, said.small_len);
		*pay += said.small_len;
		said.small_opid = (uint32_t)get(c + 36, 4);
		said.smalls++;
		return;
	case RTS:
		need(len == 52 && get(c + 16, 8) == nonce && get(c + 24, 8) == own_cookie,
		     "RTS is not for us");
		said.rts_mid = (uint32_t)get(c + 4, 4);
		said.rts_total = (uint32_t)get(c + 8, 8);
		return;
	case PULLED: {
		uint32_t off = (uint32_t)get(c + 8, 8), n = (uint32_t)get(c + 16, 2);

		need(len == 20 && get(c + 4, 4) == said.rts_mid && n &&
			     off + n <= sizeof(said.pulled),
		     "PULLED of an unknown message");
		memcpy(said.pulled + off, *pay, n);
		*pay += n;
		for (i = off; i < off + n; i++) {
			said.pulled_bytes += !said.pulled_here[i]; /* a repetition counts once */
			said.pulled_here[i] = true;
		}
		return;
	}
	case GRANT:
		need(len == 16, "GRANT is malformed");
		said.granted_mid = (uint32_t)get(c + 4, 4);
		if (get(c + 8, 8) > said.granted)
			said.granted = get(c + 8, 8);
		return;
	case NOT_READY:
	case AHEAD:
	case BUSY:
		need(len >= 8 && len <= 68 && len % 4 == 0, "NOT-READY is malformed");
		for (i = 4; i < len; i += 4)
			said.refused_mid = (uint32_t)get(c + i, 4);
		said.refused = c[0];
		return;
	case READY:
		need(len == 28 && get(c + 4, 8) == nonce && get(c + 12, 8) == cookie,
		     "READY is not ours");
		said.ready++;
		said.ready_upto = c[1] & 1;
		said.ready_opid = (uint32_t)get(c + 20, 4);
		need(!(c[1] & ~1), "READY is malformed");
		return;
	case PING:
		need(len == 12 && c[1] == 0, "PING is malformed");
		said.pings++;
		pong = get(c + 4, 8);
		to_pong = true;
		return;
	case PONG:
		need(len == 12 && c[1] == 0, "PONG is malformed");
		said.pong = get(c + 4, 8);
		return;
	case PAD:
		need(len == 8, "PAD is malformed");
		*pay += get(c + 4, 2);
		return;
	case ABORT:
		need(len == 40 && c[1] == 1 && get(c + 4, 8) == nonce &&
			     get(c + 12, 8) == own_cookie && get(c + 28, 4) == 0 &&
			     get(c + 32, 4) == 1 && get(c + 36, 4) == 3,
		     "ABORT says something else");
		said.aborts++;
		return;
	case MTU:
	case ADDR:
		return;
	default:
		fail("a chunk nobody expects");
	}
}

static void send_ack(void)
{
	uint8_t *c;

	begin(DATA, peer_cid);
	c = chunk(ACK, 0, 12);
	put(c + 8, 4, acknowledge + 1);
	if (to_pong)
		put(chunk(PONG, 0, 12) + 4, 8, pong);
	to_pong = false;
	transmit();
	to_acknowledge = false;
}

/* Take in what comes until @done, acknowledging all of it; false: @ms were over. */
static bool hear(bool (*done)(void), int ms)
{
	uint64_t end = now_ms() + (uint64_t)ms;

	while (!done || !done()) {
		uint64_t t = now_ms();
		const uint8_t *e = in + 14, *c, *pay;

		if (t >= end || !receive((int)(end - t)))
			return false;
		if (e[1] != DATA)
			continue;
		pay = e + get(e + 2, 2);
		for (c = e + HDR; c < e + get(e + 2, 2); c += get(c + 2, 2)) {
			need(get(c + 2, 2) >= 4, "a chunk without length");
			if (!(e[7] & 1))
				need(c[0] == ACK || c[0] == NOT_READY || c[0] == BUSY ||
					     c[0] == PONG || c[0] == AHEAD,
				     "more than ACK in a frame without number");
		}
		if (e[7] & 1) {
			uint32_t n = (uint32_t)get(e + 16, 4);

			/* The socket keeps the order: the next number, always. */
			need(!peer_open || n == peer_cum, "a packet number out of order");
			peer_cum = n + 1;
			acknowledge = n;
			to_acknowledge = true;
		}
		for (c = e + HDR; c < e + get(e + 2, 2); c += get(c + 2, 2))
			take_chunk(c, &pay);
		need(pay == e + get(e + 4, 2), "payload that no chunk speaks of");
		if (to_acknowledge)
			send_ack();
	}
	return true;
}

static uint32_t wanted;

static bool is_acked(void)
{
	return said.some_ack && (int32_t)(said.acked - wanted) > 0;
}

/* The frame under construction is a numbered one and must be acknowledged. */
static void deliver(const char *what)
{
	wanted = number();
	transmit();
	if (!hear(is_acked, 500))
		fail(what);
}

static void key(uint8_t *k, uint32_t opid, uint32_t tag)
{
	put(k, 8, nonce);
	put(k + 8, 8, cookie);
	put(k + 16, 4, opid);
	put(k + 20, 4, 1);
	put(k + 24, 4, 1);
	put(k + 28, 4, tag);
}

static uint32_t message(uint32_t opid, uint32_t len)
{
	uint8_t data[64], *c;
	uint32_t i, m = mid++;

	for (i = 0; i < len; i++)
		data[i] = (uint8_t)(i * 7 + opid);
	begin(DATA, peer_cid);
	c = chunk(MSG, 0, 56);
	put(c + 4, 4, m);
	put(c + 8, 4, len);
	put(c + 16, 2, len);
	key(c + 20, opid, 0);
	payload(data, len);
	return m;
}

static bool silence(int ms)
{
	return !receive(ms);
}

static void hello(const uint8_t *name)
{
	static const uint8_t none[16];

	begin(HELLO, 0);
	body(esp + HDR, cid, none);
	hash(esp + HDR, name, HELLO);
	transmit();
}

/* Sections 3 and 4. */
static void opening(void)
{
	static const uint8_t none[80];
	const uint8_t *e = in + 14, *h = e + HDR;
	uint8_t wrong[16], expected[16];

	/* Not a frame in any respect that matters: silence. */
	begin(HELLO, 0);
	body(esp + HDR, cid, token);
	esp[0] = 2;
	transmit();
	begin(HELLO, 0);
	body(esp + HDR, cid, token);
	seal();
	esp[40] ^= 1;
	send(sock, out, 14 + out_len, 0);
	begin(HELLO, 0);
	body(esp + HDR, 0, token); /* connection id 0 */
	transmit();
	need(silence(50), "answered a bad hello");

	/* Who does not know its name is not told it, and gets no token. */
	hash(expected, peer_node, TOKEN);
	hello(node);
	need(receive(500) && e[1] == TOKEN, "HELLO for another node was not answered by TOKEN");
	need(!memcmp(h, expected, 16), "TOKEN does not say who answers");
	need(!memcmp(h + 32, none, 16), "a token for who does not know the name");
	need(!memcmp(h + 68, none, 80), "addresses for who does not know the name");

	hello(peer_node);
	need(receive(500) && e[1] == TOKEN, "HELLO was not answered by TOKEN");
	need(get(e + 8, 8) == cid && in_len <= HDR + 148 && get(e + 2, 2) == HDR + 148,
	     "TOKEN is not for us");
	need(!memcmp(h, expected, 16), "TOKEN of another node");
	need(memcmp(h + 32, none, 16), "no token");
	need(get(h + 16, 8) == cid && get(h + 24, 8) == stamp,
	     "TOKEN does not repeat cid and stamp");
	need(h[60] == 1 && h[61] == 8 && h[64] >= 1 && get(h + 62, 2) >= 576, "TOKEN's parameters");
	memcpy(token, h + 32, 16);

	memcpy(wrong, token, 16);
	wrong[3] ^= 4;
	begin(OPEN, 0);
	body(esp + HDR, cid, wrong);
	put(esp + HDR + 48, 4, pn);
	put(esp + HDR + 52, 4, mid);
	transmit();
	need(silence(50), "answered an OPEN with a token that is not its own");

	begin(OPEN, 0);
	body(esp + HDR, cid, token);
	put(esp + HDR + 48, 4, pn);
	put(esp + HDR + 52, 4, mid);
	transmit();
	need(receive(500) && e[1] == ACCEPT, "OPEN was not answered by ACCEPT");
	need(get(e + 8, 8) == cid && !memcmp(h, peer_node, 16) && get(h + 24, 8) == stamp &&
		     !memcmp(h + 32, token, 16),
	     "ACCEPT is not for us");
	peer_cid = get(h + 16, 8);
	peer_cum = (uint32_t)get(h + 48, 4);
	need(peer_cid != 0 && peer_cid != cid, "ACCEPT without a connection id");
	peer_open = true;
}

/* Sections 4 and 5. */
static void numbers(void)
{
	const uint8_t *e = in + 14;
	uint32_t before;

	begin(DATA, peer_cid);
	put(chunk(PING, 0, 12) + 4, 8, 0x0102030405060708);
	deliver("PING was not acknowledged");
	need(said.pong == 0x0102030405060708, "PING was not answered by PONG");
	need(said.acked == pn, "the cumulative number does not cover all that came");

	/* The same again: dropped, and not acknowledged again. */
	hear(NULL, 20);
	before = said.acked;
	need(send(sock, out, 14 + out_len, 0) > 0, "cannot send");
	need(silence(30), "a duplicate had an effect");
	need(before == said.acked, "a duplicate was acknowledged");

	/* A number that nothing leads to, a chunk nobody knows, a reserved bit: silence. */
	begin(DATA, peer_cid);
	chunk(PING, 0, 12);
	esp[7] = 3;
	put(esp + 16, 4, pn + 70000);
	transmit();
	begin(DATA, peer_cid);
	chunk(99, 0, 4);
	esp[7] = 3;
	put(esp + 16, 4, pn);
	transmit();
	begin(DATA, peer_cid);
	chunk(PING, 1, 12);
	esp[7] = 3;
	put(esp + 16, 4, pn);
	transmit();
	begin(DATA, peer_cid);
	put(chunk(ACK, 0, 12) + 8, 4, peer_cum + 1000);
	transmit();
	need(silence(30), "answered a frame it has to drop");

	/* An unknown connection id: RESET, which names it. */
	begin(DATA, peer_cid ^ 0x10000);
	chunk(PING, 0, 12);
	esp[7] = 3;
	put(esp + 16, 4, pn);
	transmit();
	need(receive(500) && e[1] == RESET && get(e + 8, 8) == (peer_cid ^ 0x10000), "no RESET");
	need(get(e + 4, 2) == HDR, "RESET has a body");
}

static bool is_refused(void)
{
	return said.refused != 0;
}

static bool is_ready(void)
{
	return said.ready != 0;
}

/* Section 7.2. The node has started run 1, and starts run 2 when it has kept the message for it. */
static void shorts(void)
{
	message(1, 8);
	deliver("MSG for a started run was not acknowledged");
	need(!said.refused, "MSG for a started run was refused");

	message(2, 16);
	deliver("MSG for the run that is next was not acknowledged");
	need(!said.refused, "MSG for the run that is next was refused");
}

static uint64_t covered;

static bool is_granted(void)
{
	return said.granted > covered;
}

static uint32_t rts(uint64_t len)
{
	uint32_t m = mid++;
	uint8_t *c;

	begin(DATA, peer_cid);
	c = chunk(RTS, 0, 52);
	put(c + 4, 4, m);
	put(c + 8, 8, len);
	key(c + 16, 3, 0);
	return m;
}

/*
 * Sections 7.3 and 7.4: run 3 of the node, which starts it when the message was refused, receives
 * 100000 bytes, which come in an odd order.
 */
static void longs(void)
{
	static uint8_t data[100000];
	uint32_t m, i;
	uint8_t *c;

	for (i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + 3);
	m = rts(sizeof(data));
	wanted = number();
	transmit();
	need(hear(is_refused, 500), "RTS for a run that is not there was not refused");
	need(said.refused == AHEAD && said.refused_mid == m,
	     "it was refused otherwise than by AHEAD");
	need(hear(is_ready, 2000), "no READY after the run had started");
	need(said.ready_upto ? said.ready_opid >= 3 : said.ready_opid == 3,
	     "READY for another run");
	m = rts(sizeof(data));
	deliver("RTS was not acknowledged");
	need(said.refused_mid != m, "RTS after READY was refused");
	while (covered < sizeof(data)) {
		uint64_t at, end;

		need(hear(is_granted, 2000), "no GRANT");
		need(said.granted_mid == m && said.granted <= sizeof(data),
		     "GRANT of another message");
		end = said.granted;
		/* From the end to the beginning, with an overlap of 10 bytes. */
		for (at = end; at > covered;) {
			uint64_t n = at - covered > 1400 ? 1400 : at - covered, to = at;

			at -= n;
			to = to + 10 < end ? to + 10 : to;
			begin(DATA, peer_cid);
			c = chunk(PULLED, 0, 20);
			put(c + 4, 4, m);
			put(c + 8, 8, at);
			put(c + 16, 2, to - at);
			payload(data + at, (uint32_t)(to - at));
			deliver("PULLED was not acknowledged");
		}
		covered = end;
	}
}

static bool is_small(void)
{
	return said.smalls && said.rts_total;
}

static uint32_t upto;

static bool all_granted(void)
{
	return said.pulled_bytes >= upto;
}

/* The node's own messages: run 4 sends 8 bytes, and 50000. */
static void theirs(void)
{
	uint32_t i;
	uint8_t *c;

	need(hear(is_small, 3000), "the node's messages do not come");
	need(said.small_opid == 4 && said.small_len == 8, "MSG of another run");
	for (i = 0; i < 8; i++)
		need(said.small[i] == (uint8_t)(i * 7 + 4), "wrong bytes in MSG");
	need(said.rts_total == 50000, "wrong length in RTS");
	hear(NULL, 20);
	need(!said.pulled_bytes, "PULLED without a grant");
	for (upto = 10000; upto <= 50000; upto += 10000) {
		begin(DATA, peer_cid);
		c = chunk(GRANT, 0, 16);
		put(c + 4, 4, said.rts_mid);
		put(c + 8, 8, upto);
		deliver("GRANT was not acknowledged");
		hear(all_granted, 1000);
		hear(NULL, 10);
		need(said.pulled_bytes == upto, "not as many bytes as were granted");
	}
	for (i = 0; i < 50000; i++)
		need(said.pulled[i] == (uint8_t)(i * 7 + 4), "wrong bytes in PULLED");
}

/*
 * Section 5: what is not acknowledged comes again, and only then. Run 5 sends 8 bytes; the node starts
 * it when it has the message for run 7.
 */
static void repeats(void)
{
	const uint8_t *e = in + 14;
	uint32_t first = 0, times = 0;
	uint64_t end = now_ms() + 3000;

	said.smalls = 0;
	message(7, 1);
	number();
	transmit();
	while (times < 3 && now_ms() < end) {
		const uint8_t *c;

		if (!receive(1000) || e[1] != DATA || !(e[7] & 1))
			continue;
		for (c = e + HDR; c < e + get(e + 2, 2); c += get(c + 2, 2)) {
			if (c[0] != MSG || get(c + 36, 4) != 5)
				continue;
			need(!times || (uint32_t)get(e + 16, 4) != first,
			     "a packet number was used twice");
			first = (uint32_t)get(e + 16, 4);
			times++;
		}
		peer_cum = (uint32_t)get(e + 16, 4) + 1;
	}
	need(times == 3, "a message that nobody acknowledges is not repeated");
	acknowledge = peer_cum - 1;
	send_ack();
	hear(NULL, 50); /* one may have been under way */
	said.smalls = 0;
	hear(NULL, 100);
	need(!said.smalls, "repeated after it was acknowledged");
}

static bool is_aborted(void)
{
	return said.aborts != 0;
}

/* Section 9: the group ends. Run 6 of the node waits for us. */
static void aborting(void)
{
	uint8_t *c;

	begin(DATA, peer_cid);
	c = chunk(ABORT, 1, 40);
	put(c + 4, 8, nonce);
	put(c + 12, 8, cookie);
	put(c + 28, 4, 1);
	put(c + 32, 4, 1);
	put(c + 36, 4, 3);
	deliver("ABORT was not acknowledged");
	/* Each member tells those it has to, and in a group of two that is the other one. */
	hear(is_aborted, 1000);
	need(said.aborts, "ABORT is not passed on");
}

static void hex(const char *s, uint8_t *to, int n)
{
	unsigned int v;

	for (; n--; s += 2) {
		need(sscanf(s, "%2x", &v) == 1, "not hexadecimal");
		*to++ = (uint8_t)v;
	}
}

int main(int argc, char **argv)
{
	int i;

	if (argc != 6) {
		fprintf(stderr, "usage: stranger FD NODE COOKIE NONCE OWN_COOKIE\n");
		return 2;
	}
	sock = atoi(argv[1]);
	hex(argv[2], peer_node, 16);
	cookie = strtoull(argv[3], NULL, 16);
	nonce = strtoull(argv[4], NULL, 16);
	own_cookie = strtoull(argv[5], NULL, 16);
	for (i = 0; i < 16; i++)
		node[i] = (uint8_t)(0xa0 + i);
	need((uint32_t)~crc32c(0xffffffff, (const uint8_t *)"123456789", 9) == 0xe3069283,
	     "CRC32C");
	for (i = 0; i < 16; i++)
		token[i] = (uint8_t)i;
	need(siphash(token, token, 15) == 0xa129ca6149be45e5, "SipHash");
	opening();
	numbers();
	shorts();
	longs();
	theirs();
	repeats();
	aborting();
	return 0;
}
