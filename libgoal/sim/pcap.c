// SPDX-License-Identifier: BSD-3-Clause
/* A capture of every frame sent: pcap with nanoseconds, Ethernet. */
#include "inside.h"

static void word(FILE *f, u32 v)
{
	fwrite(&v, sizeof(v), 1, f);
}

void sim_pcap_open(struct sim *s)
{
	FILE *f = s->c.pcap;

	word(f, 0xa1b23c4d);
	word(f, 2 | 4 << 16);
	word(f, 0);
	word(f, 0);
	word(f, 65535);
	word(f, 1);
}

void sim_pcap(struct sim *s, const struct sim_frame *fr)
{
	u32 len = fr->len < SIM_ETH_MIN ? SIM_ETH_MIN : fr->len, i;
	struct esp_addr to;
	FILE *f = s->c.pcap;

	sim_address(&to, fr->dst, fr->rail);
	word(f, (u32)(s->now / ESP_S));
	word(f, (u32)(s->now % ESP_S));
	word(f, len + SIM_ETH);
	word(f, len + SIM_ETH);
	fwrite(to.addr, 6, 1, f);
	fwrite(fr->from.addr, 6, 1, f);
	fputc(ESP_ETHERTYPE >> 8, f);
	fputc(ESP_ETHERTYPE & 0xff, f);
	fwrite(fr->bytes, fr->len, 1, f);
	for (i = fr->len; i < len; i++)
		fputc(0, f);
	s->pcap_frames++;
}
