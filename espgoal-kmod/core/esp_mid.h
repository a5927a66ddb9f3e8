/* SPDX-License-Identifier: GPL-2.0-only OR BSD-3-Clause */
/*
 * The peer's message ids: which of them are settled (accepted or refused), so that none of them has
 * an effect twice, and which are being taken in at the moment, perhaps on another CPU. The peer
 * opens no id further than ESP_MID_SPAN above its oldest one that is not settled.
 */
#ifndef ESP_MID_H
#define ESP_MID_H

static inline u32 esp_mid_word(u32 mid)
{
	return mid % ESP_MID_SPAN / 64;
}

static inline u64 esp_mid_bit(u32 mid)
{
	return 1ull << mid % 64;
}

static inline bool esp_mid_ahead(const struct esp_flow *f, u32 mid)
{
	return (s32)(mid - f->mid_base) >= ESP_MID_SPAN;
}

static inline bool esp_mid_seen(const struct esp_flow *f, u32 mid)
{
	return esp_before(mid, f->mid_base) || (f->mid_seen[esp_mid_word(mid)] & esp_mid_bit(mid));
}

static inline bool esp_mid_busy(const struct esp_flow *f, u32 mid)
{
	return !esp_before(mid, f->mid_base) && (f->mid_busy[esp_mid_word(mid)] & esp_mid_bit(mid));
}

static inline void esp_mid_begin(struct esp_flow *f, u32 mid)
{
	f->mid_busy[esp_mid_word(mid)] |= esp_mid_bit(mid);
}

/* The id is not being taken in any more; @seen: it is settled. */
static inline void esp_mid_end(struct esp_flow *f, u32 mid, bool seen)
{
	f->mid_busy[esp_mid_word(mid)] &= ~esp_mid_bit(mid);
	if (!seen)
		return;
	f->mid_seen[esp_mid_word(mid)] |= esp_mid_bit(mid);
	while (f->mid_seen[esp_mid_word(f->mid_base)] & esp_mid_bit(f->mid_base)) {
		f->mid_seen[esp_mid_word(f->mid_base)] &= ~esp_mid_bit(f->mid_base);
		f->mid_base++;
	}
}

#endif /* ESP_MID_H */
