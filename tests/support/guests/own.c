/* A guest that uses the debug and timer registers of its dedicated core: a breakpoint in its own kernel,
 * and the physical timer, with an interrupt that is pending before it is unmasked.
 */
#include "guest.h"

#define PENDING (*(volatile uint32_t *)0x080b0200)
#define ENABLE (*(volatile uint32_t *)0x080b0100)
#define GROUP (*(volatile uint32_t *)0x080b0080)
#define DISTRIBUTOR (*(volatile uint32_t *)0x08000000)
#define TIMER 30
#define SPURIOUS 1023

#define read(name) ({ uint64_t value; __asm__ volatile("mrs %0, " name : "=r"(value)); value; })
#define write(name, value) \
	__asm__ volatile("msr " name ", %0\n\tisb" : : "r"((uint64_t)(value)) : "memory")

/* Vectors: a synchronous exception is recorded, and its breakpoint removed. */
__asm__(".section .text.vectors, \"ax\"\n"
	".balign 2048\n"
	".global vectors\n"
	"vectors:\n"
	"	.skip 0x200\n"
	"	stp x0, x1, [sp, #-16]!\n"
	"	mrs x0, esr_el1\n"
	"	adrp x1, syndrome\n"
	"	str x0, [x1, :lo12:syndrome]\n"
	"	msr dbgbcr0_el1, xzr\n"
	"	isb\n"
	"	ldp x0, x1, [sp], #16\n"
	"	eret\n"
	".text\n");

extern char vectors[];
uint64_t syndrome;

static void verdict(const char *what, int good)
{
	say(what);
	say(good ? ": own\n" : ": NOT OWN\n");
}

__attribute__((noinline)) static void stopped_at(void)
{
	__asm__ volatile("");
}

static int breakpoint(void)
{
	write("vbar_el1", vectors);
	write("dbgbvr0_el1", stopped_at);
	/* A breakpoint for EL1 on any byte of a word; then debug exceptions are enabled, also within EL1. */
	write("dbgbcr0_el1", 1 | 1 << 1 | 0xf << 5);
	write("mdscr_el1", 1 << 15 | 1 << 13);
	__asm__ volatile("msr daifclr, #8" : : : "memory");
	stopped_at();
	__asm__ volatile("msr daifset, #8" : : : "memory");
	write("mdscr_el1", 0);
	/* ESR_EL1.EC: breakpoint from the same exception level (Arm ARM, D19.2.37). */
	return syndrome >> 26 == 0x31;
}

static uint32_t acknowledge(void)
{
	return read("S3_0_C12_C12_0");
}

void run(void)
{
	verdict("breakpoint", breakpoint());

	write("S3_0_C4_C6_0", 0xf0);
	write("S3_0_C12_C12_7", 1);
	DISTRIBUTOR = 0x12;
	GROUP = ~0u;
	verdict("timer at rest", !(PENDING >> TIMER & 1));
	write("cntp_cval_el0", read("cntpct_el0"));
	write("cntp_ctl_el0", 1);
	verdict("timer due", read("cntp_ctl_el0") == 5);
	verdict("pending, not enabled", PENDING >> TIMER & 1 && acknowledge() == SPURIOUS);
	ENABLE = 1u << TIMER;
	__asm__ volatile("wfi");
	verdict("interrupt", acknowledge() == TIMER);
	write("cntp_ctl_el0", 0);
	write("S3_0_C12_C12_1", TIMER);
	verdict("over", acknowledge() == SPURIOUS && !(PENDING >> TIMER & 1));

	register uint64_t function __asm__("x0") = SYSTEM_OFF;
	__asm__ volatile("hvc #0" : "+r"(function) : : "x1", "x2", "x3", "memory");
	for (;;)
		;
}
