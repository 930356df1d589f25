/* What the parts of this program have in common: handlers that note signals, children. */
#ifndef SIGNALS_COMMON_H
#define SIGNALS_COMMON_H

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define MS 1000000L

extern volatile sig_atomic_t count, last, code, sender, value, order[32], orders;
extern void *volatile address;
extern int ready[2];
extern char stack[65536];

const char *result(long r);
void nap(long ms);
void plain(int signal);
void informed(int signal, siginfo_t *info, void *context);
void handle(int signal, void (*handler)(int), int flags);
void handle_informed(int signal, int flags);
void reset(void);
pid_t child(void (*act)(void));
const char *ending(int status);
const char *waited(pid_t pid, int options);
void forever(void);

/* The parts, each of which prints its lines. */
void groups(void);
void stops(void);
void children(void);
void handlers(void);
void real_time(void);
void interrupted(void);
void faults(void);
void threads(void);
void orphans(void);
void program(void);
void timers(void);

/* What the program does that replaces it. */
int again(void);

#endif
