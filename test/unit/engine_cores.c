// SPDX-License-Identifier: BSD-3-Clause
/*
 * Counting of cores: masks, and the quota of cgroups in trees of files made for it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include <goal/engine.h>

#include "cores.h"

static char root[64];

static int make_root(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/goal-cores-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

/* Write @text to @path below the root, with the folders it needs. */
static void put(const char *path, const char *text)
{
	char name[512], *p;
	FILE *f;

	snprintf(name, sizeof(name), "%s%s", root, path);
	for (p = name + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = 0;
		mkdir(name, 0755);
		*p = '/';
	}
	f = fopen(name, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static uint32_t bits(const uint8_t *set)
{
	uint32_t i, n = 0;

	for (i = 0; i < 32; i++)
		n += (uint32_t)__builtin_popcount(set[i]);
	return n;
}

static void parse__lists(void **state)
{
	static const struct {
		const char *text;
		int rc;
		uint32_t n;
	} cases[] = {
		{ "", 0, 0 },          { "0", 0, 1 },
		{ "0-3", 0, 4 },       { "0-3,8", 0, 5 },
		{ "1,1,1", 0, 1 },     { "254-255", 0, 2 },
		{ "256", -EINVAL, 0 }, { "0-256", -EINVAL, 0 },
		{ "3-1", -EINVAL, 0 }, { "a", -EINVAL, 0 },
		{ "1,", -EINVAL, 0 },  { ",1", -EINVAL, 0 },
		{ "1-", -EINVAL, 0 },  { "-1", -EINVAL, 0 },
		{ "1 2", -EINVAL, 0 }, { "99999999999999999999", -EINVAL, 0 },
	};
	uint32_t i;

	(void)state;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint8_t set[32] = { 0 };

		assert_int_equal(host_cores_parse(cases[i].text, set, 256), cases[i].rc);
		if (!cases[i].rc)
			assert_int_equal(bits(set), cases[i].n);
	}
}

static void mask__is_a_list(void **state)
{
	uint8_t set[8192] = { 0 };
	char text[4096], tiny[1];

	(void)state;
	assert_int_equal(goal_cores_mask(text, sizeof(text)), 0);
	assert_true(strlen(text) > 0);
	assert_int_equal(host_cores_parse(text, set, 65536), 0);
	assert_int_equal(goal_cores_mask(tiny, 1), -ENOSPC);
	assert_int_equal(goal_cores_mask(tiny, 0), -ENOSPC);
}

static void union__of_masks(void **state)
{
	const char *one[] = { "0" }, *twice[] = { "0", "0" }, *junk[] = { "x" };
	char text[4096];
	const char *own[] = { text };

	(void)state;
	assert_int_equal(goal_cores_union(one, 1), 1);
	assert_int_equal(goal_cores_union(twice, 2), 1);
	assert_int_equal(goal_cores_union(NULL, 0), 1);
	assert_int_equal(goal_cores_union(junk, 1), 1);
	assert_int_equal(goal_cores_mask(text, sizeof(text)), 0);
	assert_true(goal_cores_union(own, 1) >= 1);
	assert_true(goal_cores_union(own, 1) <= (uint32_t)sysconf(_SC_NPROCESSORS_CONF));
}

static void quota__without_cgroups(void **state)
{
	(void)state;
	assert_int_equal(host_cores_quota(root), 0);
}

static void quota__v2(void **state)
{
	(void)state;
	put("/proc/self/cgroup", "0::/user.slice/job\n");
	assert_int_equal(host_cores_quota(root), 0);
	put("/sys/fs/cgroup/user.slice/job/cpu.max", "max 100000\n");
	assert_int_equal(host_cores_quota(root), 0);
	put("/sys/fs/cgroup/user.slice/job/cpu.max", "400000 100000\n");
	assert_int_equal(host_cores_quota(root), 4);
	/* Rounded up. */
	put("/sys/fs/cgroup/user.slice/job/cpu.max", "150000 100000\n");
	assert_int_equal(host_cores_quota(root), 2);
	put("/sys/fs/cgroup/user.slice/job/cpu.max", "1000 100000\n");
	assert_int_equal(host_cores_quota(root), 1);
	/* A parent may grant less. */
	put("/sys/fs/cgroup/user.slice/job/cpu.max", "800000 100000\n");
	put("/sys/fs/cgroup/user.slice/cpu.max", "300000 100000\n");
	assert_int_equal(host_cores_quota(root), 3);
	put("/sys/fs/cgroup/user.slice/cpu.max", "nonsense\n");
	assert_int_equal(host_cores_quota(root), 8);
	put("/sys/fs/cgroup/user.slice/job/cpu.max", "100000 0\n");
	assert_int_equal(host_cores_quota(root), 0);
}

/* In a container the path is the host's, but the mount is the container's own. */
static void quota__v2_seen_from_a_container(void **state)
{
	(void)state;
	put("/proc/self/cgroup", "0::/docker/0123456789abcdef\n");
	put("/sys/fs/cgroup/cpu.max", "250000 100000\n");
	assert_int_equal(host_cores_quota(root), 3);
	put("/proc/self/cgroup", "0::/\n");
	assert_int_equal(host_cores_quota(root), 3);
}

static void quota__v1(void **state)
{
	(void)state;
	put("/proc/self/cgroup", "12:memory:/other\n4:cpu,cpuacct:/job\n1:name=systemd:/x\n0::/\n");
	put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
	put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
	assert_int_equal(host_cores_quota(root), 0);
	put("/sys/fs/cgroup/cpu,cpuacct/job/cpu.cfs_quota_us", "550000\n");
	assert_int_equal(host_cores_quota(root), 6);
	put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us", "200000\n");
	put("/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us", "50000\n");
	assert_int_equal(host_cores_quota(root), 4);
	/* cpuset and cpuacct are not cpu. */
	put("/proc/self/cgroup", "4:cpuset,cpuacct:/job\n");
	assert_int_equal(host_cores_quota(root), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parse__lists),
		cmocka_unit_test(mask__is_a_list),
		cmocka_unit_test(union__of_masks),
		cmocka_unit_test_setup_teardown(quota__without_cgroups, make_root, remove_root),
		cmocka_unit_test_setup_teardown(quota__v2, make_root, remove_root),
		cmocka_unit_test_setup_teardown(quota__v2_seen_from_a_container, make_root,
						remove_root),
		cmocka_unit_test_setup_teardown(quota__v1, make_root, remove_root),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
