/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parser of GOAL text:
 *
 *	text      = "num_ranks" N  { "rank" r "{" { statement } "}" }	r = 0 .. N - 1, in order
 *	statement = [ label ":" ] operation EOL | label ( "requires" | "irequires" ) label EOL
 *	operation = "send" n "b" "to" peer [ "tag" t ] [ "cpu" c ] [ "nic" k ]
 *	          | "recv" n "b" "from" ( peer | "-1" ) [ "tag" ( t | "-1" ) ] [ "cpu" c ] [ "nic" k ]
 *	          | "calc" n [ "cpu" c ]
 *
 * Comments and line ends stand only where a statement may start, spaces and tabs also between the
 * words. This is the language of LogGOPSim's converter, less what that accepts without meaning it:
 * peers and ranks out of range, labels defined twice, numbers that do not fit, statements outside of
 * a rank. One pass, no recursion, memory linear in the text.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "program.h"
#include "text.h"

struct reader {
	struct text_scan s;
	struct goal_error *error;
	struct goal_graph *g; /* of the rank that is being read */
	struct text_labels labels;
	uint64_t ranks; /* as num_ranks says */
};

/* One operation statement, as far as it is read. */
struct statement {
	struct text_place place; /* where it starts */
	struct text_word label;
	struct text_place label_place;
	bool labelled;
	uint8_t code; /* GOAL_OP_SEND, RECV, NOP */
	uint64_t number;
	uint64_t peer, tag;
	struct graph_attr attr;
};

#define fail_at(r, place, ...) \
	graph_error_at((r)->error, -EINVAL, (place)->line, (place)->column, 0, __VA_ARGS__)

static int expected(struct reader *r, const char *what)
{
	struct text_place here = text_place(&r->s);
	char found[40];

	return fail_at(r, &here, "Expected %s, found %s", what,
		       text_found(&r->s, found, sizeof(found)));
}

static int skip_blank(struct reader *r)
{
	struct text_place open;

	if (text_skip_blank(&r->s, &open))
		return fail_at(r, &open, "This comment has no end, close it with */");
	return 0;
}

/* A number of at most @max, called @what in messages; its place in *@place when asked for. */
static int read_number(struct reader *r, const char *what, uint64_t max, uint64_t *number,
		       struct text_place *place)
{
	struct text_place here;
	int got;

	text_skip_space(&r->s);
	here = text_place(&r->s);
	got = text_take_number(&r->s, number);
	if (got == 0)
		return expected(r, what);
	if (got < 0 || *number > max)
		return fail_at(r, &here, "The number is too large for %s, use at most %" PRIu64,
			       what, max);
	if (place)
		*place = here;
	return 0;
}

/* Take @token behind spaces; what is there otherwise is left alone. */
static bool take_word(struct reader *r, const char *token)
{
	text_skip_space(&r->s);
	return text_take(&r->s, token);
}

static int read_byte_attr(struct reader *r, const char *what, uint8_t flag, struct statement *st,
			  uint8_t *value)
{
	uint64_t number;
	int err = read_number(r, what, UINT8_MAX, &number, NULL);

	if (err)
		return err;
	st->attr.flags |= flag;
	*value = number;
	return 0;
}

/* "-1", where a receive may say so. */
static bool take_any(struct reader *r, struct statement *st, uint8_t flag)
{
	struct text_place here;

	if (st->code != GOAL_OP_RECV)
		return false;
	text_skip_space(&r->s);
	here = text_place(&r->s);
	if (!text_take(&r->s, "-1"))
		return false;
	/* The first wildcard is the one that messages point to. */
	if (!(st->attr.flags & GRAPH_ATTR_ANY)) {
		st->attr.line = here.line;
		st->attr.column = here.column;
	}
	st->attr.flags |= flag;
	return true;
}

static int read_peer(struct reader *r, struct statement *st)
{
	struct text_place place;
	int err;

	if (take_any(r, st, GRAPH_ATTR_ANY_PEER))
		return 0;
	err = read_number(r, st->code == GOAL_OP_SEND ? "the receiver's rank" : "the sender's rank",
			  UINT32_MAX, &st->peer, &place);
	if (err)
		return err;
	if (st->peer >= r->ranks)
		return fail_at(r, &place, "There is no rank %" PRIu64 ", num_ranks is %" PRIu64,
			       st->peer, r->ranks);
	return 0;
}

