// SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause
/*
 * Taking in the messages of a frame, the two parts under the flow's lock: first, which of its
 * chunks are new at all; last, after they were matched without the lock, what becomes of their
 * ids and whether the frame counts as received. In between the ids are marked as being taken in,
 * so that a copy of the frame on another CPU leaves them alone.
 */
#include "esp_int.h"

static bool is_message(const struct esp_chunk *c)
{
	return c->kind == ESP_K_MSG || c->kind == ESP_K_RTS || c->kind == ESP_K_PULLED;
}

/* Can the frame be dealt with at all? Nothing is changed. */
int esp_take_check(const struct esp_flow *f, const struct esp_in *in)
{
	u32 off;

	for (off = sizeof(struct esp_hdr); off < in->hdr_len; off = esp_chunk_next(in, off)) {
		const struct esp_chunk *c = esp_chunk(in, off);
		u32 mid;
		int rc;

		if (c->kind == ESP_K_ACK) {
			rc = esp_ack_check(f, (const struct esp_ack *)c);
			if (rc)
				return rc;
			continue;
		}
		if (!is_message(c) && c->kind != ESP_K_CANCEL)
			continue;
		mid = le32_to_cpu(((const struct esp_over *)c)->mid);
		if (esp_mid_ahead(f, mid))
			return ESP_C_drop_mid_ahead;
		if (esp_mid_busy(f, mid))
			return ESP_C_drop_busy;
	}
	return 0;
}

/* Bytes of a reception: are they new? */
static void add(struct esp_flow *f, struct esp_take *tk)
{
	struct esp_rx *rx = tk->rx;
	u64 off = esp_take_off(tk);
	s64 fresh;

	if (off + tk->plen > rx->total || (rx->pull && off + tk->plen > rx->granted)) {
		env_count(f->node, ESP_C_skip_granted, 1);
		tk->how = ESP_TAKE_SKIP;
		return;
	}
	fresh = esp_rx_add(rx, off, off + tk->plen);
	if (fresh < 0) {
		env_count(f->node, ESP_C_lost_ranges, 1);
		tk->how = ESP_TAKE_LOST;
	} else if (fresh == 0) {
		env_count(f->node, ESP_C_skip_bytes_seen, 1);
		tk->how = ESP_TAKE_SKIP;
	} else {
		tk->fresh = (u32)fresh;
		tk->how = ESP_TAKE_PLACE;
		rx->busy++;
	}
}

static void first(struct esp_flow *f, struct esp_take *tk)
{
	u32 mid = esp_take_mid(tk);

	if (!esp_mid_seen(f, mid)) {
		if (esp_mid_busy(f, mid)) { /* twice in one frame */
			tk->how = ESP_TAKE_LOST;
			return;
		}
		if (tk->c->kind == ESP_K_PULLED) {
			env_count(f->node, ESP_C_skip_pulled_unknown, 1);
			tk->how = ESP_TAKE_LOST;
			return;
		}
		esp_mid_begin(f, mid);
		tk->begun = true;
		tk->how = ESP_TAKE_NEW;
		return;
	}
	tk->rx = esp_rx_find(f, mid);
	if (tk->rx && tk->rx->pull == (tk->c->kind == ESP_K_PULLED) &&
	    (tk->rx->state == ESP_RX_BOUND || tk->rx->state == ESP_RX_ARRIVING)) {
		add(f, tk);
		return;
	}
	env_count(f->node,
		  tk->c->kind == ESP_K_PULLED ? ESP_C_skip_pulled_unknown : ESP_C_skip_mid_seen, 1);
	tk->how = ESP_TAKE_SKIP;
}

/* One by one: compilers clear the whole with an instruction that is slow for so few bytes. */
static void begin(struct esp_take *tk, const struct esp_chunk *c, u32 payload)
{
	tk->c = c;
	tk->rx = NULL;
	tk->run = NULL;
	tk->wait = NULL;
	tk->foff = payload;
	tk->plen = esp_chunk_payload(c);
	tk->fresh = 0;
	tk->how = ESP_TAKE_SKIP;
	tk->ahead = false;
	tk->failed = false;
	tk->gone = false;
	tk->begun = false;
}

/* The messages of the frame; how many. */
u32 esp_take_first(struct esp_flow *f, const struct esp_in *in, struct esp_take *tk)
{
	u32 off, payload = in->hdr_len, n = 0;

	for (off = sizeof(struct esp_hdr); off < in->hdr_len; off = esp_chunk_next(in, off)) {
		const struct esp_chunk *c = esp_chunk(in, off);

		if (is_message(c)) {
			begin(&tk[n], c, payload);
			first(f, &tk[n]);
			n++;
		}
		payload += esp_chunk_payload(c);
	}
	return n;
}

/* Note that the peer is to be told; false: too many of them are not confirmed. */
static bool refuse(struct esp_flow *f, u32 mid, u8 kind)
{
	if (f->nrefused == ESP_REFUSED) {
		env_count(f->node, ESP_C_lost_memory, 1);
		return false;
	}
	f->refused[f->nrefused] = mid;
	f->refused_how[f->nrefused] = kind;
	f->nrefused++;
	return true;
}

