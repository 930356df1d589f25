/* A guest that writes a mark to every system register that EL1 can write, and looks whether each is still
 * there after another VM with another mark has run on the core. MARK and TURN come from the compiler.
 */
#include "guest.h"

/* op0, op1, CRn, CRm, op2 as in an instruction, from bit 5 on. */
#define REGISTER(op0, op1, crn, crm, op2) \
	((op0) << 14 | (op1) << 11 | (crn) << 7 | (crm) << 3 | (op2))
#define MOST 512
#define ROUNDS 8

/* The stub that is patched, and the vectors, which skip an instruction of the stub that is undefined. */
__asm__(".section .text.stub, \"awx\"\n"
	".balign 64\n"
	"stub:	mrs x0, midr_el1\n"
	"	isb\n"
	"	mov x1, #0\n"
	"	ret\n"
	".macro table name\n"
	".balign 2048\n"
	"\\name:\n"
	".irp at, 0x000, 0x080, 0x100, 0x180, 0x200, 0x280, 0x300, 0x380, 0x400, 0x480, 0x500, 0x580\n"
	"	.org \\name + \\at\n"
	"	mrs x1, elr_el1\n"
	"	add x1, x1, #12\n"
	"	msr elr_el1, x1\n"
	"	mov x1, #1\n"
	"	eret\n"
	".endr\n"
	".endm\n"
	"table vectors\n"
	"table others\n"
	".text\n");

extern uint32_t stub[];
extern char vectors[], others[];

/* Registers without which this guest does not continue, or with reads and writes that have effects. */
static const struct {
	uint32_t first, count;
} skipped[] = {
	{ REGISTER(3, 0, 4, 0, 0), 2 },   /* SPSR_EL1, ELR_EL1: marked last */
	{ REGISTER(3, 0, 5, 2, 0), 1 },   /* ESR_EL1: likewise */
	{ REGISTER(3, 0, 6, 0, 0), 1 },   /* FAR_EL1: likewise */
	{ REGISTER(3, 0, 1, 0, 0), 1 },   /* SCTLR_EL1: marked in part */
	{ REGISTER(3, 0, 12, 0, 0), 1 },  /* VBAR_EL1: one of two tables */
	{ REGISTER(3, 0, 4, 2, 0), 3 },   /* SPSel, CurrentEL */
	{ REGISTER(3, 3, 4, 2, 0), 2 },   /* NZCV, DAIF */
	{ REGISTER(3, 3, 14, 3, 0), 2 },  /* CNTV_TVAL_EL0, CNTV_CTL_EL0: marked in part */
	{ REGISTER(3, 0, 12, 8, 0), 4 },  /* ICC_IAR0_EL1 to ICC_BPR0_EL1 */
	{ REGISTER(3, 0, 12, 11, 1), 7 }, /* ICC_DIR_EL1, ICC_SGI1R_EL1 and the others */
	{ REGISTER(3, 0, 12, 12, 0), 4 }, /* ICC_IAR1_EL1 to ICC_BPR1_EL1 */
};

static struct mark {
	uint32_t at;
	uint64_t bits;
} marks[MOST];
static unsigned int number;

static void digits(uint64_t value, int count)
{
	while (count--) {
		char text[2] = { "0123456789abcdef"[value >> 4 * count & 15], 0 };

		say(text);
	}
}

static void decimal(unsigned int value)
{
	char text[2] = { 0, 0 };

	if (value > 9)
		decimal(value / 10);
	text[0] = '0' + value % 10;
	say(text);
}

static void name(uint32_t at)
{
	say("S");
	decimal(at >> 14 & 3);
	say("_");
	decimal(at >> 11 & 7);
	say("_C");
	decimal(at >> 7 & 15);
	say("_C");
	decimal(at >> 3 & 15);
	say("_");
	decimal(at & 7);
}

/* Executes an access; returns whether it was undefined. */
static int access(uint32_t instruction, uint64_t *value)
{
	register uint64_t x0 __asm__("x0") = *value;
	register uint64_t x1 __asm__("x1");

	if (stub[0] != instruction) {
		*(volatile uint32_t *)stub = instruction;
		__asm__ volatile("dsb sy\n\tic iallu\n\tdsb sy\n\tisb" : : : "memory");
	}
	__asm__ volatile("bl stub" : "+r"(x0), "=r"(x1) : : "x30", "memory");
	*value = x0;
	return x1;
}

