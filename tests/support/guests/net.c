/* Hostile virtio network driver. It violates the protocol in its queues and checks after each violation
 * that its card works again, then sends frames that no port may send, and floods its peer. */
#include "guest.h"

#define CARD 0x0b000000

enum { NEXT = 1, WRITE = 2, INDIRECT = 4 };
enum { NEEDS_RESET = 64, READY = 15 };
enum { RECEIVE, TRANSMIT };

struct descriptor {
	uint64_t address;
	uint32_t length;
	uint16_t flags, next;
};

#define SIZE 8
static volatile struct queue {
	struct descriptor table[SIZE];
	uint16_t flags, index, ring[SIZE], event;
	uint16_t pad[21];
	uint16_t used_flags, used_index;
	struct {
		uint32_t id, length;
	} used[SIZE];
} __attribute__((aligned(256))) queues[2] __attribute__((aligned(4096)));

#define HEADER 12
static volatile unsigned char sent[HEADER + 4096], received[SIZE][2048];

static void count(uint64_t number)
{
	char digits[21], *at = digits + 20;

	*at = 0;
	do
		*--at = (char)('0' + number % 10);
	while (number /= 10);
	say(at);
}

/* Registers of the card, by instructions that an exit describes. */
static uint32_t load(uint32_t at)
{
	uint32_t value;

	__asm__ volatile("ldr %w0, [%1]" : "=r"(value) : "r"((uintptr_t)CARD + at) : "memory");
	return value;
}

static void store(uint32_t at, uint32_t value)
{
	__asm__ volatile("dsb sy\n\tstr %w0, [%1]" ::"r"(value), "r"((uintptr_t)CARD + at) : "memory");
}

static void power_off(void)
{
	register uint64_t x0 __asm__("x0") = SYSTEM_OFF;

	__asm__ volatile("hvc #0" : "+r"(x0) : : "x1", "x2", "x3", "memory");
}

static void part(uint32_t at, uint64_t address)
{
	store(at, (uint32_t)address);
	store(at + 4, (uint32_t)(address >> 32));
}

static void set_queue(int which, uint64_t table, uint64_t available, uint64_t used, uint32_t size)
{
	queues[which].index = queues[which].used_index = 0;
	queues[which].flags = 1;
	store(0x030, (uint32_t)which);
	store(0x044, 0);
	store(0x038, size);
	part(0x080, table);
	part(0x090, available);
	part(0x0a0, used);
	store(0x044, 1);
}

static void usual_queue(int which)
{
	volatile struct queue *queue = &queues[which];

	set_queue(which, (uintptr_t)queue->table, (uintptr_t)&queue->flags,
		  (uintptr_t)&queue->used_flags, SIZE);
}

static void describe(int which, int number, const volatile void *address, uint32_t length,
		     uint16_t flags)
{
	volatile struct descriptor *it = &queues[which].table[number];

	it->address = (uintptr_t)address;
	it->length = length;
	it->flags = flags;
	it->next = (uint16_t)(number + 1);
}

static void usual(void)
{
	store(0x070, 0);
	store(0x070, 3);
	for (uint32_t half = 0; half < 2; half++) {
		store(0x014, half);
		store(0x024, half);
		store(0x020, load(0x010));
	}
	store(0x070, 11);
	usual_queue(RECEIVE);
	usual_queue(TRANSMIT);
	store(0x070, READY);
	for (int number = 0; number < SIZE; number++) {
		describe(RECEIVE, number, received[number], 2048, WRITE);
		queues[RECEIVE].ring[number] = (uint16_t)number;
	}
	queues[RECEIVE].index = SIZE;
}

/* A frame to all, from this address. */
static void frame(unsigned char last, uint32_t length)
{
	static uint32_t own[2];

	if (!own[0]) {
		own[0] = load(0x100);
		own[1] = load(0x104);
	}
	for (int at = 0; at < 6; at++) {
		sent[HEADER + at] = 0xff;
		sent[HEADER + 6 + at] = (unsigned char)(own[at / 4] >> 8 * (at % 4));
	}
	sent[HEADER + 11] = (unsigned char)(sent[HEADER + 11] + last);
	/* An experimental type (IEEE 802, 9.2.3), which Linux drops. */
	sent[HEADER + 12] = 0x88;
	sent[HEADER + 13] = 0xb5;
	describe(TRANSMIT, 0, sent, HEADER + length, 0);
}

static void offer(void)
{
	volatile struct queue *queue = &queues[TRANSMIT];

	queue->ring[queue->index % SIZE] = 0;
	queue->index++;
	store(0x050, TRANSMIT);
}

/* Whether the card sends a frame after a new initialisation. */
static int works(void)
{
	usual();
	frame(0, 60);
	offer();
	return queues[TRANSMIT].used_index == 1 && !(load(0x070) & NEEDS_RESET);
}

static unsigned tried, failed;

static void contained(const char *what, int good)
{
	tried++;
	if (good && works())
		return;
	failed++;
	say(what);
	say(good ? ": the card does not work any more\n" : ": NOT refused\n");
}

static int broken(void)
{
	offer();
	return (load(0x070) & NEEDS_RESET) && (load(0x060) & 2);
}

