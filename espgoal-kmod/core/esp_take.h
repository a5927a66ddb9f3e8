/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Taking messages in: esp_take.c has the part under the flow's lock, pump_take.c has the other one.
 */
#ifndef ESP_TAKE_H
#define ESP_TAKE_H

enum esp_take_how {
	ESP_TAKE_SKIP = 0,  /* nothing to be done, counts as received */
	ESP_TAKE_NEW,       /* its id was not seen before: to be matched */
	ESP_TAKE_PLACE,     /* bytes for a reception */
	ESP_TAKE_ACCEPTED,  /* matched, nothing more to be done */
	ESP_TAKE_ENTER,     /* rx is new and becomes a reception of the flow */
	ESP_TAKE_ENTERED,   /* it has: an RTS to be given to its run, or pulled */
	ESP_TAKE_ADOPT,     /* a reception of an earlier incarnation may wait for it */
	ESP_TAKE_NOT_READY, /* refused, noted in wait */
	ESP_TAKE_BUSY,      /* refused, not noted, unless there is a reception as for ADOPT */
	ESP_TAKE_LOST,      /* must not be acknowledged */
};

struct esp_take {
	const struct esp_chunk *c;
	struct esp_rx *rx;
	struct esp_run *run; /* ENTER: an RTS whose run waits for it, with a reference */
	struct esp_ctl *wait;
	u32 foff; /* of the payload in the frame */
	u32 plen;
	u32 fresh;   /* bytes of it that were not here */
	u8 how;      /* enum esp_take_how */
	bool ahead;  /* NOT_READY: of its run */
	bool failed; /* nobody here wants it: its run has failed */
	bool gone;   /* for an endpoint that is no more */
	bool begun;  /* its id is marked as being taken in */
};

/* What its chunk says. */
static inline u32 esp_take_mid(const struct esp_take *tk)
{
	/* In all three kinds behind the chunk's head. */
	return le32_to_cpu(((const struct esp_over *)tk->c)->mid);
}

static inline u64 esp_take_off(const struct esp_take *tk)
{
	if (tk->c->kind == ESP_K_MSG)
		return le32_to_cpu(((const struct esp_eager *)tk->c)->off);
	return tk->c->kind == ESP_K_PULLED ? le64_to_cpu(((const struct esp_pulled *)tk->c)->off)
					   : 0;
}

static inline u64 esp_take_total(const struct esp_take *tk)
{
	if (tk->c->kind == ESP_K_MSG)
		return le32_to_cpu(((const struct esp_eager *)tk->c)->total);
	return le64_to_cpu(((const struct esp_rts *)tk->c)->total);
}

static inline const struct esp_wire_key *esp_take_key(const struct esp_take *tk)
{
	return tk->c->kind == ESP_K_MSG ? &((const struct esp_eager *)tk->c)->key
					: &((const struct esp_rts *)tk->c)->key;
}

int esp_take_check(const struct esp_flow *f, const struct esp_in *in);
u32 esp_take_first(struct esp_flow *f, const struct esp_in *in, struct esp_take *tk);
/* @cid: of the incarnation it came in. True: the frame is received. */
bool esp_take_last(struct esp_flow *f, struct esp_take *tk, u32 n, u64 cid, struct esp_todo *t);

#endif /* ESP_TAKE_H */
