// SPDX-License-Identifier: BSD-3-Clause
/* The parts of the protocol one by one: numbers that wrap, ranges, ids, the pull heap, bad frames. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "home.h"

static struct esp_flow *flow(void)
{
	static struct esp_flow f;
	struct esp_peer peer;

	memset(&f, 0, sizeof(f));
	memset(&peer, 0, sizeof(peer));
	esp_flow_init(&f, &home.node[0]->n, &peer, home.now);
	return &f;
}

static void open1(void)
{
	struct esp_params p;

	esp_params_default(&p);
	home_open(2, 1, &p);
}

static void pn__any_order(void **state)
{
	static const u32 first[] = { 0, 1000, (u32)-200, (u32)-1, 0x7fffff00 };
	struct esp_path *p;
	struct esp_flow *f;
	u32 k, i, j;

	(void)state;
	open1();
	for (k = 0; k < 5; k++) {
		static bool here[1000];
		u32 top = 0;

		f = flow();
		p = &f->path[0];
		p->rx_top = first[k] - 1;
		p->rx_cum = first[k];
		memset(here, 0, sizeof(here));
		for (i = 0; i < 3000; i++) {
			u32 lo = top > 300 ? top - 300 : 0, n = lo + home_random() % 400;
			u32 pn = first[k] + n;
			int rc;
			union {
				struct esp_ack a;
				u8 bytes[sizeof(struct esp_ack) + ESP_PN_SPAN / 8];
			} ack;

			if (n >= 1000)
				break;
			rc = esp_pn_check(p, pn, 0);
			if (here[n]) {
				assert_int_equal(rc, ESP_C_drop_pn_duplicate);
				continue;
			}
			assert_int_equal(rc, 0);
			/* The oldest number that is missing, at most 300 back. */
			for (j = lo; j < n && here[j]; j++)
				;
			esp_pn_note(f, p, pn, n - j, 0, home.now);
			here[n] = true;
			top = n > top ? n : top;
			/* What the acknowledgement says of each number is true, or was settled. */
			esp_ack_put(p, &ack.a, home.now);
			for (j = 0; j <= top; j++) {
				u32 at = first[k] + j, bit = at - p->rx_cum - 1;
				u32 words = (le16_to_cpu(ack.a.c.len) - sizeof(ack.a)) / 8;
				bool said = esp_before(at, p->rx_cum) ||
					    (at != p->rx_cum && bit < 64 * words &&
					     le64_to_cpu(ack.a.bits[bit / 64]) >> bit % 64 & 1);

				if (!esp_before(at, p->rx_cum))
					assert_int_equal(said, here[j]);
			}
		}
		assert_int_equal(esp_pn_check(p, p->rx_top + ESP_PN_AHEAD + 1, 0),
				 ESP_C_drop_pn_ahead);
		assert_int_equal(esp_pn_check(p, p->rx_top - ESP_PN_SPAN, 0), ESP_C_drop_pn_old);
		assert_int_equal(esp_pn_check(p, p->rx_top + 1, ESP_PN_SPAN), ESP_C_drop_back);
		esp_pn_note(f, p, p->rx_top + 5000, 0, 0, home.now);
		assert_int_equal(esp_pn_check(p, p->rx_top - 1, 0), 0);
		/* It left the window while its frame was taken in, and shares a bit with that one. */
		esp_pn_note(f, p, p->rx_top - 1 - ESP_PN_SPAN, 0, 0, home.now);
		assert_int_equal(esp_pn_check(p, p->rx_top - 1, 0), 0);
	}
	home_close();
}

