/* Semaphores and message queues of System V. */
#define _GNU_SOURCE
#include "check.h"

#include <signal.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <time.h>

struct text {
	long type;
	char bytes[64];
};

static int operate(int set, unsigned short index, short change, short flags)
{
	struct sembuf one = { index, change, flags };

	return semop(set, &one, 1);
}

static void pause_for(long milliseconds)
{
	struct timespec time = { 0, milliseconds * 1000000 };

	nanosleep(&time, NULL);
}

static void nothing(int signal)
{
	(void)signal;
}

static void semaphores(void)
{
	unsigned short values[3] = { 1, 2, 3 };
	struct sembuf both[2] = { { 0, -1, IPC_NOWAIT }, { 1, -5, IPC_NOWAIT } };
	struct timespec time = { 0, 5000000 };
	struct semid_ds status;
	pid_t child;
	int set, code;

	set = semget(77, 3, IPC_CREAT | IPC_EXCL | 0640);
	show("set", set >= 0);
	show("again", semget(77, 3, IPC_CREAT | IPC_EXCL));
	show("same", semget(77, 0, 0) == set);
	show("more", semget(77, 4, 0));
	show("none", semget(78, 1, 0));
	show("no semaphores", semget(IPC_PRIVATE, 0, 0600));
	show("set all", semctl(set, 0, SETALL, values));
	show("value", semctl(set, 2, GETVAL));
	show("no index", semctl(set, 3, GETVAL));
	show("too large", semctl(set, 0, SETVAL, 32768));
	show("both or none", semop(set, both, 2));
	show("left", semctl(set, 0, GETVAL));
	show("take", operate(set, 0, -1, 0));
	show("empty", operate(set, 0, -1, IPC_NOWAIT));
	show("zero", operate(set, 0, 0, 0));
	show("no such", operate(set, 9, 1, 0));
	show("beyond", operate(set, 1, 32767, 0));
	show("no operations", semop(set, both, 0));
	show("too many", semop(set, both, 501));
	both[0].sem_flg = 0;
	show("a time", semtimedop(set, both, 1, &time));
	semctl(set, 0, IPC_STAT, &status);
	printf("mode %o, %lu semaphores\n", status.sem_perm.mode, (unsigned long)status.sem_nsems);
	child = fork();
	if (child == 0)
		_exit(operate(set, 0, -1, 0) == 0 ? 3 : 4);
	pause_for(20);
	show("waiters", semctl(set, 0, GETNCNT));
	show("give", operate(set, 0, 1, 0));
	waitpid(child, &code, 0);
	printf("child %d\n", WEXITSTATUS(code));
	show("by", semctl(set, 0, GETPID) == child);
	child = fork();
	if (child == 0) {
		signal(SIGALRM, nothing);
		alarm(1);
		show("interrupted", operate(set, 0, -1, 0));
		show("removed", operate(set, 0, -1, 0));
		_exit(0);
	}
	pause_for(999);
	pause_for(200);
	show("waiters", semctl(set, 0, GETNCNT));
	show("remove", semctl(set, 0, IPC_RMID));
	waitpid(child, NULL, 0);
	show("gone", semctl(set, 0, GETVAL));
}

/* What a child does to a set, which its end undoes. */
static int undone;

static void takes(void)
{
	show("take", operate(undone, 0, -2, SEM_UNDO));
	show("give", operate(undone, 1, 5, SEM_UNDO));
	show("give for good", operate(undone, 2, 1, 0));
	show("waits", operate(undone, 0, -9, SEM_UNDO | IPC_NOWAIT));
}

static void takes_and_sets(void)
{
	takes();
	show("set one", semctl(undone, 0, SETVAL, 7));
}

static void takes_and_sets_all(void)
{
	unsigned short values[3] = { 3, 3, 3 };

	takes();
	show("set all", semctl(undone, 0, SETALL, values));
}

