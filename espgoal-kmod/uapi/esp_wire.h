/* SPDX-License-Identifier: (GPL-2.0-only WITH Linux-syscall-note) OR BSD-3-Clause */
/*
 * The frames of ESP. doc/protocol.md is the text that goes with it.
 *
 * A frame is
 *
 *	struct esp_hdr		32 bytes
 *	chunks			one behind another, up to hdr_len
 *	payload			the bytes its chunks speak of, in the order of the chunks
 *
 * and nothing else: total_len is the sum, what follows is padding of the link. Everything is
 * little-endian and not aligned (a frame starts at offset 14, 18 or 42 of what the wire
 * carries). Reserved fields and bits are zero and are checked.
 *
 * The first four bytes never change, whatever the version.
 */
#ifndef UAPI_ESP_WIRE_H
#define UAPI_ESP_WIRE_H

#include <linux/types.h>

#define ESP_VERSION   1
#define ESP_ETHERTYPE 0x88b5 /* default: IEEE 802 local experimental 1 */
#define ESP_UDP_PORT  4950   /* default of the UDP form */

/* Limits of the format. */
#define ESP_HDR_MAX   640   /* of hdr_len */
#define ESP_MTU_MIN   576   /* every path carries frames of this many bytes */
#define ESP_MTU_MAX   9000  /* of total_len */
#define ESP_PATHS     4     /* paths of a flow */
#define ESP_PN_SPAN   512   /* packet numbers a sender may have open on one path */
#define ESP_PN_AHEAD  65536 /* a number further ahead of the highest one seen is nonsense */
#define ESP_MID_SPAN  1024  /* message ids a sender may have open in one flow */
#define ESP_LIST_MAX  16    /* message ids in one NOT-READY or BUSY chunk */
#define ESP_MSG_MAX   8     /* chunks with payload in one frame */
#define ESP_EAGER_MAX 16384 /* bytes of an eager message */

/* esp_hdr.type */
enum esp_type {
	ESP_T_HELLO = 1,  /* initiator: knows a name; asks for a token */
	ESP_T_TOKEN = 2,  /* the answer, made without keeping anything */
	ESP_T_OPEN = 3,   /* the token comes back, with a name: now there is a flow */
	ESP_T_ACCEPT = 4, /* responder: its connection id */
	ESP_T_DATA = 5,   /* everything within a flow */
	ESP_T_RESET = 6,  /* there is no such connection id here */
	ESP_T_REJECT = 7, /* a hello that cannot be agreed to, with the reason */
	ESP_T_MCAST = 8,  /* reserved for multicast, dropped */
};

/* esp_hdr.flags */
#define ESP_F_NUMBERED 0x01 /* DATA: pn counts; else only ACK, NOT-READY, BUSY, PONG in it */
#define ESP_F_ACK_NOW  0x02 /* DATA, numbered: the sender waits for this acknowledgement */
#define ESP_F_KNOWN    0x03

struct esp_hdr {
	__u8 version;   /* the agreed one; of HELLO to ACCEPT always 1 */
	__u8 type;      /* enum esp_type */
	__le16 hdr_len; /* this header and the chunks */
	__le16 total_len;
	__u8 path;   /* DATA: the path it was sent on, else 0 */
	__u8 flags;  /* ESP_F_* */
	__le64 cid;  /* the receiver's connection id; HELLO, OPEN: 0; RESET: the unknown one */
	__le32 pn;   /* numbered: packet number on this path, else 0 */
	__le16 back; /* numbered: every number below pn - back is settled for the sender; else 0 */
	__le16 reserved;
	__le32 payload_crc; /* CRC32C of the payload; 0 without one, or if so agreed */
	__le32 hdr_crc;     /* CRC32C of the first hdr_len bytes, with these four taken as 0 */
} __attribute__((packed));

/* A link address, 20 bytes. */
enum esp_carrier {
	ESP_CARRIER_NONE = 0,
	ESP_CARRIER_ETHER = 1, /* addr[0..5] the MAC address, rest 0; port 0 */
	ESP_CARRIER_UDP4 = 2,  /* addr[0..3] */
	ESP_CARRIER_UDP6 = 3,
};