static void mid__window(void **state)
{
	static const u32 first[] = { 0, (u32)-5, (u32)-1500 };
	u32 k, i;

	(void)state;
	open1();
	for (k = 0; k < 3; k++) {
		struct esp_flow *f = flow();

		f->mid_base = first[k];
		for (i = 0; i < 5000; i++) {
			u32 mid = first[k] + i;

			assert_false(esp_mid_seen(f, mid));
			assert_false(esp_mid_ahead(f, mid + ESP_MID_SPAN - 2));
			esp_mid_begin(f, mid + 1); /* the later of two first */
			assert_true(esp_mid_busy(f, mid + 1));
			esp_mid_end(f, mid + 1, true);
			esp_mid_begin(f, mid);
			esp_mid_end(f, mid, false);
			assert_false(esp_mid_seen(f, mid));
			esp_mid_end(f, mid, true);
			i++;
			assert_true(esp_mid_seen(f, mid));
			assert_true(esp_mid_ahead(f, f->mid_base + ESP_MID_SPAN));
		}
		assert_int_equal(f->mid_base, first[k] + 5000);
	}
	home_close();
}

static void rx__ranges(void **state)
{
	u32 round, i;

	(void)state;
	open1();
	for (round = 0; round < 200; round++) {
		static u8 have[512];
		struct esp_rx rx;
		u32 count = 0;

		memset(&rx, 0, sizeof(rx));
		memset(have, 0, sizeof(have));
		rx.total = sizeof(have);
		while (rx.here < rx.total) {
			u32 from = home_random() % 512,
			    to = from + 1 + home_random() % (round % 60 + 1);
			u32 fresh = 0;
			s64 said;

			to = to > 512 ? 512 : to;
			for (i = from; i < to; i++)
				fresh += !have[i];
			said = esp_rx_add(&rx, from, to);
			if (said < 0) {
				assert_int_equal(rx.nrange, ESP_RANGES);
				/* What is missed first always finds room. */
				said = esp_rx_add(&rx, rx.range[0].from ? 0 : rx.range[0].to,
						  rx.range[0].from ? rx.range[0].from
								   : rx.range[0].to + 1);
				assert_true(said > 0);
				for (i = 0; i < 512; i++) {
					u32 k;

					have[i] = 0;
					for (k = 0; k < rx.nrange; k++)
						have[i] |= i >= rx.range[k].from &&
							   i < rx.range[k].to;
				}
				continue;
			}
			assert_int_equal(said, fresh);
			memset(have + from, 1, to - from);
			count++;
		}
		assert_int_equal(rx.nrange, 1);
		assert_true(count > 0);
	}
	home_close();
}

/* Fewest bytes left first, never more out than the limit, whatever comes and goes. */
static void pull__order(void **state)
{
	struct esp_node *n;
	static struct esp_rx rx[200];
	struct esp_granted g[8];
	struct esp_flow *f;
	u32 i, k, round, done = 0;

	(void)state;
	open1();
	n = &home.node[0]->n;
	f = env_flow_alloc(n, &home.peer[0], true);
	f->node = n;
	for (i = 0; i < 200; i++) {
		memset(&rx[i], 0, sizeof(rx[i]));
		rx[i].total = 1 + home_random() % 100000;
		rx[i].flow = f;
		rx[i].mid = i;
		rx[i].p_unit = 1000;
		rx[i].p_limit = 20000;
		rx[i].p_patience = ESP_MS;
		esp_pull_add(n, &rx[i], i, i, home.now);
	}
	for (round = 0; done < 200 && round < 100000; round++) {
		k = esp_pull_next(n, g, 8, home.now);
		for (i = 0; i < k; i++) {
			env_flow_put(f);
			rx[g[i].mid].granted = g[i].upto;
			assert_true(g[i].upto <= rx[g[i].mid].total);
		}
		assert_true(n->pull.out <= n->pull.limit);
		for (i = 0; i < 200; i++) {
			u64 some = rx[i].granted - rx[i].here;

			if (!some || home_random() % 2)
				continue;
			some = 1 + home_random() % some;
			rx[i].here += some;
			esp_pull_arrived(n, &rx[i], some, home.now);
			if (rx[i].here == rx[i].total || home_random() % 200 == 0) {
				esp_pull_remove(n, &rx[i]);
				rx[i].here = rx[i].granted;
				done++;
			}
		}
		for (i = 0; i < 200; i += 37)
			if (home_random() % 500 == 0 && rx[i].p_state) {
				esp_pull_remove(n, &rx[i]);
				rx[i].here = rx[i].granted;
				done++;
			}
	}
	assert_int_equal(done, 200);
	assert_int_equal(n->pull.out, 0);
	env_flow_put(f);
	home_close();
}

