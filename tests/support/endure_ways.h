/* Each way to use up the memory, for endure.c, which includes this after what it uses. */
static void touch_memory(void)
{
	for (;;) {
		long part = map(1 << 18, PRIVATE);

		for (word place = 0; part > 0 && place < 1 << 18; place += PAGE)
			((volatile char *)part)[place] = 1;
		if (part < 0)
			exit(0);
	}
}

/* A table of addresses for each page. */
static void touch_far_apart(void)
{
	for (word place = 0; place < 4096; place++) {
		long part = call(MMAP, (10UL << 30) + (place << 21), PAGE, 3, PRIVATE, -1, 0);

		if (part < 0)
			exit(0);
		*(volatile char *)part = 1;
	}
	exit(0);
}

static void write_files(void)
{
	char name[] = "/tmp/000000";

	for (word count = 0;; count++) {
		long file;

		for (word place = 10, rest = count; place > 4; place--, rest /= 10)
			name[place] = '0' + rest % 10;
		file = call(OPENAT, HERE, (word)name, 0x41, 0600, 0, 0);
		if (file < 0)
			exit(0);
		for (int part = 0; part < 8; part++)
			if (call(WRITE, file, (word)area, sizeof(area), 0, 0, 0) < 0)
				exit(0);
		call(CLOSE, file, 0, 0, 0, 0, 0);
	}
}

static void make_directories(void)
{
	char name[] = "/tmp/000000";

	/* As many as are looked up within some time, and then the rest of the memory. */
	for (word count = 0; count < 300; count++) {
		for (word place = 10, rest = count; place > 4; place--, rest /= 10)
			name[place] = '0' + rest % 10;
		if (call(MKDIRAT, HERE, (word)name, 0700, 0, 0, 0) < 0)
			break;
	}
	touch_memory();
}

static void fill_pipes(void)
{
	int ends[2];

	for (;;) {
		if (call(PIPE2, (word)ends, 04000, 0, 0, 0, 0) < 0) {
			/* Another process has descriptors of its own. */
			if (fork() != 0)
				break;
			for (int file = 3; file < 256; file++)
				call(CLOSE, file, 0, 0, 0, 0, 0);
			continue;
		}
		while (call(WRITE, ends[1], (word)area, 65536, 0, 0, 0) > 0)
			;
	}
	for (;;)
		sleep(1000000000);
}

static void fill_sockets(void)
{
	int ends[2];

	while (call(SOCKETPAIR, 1, 1, 0, (word)ends, 0, 0) == 0)
		while (call(206, ends[1], (word)area, 65536, 0x40, 0, 0) > 0)
			;
	exit(0);
}

static void create_processes(void)
{
	for (;;) {
		for (word place = 0; place < 8192; place += 512)
			area[place] = place;
		if (fork() < 0)
			break;
	}
	for (;;)
		sleep(1000000000);
}

static void share_memory(void)
{
	for (;;) {
		long part = map(1 << 18, SHARED);

		if (part < 0)
			exit(0);
		for (word place = 0; place < 1 << 18; place += PAGE)
			((volatile char *)part)[place] = 1;
	}
}

/* Ends a process that asked for more than there is by the last error, which is one of these. */
static void end_by(long error)
{
	switch (-error) {
	case 7:
	case 11:
	case 12:
	case 23:
	case 24:
	case 28:
	case 36:
	case 37:
	case 40:
	case 105:
	case 109:
		error = 0;
		break;
	default:
		error = error < 0 && error > -255 ? -error : 255;
	}
	exit(error);
}

static void set_timers(void)
{
	word times[4] = { 0, 1000, 0, 1 };
	word ignore[4] = { 1 };
	long result;
	int timer;

	call(SIGACTION, SIGALRM, (word)ignore, 0, 8, 0, 0);
	while ((result = call(107, 1, 0, (word)&timer, 0, 0, 0)) == 0)
		call(110, timer, 0, (word)times, 0, 0, 0);
	if (fork() >= 0)
		sleep(3000000);
	end_by(result);
}

static void attach_segments(void)
{
	long segment, at;

	while ((segment = call(194, 0, 3 * PAGE, 0600, 0, 0, 0)) >= 0) {
		at = call(196, segment, 0, 0, 0, 0, 0);
		if (at < 0)
			end_by(at);
		*(volatile char *)at = 1;
	}
	end_by(segment);
}

/* Descriptors of each process, until no more files can be open. */
static void open_files(void)
{
	static const char *const names[] = { "/proc/self/maps", "/proc/self/status", "/dev/null", "/tmp" };
	long file = 0;

	for (word count = 0; fork() >= 0 && count < 20; count++)
		for (word place = 0; (file = call(OPENAT, HERE, (word)names[place % 4], 0, 0, 0, 0)) >= 0; place++)
			call(READ, file, (word)area, 4096, 0, 0, 0);
	end_by(file);
}

