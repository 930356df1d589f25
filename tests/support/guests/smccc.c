/* A guest that asks for the calling convention and for the firmware's workarounds, by HVC and by SMC, and
 * calls those (SMCCC, 7; DEN 0022, 5.15).
 */
#include "guest.h"

#define PSCI_FEATURES 0x8400000a
#define SMCCC_VERSION 0x80000000
#define ARCH_FEATURES 0x80000001
#define WORKAROUND_1 0x80008000
#define WORKAROUND_2 0x80007fff
#define WORKAROUND_3 0x80003fff

#define CALL(instruction)                                                                                 \
	register uint64_t x0 __asm__("x0") = function;                                                    \
	register uint64_t x1 __asm__("x1") = argument;                                                    \
	__asm__ volatile(instruction " #0" : "+r"(x0), "+r"(x1) : : "x2", "x3", "memory");                \
	return x0

static uint64_t hvc(uint32_t function, uint32_t argument)
{
	CALL("hvc");
}

static uint64_t smc(uint32_t function, uint32_t argument)
{
	CALL("smc");
}

static const struct {
	const char *name;
	uint32_t function, argument;
} CALLS[] = {
	{ "version", SMCCC_VERSION, 0 },
	{ "version by PSCI", PSCI_FEATURES, SMCCC_VERSION },
	{ "has version", ARCH_FEATURES, SMCCC_VERSION },
	{ "has features", ARCH_FEATURES, ARCH_FEATURES },
	{ "calls 1", WORKAROUND_1, 0 },
	{ "has 1", ARCH_FEATURES, WORKAROUND_1 },
	{ "has 2", ARCH_FEATURES, WORKAROUND_2 },
	{ "has 3", ARCH_FEATURES, WORKAROUND_3 },
	{ "calls 1 again", WORKAROUND_1, 0 },
	{ "calls 3", WORKAROUND_3, 0 },
	{ "has another", ARCH_FEATURES, 0x8000ffff },
};

static void print(uint32_t value)
{
	for (int shift = 28; shift >= 0; shift -= 4) {
		char digit[2] = { "0123456789abcdef"[value >> shift & 15], 0 };
		say(digit);
	}
}

void run(void)
{
	for (unsigned i = 0; i < sizeof CALLS / sizeof *CALLS; i++) {
		say(CALLS[i].name);
		say(": ");
		print((uint32_t)hvc(CALLS[i].function, CALLS[i].argument));
		say(" ");
		print((uint32_t)smc(CALLS[i].function, CALLS[i].argument));
		say("\n");
	}
	hvc(SYSTEM_OFF, 0);
}