/* A sender that goes silent does not hold the others up. */
static void pull__stalled(void **state)
{
	static struct esp_rx rx[2];
	struct esp_granted g[8];
	struct esp_node *n;
	struct esp_flow *f;
	u32 i;

	(void)state;
	open1();
	n = &home.node[0]->n;
	f = env_flow_alloc(n, &home.peer[0], true);
	f->node = n;
	for (i = 0; i < 2; i++) {
		memset(&rx[i], 0, sizeof(rx[i]));
		rx[i].total = 100000 + i;
		rx[i].flow = f;
		rx[i].mid = i;
		rx[i].p_unit = 1000;
		rx[i].p_limit = 20000;
		rx[i].p_patience = ESP_MS;
		esp_pull_add(n, &rx[i], i, i, home.now);
	}
	assert_int_equal(esp_pull_next(n, g, 8, home.now), 1);
	assert_int_equal(g[0].mid, 0);
	env_flow_put(f);
	esp_pull_check(n, home.now + ESP_MS - 1);
	assert_int_equal(esp_pull_next(n, g, 8, home.now), 0);
	esp_pull_check(n, home.now + ESP_MS);
	assert_int_equal(n->pull.out, 0);
	assert_int_equal(esp_pull_next(n, g, 8, home.now), 1);
	assert_int_equal(g[0].mid, 1);
	env_flow_put(f);
	esp_pull_arrived(n, &rx[0], 20000, home.now); /* it was only slow */
	assert_int_equal(n->pull.out, 20000);
	for (i = 0; i < 2; i++)
		esp_pull_remove(n, &rx[i]);
	assert_int_equal(n->pull.out, 0);
	env_flow_put(f);
	home_close();
}

/* A frame of node 0 for node 1 in an open flow; @edit makes it bad. */
static u8 bytes[ESP_MTU_MAX + 1];
static u32 length;

static struct esp_hdr *good(void)
{
	struct esp_flow *f = &home.node[0]->flows->f;
	struct esp_out o;
	struct esp_hdr *h = (struct esp_hdr *)o.hdr;
	struct esp_ping *c = (struct esp_ping *)(h + 1);

	esp_out_begin(&o, ESP_T_DATA, f->cid_peer);
	h->flags = ESP_F_NUMBERED;
	h->pn = cpu_to_le32(f->path[0].pn);
	memset(c, 0, sizeof(*c));
	c->c.kind = ESP_K_PING;
	c->c.len = cpu_to_le16(sizeof(*c));
	o.hdr_len += sizeof(*c);
	o.total_len += sizeof(*c);
	esp_out_end(&o);
	memset(bytes, 0, sizeof(bytes));
	memcpy(bytes, o.hdr, o.hdr_len);
	length = o.total_len;
	return (struct esp_hdr *)bytes;
}

static void seal(void)
{
	struct esp_hdr *h = (struct esp_hdr *)bytes;
	u32 len = le16_to_cpu(h->hdr_len), total = le16_to_cpu(h->total_len);

	h->payload_crc = 0;
	if (total > len)
		h->payload_crc = cpu_to_le32(~env_crc32c(0xffffffff, bytes + len, total - len));
	h->hdr_crc = 0;
	h->hdr_crc = cpu_to_le32(~env_crc32c(0xffffffff, bytes, len));
}

/* It has no effect but on the counter @why. */
static void dropped(u32 why)
{
	struct esp_flow *f = &home.node[1]->flows->f;
	u64 before = home.node[1]->count[why];
	struct esp_path path = f->path[0];
	u32 base = f->mid_base;

	home_inject(1, 0, &home.peer[0].addr[0], bytes, length);
	home_pass(1, NULL);
	home_pass(1, NULL);
	if (home.node[1]->count[why] != before + 1)
		print_error("%s was not counted\n", esp_count_name(why));
	assert_int_equal(home.node[1]->count[why], before + 1);
	f = &home.node[1]->flows->f;
	assert_memory_equal(&path, &f->path[0], sizeof(path));
	assert_int_equal(base, f->mid_base);
}

