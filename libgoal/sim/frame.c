// SPDX-License-Identifier: BSD-3-Clause
/*
 * Frames: a pool of buffers in which the core builds its headers and in which the payload follows
 * them, so that a frame is built once and never copied. They are sealed and sent by env_kick(), one
 * drainer of a rail at a time.
 */
#include <stdlib.h>

#include "crc32c.h"
#include "inside.h"

struct sim_frame *sim_frame_get(struct sim *s)
{
	struct sim_frame *fr = s->frames_free;

	if (fr) {
		s->frames_free = fr->next;
	} else {
		fr = malloc(s->frame_room);
		if (!fr)
			sim_no_memory(s);
		fr->all = s->frames_all;
		s->frames_all = fr;
		fr->s = s;
		fr->bytes = (u8 *)fr + offsetof(struct sim_frame, out.hdr);
	}
	s->frames_out++;
	fr->refs = 1;
	fr->hop = 0;
	fr->forged = false;
	fr->wrong = NULL;
	return fr;
}

void sim_frame_put(struct sim_frame *fr)
{
	struct sim *s = fr->s;

	if (--fr->refs)
		return;
	s->frames_out--;
	fr->next = s->frames_free;
	s->frames_free = fr;
}

void sim_frames_free(struct sim *s)
{
	while (s->frames_all) {
		struct sim_frame *fr = s->frames_all;

		s->frames_all = fr->all;
		free(fr);
	}
}

const u8 *env_frame_bytes(void *frame, u32 off, u32 len, u8 *buf)
{
	struct sim_frame *fr = frame;

	if (likely(!fr->s->c.adversary.copy_frames))
		return fr->bytes + off;
	memcpy(buf, fr->bytes + off, len);
	return buf;
}

u32 env_frame_crc(void *frame, u32 off, u32 len, u32 crc)
{
	struct sim_frame *fr = frame;

	return crc32c(crc, fr->bytes + off, len);
}

u32 env_crc32c(u32 crc, const void *data, u32 len)
{
	return crc32c(crc, data, len);
}

struct esp_out *env_out_get(struct esp_rail *er)
{
	struct sim_rail *r = (struct sim_rail *)er;
	struct sim *s = sim_node_of(er->node)->s;

	if (sim_denied(s) ||
	    (s->c.tx_queue && !s->ending && r->tx_free > s->now * 1000 &&
	     r->tx_free - s->now * 1000 >
		     s->c.tx_queue * s->ps_kib * (er->mtu + SIM_ETH + SIM_ETH_WIRE) >> 10))
		return NULL;
	return &sim_frame_get(s)->out;
}

static struct sim_frame *frame_of(struct esp_out *o)
{
	return esp_entry(o, struct sim_frame, out);
}

void env_out_put(struct esp_rail *r, struct esp_out *o)
{
	(void)r;
	sim_frame_put(frame_of(o));
}

/* The bytes of a message as they are on their way out. */
static void payload(const struct esp_piece *pc, u8 *to)
{
	const struct sim_msg *m = pc->ref;

	if (!m) {
		memset(to, 0, pc->len);
	} else if (m->eager) {
		memcpy(to, m->copy + pc->off, pc->len);
	} else {
		const struct core_run *r = &m->run->run;
		const struct goal_op *op = &r->sched->op[m->op];

		sim_copy_out(core_buffer(r, op->src_buf), op->src_off + pc->off, to, pc->len);
	}
}

void env_out(struct esp_rail *er, struct esp_out *o)
{
	struct sim_rail *r = (struct sim_rail *)er;
	struct sim_node *n = sim_node_of(er->node);
	struct sim_frame *fr = frame_of(o);
	u32 at = o->hdr_len, i;

	for (i = 0; i < o->npiece; i++) {
		if (at + o->piece[i].len > ESP_MTU_MAX)
			break;
		payload(&o->piece[i], fr->bytes + at);
		at += o->piece[i].len;
	}
	if (at != o->total_len || at > er->mtu)
		sim_fail(n->s, "node %u made a frame of %u bytes, said %u, with an MTU of %u",
			 n->index, at, o->total_len, er->mtu);
	fr->next = NULL;
	fr->len = at;
	fr->src = n->index;
	fr->rail = er->place;
	fr->from = er->addr;
	*r->last = fr;
	r->last = &fr->next;
}

void env_kick(struct esp_rail *er)
{
	struct sim_rail *r = (struct sim_rail *)er;
	struct sim *s = sim_node_of(er->node)->s;
	struct sim_frame *fr;

	if (s->held)
		sim_fail(s, "env_kick() is called under a lock");
	if (r->draining)
		return;
	r->draining = true;
	while ((fr = r->first) != NULL) {
		struct esp_out *o = &fr->out;
		u32 crc = 0xffffffff;

		r->first = fr->next;
		if (!r->first)
			r->last = &r->first;
		if (o->pcrc && o->total_len > o->hdr_len)
			crc = crc32c(crc, fr->bytes + o->hdr_len, o->total_len - o->hdr_len);
		esp_seal(o, crc);
		sim_net_send(fr);
	}
	r->draining = false;
}
