/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * Which numbers of the peer's frames came on a path: a window of bits below the highest one. Asked for
 * every frame, so it is inline; esp_ack.c notes them.
 */
#ifndef ESP_PN_H
#define ESP_PN_H

static inline u32 esp_pn_word(u32 pn)
{
	return pn % ESP_PN_SPAN / 64;
}

static inline u64 esp_pn_bit(u32 pn)
{
	return 1ull << pn % 64;
}

/* May a frame with this number have an effect? 0, or the reason why not. */
static inline int esp_pn_check(const struct esp_path *p, u32 pn, u32 back)
{
	s32 ahead = (s32)(pn - p->rx_top);

	if (back >= ESP_PN_SPAN)
		return ESP_C_drop_back;
	if (ahead > ESP_PN_AHEAD)
		return ESP_C_drop_pn_ahead;
	if (ahead <= -ESP_PN_SPAN)
		return ESP_C_drop_pn_old;
	if (ahead <= 0 && (p->rx_bits[esp_pn_word(pn)] & esp_pn_bit(pn)))
		return ESP_C_drop_pn_duplicate;
	return 0;
}

#endif /* ESP_PN_H */
