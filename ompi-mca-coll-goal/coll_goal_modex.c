/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the processes of a job tell each other before any communicator exists: each publishes a
 * card (struct coll_goal_card) when the component opens; the others read it when they meet the
 * process in a communicator, once, and keep it. Reading asks the local daemon only.
 */
#include "coll_goal.h"

#include <fcntl.h>
#include <unistd.h>

#define CARD_MAGIC   0x6c616f67u
#define CARD_VERSION 2u

struct entry {
	opal_process_name_t name;
	struct coll_goal_card *card; /* NULL: the process published none */
	bool answers;                /* frames of the kernel engine get through to it */
};

static struct coll_goal_card mine;

/* Open addressing, a power of two of slots, at most half full; used counts those with a name. */
static struct {
	struct entry *slot;
	bool *taken;
	size_t slots, used;
} book;

/* Machines are told apart by their boot ids: 32 hexadecimal digits, with dashes. */
static int read_machine(uint8_t id[16])
{
	char text[64] = "";
	int fd, n = 0;
	ssize_t got;

	fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	got = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (got <= 0)
		return -EIO;
	memset(id, 0, 16);
	for (const char *t = text; *t && n < 32; t++) {
		int digit;

		if (*t >= '0' && *t <= '9')
			digit = *t - '0';
		else if (*t >= 'a' && *t <= 'f')
			digit = *t - 'a' + 10;
		else
			continue;
		id[n / 2] |= (uint8_t)(digit << (n % 2 ? 0 : 4));
		n++;
	}
	return n == 32 ? 0 : -EIO;
}

int coll_goal_modex_publish(void)
{
	const struct coll_goal_component *c = &mca_coll_goal_component;
	int rc;

	memset(&mine, 0, sizeof(mine));
	mine.magic = CARD_MAGIC;
	mine.version = CARD_VERSION;
	mine.arch = opal_proc_local_get()->proc_arch;
	if (c->params.node_ranks)
		mine.node = 1 + OPAL_PROC_MY_NAME.vpid / c->params.node_ranks;
	rc = read_machine(mine.machine);
	if (rc) {
		coll_goal_say("no-boot-id", opal_process_info.nodename, strerror(-rc));
		return OMPI_ERR_NOT_AVAILABLE;
	}
	goal_engine_address(c->engine, &mine.address);
	if (c->kernel)
		goal_engine_address(c->kernel, &mine.kernel);
	if (goal_cores_mask(mine.mask, sizeof(mine.mask)))
		mine.mask[0] = '\0';
	OPAL_MODEX_SEND(rc, COLL_GOAL_MODEX_SCOPE, &c->super.collm_version, &mine, sizeof(mine));
	return rc == OPAL_SUCCESS ? OMPI_SUCCESS : OMPI_ERR_NOT_AVAILABLE;
}

const struct coll_goal_card *coll_goal_modex_mine(void)
{
	return &mine;
}

static size_t hash(opal_process_name_t name)
{
	uint64_t h = ((uint64_t)name.jobid << 32 | name.vpid) * 0x9e3779b97f4a7c15ull;

	return (size_t)(h >> 20);
}

/* The slot that holds @name, or the free one where it belongs. */
static size_t find(opal_process_name_t name)
{
	size_t i = hash(name) & (book.slots - 1);

	while (book.taken[i] &&
	       (book.slot[i].name.jobid != name.jobid || book.slot[i].name.vpid != name.vpid))
		i = (i + 1) & (book.slots - 1);
	return i;
}

static int grow(void)
{
	size_t old_slots = book.slots, slots = old_slots ? 2 * old_slots : 64;
	struct entry *old = book.slot, *slot = coll_goal_malloc(slots * sizeof(*slot));
	bool *old_taken = book.taken, *taken = coll_goal_calloc(slots, sizeof(*taken));

	if (!slot || !taken) {
		free(slot);
		free(taken);
		return -ENOMEM;
	}
	book.slot = slot;
	book.taken = taken;
	book.slots = slots;
	for (size_t i = 0; i < old_slots; i++) {
		if (!old_taken[i])
			continue;
		size_t to = find(old[i].name);

		book.slot[to] = old[i];
		book.taken[to] = true;
	}
	free(old);
	free(old_taken);
	return 0;
}

/* Ask for the card of @name; NULL: there is none, or it is not one of ours. */
static struct coll_goal_card *fetch(opal_process_name_t name)
{
	struct coll_goal_card *card = NULL;
	uint8_t *data = NULL;
	size_t bytes = 0;
	int rc;

	OPAL_MODEX_RECV(rc, &mca_coll_goal_component.super.collm_version, &name, &data, &bytes);
	if (rc == OPAL_SUCCESS && bytes == sizeof(*card)) {
		card = coll_goal_malloc(sizeof(*card));
		if (card) {
			memcpy(card, data, sizeof(*card));
			card->mask[COLL_GOAL_MASK_BYTES - 1] = '\0';
		}
	}
	free(data);
	if (card && (card->magic != CARD_MAGIC || card->version != CARD_VERSION)) {
		free(card);
		card = NULL;
	}
	return card;
}

const struct coll_goal_card *coll_goal_modex_card(opal_process_name_t name)
{
	struct coll_goal_card *card = NULL;
	size_t i;

	if (name.jobid == OPAL_PROC_MY_NAME.jobid && name.vpid == OPAL_PROC_MY_NAME.vpid)
		return &mine;
	coll_goal_lock();
	if (book.slots) {
		i = find(name);
		if (book.taken[i]) {
			card = book.slot[i].card;
			coll_goal_unlock();
			return card;
		}
	}
	coll_goal_unlock();

	/* The daemon may take a while: not with the lock held. Two threads may both ask. */
	card = fetch(name);
	coll_goal_lock();
	if (2 * (book.used + 1) > book.slots && grow()) {
		coll_goal_unlock();
		free(card);
		return NULL;
	}
	i = find(name);
	if (book.taken[i]) {
		free(card);
		card = book.slot[i].card;
	} else {
		book.taken[i] = true;
		book.slot[i] = (struct entry){ .name = name, .card = card };
		book.used++;
	}
	coll_goal_unlock();
	return card;
}

bool coll_goal_modex_answers(opal_process_name_t name)
{
	const struct coll_goal_card *card = coll_goal_modex_card(name);
	bool answers;

	if (!card)
		return false;
	if (card == &mine || goal_address_near(&card->kernel, &mine.kernel))
		return true;
	coll_goal_lock();
	answers = book.slot[find(name)].answers;
	coll_goal_unlock();
	return answers;
}

void coll_goal_modex_answered(opal_process_name_t name)
{
	const struct coll_goal_card *card = coll_goal_modex_card(name);

	if (!card || card == &mine)
		return;
	coll_goal_lock();
	book.slot[find(name)].answers = true;
	coll_goal_unlock();
}

void coll_goal_modex_forget(void)
{
	for (size_t i = 0; i < book.slots; i++)
		if (book.taken[i])
			free(book.slot[i].card);
	free(book.slot);
	free(book.taken);
	memset(&book, 0, sizeof(book));
}