static void takes_what_is_taken(void)
{
	show("give", operate(undone, 1, 3, SEM_UNDO));
	show("take for good", operate(undone, 1, -3, 0));
	show("give for good", operate(undone, 0, 32000, 0));
	show("take", operate(undone, 0, -1000, SEM_UNDO));
	show("give for good", operate(undone, 0, 1000, 0));
}

static void leaves_the_range(void)
{
	show("give", operate(undone, 2, 32767, SEM_UNDO));
	show("take for good", operate(undone, 2, -32767, 0));
	show("give", operate(undone, 2, 1, SEM_UNDO));
	show("is", semctl(undone, 2, GETVAL));
	show("give again", operate(undone, 2, 1, SEM_UNDO));
	show("is", semctl(undone, 2, GETVAL));
	show("zero", operate(undone, 0, -1, SEM_UNDO));
}

static void is_killed(void)
{
	show("take", operate(undone, 0, -1, SEM_UNDO));
	raise(SIGKILL);
}

static void has_a_child(void)
{
	show("take", operate(undone, 0, -1, SEM_UNDO));
	if (fork() == 0)
		_exit(0);
	wait(NULL);
	show("behind its child", semctl(undone, 0, GETVAL));
}

static void removes(void)
{
	show("take", operate(undone, 0, -1, SEM_UNDO));
	show("remove", semctl(undone, 0, IPC_RMID));
}

static void with_values(const char *what, void (*part)(void))
{
	unsigned short values[3] = { 4, 0, 0 };

	show(what, semctl(undone, 0, SETALL, values));
	show("status", in_child(part));
	show("all", semctl(undone, 0, GETALL, values));
	printf("%d %d %d\n", values[0], values[1], values[2]);
}

static void undo(void)
{
	pid_t child;

	undone = semget(IPC_PRIVATE, 3, 0600);
	with_values("undone", takes);
	with_values("one was set", takes_and_sets);
	with_values("all were set", takes_and_sets_all);
	with_values("out of the range of values", takes_what_is_taken);
	with_values("out of the range of adjustments", leaves_the_range);
	with_values("killed", is_killed);
	with_values("not of a child", has_a_child);
	semctl(undone, 0, SETVAL, 1);
	child = fork();
	if (child == 0) {
		operate(undone, 0, -1, SEM_UNDO);
		pause_for(50);
		_exit(0);
	}
	pause_for(20);
	show("wait for its end", operate(undone, 0, -1, 0));
	show("by", semctl(undone, 0, GETPID) == getpid());
	show("no semaphore", operate(undone, 3, 1, SEM_UNDO));
	show("collect", waitpid(child, NULL, 0) == child);
	with_values("removed", removes);
}

