// Runs code on lent cores: permitted and denied operations, and handovers.
// SPDX-License-Identifier: MIT OR Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tenon.h>

enum { SVC = 0x15, ABORT = 0x24, FETCH = 0x20, UNDEFINED = 0x00 };

static int loan;
static struct tenon_context context;

static void wrong(int line, const char *what)
{
    printf("LEND WRONG: line %d: %s: reason %u esr %llx far %llx pc %llx x0 %llx\n", line, what,
           context.reason, (unsigned long long)context.esr, (unsigned long long)context.far,
           (unsigned long long)context.pc, (unsigned long long)context.x[0]);
}

#define EXPECT(condition) ((condition) ? (void)0 : wrong(__LINE__, #condition))

static unsigned class(void)
{
    return context.esr >> 26;
}

// The code that runs on the core.
#define CODE(name, text)                                                                        \
    extern char name[];                                                                         \
    __asm__(".text\n.balign 16\n.global " #name "\n" #name ": " text "\n")

CODE(code_add, "add x0, x0, x1\n svc #0\n add x0, x0, #1\n svc #7");
CODE(code_then, "svc #0\n add x0, x0, #1\n mov x8, #0\n svc #7");
CODE(code_spin, "ldr x2, [x0]\n add x2, x2, #1\n str x2, [x0]\n b code_spin");
CODE(code_load, "ldr x0, [x0]\n svc #0");
CODE(code_jump, "br x0");
CODE(code_hint, "wfe\n yield\n svc #0");
CODE(code_sum, "fadd d0, d0, d1\n mov x0, sp\n mrs x1, tpidr_el0\n mrs x2, cntvct_el0\n svc #0");
// Waits until the time in x19 in ticks of 16 ns, x21 times with steps of x20 ticks; counts early
// returns in x23.
CODE(code_tick, "mov x23, #0\n movz x8, #1\n movk x8, #0x7e0, lsl #16\n"
                "1: lsl x0, x19, #4\n svc #0\n mrs x1, cntvct_el0\n cmp x1, x19\n"
                "cinc x23, x23, lo\n add x19, x19, x20\n subs x21, x21, #1\n b.ne 1b\n"
                "mov x8, #0\n svc #3");
CODE(code_privileged, "mrs x0, ttbr0_el1\n svc #0");

static int run(const char *code, uint64_t x0, uint64_t x1)
{
    memset(&context, 0, sizeof(context));
    context.pc = (uint64_t)code;
    context.x[0] = x0;
    context.x[1] = x1;
    return ioctl(loan, TENON_LOAN_RUN, &context);
}

static int go_on(void)
{
    return ioctl(loan, TENON_LOAN_RUN, &context);
}

static uint64_t now(void)
{
    uint64_t count, hertz;

    __asm__ volatile("isb\n mrs %0, cntvct_el0\n mrs %1, cntfrq_el0" : "=r"(count), "=r"(hertz));
    return (uint64_t)((__uint128_t)count * 1000000000 / hertz);
}

static int claim(int cpu)
{
    loan = open("/dev/tenon/loan", O_RDWR);
    return ioctl(loan, TENON_LOAN_CLAIM, cpu);
}

static void calls(void)
{
    EXPECT(!run(code_add, 40, 2));
    EXPECT(context.reason == TENON_LOAN_EXCEPTION && class() == SVC && context.x[0] == 42);
    EXPECT(context.pc == (uint64_t)code_add + 8 && !context.pstate);
    EXPECT(!go_on());
    EXPECT((context.esr & 0xffff) == 7 && context.x[0] == 43 && context.x[1] == 2);
    for (int i = 0; i < 31; i++)
        context.x[i] = i * 3;
    context.pc = (uint64_t)code_add + 4;
    context.pstate = 0x60000000;
    EXPECT(!go_on());
    for (int i = 0; i < 31; i++)
        EXPECT(context.x[i] == (uint64_t)i * 3);
    EXPECT(context.pstate == 0x60000000);
    puts("LEND calls");
}

static void floats(void)
{
    const double numbers[] = { 1.5, 2.25 };

    memset(&context, 0, sizeof(context));
    context.pc = (uint64_t)code_sum;
    context.sp = 0x12340;
    context.tpidr = 0x5678;
    memcpy(&context.v[0], &numbers[0], 8);
    memcpy(&context.v[2], &numbers[1], 8);
    context.v[63] = 77;
    EXPECT(!go_on());
    EXPECT(*(double *)&context.v[0] == 3.75 && context.v[63] == 77);
    EXPECT(context.x[0] == 0x12340 && context.x[1] == 0x5678 && context.x[2]);
    puts("LEND floats");
}

static void faults(void)
{
    EXPECT(!run(code_load, 0x10, 0));
    EXPECT(context.reason == TENON_LOAN_EXCEPTION && class() == ABORT && context.far == 0x10);
    EXPECT(context.pc == (uint64_t)code_load);
    EXPECT(!run(code_load, 0xffff800008000000, 0));
    EXPECT(class() == ABORT && context.far == 0xffff800008000000 && (context.esr & 0x3f) == 4);
    EXPECT(context.pc == (uint64_t)code_load);
    // The vectors of EL1, which are unmapped.
    EXPECT(!run(code_load, 0xffffffffffff0400, 0));
    EXPECT(class() == ABORT && context.far == 0xffffffffffff0400);
    EXPECT(!run(code_jump, 0xffffffffffff0400, 0));
    EXPECT(class() == FETCH && context.pc == 0xffffffffffff0400);
    EXPECT(!run(code_jump, 0x40, 0));
    EXPECT(class() == FETCH && context.pc == 0x40);
    EXPECT(!run(code_privileged, 0, 0));
    EXPECT(context.reason == TENON_LOAN_EXCEPTION && context.pc == (uint64_t)code_privileged);
    EXPECT(!run(code_hint, 0, 0));
    EXPECT(class() == SVC);
    memset(&context, 0, sizeof(context));
    context.pc = (uint64_t)code_add;
    for (unsigned state = 1; state < 32; state++) {
        context.pstate = state;
        EXPECT(!go_on());
        EXPECT(context.reason == TENON_LOAN_REFUSED);
    }
    context.pstate = 0x3c0;
    EXPECT(!go_on() && context.reason == TENON_LOAN_EXCEPTION && !context.pstate);
    puts("LEND faults");
}

static void waits(void)
{
    for (int i = 0; i < 3; i++) {
        uint64_t until = now() + 2000000;

        memset(&context, 0, sizeof(context));
        context.pc = (uint64_t)code_then; // waits, and counts from the answer
        context.x[0] = until;
        context.x[8] = TENON_WAIT_UNTIL;
        EXPECT(!go_on());
        EXPECT(context.x[0] == 1 && (context.esr & 0xffff) == 7);
        EXPECT(now() >= until);
    }
    // In the past.
    context.pc = (uint64_t)code_then;
    context.x[0] = 1;
    EXPECT(!go_on() && context.x[0] == 1);
    puts("LEND waits");
}

static void ticks(unsigned times)
{
    uint64_t start = now() / 16 + 10000;

    memset(&context, 0, sizeof(context));
    context.pc = (uint64_t)code_tick;
    context.x[19] = start;
    context.x[20] = 50000 / 16; // 20 kHz
    context.x[21] = times;
    EXPECT(!go_on());
    EXPECT((context.esr & 0xffff) == 3 && !context.x[21] && !context.x[23]);
    EXPECT(context.x[19] == start + (uint64_t)times * (50000 / 16));
    puts("LEND ticks");
}

static void nothing(int signal)
{
    (void)signal;
}

// Repeatedly, as the first may arrive before the start; 0 ends it.
static void alarm_in(long us)
{
    const struct itimerval time = { { .tv_usec = 4000 }, { .tv_usec = us } };

    setitimer(ITIMER_REAL, &time, NULL);
}

static void stops(void)
{
    static volatile uint64_t counter;

    counter = 0;
    for (int i = 0; i < 200; i++) {
        uint64_t before = counter;

        // At any time: some signals arrive before the core has started.
        alarm_in(i < 5 ? 5000 : 1 + i);
        EXPECT(!run(code_spin, (uint64_t)&counter, 0));
        EXPECT(context.reason == TENON_LOAN_STOPPED);
        EXPECT(i >= 5 || counter > before);
        EXPECT(context.pc >= (uint64_t)code_spin && context.pc < (uint64_t)code_spin + 16);
    }
    // Asleep on the core: it repeats its call.
    memset(&context, 0, sizeof(context));
    context.pc = (uint64_t)code_then;
    context.x[0] = ~0ull;
    context.x[8] = TENON_WAIT_UNTIL;
    alarm_in(5000);
    EXPECT(!go_on());
    EXPECT(context.reason == TENON_LOAN_STOPPED && context.pc == (uint64_t)code_then);
    EXPECT(context.x[0] == ~0ull);
    alarm_in(0);
    puts("LEND stops");
}

static volatile uint64_t *page;

static void wait_for_page(void)
{
    for (int i = 0; !*page && i < 1000; i++)
        usleep(1000);
}

static void *unmaps(void *data)
{
    wait_for_page();
    mprotect((void *)page, 4096, PROT_READ);
    return data;
}

// The core uses Linux's translation tables, so unmapping takes effect there.
static void protects(void)
{
    pthread_t other;

    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *page = 0;
    pthread_create(&other, NULL, unmaps, NULL);
    EXPECT(!run(code_spin, (uint64_t)page, 0));
    EXPECT(context.reason == TENON_LOAN_EXCEPTION && class() == ABORT);
    EXPECT(context.far == (uint64_t)page && context.pc == (uint64_t)code_spin + 8);
    pthread_join(other, NULL);
    EXPECT(*page == context.x[2] - 1);
    puts("LEND protects");
}

static void *turns_on(void *data)
{
    char path[64];
    int file;

    wait_for_page();
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", *(int *)data);
    file = open(path, O_WRONLY);
    if (write(file, "1", 1) != 1)
        puts("LEND WRONG: the CPU does not come back");
    close(file);
    return NULL;
}

static void comes_back(int cpu)
{
    pthread_t other;

    mprotect((void *)page, 4096, PROT_READ | PROT_WRITE);
    *page = 0;
    pthread_create(&other, NULL, turns_on, &cpu);
    EXPECT(!run(code_spin, (uint64_t)page, 0));
    EXPECT(context.reason == TENON_LOAN_RECLAIMED);
    pthread_join(other, NULL);
    EXPECT(run(code_add, 1, 1) == -1 && errno == EBUSY);
    puts("LEND comes back");
}

static void many(int times)
{
    for (int i = 0; i < times; i++) {
        EXPECT(!run(code_add, i, i));
        EXPECT(context.x[0] == 2ull * i);
    }
    puts("LEND many");
}

static void hand_overs(int times)
{
    for (int i = 0; i < times; i++) {
        EXPECT(claim(-1) >= 2);
        EXPECT(!run(code_add, i, 1));
        EXPECT(context.x[0] == i + 1ull);
        close(loan);
    }
    printf("LEND handed over %d times\n", times);
}

// Several cores at once, each with its own program, while another CPU is unplugged and plugged.
static void together(int times)
{
    int left = 2;

    for (int i = 0; i < left; i++)
        if (!fork()) {
            hand_overs(times);
            _exit(0);
        }
    while (left) {
        EXPECT(!system("echo 0 > /sys/devices/system/cpu/cpu1/online"));
        EXPECT(!system("echo 1 > /sys/devices/system/cpu/cpu1/online"));
        while (waitpid(-1, NULL, WNOHANG) > 0)
            left--;
    }
    puts("LEND together");
}

int main(int argc, char **argv)
{
    int times = argc > 1 ? atoi(argv[1]) : 10;
    struct sigaction action = { .sa_handler = nothing };
    int cpu;

    setvbuf(stdout, NULL, _IOLBF, 0);
    sigaction(SIGALRM, &action, NULL);
    if (argc > 2 && !strcmp(argv[2], "together")) {
        together(times);
        return 0;
    }
    if (argc > 2) { // until the machine or Linux ends
        static volatile uint64_t counter;

        claim(-1);
        puts("LEND runs on");
        run(code_spin, (uint64_t)&counter, 0);
        return 0;
    }
    EXPECT(claim(1) == -1 && errno == EPERM);
    cpu = ioctl(loan, TENON_LOAN_CLAIM, -1);
    EXPECT(cpu == 3);
    EXPECT(ioctl(loan, TENON_LOAN_CLAIM, -1) == -1 && errno == EBUSY);
    calls();
    floats();
    faults();
    waits();
    ticks(2000);
    stops();
    protects();
    many(200);
    comes_back(cpu);
    close(loan);
    hand_overs(times);
    puts("LEND done");
    return 0;
}
