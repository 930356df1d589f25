/* Hostile virtio block driver. It makes invalid requests and checks after each that its disk still
 * works, first on one vCPU and then with concurrent modifications by the other one. */
#include "guest.h"

#define DISK 0x0b000000
#define CPU_ON 0xc4000003
#define CPU_OFF 0x84000002

enum { NEXT = 1, WRITE = 2, INDIRECT = 4 };
enum { READ, STORE, NEEDS_RESET = 64, READY = 15 };

/* Entry point of the second vCPU, with its own stack. */
__asm__(".section .text.second, \"ax\"\n"
	"second:\n"
	"	adrp x1, second_top\n"
	"	add sp, x1, :lo12:second_top\n"
	"	b scribble\n"
	".section .bss.stack, \"aw\", @nobits\n"
	".balign 16\n"
	".skip 4096\n"
	"second_top:\n"
	".text\n");

struct descriptor {
	uint64_t address;
	uint32_t length;
	uint16_t flags, next;
};

#define SIZE 8
static volatile struct {
	struct descriptor table[SIZE];
	uint16_t flags, index, ring[SIZE], event;
	uint16_t pad[21];
	uint16_t used_flags, used_index;
	struct {
		uint32_t id, length;
	} used[SIZE];
} queue __attribute__((aligned(4096)));

/* Buffers are at the end of memory, so that requests with corrupt lengths only damage them: the header,
 * data for more than a whole disk, the status. */
struct header {
	uint32_t type, priority;
	uint64_t sector;
};

#define BUFFERS 0x48170000
#define header (*(volatile struct header *)BUFFERS)
#define data ((volatile unsigned char *)BUFFERS + 0x10000)
#define verdict (*((volatile unsigned char *)BUFFERS + 0x220000))
#define ROUND (64 << 10)

static volatile uint32_t go, stop, stopped;

static void count(uint64_t number)
{
	char digits[21], *at = digits + 20;

	*at = 0;
	do
		*--at = (char)('0' + number % 10);
	while (number /= 10);
	say(at);
}

/* Registers of the device, by instructions that an exit describes: a compiler may take one that also
 * changes its base, with which Mortise stops the VM. */
static uint32_t load(uint32_t at)
{
	uint32_t value;

	__asm__ volatile("ldr %w0, [%1]" : "=r"(value) : "r"((uintptr_t)DISK + at) : "memory");
	return value;
}

static void store(uint32_t at, uint32_t value)
{
	__asm__ volatile("dsb sy\n\tstr %w0, [%1]" ::"r"(value), "r"((uintptr_t)DISK + at) : "memory");
}

static uint64_t call(uint64_t function, uint64_t a, uint64_t b, uint64_t c)
{
	register uint64_t x0 __asm__("x0") = function;
	register uint64_t x1 __asm__("x1") = a;
	register uint64_t x2 __asm__("x2") = b;
	register uint64_t x3 __asm__("x3") = c;

	__asm__ volatile("hvc #0" : "+r"(x0), "+r"(x1), "+r"(x2), "+r"(x3) : : "memory");
	return x0;
}

static void describe(int number, const volatile void *address, uint32_t length, uint16_t flags)
{
	queue.table[number].address = (uintptr_t)address;
	queue.table[number].length = length;
	queue.table[number].flags = flags;
	queue.table[number].next = (uint16_t)(number + 1);
}

static void part(uint32_t at, uint64_t address)
{
	store(at, (uint32_t)address);
	store(at + 4, (uint32_t)(address >> 32));
}

/* Initialises the device with these queue addresses and this size. */
static void set_up(uint64_t table, uint64_t available, uint64_t used, uint32_t size)
{
	queue.index = queue.used_index = queue.flags = 0;
	store(0x070, 0);
	store(0x070, 3);
	for (uint32_t half = 0; half < 2; half++) {
		store(0x014, half);
		store(0x024, half);
		store(0x020, load(0x010));
	}
	store(0x070, 11);
	store(0x030, 0);
	store(0x038, size);
	part(0x080, table);
	part(0x090, available);
	part(0x0a0, used);
	store(0x044, 1);
	store(0x070, READY);
}