struct esp_addr {
	__u8 carrier; /* enum esp_carrier */
	__u8 reserved;
	__le16 port; /* UDP, host's value in little-endian; else 0 */
	__u8 addr[16];
} __attribute__((packed));

/* What HELLO, TOKEN, OPEN and ACCEPT carry behind the header, instead of chunks. */
#define ESP_FEAT_PAYLOAD_CRC 0x00000001u /* asks for checksums over the payload */
#define ESP_FEAT_KNOWN       0x00000001u
#define ESP_ORDER_LITTLE     1 /* byte order of the payload */
#define ESP_ORDER_BIG        2

struct esp_hello {
	__u8 node[16];  /* OPEN, ACCEPT: sender's (boot id, network namespace); HELLO, TOKEN: hash
			  * that only who knows the responder's can make */
	__le64 cid;     /* the connection id the sender will answer to; TOKEN: the initiator's */
	__le64 stamp;   /* HELLO: grows with each attempt of this node; others: as received */
	__u8 token[16]; /* HELLO: zero; TOKEN: fresh, or zero if HELLO's hash is wrong; OPEN, ACCEPT:
			  * that one */
	__le32 pn;      /* OPEN, ACCEPT: first packet number on each path; else 0 */
	__le32 mid;     /* OPEN, ACCEPT: first message id; else 0 */
	__le32 features; /* ESP_FEAT_* the sender asks for */
	__u8 order;      /* ESP_ORDER_* */
	__u8 word;       /* bytes of a pointer: 4 or 8 */
	__le16 mtu;      /* largest total_len the sender takes on the path of this frame */
	__u8 version;    /* the highest one the sender speaks; the lower of both is used */
	__u8 reserved[3];
	struct esp_addr addr[ESP_PATHS]; /* the sender's rails: place p is path p, all 0: none */
} __attribute__((packed));

/* REJECT carries this instead; the header's cid is the hello's. */
enum esp_reject {
	ESP_REJECT_ORDER = 1, /* byte order or word size differs */
	ESP_REJECT_FULL = 2,  /* no memory for a flow now: ask again later */
};

struct esp_rejected {
	__u8 reason; /* enum esp_reject */
	__u8 reserved[3];
} __attribute__((packed));

/* Chunks of a DATA frame. Each starts so; len counts from kind on, without payload. */
enum esp_kind {
	ESP_K_ACK = 1,
	ESP_K_MSG = 2,       /* a fragment of an eager message */
	ESP_K_RTS = 3,       /* a long message waits to be pulled */
	ESP_K_PULLED = 4,    /* a fragment of it */
	ESP_K_GRANT = 5,     /* it may be sent up to there */
	ESP_K_NOT_READY = 6, /* these messages were refused, READY will follow */
	ESP_K_BUSY = 7,      /* these were refused and not noted: ask again */
	ESP_K_READY = 8,
	ESP_K_ABORT = 9,
	ESP_K_PING = 10,   /* wants a PONG */
	ESP_K_PAD = 11,    /* payload to be ignored: probes the MTU */
	ESP_K_MTU = 12,    /* the sender takes frames of this size on that path */
	ESP_K_ADDR = 13,   /* the sender's address on that path, or that it has none */
	ESP_K_STOP = 14,   /* receiver: send no more of this message, it is over */
	ESP_K_CANCEL = 15, /* sender: no more of this message will come */
	ESP_K_ASK = 16,    /* is this endpoint still there? */
	ESP_K_GONE = 17,   /* it is not, and will not be */
	ESP_K_PONG = 18,   /* PING has come */
	ESP_K_AHEAD = 19,  /* as NOT_READY: they came ahead of their run */
	ESP_K_KINDS
};

struct esp_chunk {
	__u8 kind;
	__u8 flags; /* 0 unless said otherwise */
	__le16 len;
} __attribute__((packed));

