/*
 * A program without a library that attacks the system it runs on, one process for each attack. The
 * first process collects all of them, prints how each ended, and goes on with `/signals`.
 */
#include "attack.h"
#include "objects.h"

enum { WRITE = 64, MUNMAP = 215, MMAP = 222, MPROTECT = 226 };
enum { NUMBERS = 600, READ = 63, GETPPID = 173 };
enum { EPOLL_PWAIT = 22, SENDFILE = 71, PSELECT = 72, PPOLL = 73, EPOLL_PWAIT2 = 441 };

static long map(word size, word protection)
{
	return call(MMAP, 0, size, protection, 0x22, -1, 0);
}

/* Addresses of the kernel: its image, a stack, a device, the end of its part. */
static volatile word *const kernel[] = {
	(word *)0x40080000, (word *)0x40100000, (word *)0x08000000, (word *)0xfffffff8,
};

static void read_kernel(void)
{
	exit(*kernel[0] == 0);
}

static void write_kernel(void)
{
	*kernel[1] = 1;
}

static void read_device(void)
{
	exit(*kernel[2] == 0);
}

static void read_end(void)
{
	exit(*kernel[3] == 0);
}

static void jump_to_kernel(void)
{
	((void (*)(void))kernel[0])();
}

static void use_null(void)
{
	*(volatile word *)8 = 1;
}

static void write_code(void)
{
	*(volatile unsigned *)(word)write_code = 0;
}

static void execute_stack(void)
{
	volatile unsigned code[1] = { 0xd65f03c0 };

	((void (*)(void))(word)code)();
}

static void read_beyond_all(void)
{
	exit(*(volatile word *)0x8000000000UL == 0);
}

static void write_register(void)
{
	__asm__ volatile("msr ttbr0_el1, xzr");
}

static void mask_interrupts(void)
{
	__asm__ volatile("msr daifset, #15");
}

static void call_hypervisor(void)
{
	__asm__ volatile("hvc 0");
}

static void map_writable_code(void)
{
	long both = map(4096, 7);
	long first = map(4096, 3);

	if (both != -13 || call(MPROTECT, first, 4096, 7, 0, 0, 0) != -13)
		exit(1);
	exit(0);
}

static void pass_addresses_of_the_kernel(void)
{
	for (int place = 0; place < 4; place++) {
		if (call(WRITE, 1, (word)kernel[place], 8, 0, 0, 0) != -14)
			exit(1);
		if (call(SYSINFO, (word)kernel[place], 0, 0, 0, 0, 0) != -14)
			exit(2);
		if (call(MMAP, (word)kernel[place] & ~4095UL, 4096, 3, 0x32, -1, 0) >= 0)
			exit(3);
		if (call(MUNMAP, (word)kernel[place] & ~4095UL, 4096, 0, 0, 0, 0) >= 0)
			exit(4);
	}
	exit(0);
}

static void touch_all_memory(void)
{
	for (;;) {
		long part = map(1 << 20, 3);

		if (part < 0)
			exit(2);
		for (word place = 0; place < 1 << 20; place += 4096)
			((volatile char *)part)[place] = 1;
	}
}

static void create_processes(void)
{
	long number;

	for (;;) {
		number = fork();
		if (number < 0)
			break;
	}
	/* Each process waits for those that it has created. */
	wait_all();
	exit(number == -11 || number == -12 ? 0 : 1);
}

/* Threads that never end by themselves, of which none has a stack of its own. */
static void create_threads(void)
{
	enum { THREAD = 0x10f00 };
	long number = 0;

	while (number >= 0) {
		number = call(CLONE, THREAD, 0, 0, 0, 0, 0);
		while (number == 0)
			;
	}
	call(EXIT_GROUP, number == -11 ? 0 : 1, 0, 0, 0, 0, 0);
}

static void stop_at_a_breakpoint(void)
{
	__asm__ volatile("brk #1");
}