/* n "b" ( "to" | "from" ) peer [ "tag" t ] [ "cpu" c ] [ "nic" k ] */
static int read_message(struct reader *r, struct statement *st)
{
	const char *way = st->code == GOAL_OP_SEND ? "to" : "from";
	bool more_tag = true, more_cpu = true;
	int err;

	err = read_number(r, "the size", GOAL_MAX_BYTES, &st->number, NULL);
	if (err)
		return err;
	if (!take_word(r, "b"))
		return expected(r, "\"b\" after the size");
	if (!take_word(r, way))
		return expected(r, st->code == GOAL_OP_SEND ? "\"to\"" : "\"from\"");
	err = read_peer(r, st);
	if (err)
		return err;
	if (take_word(r, "tag")) {
		st->attr.flags |= GRAPH_ATTR_TAG;
		if (!take_any(r, st, GRAPH_ATTR_ANY_TAG)) {
			err = read_number(r, "the tag", GOAL_MAX_TAGS - 1, &st->tag, NULL);
			if (err)
				return err;
		}
		more_tag = false;
	}
	if (take_word(r, "cpu")) {
		err = read_byte_attr(r, "the cpu", GRAPH_ATTR_CPU, st, &st->attr.cpu);
		if (err)
			return err;
		more_tag = more_cpu = false;
	}
	if (take_word(r, "nic")) {
		err = read_byte_attr(r, "the nic", GRAPH_ATTR_NIC, st, &st->attr.nic);
		if (err)
			return err;
		text_skip_space(&r->s);
		return text_take_eol(&r->s) ? 0 : expected(r, "the end of the line");
	}
	text_skip_space(&r->s);
	if (text_take_eol(&r->s))
		return 0;
	return expected(r, more_tag   ? "\"tag\", \"cpu\", \"nic\" or the end of the line"
			   : more_cpu ? "\"cpu\", \"nic\" or the end of the line"
				      : "\"nic\" or the end of the line");
}

/* n [ "cpu" c ] */
static int read_calc(struct reader *r, struct statement *st)
{
	int err = read_number(r, "the cost", UINT64_MAX, &st->number, NULL);

	if (err)
		return err;
	if (take_word(r, "cpu")) {
		err = read_byte_attr(r, "the cpu", GRAPH_ATTR_CPU, st, &st->attr.cpu);
		if (err)
			return err;
		text_skip_space(&r->s);
		return text_take_eol(&r->s) ? 0 : expected(r, "the end of the line");
	}
	text_skip_space(&r->s);
	return text_take_eol(&r->s) ? 0 : expected(r, "\"cpu\" or the end of the line");
}

static int no_room(struct reader *r, const struct text_place *place, int err)
{
	graph_error_at(r->error, err, place->line, place->column, 0,
		       err == -ENOMEM ? "There is not enough memory for the graph of rank %u"
				      : "The graph of rank %u is larger than an engine takes",
		       r->g->rank);
	return err;
}

static int add_operation(struct reader *r, struct statement *st)
{
	struct goal_graph *g = r->g;
	int64_t op;
	int err;

	/* Memory for the attribute first, so that no operation is without one. */
	err = graph_reserve((void **)&g->attr, &g->attr_room, g->nattr, 1, GOAL_MAX_OPS,
			    sizeof(*g->attr));
	if (err)
		return no_room(r, &st->place, err);
	switch (st->code) {
	case GOAL_OP_SEND:
		op = goal_send(g, GOAL_BUF_SEND, 0, st->number, st->peer, st->tag);
		break;
	case GOAL_OP_RECV:
		op = goal_recv(g, GOAL_BUF_RECV, 0, st->number, st->peer, st->tag);
		break;
	default:
		op = goal_calc(g, st->number);
		break;
	}
	if (op < 0)
		return no_room(r, &st->place, op);
	g->attr[g->nattr++] = st->attr;
	if (st->attr.flags & GRAPH_ATTR_ANY)
		g->nwild++;
	if (st->labelled) {
		err = text_labels_add(&r->labels, g, op, &st->label);
		if (err)
			return no_room(r, &st->place, err);
	}
	return 0;
}

static int read_operation(struct reader *r, struct statement *st)
{
	int err;

	st->attr.line = st->place.line;
	st->attr.column = st->place.column;
	err = st->code == GOAL_OP_NOP ? read_calc(r, st) : read_message(r, st);
	return err ? err : add_operation(r, st);
}

static int known_label(struct reader *r, const struct text_word *name,
		       const struct text_place *place, int64_t *op)
{
	*op = text_labels_find(&r->labels, r->g, name);
	if (*op < 0)
		return fail_at(r, place, "Label \"%.*s\" is not defined above in rank %u",
			       name->bytes < 40 ? (int)name->bytes : 40, name->start, r->g->rank);
	return 0;
}

/* label ( "requires" | "irequires" ) label, from behind the verb. */
static int read_dependency(struct reader *r, struct statement *st, bool started)
{
	struct text_place place;
	struct text_word name;
	int64_t op, before;
	int err;

	text_skip_space(&r->s);
	place = text_place(&r->s);
	if (!text_take_name(&r->s, &name))
		return expected(r, "a label");
	text_skip_space(&r->s);
	if (!text_take_eol(&r->s))
		return expected(r, "the end of the line");
	err = known_label(r, &st->label, &st->label_place, &op);
	if (!err)
		err = known_label(r, &name, &place, &before);
	if (err)
		return err;
	if (op == before)
		return fail_at(r, &place, "An operation cannot depend on itself");
	err = graph_add_dep(r->g, op, before, started);
	return err ? no_room(r, &st->place, err) : 0;
}

