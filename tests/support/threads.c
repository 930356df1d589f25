/*
 * A program without a library that uses threads: it creates them, has them wait for each other by
 * futexes, ends them, and prints what it found.
 */
#include "system_call.h"

enum { EXIT = 93, EXIT_GROUP = 94, FUTEX = 98, SET_ROBUST_LIST = 99, NANOSLEEP = 101 };
enum { YIELD = 124, GETPID = 172, GETTID = 178, CLONE = 220, EXECVE = 221, WAIT4 = 260 };
enum { CLONE3 = 435, SIGCHLD = 17 };
enum { WAIT = 0, WAKE = 1, REQUEUE = 3, COMPARE_REQUEUE = 4, WAKE_OPERATION = 5 };
enum { WAIT_BITS = 9, WAKE_BITS = 10, PRIVATE = 128 };
/* CLONE_VM, FS, FILES, SIGHAND, THREAD, SYSVSEM, PARENT_SETTID, CHILD_CLEARTID. */
enum { THREAD = 0x350f00 };
enum { STACK = 16384, THREADS = 8 };

typedef void body(word);

static unsigned char stacks[THREADS][STACK] __attribute__((aligned(16)));
static volatile unsigned running[THREADS];
static volatile unsigned lock, ready, gate, other;
static volatile unsigned numbers[THREADS];
static word count;

/* Creates a thread that calls a function and ends; its word is its number while it runs. */
long begin_thread(word flags, void *stack, volatile unsigned *parent, word pointer,
		  volatile unsigned *child, body *function, word argument);
__asm__("begin_thread:\n"
	"	stp x5, x6, [x1, #-16]!\n"
	"	mov x8, #220\n"
	"	svc 0\n"
	"	cbz x0, 1f\n"
	"	ret\n"
	"1:	ldp x1, x0, [sp], #16\n"
	"	mov x29, xzr\n"
	"	mov x30, xzr\n"
	"	blr x1\n"
	"	mov x0, #0\n"
	"	mov x8, #93\n"
	"	svc 0\n");

static long futex(volatile unsigned *at, word operation, word value, word more, void *second, word last)
{
	return call(FUTEX, (word)at, operation, value, more, (word)second, last);
}

static long create(int index, body *function, word argument)
{
	return begin_thread(THREAD, stacks[index] + STACK, &running[index], 0, &running[index],
			    function, argument);
}

static void join(int index)
{
	unsigned number;

	while ((number = running[index]) != 0)
		futex(&running[index], WAIT, number, 0, 0, 0);
}