static void addresses(void)
{
	/* Addresses of Mortise, the end of memory, other VMs, the card's registers, the distributor. */
	static const uint64_t nowhere[] = {
		0x40200000, 0x48000000 + (4 << 20) - 16, 0x50000000, 0x7ffff000, 0x80000000,
		0x0b000000, 0x08000000, 0, 1ull << 38, 1ull << 47, ~0ull << 12, ~0ull - 3,
	};

	for (unsigned n = 0; n < sizeof nowhere / sizeof *nowhere; n++) {
		const volatile void *at = (void *)(uintptr_t)nowhere[n];
		uint64_t aligned = nowhere[n] & ~15ull;

		usual();
		frame(0, 60);
		describe(TRANSMIT, 0, at, HEADER + 60, 0);
		contained("frame from nowhere", broken());
		usual();
		frame(0, 60);
		describe(TRANSMIT, 0, sent, HEADER + 14, NEXT);
		describe(TRANSMIT, 1, at, 46, 0);
		/* Data is read when a receiver has a buffer, within the rate. */
		contained("data from nowhere", broken() || queues[TRANSMIT].used_index == 1);
		for (int which = 0; which < 3; which++) {
			volatile struct queue *queue = &queues[TRANSMIT];
			uint64_t parts[] = { (uintptr_t)queue->table, (uintptr_t)&queue->flags,
					     (uintptr_t)&queue->used_flags };

			usual();
			parts[which] = aligned;
			set_queue(TRANSMIT, parts[0], parts[1], parts[2], SIZE);
			frame(0, 60);
			offer();
			contained("ring nowhere", n == 1 || (load(0x070) & NEEDS_RESET));
		}
	}
}

static void shapes(void)
{
	usual();
	frame(0, 60);
	describe(TRANSMIT, 0, sent, 72, NEXT);
	queues[TRANSMIT].table[0].next = 0;
	contained("loop", broken() || queues[TRANSMIT].used_index == 1);
	usual();
	describe(TRANSMIT, 0, sent, 0, NEXT);
	queues[TRANSMIT].table[0].next = 0;
	contained("empty loop", broken());
	usual();
	describe(TRANSMIT, 0, sent, 12, NEXT);
	queues[TRANSMIT].table[0].next = SIZE;
	contained("no such descriptor", broken());
	usual();
	describe(TRANSMIT, 0, sent, 72, INDIRECT);
	contained("indirect", broken());
	usual();
	describe(TRANSMIT, 0, sent, 72, WRITE);
	contained("writable", broken());
	usual();
	queues[TRANSMIT].index = 0x8000;
	contained("too many", broken());
	usual();
	queues[TRANSMIT].ring[0] = 0xffff;
	queues[TRANSMIT].index = 1;
	store(0x050, TRANSMIT);
	contained("head beyond", load(0x070) & NEEDS_RESET);
	for (uint32_t length = 0; length < 0xc0000000; length = length ? length * 3 : 1) {
		usual();
		frame(0, 0);
		describe(TRANSMIT, 0, sent, length, 0);
		offer();
		contained("length", queues[TRANSMIT].used_index == 1 || (load(0x070) & NEEDS_RESET));
	}
	for (uint32_t size = 0; size < 70000; size = size ? size * 3 : 3) {
		volatile struct queue *queue = &queues[TRANSMIT];

		usual();
		set_queue(TRANSMIT, (uintptr_t)queue->table, (uintptr_t)&queue->flags,
			  (uintptr_t)&queue->used_flags, size);
		contained("size", !load(0x044));
	}
	for (uint32_t other = 2; other < 1 << 16; other *= 5) {
		usual();
		frame(0, 60);
		queues[TRANSMIT].index = 1;
		store(0x050, other);
		contained("another queue", queues[TRANSMIT].used_index == 0);
	}
}

/* Sources that are not its own: the frames are taken and go nowhere. */
static void sources(void)
{
	for (int last = 1; last < 256; last++) {
		usual();
		frame((unsigned char)last, 60);
		offer();
		contained("source", queues[TRANSMIT].used_index == 1);
	}
}

static void registers(void)
{
	for (uint32_t at = 0; at < 0x200; at += 4) {
		uint64_t value;

		usual();
		(void)load(at);
		store(at, 0xffffffff);
		__asm__ volatile("strb %w0, [%1]" ::"r"(0xff), "r"((uintptr_t)CARD + at + 1) : "memory");
		__asm__ volatile("str %0, [%1]" ::"r"(~0ull), "r"((uintptr_t)CARD + (at & ~7u)) : "memory");
		__asm__ volatile("ldrb %w0, [%1]" : "=r"(value) : "r"((uintptr_t)CARD + at + 3) : "memory");
		__asm__ volatile("ldr %0, [%1]" : "=r"(value) : "r"((uintptr_t)CARD + (at & ~7u)) : "memory");
		contained("registers", 1);
	}
}

/* Changes its receive queue at random while others send to it, and sends itself as fast as it can. */
/* FRAMES is the number of frames. */
static void flood(void)
{
	uint64_t random = 88172645463325252ull;
	volatile uint8_t *bytes = (volatile uint8_t *)&queues[RECEIVE];
	unsigned frames = 0;

	usual();
	for (; frames < FRAMES; frames++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		/* Corrupt addresses are beyond all memory, never in its own code. */
		uint64_t at = random % (sizeof queues[RECEIVE].table + 32);

		if (at >= sizeof queues[RECEIVE].table || at % 16 >= 4)
			bytes[at] = (uint8_t)(random >> 40);
		if (load(0x070) & NEEDS_RESET || frames % 64 == 0)
			usual();
		frame(0, frames & 1 ? 60 : 1500);
		offer();
	}
	say("flood: ");
	count(frames);
	say(" frames\n");
	contained("flood", 1);
}

void run(void)
{
	contained("nothing", load(0) == 0x74726976 && load(8) == 1);
	addresses();
	shapes();
	sources();
	registers();
	flood();
	say("attempts: ");
	count(tried);
	say(failed ? ", NOT all contained\n" : ", all contained\n");
	for (;;)
		power_off();
}
