/*
 * A first process that counts what the system loses under others:
 *
 *     init CALLS EACH KILLS EXHAUSTIONS [FIRST [SEED]]
 *
 * Processes make random system calls, EACH at most, until there were CALLS; trees of working processes
 * are killed at random instants until KILLS have ended by it; memory, files, processes and whatever
 * else lies in memory are used up EXHAUSTIONS times, from the way FIRST on. After each part no other
 * process is left, no file but those of the start, and all memory is free that was at the start.
 */
#include "objects.h"
#include "system_call.h"

enum { MKDIRAT = 34, UNLINKAT = 35, FTRUNCATE = 46, CHDIR = 49, OPENAT = 56, CLOSE = 57, PIPE2 = 59 };
enum { GETDENTS = 61, READ = 63, WRITE = 64, EXIT = 93, EXIT_GROUP = 94, FUTEX = 98, NANOSLEEP = 101 };
enum { SETITIMER = 103, YIELD = 124, KILL = 129, SIGACTION = 134, SIGPROCMASK = 135, REBOOT = 142 };
enum { SETSID = 157, SYSINFO = 179, SOCKETPAIR = 199, MUNMAP = 215, CLONE = 220, EXECVE = 221 };
enum { MMAP = 222, MPROTECT = 226, WAIT = 260, CLONE3 = 435, SETTIME = 112 };

enum { ENOENT = -2, ECHILD = -10, SIGBUS = 7, SIGKILL = 9, SIGALRM = 14, SIGCHLD = 17, NO_HANG = 1 };
enum { PRIVATE = 0x22, SHARED = 0x21, DIRECTORY = 0x4000, HERE = -100, PAGE = 4096 };

/* Counts of all processes, in memory that they share. */
static volatile struct {
	word calls;
	word steps;
} *counts;

static word state;