static void acquire(void)
{
	unsigned expected = 0;

	while (!__atomic_compare_exchange_n(&lock, &expected, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		futex(&lock, WAIT | PRIVATE, 1, 0, 0, 0);
		expected = 0;
	}
}

static void release(void)
{
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
	futex(&lock, WAKE | PRIVATE, 1, 0, 0, 0);
}

static void sleep(word nanoseconds)
{
	word time[2] = { 0, nanoseconds };

	call(NANOSLEEP, (word)time, 0, 0, 0, 0, 0);
}

static void report(const char *text, long number)
{
	print(text);
	print(": ");
	print_number(number);
	print("\n");
}

static void add(word index)
{
	numbers[index] = call(GETTID, 0, 0, 0, 0, 0, 0);
	for (int time = 0; time < 1000; time++) {
		acquire();
		word before = count;
		if (time % 100 == 0)
			call(YIELD, 0, 0, 0, 0, 0, 0);
		count = before + 1;
		release();
	}
}

static void exclude_each_other(void)
{
	long own = call(GETPID, 0, 0, 0, 0, 0, 0);
	int distinct = 0;

	for (int index = 0; index < THREADS; index++)
		create(index, add, index);
	for (int index = 0; index < THREADS; index++)
		join(index);
	for (int index = 0; index < THREADS; index++) {
		distinct += numbers[index] != 0 && numbers[index] != own;
		for (int before = 0; before < index; before++)
			distinct -= numbers[before] == numbers[index];
	}
	report("counted", count);
	report("numbers", distinct);
}

static void wait_at_gate(word bits)
{
	__atomic_add_fetch(&ready, 1, __ATOMIC_SEQ_CST);
	futex(&gate, WAIT_BITS, 0, 0, 0, bits);
	__atomic_add_fetch(&other, 1, __ATOMIC_SEQ_CST);
}

static void gather(int threads, word bits)
{
	ready = other = 0;
	for (int index = 0; index < threads; index++)
		create(index, wait_at_gate, bits << index);
	while (ready != (unsigned)threads)
		call(YIELD, 0, 0, 0, 0, 0, 0);
	/* Until each of them waits. */
	sleep(1000000);
}

static void use_futexes(void)
{
	word millisecond[2] = { 0, 1000000 };
	word *kernel = (word *)0x40080000;
	volatile unsigned second = 0;

	report("another value", futex(&gate, WAIT, 1, 0, 0, 0));
	report("a timeout", futex(&gate, WAIT, 0, (word)millisecond, 0, 0));
	report("a deadline", futex(&gate, WAIT_BITS, 0, (word)millisecond, 0, -1));
	report("a word of the kernel", futex((unsigned *)kernel, WAIT, 0, 0, 0, 0));
	report("no word", futex((unsigned *)((word)&gate + 1), WAIT, 0, 0, 0, 0));
	report("no bits", futex(&gate, WAIT_BITS, 0, 0, 0, 0));

	gather(4, 1);
	report("woken by bits", futex(&gate, WAKE_BITS, 4, 0, 0, 4));
	report("moved on another value", futex(&gate, COMPARE_REQUEUE, 1, 9, (void *)&second, 7));
	report("woken and moved", futex(&gate, COMPARE_REQUEUE, 1, 9, (void *)&second, 0));
	report("left", futex(&gate, WAKE, 9, 0, 0, 0));
	report("woken at the other word", futex(&second, WAKE, 9, 0, 0, 0));
	for (int index = 0; index < 4; index++)
		join(index);
	report("went on", other);

	gather(2, -1);
	/* Adds 5 to the word, and wakes its threads if it was 1, then if it was zero. */
	report("not woken by an operation", futex(&second, WAKE_OPERATION, 9, 9, (void *)&gate, 0x10005001));
	gate = 0;
	report("woken by an operation", futex(&second, WAKE_OPERATION, 9, 9, (void *)&gate, 0x10005000));
	report("the word", gate);
	gate = 0;
	join(0);
	join(1);
}

static struct {
	void *next;
	long offset;
	void *pending;
} list;
static struct {
	void *next;
	volatile unsigned lock;
} robust;

static void die_as_owner(word with_list)
{
	list.next = &robust;
	list.offset = (char *)&robust.lock - (char *)&robust;
	robust.next = &list;
	robust.lock = call(GETTID, 0, 0, 0, 0, 0, 0) | 0x80000000;
	if (with_list)
		call(SET_ROBUST_LIST, (word)&list, sizeof(list), 0, 0, 0, 0);
}

static void inherit_a_mutex(void)
{
	create(0, die_as_owner, 1);
	join(0);
	report("the owner died", robust.lock >> 30);
	create(0, die_as_owner, 0);
	join(0);
	report("without a list", robust.lock >> 30);
}

static void spin(word argument)
{
	while (argument)
		;
}

static void wait_for_good(word argument)
{
	while (argument)
		futex(&gate, WAIT, 0, 0, 0, 0);
}

static void sleep_for_good(word argument)
{
	word time[2] = { 1000, 0 };

	while (argument)
		call(NANOSLEEP, (word)time, 0, 0, 0, 0, 0);
}

static void end_process(word code)
{
	sleep(2000000);
	call(EXIT_GROUP, code, 0, 0, 0, 0, 0);
}

static void fault(word address)
{
	sleep(2000000);
	*(volatile char *)address = 1;
}

static void execute(word code)
{
	char number[] = "0";
	char *arguments[] = { "init", number, 0 };

	number[0] += code;
	call(EXECVE, (word)"/missing", (word)arguments, 0, 0, 0, 0);
	call(EXECVE, (word)"/init", (word)arguments, 0, 0, 0, 0);
}

static void in_a_process(const char *name, body *last, word argument, int first_stays)
{
	unsigned status = 0;
	long number = call(CLONE, SIGCHLD, 0, 0, 0, 0, 0);

	if (number == 0) {
		create(0, spin, 1);
		create(1, wait_for_good, 1);
		create(2, sleep_for_good, 1);
		create(3, last, argument);
		if (first_stays)
			sleep_for_good(1);
		call(EXIT, 4, 0, 0, 0, 0, 0);
	}
	if (call(WAIT4, number, (word)&status, 0, 0, 0, 0) != number)
		print("not collected\n");
	print(name);
	report(status & 0x7f ? ", signal" : ", exit", status & 0x7f ? status & 0x7f : status >> 8);
}

static void all_end(void)
{
	unsigned status = 0;
	long number = call(CLONE, SIGCHLD, 0, 0, 0, 0, 0);

	if (number == 0) {
		create(0, sleep, 2000000);
		call(EXIT, 4, 0, 0, 0, 0, 0);
	}
	call(WAIT4, number, (word)&status, 0, 0, 0, 0);
	report("the first one's exit", status >> 8);
}

static void create_by_structure(void)
{
	word arguments[11] = { 0, 0, 0, 0, SIGCHLD };
	unsigned status = 0;
	long number;

	report("a short structure", call(CLONE3, (word)arguments, 56, 0, 0, 0, 0));
	report("a set number", (arguments[8] = 1, call(CLONE3, (word)arguments, 88, 0, 0, 0, 0)));
	arguments[8] = 0;
	number = call(CLONE3, (word)arguments, sizeof(arguments), 0, 0, 0, 0);
	if (number == 0)
		call(EXIT_GROUP, 6, 0, 0, 0, 0, 0);
	call(WAIT4, number, (word)&status, 0, 0, 0, 0);
	report("a process", status >> 8);
	report("half a thread", begin_thread(0x10f00 & ~0x800, stacks[0] + STACK, 0, 0, 0, spin, 0));
}

void begin(long *stack)
{
	if (stack[0] > 1) {
		/* Executed by a thread, which is the first and only one now. */
		long same = call(GETPID, 0, 0, 0, 0, 0, 0) == call(GETTID, 0, 0, 0, 0, 0, 0);

		call(EXIT_GROUP, same ? ((char *)stack[2])[0] - '0' : 99, 0, 0, 0, 0, 0);
	}
	exclude_each_other();
	use_futexes();
	inherit_a_mutex();
	create_by_structure();
	all_end();
	in_a_process("exit of all", end_process, 3, 1);
	in_a_process("exit of all without the first", end_process, 3, 0);
	in_a_process("a fault", fault, 8, 1);
	in_a_process("a program", execute, 5, 1);
	call(EXIT_GROUP, 0, 0, 0, 0, 0, 0);
}

__asm__(".global _start\n_start: mov x0, sp\n mov x29, xzr\n mov x30, xzr\n b begin\n");
