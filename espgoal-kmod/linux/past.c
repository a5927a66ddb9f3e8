// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which runs of a group are over here: stretches of (operation id, start number), as numbers of 64
 * bits. A message for one of them is too late; for any other it is too early. When there
 * are too many stretches the lowest is forgotten: then a late message waits at its sender as if it
 * were early, and harms nobody.
 */
#include "home.h"

bool kpast_has(const struct kpast *p, u64 number)
{
	u32 i;

	for (i = 0; i < p->n; i++)
		if (number >= p->range[i].from && number <= p->range[i].to)
			return true;
	return false;
}

void kpast_add(struct kpast *p, u64 number)
{
	u32 i = p->n;

	/* Most runs come behind the last one. */
	while (i && p->range[i - 1].from > number)
		i--;
	/* range[i - 1] begins at or below the number, range[i] above it */
	if (i && number <= p->range[i - 1].to)
		return;
	if (i && number == p->range[i - 1].to + 1) {
		p->range[i - 1].to = number;
		if (i < p->n && p->range[i].from == number + 1) {
			p->range[i - 1].to = p->range[i].to;
			memmove(&p->range[i], &p->range[i + 1],
				(p->n - i - 1) * sizeof(p->range[0]));
			p->n--;
		}
		return;
	}
	if (i < p->n && p->range[i].from == number + 1) {
		p->range[i].from = number;
		return;
	}
	if (p->n == KPAST_RANGES) {
		if (!i)
			return; /* it would be the lowest itself */
		memmove(&p->range[0], &p->range[1], (p->n - 1) * sizeof(p->range[0]));
		p->n--;
		i--;
	}
	memmove(&p->range[i + 1], &p->range[i], (p->n - i) * sizeof(p->range[0]));
	p->range[i].from = number;
	p->range[i].to = number;
	p->n++;
}
