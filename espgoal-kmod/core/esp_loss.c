// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Which frames are lost, and how many may be in flight. A frame is lost when a later one of its
 * path was acknowledged and it lags by three numbers or by more than a round trip; when nothing
 * comes back at all, one tail-loss probe goes first and then timeouts, which double.
 *
 * The window reacts to the share of the frames that is lost, smoothed over rounds, not to each
 * loss: up to 3 % it grows by a sixteenth per round in which it was the limit, above it shrinks
 * by half the share. Against a full network the round trip warns first: while queues grow, so
 * that the round trip does, the window shrinks by a thirty-second per round.
 */
#include "esp_int.h"

#define REORDER    3    /* numbers */
#define ROUND_MIN  16   /* frames that make a round worth judging */
#define SHARE_FREE 2048 /* of 65536: about 3 %; noise of the link, not ours */

static u32 frames(const struct esp_path *p, u32 n)
{
	return n * p->mtu;
}

void esp_loss_window_init(struct esp_flow *f, struct esp_path *p)
{
	p->window = frames(p, f->node->p.window_init);
	p->starting = true;
	p->limited = false;
	p->round_pn = p->pn;
	p->round_ok = 0;
	p->round_lost = 0;
	p->share = 0;
}

static void set_window(struct esp_flow *f, struct esp_path *p, u64 window)
{
	window = esp_max(window, frames(p, f->node->p.window_min));
	p->window = esp_min(window, frames(p, f->node->p.window_max));
}

static bool queues_grow(const struct esp_flow *f, const struct esp_path *p)
{
	return p->rtt_valid && p->srtt > p->rtt_min + esp_max(p->rtt_min, f->node->p.queue_delay);
}

static void end_round(struct esp_flow *f, struct esp_path *p)
{
	u32 sample = (p->round_lost << 16) / (p->round_ok + p->round_lost);
	bool grow = p->limited && !queues_grow(f, p);

	p->share = p->share - (p->share >> 3) + (sample >> 3);
	if (p->share > SHARE_FREE) {
		/* window * share / 2 */
		set_window(f, p, p->window - (u32)(((u64)p->window * p->share) >> 17));
		p->starting = false;
		env_count(f->node, ESP_C_window_cut, 1);
	} else if (grow) {
		set_window(f, p, p->window + esp_max(p->window >> 4, p->mtu));
	} else if (queues_grow(f, p)) {
		set_window(f, p, p->window - (p->window >> 5));
	}
	p->limited = false;
	p->round_pn = p->pn;
	p->round_ok = 0;
	p->round_lost = 0;
}

void esp_loss_acked(struct esp_flow *f, struct esp_path *p, u32 pn, u32 bytes)
{
	p->round_ok++;
	if (bytes > ESP_MTU_MIN)
		p->big_lost = 0;
	if (p->starting) {
		if (queues_grow(f, p))
			p->starting = false;
		else if (p->limited)
			set_window(f, p, p->window + bytes);
	}
	if (!esp_before(pn, p->round_pn) && p->round_ok + p->round_lost >= ROUND_MIN)
		end_round(f, p);
}

static void lose(struct esp_flow *f, struct esp_path *p, struct esp_sent *s, struct esp_todo *t)
{
	esp_unlink(&s->link);
	p->nsent--;
	p->inflight -= s->bytes;
	if (!s->mtu_probe) {
		env_count(f->node, ESP_C_lost_frames, 1);
		p->round_lost++;
	}
	esp_mtu_lost(f, p, s, t->now);
	esp_sent_again(f, s);
	esp_sent_landed(f, s);
}

/* Something was acknowledged, or time has passed: what does that say of the earlier ones? */
void esp_loss_detect(struct esp_flow *f, struct esp_path *p, struct esp_todo *t)
{
	u64 patience = esp_rtt_reorder(f, p);
	struct esp_link *l, *next;

	p->loss_at = ESP_NEVER;
	if (!p->acked_any)
		return;
	for (l = p->sent.next; l != &p->sent; l = next) {
		struct esp_sent *s = esp_entry(l, struct esp_sent, link);

		next = l->next;
		if (!esp_before(s->pn, p->acked_top))
			break;
		if (p->acked_top - s->pn < REORDER && s->at + patience > t->now) {
			p->loss_at = esp_min(p->loss_at, s->at + patience);
			continue;
		}
		if (p->acked_top - s->pn < REORDER)
			env_count(f->node, ESP_C_lost_late, 1);
		lose(f, p, s, t);
	}
}

void esp_loss_all(struct esp_flow *f, struct esp_path *p, struct esp_todo *t)
{
	while (esp_linked(&p->sent))
		lose(f, p, esp_entry(p->sent.next, struct esp_sent, link), t);
	p->loss_at = ESP_NEVER;
}

/* Something to say for the frame that goes out in spite of the window. */
static void probe(struct esp_flow *f, struct esp_path *p)
{
	struct esp_link *l;

	p->probes++;
	p->say_ping = true; /* if there is nothing better */
	for (l = p->sent.next; l != &p->sent; l = l->next) {
		struct esp_sent *s = esp_entry(l, struct esp_sent, link);

		if (!s->live && !s->more)
			continue;
		esp_sent_again(f, s);
		break;
	}
}

void esp_loss_timer(struct esp_flow *f, struct esp_path *p, struct esp_todo *t)
{
	if (t->now >= p->loss_at)
		esp_loss_detect(f, p, t);
	if (!p->nsent)
		p->probe_at = ESP_NEVER; /* all was lost, and the flow may be pausing */
	if (t->now < p->probe_at)
		return;
	if (p->backoff == 0) {
		env_count(f->node, ESP_C_tail_probes, 1);
		probe(f, p);
	} else {
		env_count(f->node, ESP_C_timeouts, 1);
		esp_loss_all(f, p, t);
		set_window(f, p, 0);
		p->starting = true;
		p->probes = 2;
		p->say_ping = true;
	}
	if (p->backoff < 32)
		p->backoff++;
	p->probe_at = ESP_NEVER; /* until the probe is out */
}

void esp_loss_arm(struct esp_flow *f, struct esp_path *p)
{
	if (!p->nsent || p->state != ESP_PATH_UP) /* other paths: esp_path_timer() */
		p->probe_at = ESP_NEVER;
	else if (p->backoff == 0)
		p->probe_at = p->sent_at + esp_rtt_probe(f, p);
	else
		p->probe_at = p->sent_at + esp_rtt_rto(f, p);
}
