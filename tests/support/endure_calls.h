/*
 * Random system calls, for endure.c, which includes this after what it uses. Half of them have
 * arguments of the kinds that the call has, near their boundaries; the others any.
 */

static word area[8192] __attribute__((aligned(PAGE)));

static const char *const paths[] = {
	"/tmp/a", "/tmp/b", "/tmp/a/c", "/tmp/a/../b", "/dev/null", "/dev/zero", "/dev/tty", "/proc/self/maps",
	"/proc/self/fd", "/proc", "/", ".", "..", "a", "b", "", "/dev/shm/a", "/dev/full", "/proc/self/status",
	"/tmp/long/long/long/long", "/dev/urandom", "/dev/ptmx", "/tmp/l", "/tmp/l/l/l/l", "/tmp/f", "/tmp/s",
	"/proc/self/task", "/proc/self/fdinfo/3", "/proc/1/environ", "/proc/self/fd/5",
};
enum { PATHS = sizeof(paths) / sizeof(paths[0]), OWN_PATHS = 4 };

/* A path; for user 0 one of those that nothing else needs. */
static int is_root;

static word path(void)
{
	return (word)paths[below(is_root ? OWN_PATHS : PATHS)];
}

/* Pages without access, for reading alone, behind the end of a file, and between holes. */
static word zone;
enum { ZONE = 16 };

static word argument(void)
{
	word choice = below(16);

	switch (choice) {
	case 0:
	case 1:
	case 2:
		return below(24);
	case 3:
		return -1UL - below(3);
	case 4:
		return HERE;
	case 5:
	case 6:
		return path();
	case 7:
	case 8:
	case 9:
		return (word)&area[below(8000)];
	case 10:
		return (word)area + PAGE * below(16);
	case 11:
		return 1UL << below(64);
	case 12:
		return (1UL << below(64)) - 1;
	case 13:
		return below(65536);
	case 14:
		return 0x40080000 + 8 * below(65536);
	default:
		return number() >> below(64);
	}
}

static word length(void)
{
	static const word lengths[] = {
		0, 1, 7, 8, 16, 24, 56, 127, 128, PAGE - 1, PAGE, PAGE + 1, 65535, 65536, 65537, 1 << 20,
		0x7fffffff, 0x80000000, 0xffffffff, 0x7ffff000, 1UL << 32, 1UL << 39, 0x7fffffffffffffff,
		1UL << 63, -1UL, -8UL, -4096UL,
	};

	return below(2) ? below(200) : lengths[below(sizeof(lengths) / sizeof(lengths[0]))];
}

static word buffer(void)
{
	static const word outside[] = {
		0, 8, 0xfff, 0x08000000, 0x40080000, 0xfffffff8, 0x7ffffffff8, 0x8000000000, 1UL << 63,
		-1UL, -8UL, -4096UL,
	};

	switch (below(8)) {
	case 0:
		return outside[below(sizeof(outside) / sizeof(outside[0]))];
	case 1:
		/* Up to the end of a page, behind which another one begins. */
		return zone + PAGE * (1 + below(ZONE - 1)) - below(72);
	case 2:
		return zone + PAGE * below(ZONE) + below(PAGE);
	default:
		return (word)area + 8 * below(8000) + (below(8) == 0 ? below(8) : 0);
	}
}

static word bits(void)
{
	word value = 0;

	for (word count = below(4); count > 0; count--)
		value |= 1UL << below(below(4) ? 20 : 32);
	return value;
}

/*
 * An argument of a kind: a descriptor, a path, a buffer, a length, flags, a small number, a signal, a
 * process, an address of pages, a command of the call, anything.
 */