static void put_chunk(u8 kind, const void *rest, u32 len, u32 payload)
{
	struct esp_hdr *h = (struct esp_hdr *)bytes;
	struct esp_chunk *c = (struct esp_chunk *)(h + 1);

	c->kind = kind;
	c->len = cpu_to_le16(4 + len);
	memcpy(c + 1, rest, len);
	h->hdr_len = cpu_to_le16(sizeof(*h) + 4 + len);
	length = sizeof(*h) + 4 + len + payload;
	h->total_len = cpu_to_le16(length);
	seal();
}

static void frame__bad(void **state)
{
	static const u8 zero[64];
	struct home_op s = { GOAL_OP_SEND, 1, 0, 0, 8 }, r = { GOAL_OP_RECV, 0, 0, 0, 8 };
	struct esp_ready ready;
	struct esp_eager e;
	struct esp_hdr *h;

	(void)state;
	open1();
	home_start(home.node[0], 1, &s, 1);
	home_start(home.node[1], 1, &r, 1);
	assert_true(home_pass(10 * ESP_MS, home_idle));
	home_pass(10 * ESP_MS, NULL);

	good();
	seal();
	length = 31;
	dropped(ESP_C_drop_short);
	good();
	seal();
	length = 35; /* shorter than it says */
	dropped(ESP_C_drop_short);
	h = good();
	h->version = 2;
	seal();
	dropped(ESP_C_drop_version);
	h = good();
	h->type = ESP_T_MCAST;
	seal();
	dropped(ESP_C_drop_type);
	h = good();
	h->hdr_len = cpu_to_le16(31);
	dropped(ESP_C_drop_hdr_len);
	h = good();
	h->hdr_len = cpu_to_le16(ESP_HDR_MAX + 1);
	dropped(ESP_C_drop_hdr_len);
	h = good();
	h->total_len = cpu_to_le16(35);
	dropped(ESP_C_drop_total_len);
	h = good();
	seal();
	h->pn ^= cpu_to_le32(1);
	dropped(ESP_C_drop_hdr_crc);
	h = good();
	h->reserved = cpu_to_le16(1);
	seal();
	dropped(ESP_C_drop_reserved);
	h = good();
	h->flags |= 4;
	seal();
	dropped(ESP_C_drop_reserved);
	h = good();
	h->cid ^= cpu_to_le64(1);
	seal();
	dropped(ESP_C_drop_cid);
	h = good();
	h->path = 1;
	seal();
	dropped(ESP_C_drop_path);
	h = good();
	h->back = cpu_to_le16(ESP_PN_SPAN);
	seal();
	dropped(ESP_C_drop_back);
	h = good();
	h->pn = cpu_to_le32(le32_to_cpu(h->pn) + ESP_PN_AHEAD + 1);
	seal();
	dropped(ESP_C_drop_pn_ahead);
	h = good();
	h->pn = cpu_to_le32(le32_to_cpu(h->pn) - ESP_PN_SPAN - 1);
	seal();
	dropped(ESP_C_drop_pn_old);
	h = good();
	h->pn = cpu_to_le32(le32_to_cpu(h->pn) - 1);
	seal();
	dropped(ESP_C_drop_pn_duplicate);
	good();
	bytes[32] = ESP_K_KINDS;
	seal();
	dropped(ESP_C_drop_chunk_kind);
	good();
	bytes[34] = 8;
	seal();
	dropped(ESP_C_drop_chunk_len);
	good();
	bytes[33] = 1;
	seal();
	dropped(ESP_C_drop_chunk_fields);
	good();
	bytes[32] = ESP_K_PONG;
	bytes[33] = ESP_PATHS;
	seal();
	dropped(ESP_C_drop_chunk_fields);
	h = good();
	h->flags = 0;
	h->pn = 0;
	seal();
	dropped(ESP_C_drop_unnumbered);
	good();
	put_chunk(ESP_K_PING, zero, 8, 5);
	dropped(ESP_C_drop_payload_len);
	good();
	{
		struct {
			__le16 delay, reserved;
			__le32 cum;
		} a = { 0, 0, cpu_to_le32(home.node[1]->flows->f.path[0].pn + 1) };

		put_chunk(ESP_K_ACK, &a, sizeof(a), 0);
		dropped(ESP_C_drop_ack_future);
	}
	good();
	memset(&e, 0, sizeof(e));
	e.mid = cpu_to_le32(home.node[1]->flows->f.mid_base + ESP_MID_SPAN);
	put_chunk(ESP_K_MSG, (u8 *)&e + 4, sizeof(e) - 4, 0);
	dropped(ESP_C_drop_mid_ahead);
	good();
	e.plen = cpu_to_le16(8); /* of a message of 0 bytes */
	put_chunk(ESP_K_MSG, (u8 *)&e + 4, sizeof(e) - 4, 8);
	dropped(ESP_C_drop_chunk_fields);
	memset(&ready, 0, sizeof(ready));
	good();
	put_chunk(ESP_K_READY, (u8 *)&ready + 4, sizeof(ready) - 4, 0);
	bytes[33] = ESP_READY_UPTO << 1;
	seal();
	dropped(ESP_C_drop_chunk_fields);
	good();
	e.total = cpu_to_le32(8);
	put_chunk(ESP_K_MSG, (u8 *)&e + 4, sizeof(e) - 4, 8);
	bytes[length - 1] ^= 1;
	dropped(ESP_C_drop_payload_crc);
	home_close();
}