static void go_deep(void)
{
	long result = 0;

	call(CHDIR, (word)"/tmp", 0, 0, 0, 0, 0);
	for (word depth = 0; depth < 400 && result == 0; depth++) {
		result = call(MKDIRAT, HERE, (word)"deep", 0700, 0, 0, 0);
		if (result == 0)
			result = call(CHDIR, (word)"deep", 0, 0, 0, 0, 0);
	}
	result = call(17, (word)area, 1024, 0, 0, 0, 0);
	touch_memory();
}

static void follow_links(void)
{
	char name[] = "/tmp/000", last[] = "/tmp/000";
	long result;

	for (word count = 0; count < 200; count++) {
		for (word place = 7, rest = count; place > 4; place--, rest /= 10)
			name[place] = '0' + rest % 10;
		if (count > 0)
			call(36, (word)last, HERE, (word)name, 0, 0, 0);
		for (word place = 0; place < 8; place++)
			last[place] = name[place];
	}
	result = call(OPENAT, HERE, (word)name, 0, 0, 0, 0);
	end_by(result);
}

static void pass_arguments(void)
{
	static char *const long_ones[600] = { [0 ... 598] = (char *)"an argument, of many that are passed to it" };
	long result = call(EXECVE, (word)"/init", (word)long_ones, (word)long_ones, 0, 0, 0);

	end_by(result);
}

static void queue_signals(void)
{
	word mask = -1UL;
	int info[32] = { 40, 0, -1 };
	long result;

	call(SIGPROCMASK, 2, (word)&mask, 0, 8, 0, 0);
	for (word count = 0; count < 20; count++) {
		long own = call(172, 0, 0, 0, 0, 0, 0);

		while ((result = call(138, own, 40, (word)info, 0, 0, 0)) == 0)
			;
		if (fork() < 0)
			break;
	}
	end_by(result);
}

static void watch_all(void)
{
	long polls[8], result = 0;

	for (word count = 0; count < 16; count++) {
		word event[2] = { 5, count };

		for (word place = 0; place < 8; place++)
			polls[place] = call(20, 0, 0, 0, 0, 0, 0);
		for (long file; (file = call(19, 1, 0, 0, 0, 0, 0)) >= 0;)
			for (word place = 0; place < 8; place++)
				result = call(21, polls[place], 1, file, (word)event, 0, 0);
		if (result < 0 || fork() < 0)
			break;
	}
	end_by(result < 0 ? result : -24);
}

static void lock_all(void)
{
	long file = call(OPENAT, HERE, (word)"/tmp/a", 0102, 0666, 0, 0), result = 0;

	for (word process = 0; process < 12; process++) {
		for (word place = process; place < 24000 && result == 0; place += 24) {
			word lock[4] = { 1, place, 1, 0 };

			result = call(25, file, 6, (word)lock, 0, 0, 0);
		}
		if (fork() < 0)
			break;
	}
	end_by(result < 0 ? result : -37);
}

/* Areas of each process, as many as it can have. */
static void divide_memory(void)
{
	long start = map(1UL << 24, PRIVATE | 0x4000), result = 0;

	for (word process = 0; process < 30; process++) {
		for (word place = 0; place < 1UL << 24 && result == 0; place += 2 * PAGE)
			result = call(MPROTECT, start + place, PAGE, 1, 0, 0, 0);
		if (fork() < 0)
			break;
	}
	end_by(result);
}

/* Each in a lock with priority inheritance, or a word. */
static void wait_for_word(void)
{
	for (;;) {
		word pages = 16 * PAGE / 8;

		call(FUTEX, (word)&area[below(pages) & ~1UL], 6, 0, 0, 0, 0);
		call(FUTEX, (word)&area[below(pages) & ~1UL], 0, 0, 0, 0, 0);
	}
}

static void wait_for_words(void)
{
	for (word count = 0; count < 200; count++) {
		long stack = map(1 << 14, PRIVATE);

		if (stack < 0 || start_thread(stack + (1 << 14), wait_for_word) < 0)
			break;
	}
	sleep(3000000);
	exit(0);
}

static void fill_memory_files(void)
{
	long file, result = 0;

	while ((file = call(279, (word)"m", 0, 0, 0, 0, 0)) >= 0 && result >= 0)
		for (word count = 0; count < 64 && result >= 0; count++)
			result = call(WRITE, file, (word)area, sizeof(area), 0, 0, 0);
	end_by(file < 0 ? file : result);
}

static void (*const ways[])(void) = {
	touch_memory, touch_far_apart, write_files, make_directories, fill_pipes, fill_sockets,
	create_processes, share_memory, set_timers, attach_segments, open_files, go_deep, follow_links,
	pass_arguments, queue_signals, watch_all, lock_all, divide_memory, wait_for_words, fill_memory_files,
};

enum { WAYS = sizeof(ways) / sizeof(ways[0]) };
