/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device as the tests in the guests see it: thin calls of its requests, groups whose members find
 * each other in a folder, and collectives over them that know what must come out. Programs of this
 * folder talk to the module by its ABI alone, so that what they find is the module's own.
 */
#ifndef VM_DEVICE_H
#define VM_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include <goal/espgoal.h>

/* Say what is wrong, and end (with 1) or go on and count. */
#define die(...) die_at(__FILE__, __LINE__, __VA_ARGS__)
void die_at(const char *file, int line, const char *format, ...)
	__attribute__((noreturn, format(printf, 3, 4)));
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
extern int complaints;

/* Numbers that anybody with the same seed gets. */
struct dice {
	uint64_t state;
};
uint64_t roll(struct dice *d);
uint32_t below(struct dice *d, uint32_t n); /* 0 .. n - 1 */
uint64_t scramble(uint64_t x);

double now(void); /* seconds, monotonic */
/* How often, or for how long, is multiplied by this: GOAL_TIMES of the environment, else 1. */
uint32_t times_as_often(void);

struct device {
	int fd;
	struct espgoal_open open;
	void *map;
	const struct espgoal_head *head;
	const struct espgoal_word *word;
};

/* An ioctl: 0 or -errno. */
int request(int fd, unsigned long code, void *arg);
/* Open the device and make it an endpoint, or die. @runs, @area: 0 for the defaults. */
void device_open(struct device *d, uint32_t runs, uint64_t area);
/* ESPGOAL_CLOSE, then close; @clean false: without the former. */
void device_close(struct device *d, bool clean);
/* What the counter called @name stands at; dies when there is none. */
uint64_t device_counter(struct device *d, uint32_t set, const char *name);
void device_dump(struct device *d);

/* Memory that both sides write, read in the order in which it was written. */
static inline uint32_t peek(const uint32_t *at)
{
	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

/* The members of a job, and what they published. */
struct team {
	uint32_t rank, size;
	uint32_t npeers;
	struct espgoal_peer *peer;  /* [npeers] */
	struct espgoal_rank *entry; /* [size] */
};

/* Meet the others in @folder (shared by all nodes); dies when they do not come within a minute. */
void team_meet(struct team *t, struct device *d, const char *folder, uint32_t rank, uint32_t size);
void team_free(struct team *t);
/* A group of all, in reversed order if @reversed; 0 or -errno. */
int team_group(const struct team *t, struct device *d, uint64_t nonce, bool reversed, uint32_t *id);

#endif /* VM_DEVICE_H */
