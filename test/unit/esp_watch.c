// SPDX-License-Identifier: BSD-3-Clause
/* What concerns many members or many runs: the index of a table, watching in rounds, news of ends. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

#include "home.h"

#define RANKS 300
#define PEERS 40
#define RUNS  1500

static struct esp_rank rank[RANKS];
static struct esp_peer peer[PEERS];

static void open2(void)
{
	struct esp_params p;

	esp_params_default(&p);
	home_open(2, 1, &p);
}

static struct esp_table random_table(u32 nranks, u32 npeers)
{
	u32 i, k;

	for (i = 0; i < npeers; i++)
		for (k = 0; k < 16; k++) /* many that begin alike */
			peer[i].node[k] = (u8)(k < 14 ? 7 : home_random());
	for (i = 0; i < nranks; i++) {
		rank[i].cookie = (u64)home_random() << 32 | home_random();
		rank[i].peer = home_random() % npeers;
	}
	return (struct esp_table){ .nranks = nranks, .npeers = npeers, .rank = rank, .peer = peer };
}

/* It finds what a search from front to back does, of what is there and of what is not. */
static void table__index(void **state)
{
	u32 mem[RANKS + 2 * PEERS], n, i;

	(void)state;
	open2();
	assert_int_equal(esp_table_index_size(RANKS, PEERS), sizeof(mem));
	for (n = 0; n < 300; n++) {
		struct esp_table plain = random_table(1 + n, 1 + n % PEERS), t = plain;
		u8 node[16];

		if (esp_table_index(&t, mem)) {
			assert_null(t.index); /* two of the few names that there are */
			continue;
		}
		for (i = 0; i < t.npeers; i++)
			assert_int_equal(esp_table_find(&t, peer[i].node),
					 esp_table_find(&plain, peer[i].node));
		for (i = 0; i < t.nranks; i++)
			assert_int_equal(esp_table_rank(&t, rank[i].cookie), i);
		for (i = 0; i < 50; i++) {
			memcpy(node, peer[0].node, sizeof(node));
			node[home_random() % 16] = (u8)home_random();
			assert_int_equal(esp_table_find(&t, node), esp_table_find(&plain, node));
		}
		assert_int_equal(esp_table_rank(&t, 0), t.nranks);
		assert_int_equal(esp_table_rank(&t, ~0ull), t.nranks);
	}
	home_close();
}

static void table__no_two_alike(void **state)
{
	struct esp_table t;
	u32 mem[RANKS + 2 * PEERS], i;

	(void)state;
	open2();
	for (i = 0; i < 100; i++) {
		t = random_table(RANKS, 2);
		peer[0].node[0] = 1;
		assert_int_equal(esp_table_index(&t, mem), 0);
		t.index = NULL;
		rank[home_random() % 150].cookie = rank[150 + home_random() % 150].cookie;
		assert_int_equal(esp_table_index(&t, mem), -EINVAL);
		assert_null(t.index);
		t = random_table(1, 2);
		peer[1] = peer[0];
		assert_int_equal(esp_table_index(&t, mem), -EINVAL);
	}
	home_close();
}

static u32 watched(const struct home_node *hn, u32 round)
{
	const struct home_run *r;
	u32 n = 0;

	for (r = hn->runs; r; r = r->next)
		n += r->erun.watched == round;
	return n;
}

/* However many runs wait: some at a time, so many a second, and each before any of them twice. */
static void watch__in_rounds(void **state)
{
	struct home_op op = { GOAL_OP_RECV, 1, 0, 0, 8 };
	struct esp_run *r = NULL;
	struct home_node *n;
	u32 i, calls = 0, first;

	(void)state;
	open2();
	home.buf = 8;
	n = home.node[0];
	for (i = 0; i < RUNS; i++)
		home_start(n, i, &op, 1);
	home.now += n->n.p.watch;
	assert_int_equal(watched(n, 0), 0);
	do {
		u32 before = watched(n, 0);

		r = esp_member_watch(&n->m, r, home.now);
		calls++;
		assert_in_range(watched(n, 0) - before, 1, 64);
	} while (r);
	first = watched(n, 0);
	assert_in_range(first, 500, RUNS - 1);
	assert_int_equal(calls, (first + 63) / 64);
	assert_int_equal(n->m.watched, 0);
	home_watch(n);
	assert_int_equal(watched(n, 0), RUNS);
	assert_int_equal(n->m.watched, 1);
	home_watch(n);
	assert_int_equal(watched(n, 1), first);
	env_run_cancel(&n->runs->erun, -ECANCELED, 0);
	home_close();
}

/* A peer's death is heard where members are not looked through; they fail soon after. */
static void death__is_noted(void **state)
{
	struct home_node *n;
	struct home_flow *f;

	(void)state;
	open2();
	n = home.node[0];
	home_start(n, 1, &(struct home_op){ GOAL_OP_SEND, 1, 0, 0, 8 }, 1);
	home_pass(100 * ESP_MS, NULL);
	f = n->flows;
	assert_non_null(f);
	assert_int_not_equal(f->f.answered, 0);
	esp_peer_died(&f->f);
	esp_peer_died(&f->f);
	assert_true(n->to_look);
	assert_int_equal(n->m.failed, 0);
	home_look();
	assert_int_equal(n->m.failed, -EHOSTUNREACH);
	assert_int_equal(n->m.failed_rank, 1);
	home_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table__index),
		cmocka_unit_test(table__no_two_alike),
		cmocka_unit_test(watch__in_rounds),
		cmocka_unit_test(death__is_noted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