static word argument_of(char kind)
{
	switch (kind) {
	case 'f':
		return below(16) ? below(30) : argument();
	case 'p':
		return below(16) ? path() : buffer();
	case 'b':
		return buffer();
	case 'n':
		return length();
	case 'g':
		return bits();
	case 'i':
		return below(8);
	case 's':
		return below(66);
	case 'P':
		return below(4) ? below(2) : call(172, 0, 0, 0, 0, 0, 0) + below(4);
	case 'a':
		return below(4) ? zone + PAGE * below(ZONE + 8) : buffer() & -4096UL;
	case 'c':
		return below(48);
	case 'd':
		return HERE;
	default:
		return argument();
	}
}

/* The kinds of the arguments of each call that is offered. */
static const char *const kinds[464] = {
	[17] = "bn", [19] = "ig", [20] = "g", [21] = "fifb", [22] = "fbibb", [23] = "f", [24] = "ffg",
	[25] = "fcn", [29] = "fxb", [32] = "fi", [33] = "dpgx", [34] = "dpg", [35] = "dpg", [36] = "pdp",
	[37] = "dpdpg", [38] = "dpdp", [43] = "pb", [44] = "fb", [45] = "pn", [46] = "fn", [47] = "fgnn",
	[48] = "dpi", [49] = "p", [50] = "f", [52] = "fg", [53] = "dpg", [54] = "dpiig", [55] = "fii",
	[56] = "dpgg", [57] = "f", [59] = "bg", [61] = "fbn", [62] = "fni", [63] = "fbn", [64] = "fbn",
	[65] = "fbi", [66] = "fbi", [67] = "fbnn", [68] = "fbnn", [69] = "fbin", [70] = "fbin",
	[71] = "ffbn", [72] = "ibbbbb", [73] = "bibbn", [78] = "dpbn", [79] = "dpbg", [80] = "fb",
	[81] = "", [82] = "f", [85] = "ig", [86] = "fgbb", [87] = "fb", [88] = "dpbg", [90] = "bb",
	[91] = "bb", [92] = "x", [96] = "b", [98] = "bcnbbn", [99] = "bn", [100] = "Pbb", [101] = "bb",
	[102] = "ib", [103] = "ibb", [107] = "ibb", [108] = "ib", [109] = "i", [110] = "igbb", [111] = "i",
	[113] = "ib", [114] = "ib", [115] = "igbb", [118] = "Pb", [119] = "Pib", [120] = "P", [121] = "Pb",
	[122] = "Pnb", [123] = "Pnb", [124] = "", [125] = "i", [126] = "i", [127] = "Pb", [129] = "Ps",
	[130] = "Ps", [131] = "PPs", [132] = "bb", [133] = "bn", [134] = "sbbn", [135] = "ibbn",
	[136] = "bn", [137] = "bbbn", [138] = "Psb", [140] = "iPi", [141] = "iP", [153] = "b",
	[154] = "PP", [155] = "P", [156] = "P", [157] = "", [160] = "b", [163] = "ib", [164] = "ib",
	[165] = "ib", [167] = "cxxxx", [168] = "bb", [169] = "bb", [179] = "b", [194] = "ing", [195] = "icb",
	[196] = "iag", [197] = "a", [198] = "iig", [199] = "iigb", [200] = "fbn", [201] = "fi",
	[202] = "fbb", [203] = "fbn", [204] = "fbb", [205] = "fbb", [206] = "fbngbn", [207] = "fbngbb",
	[208] = "ficbn", [209] = "ficbb", [210] = "fi", [211] = "fbg", [212] = "fbg", [213] = "fnn",
	[214] = "b", [215] = "an", [216] = "annia", [222] = "anigfn", [223] = "fnni", [226] = "ani",
	[227] = "ani", [228] = "an", [229] = "an", [230] = "i", [232] = "anb", [233] = "anc",
	[240] = "PPsb", [242] = "fbbg", [243] = "fbigb", [260] = "Pbgb", [261] = "Pibb", [266] = "ib",
	[269] = "fbig", [274] = "Pbi", [275] = "Pbni", [276] = "dpdpi", [278] = "bni", [279] = "pi",
	[283] = "ii", [284] = "ani", [285] = "fbfbni", [286] = "fbinni", [287] = "fbinni", [291] = "dpggb",
	[436] = "ffi", [439] = "dpig", [441] = "fbibbn",
};

