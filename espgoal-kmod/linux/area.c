// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory that an endpoint shares with its process, which may only read it: completion words,
 * and behind them the buffers of runs. Made of single pages that the process's control group is
 * charged for; a mapping keeps the pages, whatever becomes of the endpoint.
 */
#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "home.h"

#define UNIT 64 /* a cache line: two runs never share one */

static void free_pages_of(struct karea *a)
{
	u32 i;

	for (i = 0; i < a->npages; i++)
		__free_page(a->page[i]);
	kvfree(a->page);
}

/* @head: bytes in front of the units; @bytes: of the units. */
int karea_init(struct karea *a, u32 head, u64 bytes)
{
	u32 npages, i;

	memset(a, 0, sizeof(*a));
	spin_lock_init(&a->lock);
	a->first = PAGE_ALIGN(head);
	npages = (u32)((a->first + PAGE_ALIGN(bytes)) >> PAGE_SHIFT);
	a->units = (u32)(PAGE_ALIGN(bytes) / UNIT);
	a->page = kvcalloc(npages, sizeof(*a->page), GFP_KERNEL_ACCOUNT);
	if (!a->page)
		return -ENOMEM;
	for (i = 0; i < npages; i++) {
		a->page[i] = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!a->page[i])
			goto free_pages;
		a->npages++;
	}
	a->mem = vmap(a->page, npages, VM_MAP, PAGE_KERNEL);
	if (!a->mem)
		goto free_pages;
	a->map = kvcalloc(BITS_TO_LONGS(a->units), sizeof(long), GFP_KERNEL_ACCOUNT);
	if (!a->map)
		goto unmap;
	return 0;

unmap:
	vunmap(a->mem);
free_pages:
	free_pages_of(a);
	memset(a, 0, sizeof(*a));
	return -ENOMEM;
}

void karea_free(struct karea *a)
{
	if (!a->page)
		return;
	kvfree(a->map);
	vunmap(a->mem);
	free_pages_of(a);
}

int karea_mmap(struct karea *a, struct vm_area_struct *vma)
{
	if (vma->vm_pgoff || vma_pages(vma) > a->npages)
		return -EINVAL;
	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EACCES;
	if (!(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	/* A child has no business with it, and mremap() must not make it longer. */
	kvm_flags(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE | VM_MAYEXEC);
	return vm_map_pages(vma, a->page, vma_pages(vma));
}

/* First fit; runs are made rarely, and kept. */
s64 karea_take(struct karea *a, u32 bytes)
{
	u32 n = DIV_ROUND_UP(bytes, UNIT);
	unsigned long at;

	spin_lock_bh(&a->lock);
	at = bitmap_find_next_zero_area(a->map, a->units, 0, n, 0);
	if (at < a->units)
		bitmap_set(a->map, at, n);
	spin_unlock_bh(&a->lock);
	return at < a->units ? (s64)(a->first + at * UNIT) : -ENOSPC;
}

void karea_give(struct karea *a, u32 at, u32 bytes)
{
	u32 n = DIV_ROUND_UP(bytes, UNIT);

	/* The next run that lies here must not show what this one left. */
	memset(a->mem + at, 0, (size_t)n * UNIT);
	spin_lock_bh(&a->lock);
	bitmap_clear(a->map, (at - a->first) / UNIT, n);
	spin_unlock_bh(&a->lock);
}
