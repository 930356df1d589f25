/* Signals (POSIX.1-2017, <signal.h>). */

#ifndef TENON_SIGNAL_H
#define TENON_SIGNAL_H

#include <sys/types.h>
#include <time.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef int sig_atomic_t;

#ifndef _SIGSET_T_DECLARED
#define _SIGSET_T_DECLARED
typedef unsigned long sigset_t;
#endif

#define SIGHUP 1
#define SIGINT 2
#define SIGQUIT 3
#define SIGILL 4
#define SIGTRAP 5
#define SIGABRT 6
#define SIGFPE 8
#define SIGKILL 9
#define SIGBUS 10
#define SIGSEGV 11
#define SIGSYS 12
#define SIGPIPE 13
#define SIGALRM 14
#define SIGTERM 15
#define SIGURG 16
#define SIGSTOP 17
#define SIGTSTP 18
#define SIGCONT 19
#define SIGCHLD 20
#define SIGTTIN 21
#define SIGTTOU 22
#define SIGUSR1 30
#define SIGUSR2 31
#define SIGRTMIN 32
#define SIGRTMAX 63

#define SIG_DFL ((void (*)(int))0)
#define SIG_IGN ((void (*)(int))1)
#define SIG_ERR ((void (*)(int))-1)

union sigval {
	int sival_int;
	void *sival_ptr;
};

typedef struct {
	int si_signo;
	int si_code;
	int si_errno;
	pid_t si_pid;
	union sigval si_value;
} siginfo_t;

#define SI_USER 1
#define SI_QUEUE 2
#define SI_TIMER 3
#define SI_MESGQ 5

struct sigaction {
	union {
		void (*__handler)(int);
		void (*__action)(int, siginfo_t *, void *);
	} __function;
	sigset_t sa_mask;
	int sa_flags;
};

#define sa_handler __function.__handler
#define sa_sigaction __function.__action

#define SA_NOCLDSTOP 0x01
#define SA_SIGINFO 0x02
#define SA_RESTART 0x10
#define SA_NODEFER 0x20
#define SA_RESETHAND 0x40

#define SIG_SETMASK 0
#define SIG_BLOCK 1
#define SIG_UNBLOCK 2

#define SIGEV_NONE 1
#define SIGEV_SIGNAL 2
#define SIGEV_THREAD 3

struct sigevent {
	int sigev_notify;
	int sigev_signo;
	union sigval sigev_value;
	void (*sigev_notify_function)(union sigval);
	pthread_attr_t *sigev_notify_attributes;
};

int sigemptyset(sigset_t *__set);
int sigfillset(sigset_t *__set);
int sigaddset(sigset_t *__set, int __signal);
int sigdelset(sigset_t *__set, int __signal);
int sigismember(const sigset_t *__set, int __signal);

void (*signal(int __signal, void (*__handler)(int)))(int);
int sigaction(int __signal, const struct sigaction *__restrict __new,
	      struct sigaction *__restrict __old);

int raise(int __signal);
int kill(pid_t __process, int __signal);
int pthread_kill(pthread_t __which, int __signal);
int sigqueue(pid_t __process, int __signal, union sigval __value);

int pthread_sigmask(int __how, const sigset_t *__restrict __set, sigset_t *__restrict __old);
int sigprocmask(int __how, const sigset_t *__restrict __set, sigset_t *__restrict __old);
int sigpending(sigset_t *__set);
int sigsuspend(const sigset_t *__set);

int sigwait(const sigset_t *__restrict __set, int *__restrict __signal);
int sigwaitinfo(const sigset_t *__restrict __set, siginfo_t *__restrict __information);
int sigtimedwait(const sigset_t *__restrict __set, siginfo_t *__restrict __information,
		 const struct timespec *__restrict __time);

#ifdef __cplusplus
}
#endif

#endif