/* A new reception, or one that was there before, has the message now. */
static void entered(struct esp_flow *f, struct esp_take *tk)
{
	struct esp_rx *rx = tk->rx;

	if (rx->pull) {
		esp_pull_size(f, rx);
		rx->busy++; /* until its run or the pull scheduler has it */
		tk->how = ESP_TAKE_ENTERED;
	} else {
		add(f, tk);
	}
}

/*
 * Does a reception of an earlier incarnation go on with it? It needs nothing that it has not
 * got.
 */
static bool adopted(struct esp_flow *f, struct esp_take *tk, const struct esp_key *k)
{
	struct esp_rx *rx = esp_rx_adopt(f, k, esp_take_mid(tk), esp_take_total(tk));

	if (!rx)
		return false;
	tk->rx = rx;
	entered(f, tk);
	return true;
}

/*
 * Nobody here will ever grant this long message: its sender has to hear of it. Without memory it
 * comes again.
 */
static void stop(struct esp_flow *f, struct esp_take *tk, const struct esp_key *k)
{
	struct esp_rx *rx = esp_rx_new(f, ESP_POOL_RX, k, NULL, esp_take_total(tk), true);

	if (!rx)
		rx = esp_rx_new(f, ESP_POOL_RX_POSTED, k, NULL, esp_take_total(tk), true);
	if (!rx) {
		env_count(f->node, ESP_C_lost_memory, 1);
		tk->how = ESP_TAKE_LOST;
		return;
	}
	env_count(f->node, ESP_C_rx_stopped, 1);
	esp_rx_enter(f, rx, esp_take_mid(tk));
	rx->state = ESP_RX_STOP;
	rx->status = tk->failed ? -ECONNABORTED : 0;
	esp_append(&f->say, &rx->say);
	tk->how = ESP_TAKE_SKIP;
}

static CORE_APART void last(struct esp_flow *f, struct esp_take *tk)
{
	u32 mid = esp_take_mid(tk);
	struct esp_key key ESP_UNSET;

	if (tk->c->kind != ESP_K_PULLED)
		esp_key_get(&key, esp_take_key(tk));
	switch (tk->how) {
	case ESP_TAKE_ACCEPTED:
		if (tk->c->kind == ESP_K_RTS)
			stop(f, tk, &key);
		break;
	case ESP_TAKE_ENTER:
		esp_rx_enter(f, tk->rx, mid);
		entered(f, tk);
		break;
	case ESP_TAKE_ADOPT:
		if (adopted(f, tk, &key))
			break;
		env_count(f->node, ESP_C_skip_matched, 1);
		tk->how = ESP_TAKE_SKIP;
		if (tk->c->kind == ESP_K_RTS)
			stop(f, tk, &key);
		break;
	case ESP_TAKE_NOT_READY:
		if (!refuse(f, mid, tk->ahead ? ESP_K_AHEAD : ESP_K_NOT_READY))
			tk->how = ESP_TAKE_LOST;
		break;
	case ESP_TAKE_BUSY:
		/* All memory may be with receptions that wait for just such messages. */
		if (adopted(f, tk, &key))
			break;
		env_count(f->node, ESP_C_refused_busy, 1);
		if (!refuse(f, mid, ESP_K_BUSY))
			tk->how = ESP_TAKE_LOST;
		break;
	default:
		break;
	}
}

/* The incarnation is over: what was matched waits for the sender's next attempt. */
static CORE_APART void too_late(struct esp_flow *f, struct esp_take *tk, struct esp_todo *t)
{
	struct esp_rx *rx = tk->rx;

	if (tk->how == ESP_TAKE_ENTER) {
		esp_rx_enter_unnamed(f, rx);
		if (rx->state == ESP_RX_BOUND && f->state != ESP_FLOW_DEAD)
			rx->state = ESP_RX_ORPHAN;
		else
			esp_rx_end(f, rx, -ECONNRESET, t);
	}
	if (tk->how != ESP_TAKE_PLACE)
		tk->how = ESP_TAKE_LOST;
}

bool esp_take_last(struct esp_flow *f, struct esp_take *tk, u32 n, u64 cid, struct esp_todo *t)
{
	bool same = f->cid == cid && f->state == ESP_FLOW_UP, all = same;
	u32 k;

	for (k = 0; k < n; k++, tk++) {
		if (!same) {
			too_late(f, tk, t);
			continue;
		}
		if (unlikely(tk->how != ESP_TAKE_ACCEPTED || tk->c->kind != ESP_K_MSG))
			last(f, tk);
		if (tk->begun)
			esp_mid_end(f, esp_take_mid(tk), tk->how != ESP_TAKE_LOST);
		if (tk->how == ESP_TAKE_LOST)
			all = false;
	}
	return all;
}
