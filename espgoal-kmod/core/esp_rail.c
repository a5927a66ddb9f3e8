// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * The paths of a flow: which of them work, and which takes the next frame. Each has its own
 * numbers, round trip and window, so that striping by free window follows what each delivers. An
 * address becomes a destination of messages only after what went there has come back: PING with a
 * random value, since who has seen no frame can acknowledge its number all the same.
 */
#include "esp_int.h"

#define SUSPECT 3 /* unanswered probes and timeouts, while another path works */

void esp_path_set(struct esp_flow *f, struct esp_path *p, u8 state, struct esp_todo *t)
{
	if (p->state == state)
		return;
	switch (state) {
	case ESP_PATH_NONE:
		env_count(f->node, ESP_C_path_none, 1);
		break;
	case ESP_PATH_PROBING:
		env_count(f->node, ESP_C_path_probing, 1);
		break;
	case ESP_PATH_UP:
		env_count(f->node, p->state == ESP_PATH_DEAD ? ESP_C_path_back : ESP_C_path_up, 1);
		break;
	default:
		env_count(f->node, ESP_C_path_dead, 1);
		break;
	}
	p->state = state;
	p->value = state == ESP_PATH_NONE ? 0 : env_random(f->node);
	p->since = t->now;
	p->backoff = 0;
	p->probes = 0;
	p->retry_at = state == ESP_PATH_PROBING || state == ESP_PATH_DEAD ? t->now : ESP_NEVER;
	if (state == ESP_PATH_UP) {
		esp_mtu_start(p);
		esp_loss_window_init(f, p);
	} else {
		esp_loss_all(f, p, t); /* others carry it */
		p->say_ping = false;
		p->probe_at = ESP_NEVER;
	}
}

/* The rail of this place came, went, or is another one. */
void esp_path_rail(struct esp_flow *f, u32 place, struct esp_todo *t)
{
	struct esp_path *p = &f->path[place];
	struct esp_rail *r = esp_rail_at(f->node, place);

	if (p->rail == r)
		return;
	esp_path_used(f, place);
	esp_path_set(f, p, ESP_PATH_NONE, t);
	p->rail = r;
	p->say_addr = true;
	if (p->rail)
		p->say_mtu = true;
	if (esp_path_ends(p))
		esp_path_set(f, p, ESP_PATH_PROBING, t);
}

/* The peer says its address there. */
void esp_path_addr(struct esp_flow *f, u32 place, const struct esp_addr *a, struct esp_todo *t)
{
	struct esp_path *p = &f->path[place];

	if (esp_path_at(p, a))
		return;
	esp_path_used(f, place);
	esp_path_set(f, p, ESP_PATH_NONE, t);
	p->addr = *a;
	if (esp_path_ends(p))
		esp_path_set(f, p, ESP_PATH_PROBING, t);
}

/* Whoever is at its address says what only frames to there have said. */
void esp_path_pong(struct esp_flow *f, struct esp_path *p, u64 value, struct esp_todo *t)
{
	if (value != p->value) {
		env_count(f->node, ESP_C_skip_pong_unknown, 1);
		return;
	}
	if (p->state != ESP_PATH_PROBING && p->state != ESP_PATH_DEAD)
		return;
	/*
	 * What takes longer than the first timeouts is never acknowledged in time to be measured.
	 * This is the answer to a PING that was sent later than that: too long, for once.
	 */
	if (!p->rtt_valid)
		esp_rtt_sample(p, esp_since(t->now, p->since), 0);
	esp_path_set(f, p, ESP_PATH_UP, t);
}

static bool another_works(const struct esp_flow *f, const struct esp_path * not )
{
	u32 i;

	for (i = 0; i < f->npaths; i++) {
		const struct esp_path *p = &f->path[i];

		if (p != not &&esp_path_usable(p) && p->backoff < SUSPECT)
			return true;
	}
	return false;
}

void esp_path_timer(struct esp_flow *f, struct esp_path *p, struct esp_todo *t)
{
	if (p->state == ESP_PATH_UP && p->backoff >= SUSPECT && another_works(f, p))
		esp_path_set(f, p, ESP_PATH_DEAD, t);
	if (t->now < p->retry_at)
		return;
	esp_loss_all(f, p, t);
	p->say_ping = true;
	p->retry_at = t->now + esp_min(esp_rtt_rto(f, p), f->node->p.rail_retry);
	if (p->backoff < 32)
		p->backoff++;
}

/* The path for the next frame: the emptiest window; @window: only if there is room in it. */
struct esp_path *esp_path_pick(struct esp_flow *f, bool window)
{
	struct esp_path *best = NULL;
	u32 i;

	for (i = 0; i < f->npaths; i++) {
		struct esp_path *p = &f->path[i];
		u64 a, b;

		if (!esp_path_usable(p) || !esp_path_span(p))
			continue;
		if (window && !p->probes && p->inflight + p->mtu > p->window)
			continue;
		if (!best) {
			best = p;
			continue;
		}
		if ((p->backoff == 0) != (best->backoff == 0)) {
			if (p->backoff == 0)
				best = p;
			continue;
		}
		a = (u64)p->inflight * best->window;
		b = (u64)best->inflight * p->window;
		if (a < b || (a == b && p->srtt < best->srtt))
			best = p;
	}
	return best;
}
