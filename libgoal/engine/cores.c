// SPDX-License-Identifier: BSD-3-Clause
/*
 * How many cores the processes of a job share on this node: the union of their affinity masks,
 * capped by the cgroup's CPU quota, which a mask does not show. A process's own mask alone says
 * nothing: launchers bind each rank to a core. With hwloc the hyperthreads of a core count once.
 */
#include "goal_config.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#ifdef HAVE_HWLOC
#include <hwloc.h>
#endif

#include <goal/engine.h>

#include "cores.h"

#define MAX_CPUS 65536u

static void add(u8 *set, u32 cpu)
{
	set[cpu / 8] |= (u8)(1u << (cpu % 8));
}

static bool has(const u8 *set, u32 cpu)
{
	return set[cpu / 8] & (1u << (cpu % 8));
}

/* A number at *@text, which moves behind it. -EINVAL: there is none below @limit. */
static long number(const char **text, u32 limit)
{
	const char *p = *text;
	long n = 0;

	if (*p < '0' || *p > '9')
		return -EINVAL;
	for (; *p >= '0' && *p <= '9'; p++) {
		n = n * 10 + (*p - '0');
		if (n >= (long)limit)
			return -EINVAL;
	}
	*text = p;
	return n;
}

int host_cores_parse(const char *text, u8 *set, u32 cpus)
{
	while (*text) {
		long first, last;

		first = number(&text, cpus);
		if (first < 0)
			return -EINVAL;
		last = first;
		if (*text == '-') {
			text++;
			last = number(&text, cpus);
			if (last < first)
				return -EINVAL;
		}
		for (; first <= last; first++)
			add(set, (u32)first);
		if (*text == ',' && text[1])
			text++;
		else if (*text)
			return -EINVAL;
	}
	return 0;
}

int goal_cores_mask(char *text, size_t bytes)
{
	u32 cpus = 1024, cpu, last;
	cpu_set_t *set = NULL;
	size_t at = 0;
	int rc, n;

	/* The kernel refuses a set smaller than its own. */
	for (;; cpus *= 2) {
		set = CPU_ALLOC(cpus);
		if (!set)
			return -ENOMEM;
		if (!sched_getaffinity(0, CPU_ALLOC_SIZE(cpus), set))
			break;
		rc = -errno;
		CPU_FREE(set);
		if (rc != -EINVAL || cpus >= MAX_CPUS)
			return rc;
	}
	rc = bytes ? 0 : -ENOSPC;
	if (!rc)
		text[0] = 0;
	for (cpu = 0; cpu < cpus && !rc; cpu = last + 1) {
		last = cpu;
		if (!CPU_ISSET_S(cpu, CPU_ALLOC_SIZE(cpus), set))
			continue;
		while (last + 1 < cpus && CPU_ISSET_S(last + 1, CPU_ALLOC_SIZE(cpus), set))
			last++;
		n = cpu == last
			    ? snprintf(text + at, bytes - at, "%s%u", at ? "," : "", cpu)
			    : snprintf(text + at, bytes - at, "%s%u-%u", at ? "," : "", cpu, last);
		if (n < 0 || (size_t)n >= bytes - at)
			rc = -ENOSPC;
		at += (size_t)n;
	}
	CPU_FREE(set);
	return rc;
}

/* Numbers in the file at @root/@mount/@path/@file; "max" counts as -1. How many were read. */
static int read_numbers(const char *root, const char *mount, const char *path, const char *file,
			long long *a, long long *b)
{
	char name[1024], text[128];
	FILE *f;
	int n = 0;

	n = snprintf(name, sizeof(name), "%s%s%s/%s", root, mount, path, file);
	if (n < 0 || (size_t)n >= sizeof(name))
		return 0;
	f = fopen(name, "re");
	if (!f)
		return 0;
	n = 0;
	if (fgets(text, sizeof(text), f)) {
		if (!strncmp(text, "max", 3)) {
			*a = -1;
			n = 1;
		} else {
			n = sscanf(text, "%lld %lld", a, b);
		}
	}
	fclose(f);
	return n < 0 ? 0 : n;
}

