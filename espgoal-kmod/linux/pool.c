// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pools of objects of one size. They are filled in process context, where memory is charged to the
 * process that causes the need, and emptied and refilled anywhere.
 */
#include <linux/slab.h>

#include "home.h"

void kpool_init(struct kpool *p, u32 size)
{
	memset(p, 0, sizeof(*p));
	spin_lock_init(&p->lock);
	p->size = size;
}

static void give(struct kpool *p, void *object)
{
	*(void **)object = p->free;
	p->free = object;
	p->spare++;
}

int kpool_grow(struct kpool *p, u32 n, gfp_t gfp)
{
	u32 i;

	for (i = 0; i < n; i++) {
		void *object = kmalloc(p->size, gfp);

		if (!object) {
			kpool_shrink(p, i);
			return -ENOMEM;
		}
		spin_lock_bh(&p->lock);
		p->want++;
		p->total++;
		give(p, object);
		spin_unlock_bh(&p->lock);
	}
	return 0;
}

/* Objects that are out are freed when they come back. */
void kpool_shrink(struct kpool *p, u32 n)
{
	void *object, *surplus = NULL;

	spin_lock_bh(&p->lock);
	p->want -= n;
	while (p->total > p->want && p->free) {
		object = p->free;
		p->free = *(void **)object;
		p->spare--;
		p->total--;
		*(void **)object = surplus;
		surplus = object;
	}
	spin_unlock_bh(&p->lock);
	while ((object = surplus) != NULL) {
		surplus = *(void **)object;
		kfree(object);
	}
}

void kpool_want_less(struct kpool *p, u32 n)
{
	spin_lock_bh(&p->lock);
	p->want -= n;
	spin_unlock_bh(&p->lock);
}

void kpool_free(struct kpool *p)
{
	kpool_shrink(p, p->want);
	WARN_ON(p->total);
}

/* In a gate, or where bottom halves are off otherwise. */
void kpool_put(struct kpool *p, void *object)
{
	spin_lock(&p->lock);
	if (likely(p->total <= p->want)) {
		give(p, object);
		object = NULL;
	} else {
		p->total--;
	}
	spin_unlock(&p->lock);
	if (unlikely(object))
		kfree(object);
}