static word number(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static word below(word limit)
{
	return (number() >> 8) % limit;
}

/* A child has random numbers of its own. */
static long fork(void)
{
	long child = call(CLONE, SIGCHLD, 0, 0, 0, 0, 0);

	state = state * 6364136223846793005UL + (child == 0 ? 1442695040888963407UL : 0);
	return child;
}

static void exit(int code)
{
	for (;;)
		call(EXIT_GROUP, code, 0, 0, 0, 0, 0);
}

static long map(word size, word kind)
{
	return call(MMAP, 0, size, 3, kind, -1, 0);
}

static void sleep(word nanoseconds)
{
	word time[2] = { nanoseconds / 1000000000, nanoseconds % 1000000000 };

	call(NANOSLEEP, (word)time, 0, 0, 0, 0, 0);
}

static word free_memory(void)
{
	word info[14];

	call(SYSINFO, (word)info, 0, 0, 0, 0, 0);
	return info[5];
}

static word killed;
static void touch_memory(void);

/* Ends all other processes, and collects them. */
static void end_all(void)
{
	unsigned status;
	long ended;

	do {
		call(KILL, -1, SIGKILL, 0, 0, 0, 0);
		ended = call(WAIT, -1, (word)&status, 0, 0, 0, 0);
		if (ended > 0 && (status & 0x7f) == SIGKILL)
			killed++;
	} while (ended != ECHILD);
}

/* Names in the directories that have some at the start. */
static char names[4][2048];
static const char *const directories[4] = { "/", "/dev", "/tmp", "/dev/shm" };

struct entry {
	word inode;
	word next;
	unsigned short length;
	unsigned char kind;
	char name[];
};

static int is_same(const char *one, const char *other)
{
	while (*one && *one == *other) {
		one++;
		other++;
	}
	return *one == *other;
}

static int is_known(const char *known, const char *name)
{
	for (; *known; known++) {
		if (is_same(known, name))
			return 1;
		while (*known)
			known++;
	}
	return 0;
}

enum { DEPTH = 12, RENAME = 276 };
static char rooms[DEPTH][1024];
static long topmost;

/* Removes all entries of a directory that are not known. */
static void clear(long directory, const char *known, int depth)
{
	static word moved;
	char *room = rooms[depth];
	int removed;

	do {
		long length;

		removed = 0;
		call(62, directory, 0, 0, 0, 0, 0);
		while ((length = call(GETDENTS, directory, (word)room, 1024, 0, 0, 0)) > 0) {
			for (long place = 0; place < length;) {
				struct entry *entry = (struct entry *)(room + place);
				char *name = entry->name;

				place += entry->length;
				if (is_same(name, ".") || is_same(name, "..") || is_known(known, name))
					continue;
				if (call(UNLINKAT, directory, (word)name, 0, 0, 0, 0) == 0) {
					removed = 1;
					continue;
				}
				if (depth + 1 == DEPTH) {
					/* What lies deeper comes to the top, where it is found next. */
					char top[] = "moved000000";

					for (word place = 10, rest = ++moved; place > 4; place--, rest /= 10)
						top[place] = '0' + rest % 10;
					if (call(RENAME, directory, (word)name, topmost, (word)top, 0, 0) == 0)
						removed = 1;
					continue;
				}
				if (depth + 1 < DEPTH) {
					long inner = call(OPENAT, directory, (word)name, DIRECTORY,
							  0, 0, 0);

					if (inner >= 0) {
						clear(inner, "", depth + 1);
						call(CLOSE, inner, 0, 0, 0, 0, 0);
					}
				}
				if (call(UNLINKAT, directory, (word)name, 0x200, 0, 0, 0) == 0)
					removed = 1;
			}
		}
	} while (removed);
}

static void note_names(void)
{
	static char room[1024];

	for (int place = 0; place < 4; place++) {
		long directory = call(OPENAT, HERE, (word)directories[place], DIRECTORY, 0, 0, 0);
		char *to = names[place];
		long length;

		if (directory < 0)
			continue;
		while ((length = call(GETDENTS, directory, (word)room, 1024, 0, 0, 0)) > 0)
			for (long at = 0; at < length;) {
				struct entry *entry = (struct entry *)(room + at);
				char *name = entry->name;

				at += entry->length;
				while ((*to++ = *name++))
					;
			}
		call(CLOSE, directory, 0, 0, 0, 0, 0);
	}
}

/*
 * Looks at all of `/proc`: its directories have the entries of the present processes then, which are
 * those of this one, and have had them since the start.
 */
static void look_at(long directory, int depth)
{
	char *room = rooms[depth];
	long length;

	while ((length = call(GETDENTS, directory, (word)room, 1024, 0, 0, 0)) > 0)
		for (long place = 0; place < length;) {
			struct entry *entry = (struct entry *)(room + place);
			long inner;

			place += entry->length;
			if (entry->kind != 4 || entry->name[0] == '.')
				continue;
			inner = call(OPENAT, directory, (word)entry->name, DIRECTORY, 0, 0, 0);
			if (inner >= 0 && depth + 1 < DEPTH)
				look_at(inner, depth + 1);
			call(CLOSE, inner, 0, 0, 0, 0, 0);
		}
}

/*
 * The free memory while there is no other process. Copies of files of the image are kept until memory
 * is used up.
 */
static word settled_memory(void)
{
	long directory;

	if (fork() == 0)
		touch_memory();
	call(WAIT, -1, 0, 0, 0, 0, 0);
	directory = call(OPENAT, HERE, (word)"/proc", DIRECTORY, 0, 0, 0);
	look_at(directory, 0);
	call(CLOSE, directory, 0, 0, 0, 0, 0);
	return free_memory();
}

static void clean_up(void)
{
	end_all();
	for (int place = 0; place < 4; place++) {
		long directory = call(OPENAT, HERE, (word)directories[place], DIRECTORY, 0, 0, 0);

		if (directory < 0)
			continue;
		topmost = directory;
		clear(directory, names[place], 0);
		call(CLOSE, directory, 0, 0, 0, 0, 0);
	}
	/* User 0 may have changed what all others use. */
	call(53, HERE, (word)"/dev/null", 0666, 0, 0, 0);
	remove_all_objects();
}

#include "endure_calls.h"

/*
 * Processes with random calls, until there were so many. One that makes no call any more is ended.
 * Returns how many calls there were; a life that changed the count itself has none.
 */
static word random_lives(word total, word each)
{
	word made = 0, idle = 0;

	while (made < total && idle < 100) {
		word before = 1;
		int waited = 0;
		long child;

		counts->calls = 0;
		child = fork();
		if (child == 0)
			call_at_random(each);
		while (call(WAIT, child, 0, NO_HANG, 0, 0, 0) == 0 && waited < 8) {
			waited = counts->calls == before ? waited + 1 : 0;
			before = counts->calls;
			sleep(1000000);
		}
		clean_up();
		idle = counts->calls == 0 ? idle + 1 : 0;
		if (counts->calls <= 64 * each)
			made += counts->calls;
	}
	return made;
}

/* Trees of processes that work. */

static void run_thread(void)
{
	for (word turn = below(64); turn > 0; turn--)
		call(YIELD, 0, 0, 0, 0, 0, 0);
	for (;;)
		call(EXIT, 0, 0, 0, 0, 0, 0);
}


static char *const program[] = { "/init", "work", 0 };

static void work(int depth)
{
	int ends[2];

	for (;;) {
		__atomic_fetch_add(&counts->steps, 1, __ATOMIC_RELAXED);
		switch (below(16)) {
		case 0:
			if (depth < 3) {
				if (fork() == 0)
					depth++;
			}
			break;
		case 1:
			if (call(PIPE2, (word)ends, 0, 0, 0, 0, 0) == 0) {
				call(WRITE, ends[1], (word)area, below(60000), 0, 0, 0);
				call(READ, ends[0], (word)area, below(60000) + 1, 0, 0, 0);
				call(CLOSE, ends[below(2)], 0, 0, 0, 0, 0);
			}
			break;
		case 2: {
			long file = call(OPENAT, HERE, (word)paths[below(2)], 0x442, 0600, 0, 0);

			call(WRITE, file, (word)area, below(65536), 0, 0, 0);
			if (below(2))
				call(CLOSE, file, 0, 0, 0, 0, 0);
			if (below(2))
				call(UNLINKAT, HERE, (word)paths[below(2)], 0, 0, 0, 0);
			break;
		}
		case 3: {
			long part = map(1 << 18, below(2) ? PRIVATE : SHARED);

			for (word place = 0; part > 0 && place < below(64); place++)
				((volatile char *)part)[below(1 << 18)] = 1;
			if (part > 0 && below(2))
				call(MUNMAP, part, 1 << 17, 0, 0, 0, 0);
			break;
		}
		case 4: {
			long stack = map(1 << 14, PRIVATE);

			if (stack > 0)
				start_thread(stack + (1 << 14), run_thread);
			break;
		}
		case 5:
			if (below(4) == 0)
				call(EXECVE, (word)program[0], (word)program, 0, 0, 0, 0);
			break;
		case 6:
			sleep(below(50000));
			break;
		case 7:
			call(WAIT, -1, 0, NO_HANG, 0, 0, 0);
			break;
		case 8:
			area[0] = 1;
			call(FUTEX, (word)area, 0, 1, (word)(word[]){ 0, below(100000) }, 0, 0);
			break;
		case 9:
			call(SOCKETPAIR, 1, 1, 0, (word)ends, 0, 0);
			break;
		case 10:
			for (word place = 0; place < 8; place++)
				area[below(8192)] = place;
			break;
		case 11: {
			word times[4] = { 0, 1000000, 0, 1 + below(5000000) };
			int timer;

			if (call(107, 1, 0, (word)&timer, 0, 0, 0) == 0)
				call(110, timer, 0, (word)times, 0, 0, 0);
			break;
		}
		case 12: {
			long poll = call(20, 0, 0, 0, 0, 0, 0), counter = call(19, 1, 0, 0, 0, 0, 0);
			word event[2] = { 5 }, found[8];

			call(21, poll, 1, counter, (word)event, 0, 0);
			call(22, poll, (word)found, 4, below(2), 0, 0);
			break;
		}
		case 13: {
			long file = call(OPENAT, HERE, (word)paths[below(2)], 0102, 0600, 0, 0);
			word lock[4] = { below(2), below(4), 1 + below(4), 0 };

			call(25, file, 6 + below(2), (word)lock, 0, 0, 0);
			break;
		}
		case 14: {
			long segment = call(194, 0, 1 + below(3 * PAGE), 0600, 0, 0, 0);
			long at = call(196, segment, 0, 0, 0, 0, 0);

			if (at > 0)
				*(volatile char *)at = 1;
			if (below(2))
				call(SHMCTL, segment, 0, 0, 0, 0, 0);
			break;
		}
		default:
			call(KILL, 0, below(8) ? 0 : 1 + below(31), 0, 0, 0, 0);
			break;
		}
	}
}

static void kill_trees(word kills)
{
	for (killed = 0; killed < kills;) {
		long child = fork();

		if (child == 0) {
			call(SETSID, 0, 0, 0, 0, 0, 0);
			work(0);
		}
		sleep(below(2000000));
		call(KILL, -child, SIGKILL, 0, 0, 0, 0);
		clean_up();
	}
}

#include "endure_ways.h"

static void exhaust(word times, word first)
{
	for (word count = first; count < first + times; count++) {
		word before = free_memory();
		word least = before, now;
		long child = fork();
		int still = 0;
		unsigned status = 0;

		if (child == 0)
			ways[count % WAYS]();
		/* Until it has ended, or uses no more. */
		while (call(WAIT, child, (word)&status, NO_HANG, 0, 0, 0) == 0 && still < 20) {
			sleep(1000000);
			now = free_memory();
			still = now < least ? 0 : still + 1;
			least = now < least ? now : least;
		}
		clean_up();
		/* Each request that cannot be served is an error, memory that cannot be touched a signal. */
		if (status != 0 && status != SIGBUS && status != SIGKILL) {
			print("exhaustion ");
			print_number(count % WAYS);
			print(" ended by ");
			print_number(status);
			print("\n");
		}
	}
}

static void print_line(const char *name, word count, long lost)
{
	print(name);
	print(": ");
	print_number(count);
	print(", lost ");
	print_number(lost);
	print("\n");
}

static word parsed(const char *digits)
{
	word value = 0;

	for (; *digits; digits++)
		value = value * 10 + *digits - '0';
	return value;
}

/* Has the pages that this program uses later on. */
static void use_own_pages(void)
{
	volatile char stack[1 << 14];

	for (word place = 0; place < sizeof(stack); place += 64)
		stack[place] = 0;
	for (word place = 0; place < sizeof(rooms); place += 64)
		((volatile char *)rooms)[place] = 0;
	for (word place = 0; place < sizeof(names); place += 64)
		((volatile char *)names)[place] = 0;
}

/* Has a signal pending: the first one takes a page that all later ones use. */
static void queue_signal(void)
{
	word set = 1UL << 33;

	call(135, 0, (word)&set, 0, 8, 0, 0);
	call(129, call(172, 0, 0, 0, 0, 0, 0), 34, 0, 0, 0, 0);
	call(137, (word)&set, 0, 0, 8, 0, 0);
	call(135, 1, (word)&set, 0, 8, 0, 0);
}

void begin(word *stack)
{
	char **arguments = (char **)(stack + 1);
	word calls, each, kills, exhaustions, before, made;

	state = 88172645463325252UL;
	/* Far from what random calls change. */
	counts = (void *)call(MMAP, 0x5a00000000, PAGE, 3, SHARED | 0x10, -1, 0);
	if (stack[0] == 2) {
		state ^= (word)call(172, 0, 0, 0, 0, 0, 0) << 20;
		work(1);
	}
	calls = parsed(arguments[1]);
	each = parsed(arguments[2]);
	kills = parsed(arguments[3]);
	exhaustions = parsed(arguments[4]);
	/* Other users have files as well. */
	call(53, HERE, (word)"/tmp", 01777, 0, 0, 0);
	call(53, HERE, (word)"/dev/shm", 01777, 0, 0, 0);
	if (stack[0] > 6)
		state ^= parsed(arguments[6]) << 32;
	use_own_pages();
	queue_signal();
	note_names();
	random_lives(10, 10);
	exhaust(1, 0);
	print("begun\n");

	before = settled_memory();
	made = random_lives(calls, each);
	print_line("calls", made, before - settled_memory());
	kill_trees(kills);
	print_line("kills", killed, before - settled_memory());
	exhaust(exhaustions, stack[0] > 5 ? parsed(arguments[5]) : 0);
	print_line("exhaustions", exhaustions, before - settled_memory());
	exit(0);
}

/* The stack is aligned, and has no caller. */
__asm__(".global _start\n_start: mov x29, xzr\n mov x30, xzr\n mov x0, sp\n b begin\n"
	".global leave_handler\nleave_handler: mov x8, #139\n svc 0\n");