static void do_nothing(int signal)
{
	(void)signal;
}

/* Ends a wait of the calls that wait, each millisecond. */
static void interrupt_waits(void)
{
	extern char leave_handler[];
	word action[4] = { (word)do_nothing, 0x04000000, (word)leave_handler, 0 };
	word times[4] = { 0, 1000, 0, 1000 };
	word alarm = 1UL << (SIGALRM - 1);

	call(SIGACTION, SIGALRM, (word)action, 0, 8, 0, 0);
	call(SIGPROCMASK, 1, (word)&alarm, 0, 8, 0, 0);
	call(SETITIMER, 0, (word)times, 0, 0, 0, 0);
	for (int signal = 1; signal < 65; signal++)
		if (below(8) == 0 && signal != SIGALRM) {
			action[1] = 0x04000000 | (below(2) << 28) | (below(2) << 30);
			call(SIGACTION, signal, (word)action, 0, 8, 0, 0);
		}
}

static int is_left_out(word call)
{
	return call == EXIT || call == EXIT_GROUP || call == CLONE || call == CLONE3 ||
	       call == EXECVE || call == 281 || call == REBOOT || call == SETTIME || call == 170;
}

/* Calls by which user 0 would change the first process, or leave no time to it. */
static int is_of_others(word which, const word *arguments)
{
	switch (which) {
	case 118:
	case 119:
	case 140:
	case 154:
	case 261:
	case 274:
		return is_root;
	default:
		return which == 122 && arguments[0] == 1;
	}
}

/* Lets a call find messages, vectors, addresses and sets of descriptors in the memory. */
static void fill_area(void)
{
	word at = below(8000);

	switch (below(6)) {
	case 0:
		/* Vectors. */
		for (word place = at & ~1UL; place < at + 24; place += 2) {
			area[place] = buffer();
			area[place + 1] = below(8) ? below(300) : length();
		}
		break;
	case 1:
		/* A message with descriptors. */
		area[at] = below(2) ? 0 : buffer();
		area[at + 1] = below(2) ? 0 : length();
		area[at + 2] = buffer();
		area[at + 3] = below(4);
		area[at + 4] = (word)&area[(at + 8) % 8000];
		area[at + 5] = below(4) ? 24 : length();
		area[(at + 8) % 8000] = below(8) ? 16 + 4 * below(3) : length();
		area[(at + 8) % 8000 + 1] = 1 | (1 + below(2)) << 32;
		area[(at + 8) % 8000 + 2] = below(30) | below(30) << 32;
		break;
	case 2:
		/* The address of a socket. */
		area[at] = 1 | (word)'/' << 16 | (word)'t' << 24 | (word)'m' << 32 | (word)'p' << 40 |
			   (word)'/' << 48 | ('a' + below(20)) << 56;
		area[at + 1] = 0;
		break;
	case 3:
		/* Times. */
		area[at] = below(4) ? 0 : argument();
		area[at + 1] = below(1 << 20);
		area[at + 2] = 0;
		area[at + 3] = below(1 << 20);
		break;
	case 4:
		/* Descriptors with events. */
		for (word place = 0; place < 16; place++)
			area[at + place] = below(30) | below(0x40) << 32;
		break;
	default:
		for (int place = 0; place < 64; place++)
			area[below(8192)] = argument();
	}
}