static bool operation_code(const struct text_word *w, uint8_t *code)
{
	if (text_word_is(w, "send"))
		*code = GOAL_OP_SEND;
	else if (text_word_is(w, "recv"))
		*code = GOAL_OP_RECV;
	else if (text_word_is(w, "calc"))
		*code = GOAL_OP_NOP;
	else
		return false;
	return true;
}

/* What follows label ":". Here the verb may touch its number, as in "calc5". */
static int read_labelled(struct reader *r, struct statement *st)
{
	int64_t other = text_labels_find(&r->labels, r->g, &st->label);

	if (other >= 0)
		return fail_at(
			r, &st->label_place,
			"Label \"%.*s\" is defined twice in rank %u, the first time in line %u",
			st->label.bytes < 40 ? (int)st->label.bytes : 40, st->label.start,
			r->g->rank, r->g->attr[other].line);
	st->labelled = true;
	if (take_word(r, "send"))
		st->code = GOAL_OP_SEND;
	else if (take_word(r, "recv"))
		st->code = GOAL_OP_RECV;
	else if (take_word(r, "calc"))
		st->code = GOAL_OP_NOP;
	else
		return expected(r, "\"send\", \"recv\" or \"calc\"");
	return read_operation(r, st);
}

static int read_statement(struct reader *r)
{
	struct statement st = { .place = text_place(&r->s) };
	struct text_scan start = r->s;

	if (!text_take_name(&r->s, &st.label))
		return expected(r, "a statement or \"}\"");
	if (operation_code(&st.label, &st.code))
		return read_operation(r, &st);
	if (text_word_is(&st.label, "rank") || text_word_is(&st.label, "num_ranks")) {
		r->s = start;
		return expected(r, "a statement or \"}\"");
	}
	st.label_place = st.place;
	if (take_word(r, ":"))
		return read_labelled(r, &st);
	if (take_word(r, "requires"))
		return read_dependency(r, &st, false);
	if (take_word(r, "irequires"))
		return read_dependency(r, &st, true);
	return expected(r, "\":\", \"requires\" or \"irequires\" after the label");
}

/* "rank" r "{" ... "}" */
static int read_rank(struct reader *r, struct goal_program *p)
{
	struct text_place place = text_place(&r->s);
	struct text_scan start = r->s;
	struct text_word word;
	uint64_t rank;
	int err;

	if (!text_take_name(&r->s, &word) || !text_word_is(&word, "rank")) {
		r->s = start;
		return expected(r, "\"rank\"");
	}
	err = read_number(r, "the rank", UINT32_MAX, &rank, &place);
	if (err)
		return err;
	if (rank != p->ranks)
		return fail_at(r, &place, "Expected rank %u here, ranks stand in ascending order",
			       p->ranks);
	if (!take_word(r, "{"))
		return expected(r, "\"{\"");
	err = goal_graph_create(rank, r->ranks, &r->g);
	if (!err) {
		err = program_append(p, r->g);
		if (err)
			goal_graph_free(r->g);
	}
	if (err)
		return graph_error_at(r->error, err, place.line, place.column, 0,
				      "There is not enough memory for rank %u", p->ranks);
	for (;;) {
		err = skip_blank(r);
		if (err)
			return err;
		if (text_take(&r->s, "}"))
			break;
		err = read_statement(r);
		if (err)
			return err;
	}
	text_labels_clear(&r->labels);
	return 0;
}

static int read_text(struct reader *r, struct goal_program *p)
{
	struct text_place place;
	struct text_scan start;
	struct text_word word;
	int err = skip_blank(r);

	if (err)
		return err;
	start = r->s;
	if (!text_take_name(&r->s, &word) || !text_word_is(&word, "num_ranks")) {
		r->s = start;
		return expected(r, "\"num_ranks\"");
	}
	err = read_number(r, "the number of ranks", UINT32_MAX, &r->ranks, &place);
	if (err)
		return err;
	if (r->ranks == 0)
		return fail_at(r, &place, "There must be at least 1 rank");
	while (p->ranks < r->ranks) {
		err = skip_blank(r);
		if (!err)
			err = read_rank(r, p);
		if (err)
			return err;
	}
	err = skip_blank(r);
	if (err)
		return err;
	return text_at_end(&r->s) ? 0 : expected(r, "the end of the text after the last rank");
}

int goal_text_read(const char *text, size_t bytes, struct goal_program **program,
		   struct goal_error *error)
{
	struct reader r = { .error = error };
	struct goal_program *p;
	int err;

	if (!program || (!text && bytes))
		return graph_error(error, -EINVAL, 0, "There is no text to read");
	err = program_new(0, &p);
	if (err)
		return graph_error(error, err, 0, "There is not enough memory for a program");
	text_scan_init(&r.s, text ? text : "", bytes);
	text_labels_init(&r.labels);
	err = read_text(&r, p);
	text_labels_clear(&r.labels);
	if (err) {
		goal_program_free(p);
		return err;
	}
	*program = p;
	return 0;
}