static void usual(void)
{
	set_up((uintptr_t)queue.table, (uintptr_t)&queue.flags, (uintptr_t)&queue.used_flags, SIZE);
}

/* A regular request of three descriptors. */
static void request(uint32_t type, uint64_t sector, uint32_t length)
{
	header.type = type;
	header.sector = sector;
	verdict = 0xff;
	describe(0, &header, 16, NEXT);
	describe(1, data, length, type == STORE ? NEXT : NEXT | WRITE);
	describe(2, &verdict, 1, WRITE);
}

static void offer(void)
{
	queue.ring[queue.index % SIZE] = 0;
	queue.index++;
	store(0x050, 0);
}

/* Whether the disk stores data after a new initialisation. */
static int works(unsigned char with)
{
	usual();
	for (int at = 0; at < 4096; at++)
		data[at] = (unsigned char)(at + with);
	request(STORE, 8, 4096);
	offer();
	if (verdict)
		return 0;
	data[0] = data[4095] = (unsigned char)~with;
	request(READ, 8, 4096);
	offer();
	for (int at = 0; at < 4096; at++)
		if (data[at] != (unsigned char)(at + with))
			return 0;
	return !verdict && queue.used_index == 2 && queue.used[1].length == 4097;
}

static unsigned tried, failed;

/* Outcome of an attempt: the device needs a reset, reported an error, or did nothing. */
static void contained(const char *what, int good)
{
	tried++;
	if (good && works((unsigned char)tried))
		return;
	failed++;
	say(what);
	say(good ? ": the disk does not work any more\n" : ": NOT refused\n");
}

static int broken(void)
{
	offer();
	return (load(0x070) & NEEDS_RESET) && (load(0x060) & 2);
}

static void addresses(void)
{
	/* Addresses of Mortise and its payloads, beyond memory, the device's registers, the distributor. */
	static const uint64_t nowhere[] = {
		0x40200000, 0x48000000 + (4 << 20) - 256, 0x7ffff000, 0x80000000, 0x0b000000, 0x08000000,
		0, 1ull << 38, 1ull << 47, ~0ull << 12, ~0ull - 3,
	};

	for (unsigned n = 0; n < sizeof nowhere / sizeof *nowhere; n++) {
		const volatile void *at = (void *)(uintptr_t)nowhere[n];

		usual();
		request(READ, 0, 4096);
		describe(1, at, 4096, NEXT | WRITE);
		contained("read to nowhere", broken());
		usual();
		request(STORE, 0, 4096);
		describe(1, at, 4096, NEXT);
		contained("write from nowhere", broken());
		usual();
		request(READ, 0, 512);
		describe(0, at, 16, NEXT);
		contained("header nowhere", n == 1 || broken());
		usual();
		request(READ, 0, 512);
		describe(2, at, 1, WRITE);
		contained("verdict nowhere", n == 1 || broken());
		uint64_t aligned = nowhere[n] & ~15ull;
		uint64_t parts[] = { (uintptr_t)queue.table, (uintptr_t)&queue.flags,
				     (uintptr_t)&queue.used_flags };
		for (int which = 0; which < 3; which++) {
			uint64_t mine = parts[which];

			parts[which] = aligned;
			set_up(parts[0], parts[1], parts[2], SIZE);
			request(READ, 0, 512);
			parts[which] = mine;
			offer();
			contained("ring nowhere", n == 1 || (load(0x070) & NEEDS_RESET));
		}
	}
}

static void shapes(void)
{
	usual();
	request(READ, 0, 512);
	queue.table[1].next = 0;
	contained("loop", broken());
	usual();
	request(READ, 0, 512);
	queue.table[1].next = SIZE;
	contained("no such descriptor", broken());
	usual();
	request(READ, 0, 512);
	queue.table[0].flags |= INDIRECT;
	contained("indirect", broken());
	usual();
	request(READ, 0, 512);
	queue.table[2].flags = 0;
	contained("no verdict", broken());
	usual();
	describe(0, &header, 16, WRITE);
	contained("no header", broken());
	usual();
	request(READ, 0, 512);
	queue.index = 0x8000;
	contained("too many", broken());
	usual();
	request(READ, 0, 512);
	queue.ring[0] = 0xffff;
	queue.index = 1;
	store(0x050, 0);
	contained("head beyond", load(0x070) & NEEDS_RESET);
	for (uint32_t size = 0; size < 70000; size = size ? size * 3 : 3) {
		set_up((uintptr_t)queue.table, (uintptr_t)&queue.flags,
		       (uintptr_t)&queue.used_flags, size);
		contained("size", !load(0x044));
	}
	for (uint32_t other = 1; other < 1 << 16; other *= 5) {
		usual();
		request(READ, 0, 512);
		queue.index = 1;
		store(0x050, other);
		contained("another queue", queue.used_index == 0);
	}
}