/* To the unverified: never a longer answer than the question, and only so many. */
static u32 longest, replies;

static int watch(u32 from, u32 to, const u8 *b, u32 len)
{
	(void)to;
	(void)b;
	if (from == 1) {
		replies++;
		longest = len > longest ? len : longest;
	}
	return HOME_DROP;
}

static void hello__no_shouting(void **state)
{
	struct esp_params p;
	struct esp_out o;
	struct esp_hello *h;
	u32 i;

	(void)state;
	esp_params_default(&p);
	p.hello_rate = 50;
	home_open(2, 1, &p);
	home.fate = watch;
	longest = 0;
	replies = 0;
	for (i = 0; i < 1000; i++) {
		esp_out_begin(&o, i % 2 ? ESP_T_HELLO : ESP_T_OPEN, 0);
		h = (struct esp_hello *)(o.hdr + o.hdr_len);
		memset(h, 0, sizeof(*h));
		h->node[0] = i;
		h->node[1] = i >> 8;
		h->cid = cpu_to_le64(i + 1);
		h->stamp = cpu_to_le64(i + 1);
		h->order = ESP_ORDER_LITTLE;
		h->word = 8;
		h->version = 1;
		h->mtu = cpu_to_le16(1500);
		o.hdr_len += sizeof(*h);
		o.total_len += sizeof(*h);
		esp_out_end(&o);
		esp_seal(&o, 0);
		home_inject(1, 0, &home.peer[0].addr[0], o.hdr, o.hdr_len);
	}
	home_pass(ESP_MS, NULL);
	assert_int_equal(replies, 50);
	assert_int_equal(longest, sizeof(struct esp_hdr) + sizeof(struct esp_hello));
	assert_int_equal(home.node[1]->count[ESP_C_drop_token], 500);
	assert_null(home.node[1]->flows); /* and nothing was kept */
	home_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pn__any_order),      cmocka_unit_test(mid__window),
		cmocka_unit_test(rx__ranges),         cmocka_unit_test(pull__order),
		cmocka_unit_test(pull__stalled),      cmocka_unit_test(frame__bad),
		cmocka_unit_test(hello__no_shouting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
