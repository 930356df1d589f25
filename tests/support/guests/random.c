/* A foreign guest that asks for random numbers, with hostile arguments too, and prints its seeds. */
#include "guest.h"

#define VERSION 0x84000050u
#define FEATURES 0x84000051u
#define UUID 0x84000052u
#define RND32 0x84000053u
#define RND64 0xc4000053u
#define NUMBERS 300

static uint64_t numbers[NUMBERS];

struct reply {
	uint64_t x[4];
	int kept;
};

/* The convention preserves x4 to x17. */
static struct reply call(uint64_t function, uint64_t argument)
{
	register uint64_t x0 __asm__("x0") = function;
	register uint64_t x1 __asm__("x1") = argument;
	register uint64_t x2 __asm__("x2") = ~0ul;
	register uint64_t x3 __asm__("x3") = ~0ul;
	register uint64_t x4 __asm__("x4") = 4;
	register uint64_t x17 __asm__("x17") = 17;

	__asm__ volatile("hvc #0"
			 : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3), "+r"(x4), "+r"(x17)
			 :
			 : "memory");
	return (struct reply){ { x0, x1, x2, x3 }, x4 == 4 && x17 == 17 };
}

static void verdict(const char *what, int good)
{
	say(what);
	say(good ? ": right\n" : ": WRONG\n");
}

static uint32_t big(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

static int same(const unsigned char *one, const char *other)
{
	while (*one && *one == (unsigned char)*other)
		one++, other++;
	return *one == (unsigned char)*other;
}

static void hex(const char *what, const unsigned char *bytes, uint32_t count)
{
	char text[3] = { 0 };

	say(what);
	for (uint32_t at = 0; at < count; at++) {
		text[0] = "0123456789abcdef"[bytes[at] >> 4];
		text[1] = "0123456789abcdef"[bytes[at] & 15];
		say(text);
	}
	say("\n");
}

/* Prints the seeds in the tree. */
static void seeds(const unsigned char *tree)
{
	const unsigned char *at = tree + big(tree + 8), *strings = tree + big(tree + 12);

	for (;;) {
		uint32_t token = big(at);

		at += 4;
		if (token == 1) {
			while (*at)
				at++;
			at = (const unsigned char *)(((uintptr_t)at + 4) & ~3ul);
		} else if (token == 3) {
			uint32_t size = big(at);
			const unsigned char *name = strings + big(at + 4);

			at += 8;
			if (same(name, "rng-seed"))
				hex("rng-seed ", at, size);
			if (same(name, "kaslr-seed"))
				hex("kaslr-seed ", at, size);
			at += (size + 3) & ~3u;
		} else if (token == 9) {
			return;
		}
	}
}

static int refused(uint64_t function, uint64_t bits)
{
	struct reply reply = call(function, bits);

	return reply.x[0] == -2ul && !reply.x[1] && !reply.x[2] && !reply.x[3] && reply.kept;
}

/* Whether a call gave at most so many bits, the lowest in x3. */
static int gave(uint64_t function, uint64_t bits, uint64_t width)
{
	struct reply reply = call(function, bits);
	int good = reply.x[0] == 0 && reply.kept;

	for (int at = 3; at > 0; at--) {
		uint64_t here = bits < width ? bits : width;

		good = good && (here == 64 || reply.x[at] >> here == 0);
		bits -= here;
	}
	return good;
}

static int all_differ(void)
{
	for (int at = 0; at < NUMBERS; at += 3) {
		struct reply reply = call(RND64, 192);

		for (int word = 0; word < 3; word++)
			numbers[at + word] = reply.x[1 + word];
		if (reply.x[0])
			return 0;
	}
	for (int at = 0; at < NUMBERS; at++)
		for (int other = 0; other < at; other++)
			if (numbers[at] == numbers[other])
				return 0;
	return 1;
}

void run(const unsigned char *tree)
{
	int good = 1;

	seeds(tree);
	verdict("version", call(VERSION, 0).x[0] == 0x10000);
	verdict("features", call(FEATURES, RND64).x[0] == 0 && call(FEATURES, UUID).x[0] == 0);
	verdict("no feature", call(FEATURES, 0x84000054).x[0] == -1ul);
	verdict("uuid", (uint32_t)call(UUID, 0).x[0] != ~0u);
	verdict("unknown function", call(0x84000054, 1).x[0] == -1ul);
	verdict("no bits", refused(RND64, 0) && refused(RND32, 0));
	verdict("many bits", refused(RND64, 193) && refused(RND32, 97));
	verdict("huge", refused(RND64, ~0ul) && refused(RND64, 1ul << 32) && refused(RND64, 1ul << 63));
	for (uint64_t bits = 1; bits <= 192; bits++)
		good = good && gave(RND64, bits, 64) && (bits > 96 || gave(RND32, bits, 32));
	verdict("exact bits", good);
	verdict("all differ", all_differ());
	hex("number ", (const unsigned char *)numbers, 8);

	register uint64_t function __asm__("x0") = SYSTEM_OFF;
	__asm__ volatile("hvc #0" : "+r"(function) : : "x1", "x2", "x3", "memory");
	for (;;)
		;
}
