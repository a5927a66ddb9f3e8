// SPDX-License-Identifier: BSD-3-Clause
/*
 * Mailboxes count slots and payload bytes in 32 bits, which wrap around within minutes of barriers:
 * messages go on, across the end of each counter.
 */
#include "engine_pair.h"

#include "core.h"
#include "host.h"
#include "mailbox.h"

#define LAPS 2 /* of the ring of slots, before the end */

/* Let the empty mailbox of @peer in @owner's segment have been in use for that long. */
static void age(struct goal_engine *owner, struct host_peer *peer)
{
	u32 slots = 0u - LAPS * (peer->slot_mask + 1), data = 0u - (peer->data_mask + 1);
	struct host_rx *rx = &owner->rx[0];

	assert_int_equal(owner->nrx, 1);
	assert_true(host_rx_empty(rx));
	peer->tail = slots;
	peer->data_tail = data;
	rx->head = slots;
	rx->published = slots;
	rx->data_head = data;
	rx->lap = (slots >> peer->slot_shift) + 1;
	rx->next = shm_slots(rx->box);
	rx->box->taken.slots = slots;
	rx->box->taken.data = data;
	box_refresh(peer);
}

static void exchange(uint64_t bytes)
{
	struct pair p;
	uint32_t i, rounds;

	pair_create(&p, 2, NULL);
	pair_check_exchange(&p, bytes, 0);
	pair_settle(&p);
	for (i = 0; i < 2; i++)
		age(p.engine[!i], p.group[i]->peer[!i]);
	rounds = 2 * LAPS * (p.group[0]->peer[1]->slot_mask + 1);
	for (i = 1; i <= rounds; i++)
		pair_check_exchange(&p, bytes, i);
	assert_true(p.group[0]->peer[1]->tail < 1u << 31);
	pair_free(&p);
}

static void wrap__slots(void **state)
{
	(void)state;
	exchange(8);
}

static void wrap__payload(void **state)
{
	(void)state;
	exchange(1000);
}

static void wrap__fragments(void **state)
{
	(void)state;
	exchange(40000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(wrap__slots),
		cmocka_unit_test(wrap__payload),
		cmocka_unit_test(wrap__fragments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