/* The least quota from cgroup @path up to the root of @mount: CPUs, 0: none. */
static u32 least(const char *root, const char *mount, const char *path, bool v2)
{
	char at[512];
	u32 cpus = 0;
	char *slash;

	if (snprintf(at, sizeof(at), "%s", path) >= (int)sizeof(at))
		return 0;
	for (;;) {
		long long quota = -1, period = 0;
		bool known;

		/* A trailing slash names the root itself. */
		if (at[0] && at[strlen(at) - 1] == '/')
			at[strlen(at) - 1] = 0;
		known = v2 ? read_numbers(root, mount, at, "cpu.max", &quota, &period) == 2
			   : read_numbers(root, mount, at, "cpu.cfs_quota_us", &quota, &period) &&
					read_numbers(root, mount, at, "cpu.cfs_period_us", &period,
						     &period);
		if (known && quota > 0 && period > 0) {
			long long n = (quota + period - 1) / period;

			if (n < (long long)MAX_CPUS && (!cpus || n < (long long)cpus))
				cpus = (u32)n;
		}
		slash = strrchr(at, '/');
		if (!slash)
			return cpus;
		*slash = 0;
	}
}

static bool names_cpu(const char *controllers)
{
	while (controllers) {
		if (!strncmp(controllers, "cpu", 3) && (!controllers[3] || controllers[3] == ','))
			return true;
		controllers = strchr(controllers, ',');
		if (controllers)
			controllers++;
	}
	return false;
}

u32 host_cores_quota(const char *root)
{
	/* Inside a container the path may be that of the host; its own root is always tried. */
	static const char *const v1[] = { "/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct",
					  "/sys/fs/cgroup/cpuacct,cpu" };
	static const char *const v2[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	char name[512], line[1024];
	u32 cpus = 0, n, i;
	FILE *f;

	snprintf(name, sizeof(name), "%s/proc/self/cgroup", root);
	f = fopen(name, "re");
	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		/* number:controllers:path */
		char *controllers = strchr(line, ':'), *path;

		path = controllers ? strchr(controllers + 1, ':') : NULL;
		if (!path)
			continue;
		*path++ = 0;
		controllers++;
		path[strcspn(path, "\n")] = 0;
		if (!*controllers) {
			for (i = 0; i < ARRAY_SIZE(v2); i++) {
				n = least(root, v2[i], path, true);
				if (n && (!cpus || n < cpus))
					cpus = n;
			}
		} else if (names_cpu(controllers)) {
			for (i = 0; i < ARRAY_SIZE(v1); i++) {
				n = least(root, v1[i], path, false);
				if (n && (!cpus || n < cpus))
					cpus = n;
			}
		}
	}
	fclose(f);
	return cpus;
}

static u32 count_cpus(const u8 *set)
{
	u32 cpu, n = 0;

	for (cpu = 0; cpu < MAX_CPUS; cpu++)
		n += has(set, cpu);
	return n;
}

#ifdef HAVE_HWLOC
/* Cores of which at least one hyperthread is in @set; 0: hwloc cannot tell. */
static u32 count_cores(const u8 *set)
{
	hwloc_topology_t topology;
	hwloc_obj_t core = NULL;
	u32 n = 0;

	if (hwloc_topology_init(&topology))
		return 0;
	if (!hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) &&
	    !hwloc_topology_load(topology)) {
		while ((core = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_CORE, core))) {
			int cpu = -1;

			while ((cpu = hwloc_bitmap_next(core->cpuset, cpu)) >= 0) {
				if ((u32)cpu < MAX_CPUS && has(set, (u32)cpu)) {
					n++;
					break;
				}
			}
		}
	}
	hwloc_topology_destroy(topology);
	return n;
}
#else
static u32 count_cores(const u8 *set)
{
	(void)set;
	return 0;
}
#endif

uint32_t goal_cores_union(const char *const *masks, uint32_t n)
{
	u32 cpus, cores, quota, i;
	u8 *set;

	set = calloc(1, MAX_CPUS / 8);
	if (!set)
		return 1;
	for (i = 0; i < n; i++)
		host_cores_parse(masks[i], set, MAX_CPUS);
	cpus = count_cpus(set);
	cores = count_cores(set);
	free(set);
	if (cores && cores < cpus)
		cpus = cores;
	quota = host_cores_quota("");
	if (quota && quota < cpus)
		cpus = quota;
	return cpus ? cpus : 1;
}