static void queues(void)
{
	struct text text = { 3, "three" };
	struct msqid_ds status;
	pid_t child;
	int queue, code, count;

	queue = msgget(77, IPC_CREAT | 0600);
	show("queue", queue >= 0);
	show("again", msgget(77, IPC_CREAT | IPC_EXCL));
	show("send", msgsnd(queue, &text, 6, 0));
	text = (struct text){ 1, "one" };
	show("send", msgsnd(queue, &text, 4, 0));
	text = (struct text){ 2, "two" };
	show("send", msgsnd(queue, &text, 4, 0));
	text.type = 0;
	show("no type", msgsnd(queue, &text, 4, 0));
	show("too long", msgsnd(queue, &text, 8193, 0));
	msgctl(queue, IPC_STAT, &status);
	printf("%lu messages, %lu of %lu bytes\n", (unsigned long)status.msg_qnum,
	       (unsigned long)status.__msg_cbytes, (unsigned long)status.msg_qbytes);
	show("up to", msgrcv(queue, &text, 64, -2, 0));
	printf("%ld %s\n", text.type, text.bytes);
	show("of a type", msgrcv(queue, &text, 64, 2, 0));
	printf("%ld %s\n", text.type, text.bytes);
	show("no such", msgrcv(queue, &text, 64, 2, IPC_NOWAIT));
	show("too short", msgrcv(queue, &text, 2, 0, 0));
	show("cut", msgrcv(queue, &text, 2, 0, MSG_NOERROR));
	printf("%ld %.2s\n", text.type, text.bytes);
	text.type = 1;
	for (count = 0; msgsnd(queue, &text, 1000, IPC_NOWAIT) == 0; count++)
		;
	show("full", count);
	child = fork();
	if (child == 0)
		_exit(msgsnd(queue, &text, 64, 0) == 0 && msgsnd(queue, &text, 1000, 0) == 0 ? 3 : 4);
	pause_for(20);
	for (count = 0; count < 4; count++)
		msgrcv(queue, &text, 2, 0, MSG_NOERROR);
	waitpid(child, &code, 0);
	printf("child %d\n", WEXITSTATUS(code));
	child = fork();
	if (child == 0) {
		show("removed", msgrcv(queue, &text, 64, 9, 0));
		_exit(0);
	}
	pause_for(20);
	show("remove", msgctl(queue, IPC_RMID, NULL));
	waitpid(child, NULL, 0);
	show("gone", msgsnd(queue, &text, 1, 0));
}

/* Writes a setting of /proc/sys/kernel. */
static void set(const char *name, const char *value)
{
	char path[64];
	int file;

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	file = open(path, O_WRONLY);
	printf("%s %s ", name, value);
	show("written", write(file, value, strlen(value)) == (long)strlen(value) ? 0 : -1);
	close(file);
}

static void show_setting(const char *name)
{
	char path[64], value[32] = "";
	int file;

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	file = open(path, O_RDONLY);
	read(file, value, sizeof(value) - 1);
	printf("%s is %s", name, value);
	close(file);
}

/* Limits, and identifiers of the next objects, by /proc/sys. */
static void settings(void)
{
	int queues[3], set_of_one, segment;

	show_setting("msgmni");
	set("msgmni", "2");
	show_setting("msgmni");
	queues[0] = msgget(IPC_PRIVATE, 0600);
	queues[1] = msgget(IPC_PRIVATE, 0600);
	show("third queue", msgget(IPC_PRIVATE, 0600));
	set("msgmni", "32000\n");
	queues[2] = msgget(IPC_PRIVATE, 0600);
	show("third queue", queues[2] >= 0);
	for (int queue = 0; queue < 3; queue++)
		msgctl(queues[queue], IPC_RMID, NULL);
	show_setting("shmmni");
	set("shmmni", "0");
	show("no segment", shmget(IPC_PRIVATE, 1, 0600));
	set("shmmni", "4096");
	set("msgmni", "none");
	set("msgmni", "-1");
	show_setting("msg_next_id");
	set("msg_next_id", "70");
	set("sem_next_id", "71");
	set("shm_next_id", "72");
	show_setting("msg_next_id");
	queues[0] = msgget(IPC_PRIVATE, 0600);
	set_of_one = semget(IPC_PRIVATE, 1, 0600);
	segment = shmget(IPC_PRIVATE, 1, 0600);
	show("queue", queues[0]);
	show("set", set_of_one);
	show("segment", segment);
	show_setting("msg_next_id");
	set("msg_next_id", "70");
	queues[1] = msgget(IPC_PRIVATE, 0600);
	show("next", queues[1]);
	set("msg_next_id", "-2");
	show_setting("msg_next_id");
	show("remove", msgctl(queues[0], IPC_RMID, NULL));
	show("remove", msgctl(queues[1], IPC_RMID, NULL));
	show("remove", semctl(set_of_one, 0, IPC_RMID));
	show("remove", shmctl(segment, IPC_RMID, NULL));
}

int main(void)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	semaphores();
	undo();
	queues();
	settings();
	return 0;
}