/* Descriptors of each kind, and pages of each. */
static void prepare(void)
{
	int two[2];
	word null;

	for (int type = 1; type < 6; type += type == 2 ? 3 : 1)
		call(SOCKETPAIR, 1, type, 0, (word)two, 0, 0);
	call(PIPE2, (word)two, 04000, 0, 0, 0, 0);
	call(19, 1, 04000, 0, 0, 0, 0);
	call(85, 1, 04000, 0, 0, 0, 0);
	null = call(20, 0, 0, 0, 0, 0, 0);
	for (word file = 3; file < 14; file++)
		call(21, null, 1, file, (word)(word[]){ 0x80000005, file }, 0, 0);
	call(198, 1, 1 + below(2), 0, 0, 0, 0);
	call(279, (word)"m", 0, 0, 0, 0, 0);
	for (word place = 0; place < 8; place++)
		call(OPENAT, HERE, path(), below(8) ? 0 : DIRECTORY, 0, 0, 0);
	null = call(279, (word)"z", 0, 0, 0, 0, 0);
	call(FTRUNCATE, null, 2 * PAGE + 100, 0, 0, 0, 0);
	zone = map(ZONE * PAGE, PRIVATE);
	call(MPROTECT, zone + 2 * PAGE, PAGE, 1, 0, 0, 0);
	call(MPROTECT, zone + 5 * PAGE, PAGE, 0, 0, 0, 0);
	call(MUNMAP, zone + 7 * PAGE, PAGE, 0, 0, 0, 0);
	call(MMAP, zone + 8 * PAGE, 4 * PAGE, 3, 0x11, null, 0);
	call(MMAP, zone + 13 * PAGE, PAGE, 3, 0x12, null, PAGE);
}

static volatile long calls_left;


static void make_calls(void)
{
	for (word count = 0; calls_left > 0; count++) {
		word arguments[6];
		word which = below(16) == 0 ? 424 + below(40) : below(300);
		const char *kind = which < 464 ? kinds[which] : 0;
		int typed = kind && below(4);

		if (count % 32 == 0)
			interrupt_waits();
		if (count % 4 == 0)
			fill_area();
		for (int place = 0; place < 6; place++) {
			arguments[place] = typed && *kind ? argument_of(*kind++) : argument();
		}
		calls_left--;
		if (is_left_out(which)) {
			long child = 0;

			/* A process or a thread that goes on with a part of the calls. */
			if (below(16) == 0)
				child = fork();
			else if (below(32) == 0)
				child = call(CLONE, bits(), below(2) ? 0 : buffer() & -16UL, 0, 0, 0, 0);
			else
				continue;
			if (child == 0)
				calls_left /= 4;
			continue;
		}
		if (is_of_others(which, arguments))
			continue;
		if (which == MQ_OPEN)
			arguments[0] = (word)queue_names[below(4)];
		call(which, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5]);
		__atomic_fetch_add(&counts->calls, 1, __ATOMIC_RELAXED);
	}
	exit(0);
}

/* Creates a thread with a stack that ends at `stack`, which calls `body`. */
long start_thread(word stack, void (*body)(void));

__asm__(".global start_thread\nstart_thread: mov x6, x1\n mov x1, x0\n mov x0, #0xf00\n"
	" movk x0, #1, lsl #16\n mov x2, xzr\n mov x3, xzr\n mov x4, xzr\n mov x8, #220\n svc 0\n"
	" cbnz x0, 1f\n blr x6\n 1: ret\n");

static void call_at_random(word calls)
{
	long null = call(OPENAT, HERE, (word)"/dev/null", 2, 0, 0, 0);

	if (null < 0)
		exit(1);
	/* Nothing is read from the console, and nothing is printed. */
	for (int file = 0; file < 3; file++)
		call(24, null, file, 0, 0, 0, 0);
	/* Without a terminal. */
	call(SETSID, 0, 0, 0, 0, 0, 0);
	call(CHDIR, (word)"/tmp", 0, 0, 0, 0, 0);
	is_root = below(8) == 0;
	if (!is_root) {
		call(144, 1000, 0, 0, 0, 0, 0);
		call(146, 1000, 0, 0, 0, 0, 0);
	}
	prepare();
	calls_left = calls;
	/* Threads race for the same descriptors and pages. */
	for (word count = below(3); count > 0; count--) {
		long stack = map(1 << 14, PRIVATE);

		if (stack > 0)
			start_thread(stack + (1 << 14), make_calls);
	}
	make_calls();
}