static int get(uint32_t at, uint64_t *value)
{
	return access(0xd5200000 | at << 5, value);
}

static int set(uint32_t at, uint64_t value)
{
	return access(0xd5000000 | at << 5, &value);
}

static int is_skipped(uint32_t at)
{
	for (unsigned int i = 0; i < sizeof(skipped) / sizeof(skipped[0]); i++)
		if (at - skipped[i].first < skipped[i].count)
			return 1;
	return 0;
}

/* The bits of a register that keep what is written. */
static uint64_t writable(uint32_t at)
{
	uint64_t old = 0, one = 0, other = 0;

	if (get(at, &old) || set(at, MARK))
		return 0;
	get(at, &one);
	set(at, ~MARK);
	get(at, &other);
	set(at, old);
	return ~(one ^ MARK) & ~(other ^ ~MARK);
}

static void add(uint32_t at, uint64_t bits)
{
	if (bits && number < MOST)
		marks[number++] = (struct mark){ at, bits };
}

static void collect(void)
{
	/* Floating point does not trap, so that its control registers are among them. */
	__asm__ volatile("msr cpacr_el1, %0\n\tisb" : : "r"(3ul << 20));
	for (uint32_t at = REGISTER(2, 0, 0, 0, 0); at <= REGISTER(3, 7, 15, 15, 7); at++)
		if (!is_skipped(at))
			add(at, writable(at));
	for (unsigned int i = 0; i < number; i++)
		if (marks[i].at == REGISTER(3, 0, 1, 0, 2))
			marks[i].bits &= ~(3ul << 20);
	add(REGISTER(3, 0, 1, 0, 0), 1 << 26 | 1 << 15 | 1 << 14 | 1 << 9); /* UCI, UCT, DZE, UMA */
	add(REGISTER(3, 0, 12, 0, 0), 1 << 11);
	add(REGISTER(3, 3, 14, 3, 1), 1 << 1); /* IMASK */
	add(REGISTER(3, 0, 12, 8, 3), 7);
	add(REGISTER(3, 0, 12, 12, 3), 7);
	add(REGISTER(3, 0, 4, 0, 0), 0xfu << 28);
	add(REGISTER(3, 0, 4, 0, 1), ~3ul);
	add(REGISTER(3, 0, 5, 2, 0), 0xffffffff);
	add(REGISTER(3, 0, 6, 0, 0), ~0ul);
}

static uint64_t time(void)
{
	uint64_t now;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(now));
	return now;
}

static uint64_t kept[MOST];

/* One round: marks, lets others run, looks. Nothing here takes an exception. */
static unsigned int look(void)
{
	unsigned int lost = 0;
	uint64_t frequency, value, end;

	__asm__ volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
	for (unsigned int i = 0; i < number; i++) {
		value = 0;
		get(marks[i].at, &value);
		set(marks[i].at, (value & ~marks[i].bits) | (MARK & marks[i].bits));
	}
	for (unsigned int i = 0; i < number; i++)
		get(marks[i].at, &kept[i]);
	for (end = time() + frequency * TURN / 1000; time() < end;)
		;
	for (unsigned int i = 0; i < number; i++) {
		get(marks[i].at, &value);
		if (((value ^ kept[i]) & marks[i].bits) == 0)
			continue;
		lost++;
		name(marks[i].at);
		say(" was ");
		digits(kept[i], 16);
		say(" is ");
		digits(value, 16);
		say("\n");
	}
	return lost;
}

void run(void)
{
	unsigned int lost = 0;

	__asm__ volatile("msr vbar_el1, %0\n\tisb" : : "r"(MARK >> 11 & 1 ? others : vectors));
	collect();
	for (unsigned int i = 0; i < number; i++) {
		name(marks[i].at);
		say("\n");
	}
	for (int round = 0; round < ROUNDS; round++)
		lost += look();
	decimal(lost);
	say(" lost of ");
	decimal(number);
	say("\n");

	register uint64_t function __asm__("x0") = SYSTEM_OFF;
	__asm__ volatile("hvc #0" : "+r"(function) : : "x1", "x2", "x3", "memory");
	for (;;)
		;
}
