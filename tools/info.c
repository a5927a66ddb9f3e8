/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `goal info': what the kernel module is, which interfaces it uses, to which nodes it has flows, and what
 * it has counted. Asks /dev/espgoal, and makes no endpoint.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "espgoal-kmod/uapi/esp_wire.h"
#include "tool.h"

#define COLUMN 28 /* of values, behind their names */

_Static_assert(sizeof(struct esp_addr) == sizeof(struct espgoal_link),
	       "a link is an address of the wire");

static int open_device(void)
{
	int fd = open(ESPGOAL_PATH, O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		return fd;
	if (errno == ENOENT || errno == ENXIO || errno == ENODEV)
		tool_failed("There is no " ESPGOAL_PATH ": load the module espgoal");
	else if (errno == EACCES || errno == EPERM)
		tool_failed(ESPGOAL_PATH " is not for this user: the group espgoal may use it");
	else
		tool_failed(ESPGOAL_PATH ": %s", strerror(errno));
	return -1;
}

static int refused(const char *request)
{
	return tool_failed(ESPGOAL_PATH ": %s: %s", request, strerror(errno));
}

static void label(const char *name)
{
	printf("%-*s", COLUMN, name);
}

static void print_node(const uint8_t node[16])
{
	for (int i = 0; i < 16; i++)
		printf("%02x", node[i]);
}

static const char *link_text(const struct espgoal_link *link, char text[20])
{
	struct esp_addr a;

	memcpy(&a, link, sizeof(a));
	if (a.carrier != ESP_CARRIER_ETHER)
		return "-";
	snprintf(text, 20, "%02x:%02x:%02x:%02x:%02x:%02x", a.addr[0], a.addr[1], a.addr[2],
		 a.addr[3], a.addr[4], a.addr[5]);
	return text;
}

static void print_module(const struct espgoal_info *i)
{
	label("module");
	printf("espgoal %.*s%s\n", (int)sizeof(i->version), i->version,
	       i->flags & ESPGOAL_INFO_DEBUG ? ", built for tests" : "");
	label("ABI");
	if (i->abi_oldest < i->abi)
		printf("%u to ", i->abi_oldest);
	printf("%u, schedules %u\n", i->abi, i->sched_version);
	label("node");
	print_node(i->node);
	printf("\n");
	label("a run, at most");
	printf("%" PRIu64 " bytes of buffers\n", (uint64_t)i->run_max);
	label("a schedule, at most");
	printf("%" PRIu64 " bytes\n", (uint64_t)i->sched_max);
	label("a process, at most");
	printf("%u runs, %" PRIu64 " bytes of results\n", i->runs_max, (uint64_t)i->area_max);
	label("a group, at most");
	printf("%u ranks\n", i->ranks_max);
	label("sent unasked, at most");
	printf("%u bytes\n", i->eager_max);
}

static const char *rail_state(uint32_t state)
{
	switch (state) {
	case ESPGOAL_RAIL_UP:
		return "up";
	case ESPGOAL_RAIL_DOWN:
		return "down, or its MTU is too small";
	case ESPGOAL_RAIL_MISSING:
		return "does not exist, or is no Ethernet";
	default:
		return "none";
	}
}

static void print_rail(const struct espgoal_rail *r)
{
	char text[20];

	printf("  path %u: %.*s%s%s", r->path, (int)sizeof(r->name), r->name,
	       r->name[0] ? ", " : "", rail_state(r->state));
	if (r->state != ESPGOAL_RAIL_UP) {
		printf("\n");
		return;
	}
	printf(", %s, MTU %u", link_text(&r->link, text), r->mtu);
	if (r->speed)
		printf(", %u Mb/s", r->speed);
	printf("\n    in %" PRIu64 " frames, %" PRIu64 " bytes; out %" PRIu64 " frames, %" PRIu64
	       " bytes; %" PRIu64 " retried, %" PRIu64 " dropped\n",
	       (uint64_t)r->frames_in, (uint64_t)r->bytes_in, (uint64_t)r->frames_out,
	       (uint64_t)r->bytes_out, (uint64_t)r->retried, (uint64_t)r->dropped);
}

static int print_rails(int fd)
{
	bool any = false;
	uint32_t path;

	for (path = 0;; path++) {
		struct espgoal_rail r = { .path = path };

		if (ioctl(fd, ESPGOAL_RAIL, &r)) {
			if (errno != ERANGE)
				return refused("interfaces");
			break;
		}
		if (r.state == ESPGOAL_RAIL_NONE)
			continue;
		if (!any)
			printf("\ninterfaces\n");
		any = true;
		print_rail(&r);
	}
	if (!any)
		printf("\nno interface: processes of this node only; "
		       "/proc/sys/net/espgoal/interfaces chooses them\n");
	return TOOL_OK;
}

/* Counters of a set, without those that are 0 unless @all. */
static int print_counters(int fd, uint32_t set, uint64_t flow, bool all, const char *indent)
{
	struct espgoal_counters c = { .set = set, .flow = flow };
	uint64_t *value;
	int status = TOOL_OK;

	if (ioctl(fd, ESPGOAL_COUNT, &c)) /* how many there are */
		return errno == ENOENT ? TOOL_OK : refused("counters");
	value = calloc(c.n, sizeof(*value));
	if (!value)
		return tool_failed("There is not enough memory for %u counters", c.n);
	c.value = (uintptr_t)value;
	if (ioctl(fd, ESPGOAL_COUNT, &c)) {
		/* A flow that was there is gone. */
		status = errno == ENOENT ? TOOL_OK : refused("counters");
		goto free_value;
	}
	for (uint32_t i = 0; i < c.n && !status; i++) {
		struct espgoal_counter_name name = { .set = set, .index = i };

		if (!all && !value[i])
			continue;
		if (ioctl(fd, ESPGOAL_COUNTER_NAME, &name))
			status = refused("names of counters");
		else
			printf("%s%-*.*s%" PRIu64 "\n", indent, COLUMN - (int)strlen(indent),
			       (int)sizeof(name.name), name.name, value[i]);
	}
free_value:
	free(value);
	return status;
}

static const char *flow_state(uint32_t state)
{
	static const char *const name[] = { "idle", "being made", "being made", "up", "dead" };

	return state < sizeof(name) / sizeof(*name) ? name[state] : "unknown";
}

static void print_path(uint32_t i, const struct espgoal_path *p)
{
	static const char *const name[] = { "none", "probed", "up", "dead" };
	char text[20];

	if (!p->state)
		return;
	printf("    path %u to %s: %s, MTU %u, window %u bytes, %u in flight, round trip %u us\n",
	       i, link_text(&p->link, text),
	       p->state < sizeof(name) / sizeof(*name) ? name[p->state] : "unknown", p->mtu,
	       p->window, p->inflight, p->srtt_us);
}

static void print_flow(const struct espgoal_flow *f)
{
	static const uint8_t unknown[16];

	printf("  flow %" PRIu64, (uint64_t)f->id);
	if (memcmp(f->node, unknown, sizeof(unknown))) {
		printf(" to node ");
		print_node(f->node);
	}
	printf(": %s, %u messages under way, %u of its own wait for a run, silent for %" PRIu64
	       " ms\n",
	       flow_state(f->state), f->messages, f->refusals, (uint64_t)f->idle_us / 1000);
	for (uint32_t i = 0; i < ESPGOAL_RAILS; i++)
		print_path(i, &f->path[i]);
}

static int print_flows(int fd, bool all)
{
	struct espgoal_flow f = { .cursor = 0 };
	bool any = false;
	int status;

	while (!ioctl(fd, ESPGOAL_FLOW, &f)) {
		uint64_t next = f.cursor;

		if (!any)
			printf("\nflows to other nodes\n");
		any = true;
		print_flow(&f);
		status = print_counters(fd, ESPGOAL_SET_FLOW, f.id, all, "    ");
		if (status)
			return status;
		f = (struct espgoal_flow){ .cursor = next };
	}
	return errno == ERANGE ? TOOL_OK : refused("flows");
}

int tool_info(int argc, char **argv)
{
	bool all = argc == 2 && !strcmp(argv[1], "-a");
	struct espgoal_info info;
	int fd, status;

	if (argc > 1 && !all)
		return tool_usage("`goal info' takes no argument but -a");
	fd = open_device();
	if (fd < 0)
		return TOOL_FAILED;
	if (ioctl(fd, ESPGOAL_INFO, &info)) {
		status = errno == ENOTTY
				 ? tool_failed(ESPGOAL_PATH " speaks another ABI than %d: the "
							    "module and this program are "
							    "of different versions",
					       ESPGOAL_ABI)
				 : refused("its version");
		goto close_device;
	}
	print_module(&info);
	if (ESPGOAL_ABI < info.abi_oldest || ESPGOAL_ABI > info.abi) {
		status = tool_failed(
			"The module espgoal speaks ABI %u to %u, this program %d: they are of "
			"different versions",
			info.abi_oldest, info.abi, ESPGOAL_ABI);
		goto close_device;
	}
	status = print_rails(fd);
	if (!status)
		status = print_flows(fd, all);
	if (!status) {
		printf("\ncounters of this node\n");
		status = print_counters(fd, ESPGOAL_SET_NODE, 0, all, "  ");
	}
close_device:
	close(fd);
	return status;
}
