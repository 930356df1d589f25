/* A guest that makes each access which no memory or device answers: from EL0, where a kernel takes the
 * exception, and then from its own EL1.
 */
#include "guest.h"

/* Nothing has this address; the distributor and the serial port are emulated. */
#define NOTHING 0x70000000
#define DISTRIBUTOR 0x08000000
#define SERIAL 0x09000000

#define write(name, value) \
	__asm__ volatile("msr " name ", %0\n\tisb" : : "r"((uint64_t)(value)) : "memory")

/* try(code, address, level) calls code(address) at EL0 or EL1 and returns when it takes an exception,
 * which is recorded with the offset of its vector.
 */
__asm__(".text\n"
	"try:\n"
	"	stp x29, x30, [sp, #-96]!\n"
	"	stp x19, x20, [sp, #16]\n"
	"	stp x21, x22, [sp, #32]\n"
	"	stp x23, x24, [sp, #48]\n"
	"	stp x25, x26, [sp, #64]\n"
	"	stp x27, x28, [sp, #80]\n"
	"	msr tpidr_el1, x18\n"
	"	msr elr_el1, x0\n"
	"	mov x3, #0x3c0\n"
	"	orr x2, x2, x3\n"
	"	msr spsr_el1, x2\n"
	"	mov x0, x1\n"
	"	eret\n"
	"taken:\n"
	"	adrp x1, record\n"
	"	add x1, x1, :lo12:record\n"
	"	mrs x2, esr_el1\n"
	"	mrs x3, far_el1\n"
	"	stp x2, x3, [x1]\n"
	"	mrs x2, elr_el1\n"
	"	mrs x3, spsr_el1\n"
	"	stp x2, x3, [x1, #16]\n"
	"	str x0, [x1, #32]\n"
	"	mrs x18, tpidr_el1\n"
	"	ldp x19, x20, [sp, #16]\n"
	"	ldp x21, x22, [sp, #32]\n"
	"	ldp x23, x24, [sp, #48]\n"
	"	ldp x25, x26, [sp, #64]\n"
	"	ldp x27, x28, [sp, #80]\n"
	"	ldp x29, x30, [sp], #96\n"
	"	ret\n"
	"fetch: br x0\n"
	"load: ldr w1, [x0]\n svc #0\n"
	"store: str w1, [x0]\n svc #0\n"
	"pair: ldp w1, w2, [x0]\n svc #0\n"
	"indexed: ldr w1, [x0], #4\n svc #0\n"
	"exclusive: ldxr w1, [x0]\n svc #0\n"
	"unknown: mrs x1, S3_3_C15_C0_0\n svc #0\n"
	"timer: mrs x1, cntp_cval_el0\n svc #0\n"
	".section .text.vectors, \"ax\"\n"
	".balign 2048\n"
	"vectors:\n"
	".irp at, 0x000, 0x080, 0x100, 0x180, 0x200, 0x280, 0x300, 0x380, 0x400, 0x480, 0x500, 0x580\n"
	"	.org vectors + \\at\n"
	"	mov x0, #\\at\n"
	"	b taken\n"
	".endr\n"
	".text\n");

extern char vectors[];
extern char fetch[], load[], store[], pair[], indexed[], exclusive[], unknown[], timer[];
extern void try(const char *code, uint64_t address, uint64_t mode);

struct {
	uint64_t esr, far, elr, spsr, vector;
} record;

/* Classes of ESR_EL1 from EL0 (Arm ARM, D19.2.37), with IL; from EL1 the aborts are one more. */
#define LENGTH (1u << 25)
#define UNKNOWN (0u << 26 | LENGTH)
#define CALL (0x15u << 26 | LENGTH)
#define FETCH (0x20u << 26 | LENGTH)
#define ACCESS (0x24u << 26 | LENGTH)
#define EXTERNAL 0x10u
#define WRITE (1u << 6)

static void digits(uint64_t value)
{
	for (int shift = 60; shift >= 0; shift -= 4) {
		char text[2] = { "0123456789abcdef"[value >> shift & 15], 0 };

		say(text);
	}
	say(" ");
}

static const struct {
	const char *what, *code;
	uint64_t address;
	uint32_t syndrome;
} cases[] = {
	{ "fetch", fetch, NOTHING, FETCH | EXTERNAL },
	{ "fetch from a device", fetch, SERIAL, FETCH | EXTERNAL },
	{ "load", load, NOTHING, ACCESS | EXTERNAL },
	{ "store", store, NOTHING, ACCESS | EXTERNAL | WRITE },
	{ "load of a pair", pair, NOTHING, ACCESS | EXTERNAL },
	{ "pair from a device", pair, SERIAL, ACCESS | EXTERNAL },
	{ "pair from the distributor", pair, DISTRIBUTOR, ACCESS | EXTERNAL },
	{ "indexed load from a device", indexed, SERIAL, ACCESS | EXTERNAL },
	{ "exclusive load from a device", exclusive, SERIAL, ACCESS | EXTERNAL },
	{ "unknown register", unknown, 0, UNKNOWN },
	{ "timer", timer, 0, UNKNOWN },
	{ "load from a device", load, SERIAL + 0x18, CALL },
};

static void check(int i, int user)
{
	int aborts = cases[i].syndrome >> 31, call = cases[i].syndrome == CALL;
	uint64_t expected = cases[i].syndrome + (user || !aborts ? 0 : 1u << 26);
	uint64_t code = (uint64_t)cases[i].code;
	int good;

	record.esr = record.vector = 0;
	try(cases[i].code, cases[i].address, user ? 0 : 5);
	good = record.esr == expected && record.vector == (user ? 0x400 : 0x200);
	good = good && (record.spsr & 0x3cf) == (user ? 0x3c0 : 0x3c5);
	good = good && (!aborts || record.far == cases[i].address);
	good = good && record.elr == (cases[i].code == fetch ? cases[i].address : code + 8 * call);
	say(cases[i].what);
	if (good) {
		say(user ? ": at EL0\n" : ": at EL1\n");
		return;
	}
	say(": WRONG ");
	digits(record.esr);
	digits(record.far);
	digits(record.elr);
	digits(record.spsr);
	digits(record.vector);
	say("\n");
}

void run(void)
{
	unsigned int number = sizeof(cases) / sizeof(cases[0]), i;

	write("vbar_el1", vectors);
	/* EL0 may use the physical timer. */
	write("cntkctl_el1", 1 << 9);
	for (i = 0; i < number; i++)
		check(i, 1);
	for (i = 0; i < number; i++)
		check(i, 0);

	register uint64_t function __asm__("x0") = SYSTEM_OFF;
	__asm__ volatile("hvc #0" : "+r"(function) : : "x1", "x2", "x3", "memory");
	for (;;)
		;
}
