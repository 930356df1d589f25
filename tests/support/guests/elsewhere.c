/* A foreign guest that prints data at its link address and turns off. Its code and data are in one
 * region of memory, a constant in another.
 */
#include "guest.h"


__attribute__((section(".far"))) volatile const uint32_t far_word = 0x7e57ab1e;
static volatile uint32_t near_word = 0x600dda7a;
static volatile uint32_t zeros[1024];

static void verdict(const char *what, int good)
{
	say(what);
	say(good ? ": as linked\n" : ": WRONG\n");
}

static int holds(const char *bytes, uint32_t size, const char *text)
{
	for (uint32_t at = 0; at < size; at++) {
		uint32_t same = 0;

		while (text[same] && at + same < size && bytes[at + same] == text[same])
			same++;
		if (!text[same])
			return 1;
	}
	return 0;
}

static uint32_t big(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
}

void run(const unsigned char *tree)
{
	uint32_t sum = 0, size = big(tree + 4);
	uint64_t level;

	for (uint32_t at = 0; at < 1024; at++)
		sum |= zeros[at];
	__asm__("mrs %0, CurrentEL" : "=r"(level));
	verdict("level", level == 1 << 2);
	verdict("data", near_word == 0x600dda7a);
	verdict("zeros", sum == 0);
	verdict("far", far_word == 0x7e57ab1e && (uintptr_t)&far_word == 0x10000000);
	verdict("tree", (uintptr_t)tree == 0x48000000 && big(tree) == 0xd00dfeed);
	verdict("command line", holds((const char *)tree, size, "speak=softly"));
	/* Memory must be cleared between two runs. */
	zeros[7] = 1;
	near_word = 0;
	say("elsewhere: done\n");

	register uint64_t function __asm__("x0") = SYSTEM_OFF;
	__asm__ volatile("hvc #0" : "+r"(function) : : "x1", "x2", "x3", "memory");
	for (;;)
		;
}