static void sizes(void)
{
	static const uint64_t far[] = { 4096, 4095, 1ull << 32, ~0ull / 512, ~0ull / 512 + 1, ~0ull };

	for (unsigned n = 0; n < sizeof far / sizeof *far; n++) {
		for (uint32_t type = READ; type <= STORE; type++) {
			usual();
			request(type, far[n], 1024);
			offer();
			contained("beyond the end", verdict == 1);
		}
	}
	for (uint32_t type = READ; type <= STORE; type++) {
		usual();
		request(type, 0, 0xffffffff);
		offer();
		contained("4 GiB", verdict == 1);
		usual();
		request(type, 0, 100);
		offer();
		contained("part of a sector", verdict == 1);
	}
	usual();
	request(77, 0, 512);
	offer();
	contained("unknown", verdict == 2);
}

static void registers(void)
{
	/* All requests that do not stop the device permanently, each with all kinds of errors. */
	for (uint32_t at = 0; at < 0x200; at += 4) {
		usual();
		(void)load(at);
		store(at, 0xffffffff);
		__asm__ volatile("strb %w0, [%1]" ::"r"(0xff), "r"((uintptr_t)DISK + at + 1) : "memory");
		__asm__ volatile("str %0, [%1]" ::"r"(~0ull), "r"((uintptr_t)DISK + (at & ~7u)) : "memory");
		uint64_t value;
		__asm__ volatile("ldrb %w0, [%1]" : "=r"(value) : "r"((uintptr_t)DISK + at + 3) : "memory");
		__asm__ volatile("ldr %0, [%1]" : "=r"(value) : "r"((uintptr_t)DISK + (at & ~7u)) : "memory");
		contained("registers", 1);
	}
}

/* Second vCPU: modifies descriptors, rings and registers at random until it is stopped. */
void scribble(void)
{
	uint64_t random = 88172645463325252ull;
	volatile uint8_t *bytes = (volatile uint8_t *)&queue;
	uint64_t at;

	while (!go)
		;
	while (!stop) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		switch (random >> 60) {
		case 0:
			store(0x070, random & 8 ? 0 : READY);
			break;
		case 1:
			store(0x044, random >> 8 & 1);
			break;
		case 2:
			store(0x050, 0);
			break;
		default:
			/* Corrupt addresses are beyond all memory, never in its own code. */
			at = random % (sizeof queue.table + 32);
			if (at >= sizeof queue.table || at % 16 >= 4)
				bytes[at] = (uint8_t)(random >> 40);
		}
	}
	stopped = 1;
	for (;;)
		call(CPU_OFF, 0, 0, 0);
}

static void races(void)
{
	extern char second[];
	unsigned rounds = 0, refused = 0;

	contained("second vCPU", !call(CPU_ON, 1, (uintptr_t)second, 0));
	go = 1;
	for (; rounds < 3000; rounds++) {
		usual();
		request(rounds & 1, rounds % 4000, ROUND);
		offer();
		refused += (load(0x070) & NEEDS_RESET) || verdict;
	}
	stop = 1;
	while (!stopped)
		;
	say("races: ");
	count(rounds);
	say(refused ? " rounds, some of them disturbed\n" : " rounds, NONE disturbed\n");
	contained("races", 1);
}

void run(void)
{
	contained("nothing", load(0) == 0x74726976 && load(0x100) == 4096);
	addresses();
	shapes();
	sizes();
	registers();
	races();
	say("attempts: ");
	count(tried);
	say(failed ? ", NOT all contained\n" : ", all contained\n");
	call(SYSTEM_OFF, 0, 0, 0);
}