/* Looks for the end of a child all the time, so that it sees it as soon as there is one. */
static void collect_at_once(void)
{
	enum { NO_HANG = 1 };

	for (int count = 0; count < 100; count++) {
		long number = fork();

		if (number < 0)
			exit(1);
		if (number == 0) {
			map(1 << 16, 3);
			exit(0);
		}
		while (call(WAIT, -1, 0, NO_HANG, 0, 0, 0) == 0)
			;
	}
	exit(0);
}

/* Calls that end or block the process, or create others. */
static int is_left_out(long number)
{
	return number == EXIT || number == 94 || number == CLONE || number == 221 || number == 101 ||
	       number == 115 || number == 59 || number == READ || number == 65 ||
	       number == PSELECT || number == PPOLL ||
	       /* Signals to itself and waits for them. */
	       (number >= 129 && number <= 131) || number == 133 ||
	       (number >= 137 && number <= 139) || number == 240;
}

static void call_at_random(void)
{
	static const word at_once[2];
	word state = 88172645463325252UL;
	word places[] = { 0, 1, 8, 4096, 0x40080000, 0x400000, -1UL, 1UL << 63, (word)&state };

	for (int count = 0; count < 20000; count++) {
		word arguments[6];
		long number;

		for (int place = 0; place < 6; place++) {
			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			arguments[place] = state & 1 ? places[state / 2 % 9] : state >> (state / 2 % 64);
		}
		number = state / 3 % NUMBERS;
		/* Descriptor 1 stays open and is not written to: only the parent prints. */
		if (is_left_out(number) || number == WRITE || number == 66 ||
		    number == SENDFILE)
			continue;
		if (number == MQ_OPEN)
			arguments[0] = (word)queue_names[arguments[0] % 4];
		/* An event poll that nothing makes ready would be waited for without end. */
		if (number == EPOLL_PWAIT)
			arguments[3] = 0;
		if (number == EPOLL_PWAIT2)
			arguments[3] = (word)at_once;
		call(number, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4],
		     arguments[5]);
	}
	exit(0);
}

static const struct attack attacks[] = {
	{ "read the kernel", read_kernel },
	{ "write to the kernel", write_kernel },
	{ "read a device", read_device },
	{ "read the kernel's last word", read_end },
	{ "jump to the kernel", jump_to_kernel },
	{ "use a null pointer", use_null },
	{ "write to code", write_code },
	{ "execute the stack", execute_stack },
	{ "read beyond all addresses", read_beyond_all },
	{ "write a system register", write_register },
	{ "mask interrupts", mask_interrupts },
	{ "call the hypervisor", call_hypervisor },
	{ "map writable code", map_writable_code },
	{ "pass addresses of the kernel", pass_addresses_of_the_kernel },
	{ "stop at a breakpoint", stop_at_a_breakpoint },
	{ "collect at once", collect_at_once },
	{ "touch all memory", touch_all_memory },
	{ "create processes", create_processes },
	{ "create threads", create_threads },
	{ "call at random", call_at_random },
};

static const char *const program[] = { "/signals", 0 };

void begin(void)
{
	word before = 0, information[16];

	/* What is made at the first look for a path. */
	call(43, (word)"/nothing", (word)information, 0, 0, 0, 0);
	for (word place = 0; place < sizeof(attacks) / sizeof(attacks[0]); place++) {
		run_attack(&attacks[place]);
		print("\n");
		/* The pages of this program have been touched by now. */
		if (place == 0)
			before = free_memory();
	}
	wait_all();
	remove_all_objects();
	print("lost: ");
	print_number(before - free_memory());
	print("\n");
	call(221, (word)program[0], (word)program, 0, 0, 0, 0);
	exit(0);
}

/* The stack is aligned, and has no caller. */
__asm__(".global _start\n_start: mov x29, xzr\n mov x30, xzr\n b begin\n");