/* ACK: flags is the path it speaks of. Behind it 0 to 8 words of __le64. */
struct esp_ack {
	struct esp_chunk c;
	__le16 delay; /* from the arrival of the highest number to now, in units of 256 ns */
	__le16 reserved;
	__le32 cum;    /* everything below is here, or was settled by its sender */
	__le64 bits[]; /* bit i of word w: number cum + 1 + 64 w + i is here */
} __attribute__((packed));

/* To whom a message goes: one receive of one run of one group. */
struct esp_wire_key {
	__le64 nonce;  /* of the group */
	__le64 cookie; /* of the endpoint that receives */
	__le32 opid;   /* run number: operation id ... */
	__le32 start;  /* ... and start number */
	__le32 src;    /* the sender's rank */
	__le32 tag;
	__le32 instance;
} __attribute__((packed));

struct esp_eager {
	struct esp_chunk c;
	__le32 mid;
	__le32 total; /* of the message, at most ESP_EAGER_MAX */
	__le32 off;
	__le16 plen; /* payload of this chunk; 0 only if total is 0 */
	__le16 reserved;
	struct esp_wire_key key;
} __attribute__((packed));

struct esp_rts {
	struct esp_chunk c;
	__le32 mid;
	__le64 total; /* at least 1 */
	struct esp_wire_key key;
} __attribute__((packed));

struct esp_pulled {
	struct esp_chunk c;
	__le32 mid;
	__le64 off;
	__le16 plen; /* at least 1 */
	__le16 reserved;
} __attribute__((packed));

struct esp_grant {
	struct esp_chunk c;
	__le32 mid;
	__le64 upto; /* never takes back an earlier one */
} __attribute__((packed));

/* NOT-READY, AHEAD and BUSY: 1 to ESP_LIST_MAX ids. */
struct esp_refused {
	struct esp_chunk c;
	__le32 mid[];
} __attribute__((packed));

#define ESP_READY_UPTO 0x01 /* flags: for every run of the group up to this one */

/* READY: what was refused for this run may be sent again. */
struct esp_ready {
	struct esp_chunk c;
	__le64 nonce;
	__le64 cookie;
	__le32 opid;
	__le32 start;
} __attribute__((packed));

#define ESP_ABORT_GROUP 0x01 /* flags: every run of the group; opid and start are 0 */

enum esp_abort_code {
	ESP_ABORT_RUN = 1,  /* an error inside the run */
	ESP_ABORT_PEER = 2, /* the rank's node cannot be reached any more */
	ESP_ABORT_EXIT = 3, /* the rank's process has ended */
};

struct esp_abort {
	struct esp_chunk c;
	__le64 nonce;
	__le64 cookie; /* of the endpoint it is for */
	__le32 opid;
	__le32 start;
	__le32 from; /* rank that sends this */
	__le32 rank; /* rank that failed */
	__le32 code; /* enum esp_abort_code */
} __attribute__((packed));

struct esp_ping { /* PING; PONG, with flags: the path PING came on */
	struct esp_chunk c;
	__le64 value; /* random; PONG: as received */
} __attribute__((packed));

struct esp_pad {
	struct esp_chunk c;
	__le16 plen;
	__le16 reserved;
} __attribute__((packed));

struct esp_mtu { /* flags: the path */
	struct esp_chunk c;
	__le16 mtu;
	__le16 reserved;
} __attribute__((packed));

struct esp_path_addr { /* flags: the path; carrier NONE: gone */
	struct esp_chunk c;
	struct esp_addr addr;
} __attribute__((packed));

struct esp_ask {
	struct esp_chunk c;
	__le64 nonce;
	__le64 cookie; /* of the endpoint that is waited for */
	__le32 opid;
	__le32 start;
	__le32 from; /* rank that waits */
} __attribute__((packed));

struct esp_gone {
	struct esp_chunk c;
	__le64 cookie;
} __attribute__((packed));

#define ESP_STOP_FAILED 0x01 /* flags of STOP: the run has failed here; else it has the message */

struct esp_over { /* STOP and CANCEL */
	struct esp_chunk c;
	__le32 mid;
} __attribute__((packed));

#endif /* UAPI_ESP_WIRE_H */
