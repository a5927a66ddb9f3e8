// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * How large a frame may be on a path. Every path carries ESP_MTU_MIN; more only after a padded
 * frame of that size was acknowledged, since on raw Ethernet nobody tells that a frame was too
 * large. When large frames stop getting through, back to the minimum and up again in steps.
 */
#include "esp_int.h"

#define TRIES     3 /* probes of a size that must be lost before it counts as too large */
#define BLACKHOLE 6 /* large frames in a row that were lost */

static const u16 steps[] = { 8000, 4096, 2304, 1500, 1472, 1280, 1024 };

static u32 most(const struct esp_path *p)
{
	return p->rail ? (u32)esp_min(p->rail->mtu, p->mtu_peer) : ESP_MTU_MIN;
}

/* The next size worth trying, or 0. */
static u32 target(const struct esp_path *p)
{
	u32 max = most(p), i;

	if (!p->mtu_bad || max < p->mtu_bad)
		return max > p->mtu ? max : 0;
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (steps[i] < p->mtu_bad && steps[i] <= max)
			return steps[i] > p->mtu ? steps[i] : 0;
	return 0;
}

/* The path works, or works again. */
void esp_mtu_start(struct esp_path *p)
{
	p->mtu = ESP_MTU_MIN;
	p->mtu_bad = 0;
	p->mtu_try = 0;
	p->mtu_tries = 0;
	p->big_lost = 0;
	p->mtu_want = target(p);
	p->mtu_at = ESP_NEVER;
}

/* Ours or the peer's limit has changed. */
void esp_mtu_limit(struct esp_path *p, u64 now)
{
	if (p->mtu > most(p))
		p->mtu = most(p);
	p->mtu_bad = 0;
	p->mtu_tries = 0;
	p->mtu_at = now;
}

void esp_mtu_timer(struct esp_flow *f, struct esp_path *p, u64 now)
{
	if (now < p->mtu_at)
		return;
	p->mtu_at = ESP_NEVER;
	if (p->mtu_try || p->mtu_want)
		return; /* its end looks for the next size */
	p->mtu_want = target(p);
	if (p->mtu_want || !p->mtu_bad)
		return;
	p->mtu_bad = 0; /* perhaps it was only bad luck: from the top, later */
	p->mtu_at = now + f->node->p.mtu_retry;
}

void esp_mtu_acked(struct esp_flow *f, struct esp_path *p, const struct esp_sent *s, u64 now)
{
	p->mtu_try = 0;
	p->mtu_tries = 0;
	p->mtu_at = now;
	if (s->bytes <= p->mtu || s->bytes > most(p))
		return;
	p->mtu = s->bytes;
	p->big_lost = 0;
	/* The window counts bytes; what it was meant to be is frames. */
	p->window = (u32)esp_max(p->window, (u64)f->node->p.window_init * p->mtu);
	env_count(f->node, ESP_C_mtu_raised, 1);
}

void esp_mtu_lost(struct esp_flow *f, struct esp_path *p, const struct esp_sent *s, u64 now)
{
	if (s->mtu_probe) {
		p->mtu_try = 0;
		if (++p->mtu_tries >= TRIES) {
			p->mtu_tries = 0;
			p->mtu_bad = s->bytes;
			env_count(f->node, ESP_C_mtu_failed, 1);
		}
		p->mtu_at = now;
		return;
	}
	if (s->bytes <= ESP_MTU_MIN || ++p->big_lost < BLACKHOLE || p->mtu <= ESP_MTU_MIN)
		return;
	p->big_lost = 0;
	p->mtu_bad = p->mtu;
	p->mtu = ESP_MTU_MIN;
	p->mtu_tries = 0;
	p->mtu_at = now;
	env_count(f->node, ESP_C_mtu_black_hole, 1);
}
