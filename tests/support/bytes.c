/* Compares the functions of `pool/core/memcpy` with reference loops at every alignment. */

typedef unsigned char byte;
typedef unsigned long word;

void *memcpy(void *, const void *, word);
void *memmove(void *, const void *, word);
void *memset(void *, int, word);
int memcmp(const void *, const void *, word);

enum { ROOM = 256, MOST = 150 };

static word table[512] __attribute__((aligned(4096)));
static byte own[ROOM], wanted[ROOM], source[ROOM];

static void say(const char *text)
{
	while (*text)
		*(volatile unsigned *)0x09000000 = *text++;
}

/* Unaligned accesses need normal memory: a 1:1 map of 1 GiB of devices and 1 GiB of RAM. */
static void map(void)
{
	table[0] = 0x00000000 | 1 << 10 | 0 << 2 | 1;
	table[1] = 0x40000000 | 1 << 10 | 3 << 8 | 1 << 2 | 1;
	asm volatile("msr mair_el1, %0; msr tcr_el1, %1; msr ttbr0_el1, %2; isb; tlbi vmalle1; dsb sy;"
		     "mrs x9, sctlr_el1; orr x9, x9, #1; bic x9, x9, #2; msr sctlr_el1, x9; isb"
		     :: "r"(0xff00ul), "r"(25ul | 3ul << 12 | 2ul << 32 | 1ul << 23), "r"(table)
		     : "x9", "memory");
}

static void fill(void)
{
	for (int i = 0; i < ROOM; i++) {
		*(volatile byte *)&own[i] = *(volatile byte *)&wanted[i] = i * 7 + 3;
		*(volatile byte *)&source[i] = i * 31 + 1;
	}
}

static int same(void)
{
	for (int i = 0; i < ROOM; i++)
		if (*(volatile byte *)&own[i] != *(volatile byte *)&wanted[i])
			return 0;
	return 1;
}

static int copies(int to, int from, int count)
{
	fill();
	for (int i = 0; i < count; i++)
		*(volatile byte *)&wanted[to + i] = source[from + i];
	return memcpy(own + to, source + from, count) == own + to && same();
}

static int moves(int to, int from, int count)
{
	fill();
	for (int i = 0; i < count; i++)
		*(volatile byte *)&wanted[to + i] = (from + i) * 7 + 3;
	return memmove(own + to, own + from, count) == own + to && same();
}

static int fills(int to, int value, int count)
{
	fill();
	for (int i = 0; i < count; i++)
		*(volatile byte *)&wanted[to + i] = value;
	return memset(own + to, value, count) == own + to && same();
}

/* Equal, then with each byte smaller or larger, then with differences behind the end. */
static int compares(int at, int count)
{
	fill();
	for (int i = 0; i < count; i++)
		*(volatile byte *)&own[at + i] = source[i];
	if (memcmp(own + at, source, count) != 0)
		return 0;
	for (int i = 0; i < count; i++) {
		byte was = own[at + i];
		*(volatile byte *)&own[at + i] = was + 1;
		if (memcmp(own + at, source, count) * (was == 255 ? -1 : 1) <= 0 ||
		    memcmp(source, own + at, count) * (was == 255 ? -1 : 1) >= 0 ||
		    memcmp(own + at, source, i) != 0)
			return 0;
		*(volatile byte *)&own[at + i] = was;
	}
	return 1;
}

void begin(void)
{
	int well = 1;

	map();
	for (int count = 0; count < MOST; count++) {
		for (int to = 0; to < 9; to++) {
			well &= copies(to, (to * 5 + count) % 9, count);
			well &= fills(to, count + 100, count);
		}
		for (int from = 0; from < 80; from += 1 + count % 5) {
			well &= moves(40, from, count);
		}
		well &= compares(count % 9, count);
		if (!well) {
			say("FAILED\r\n");
			return;
		}
	}
	say("all bytes well\r\n");
}

asm(".global _start; _start: adrp x0, stack; add sp, x0, #0x1000; bl begin; 1: wfi; b 1b;"
    ".pushsection .bss; .balign 4096; stack: .space 4096; .popsection");
