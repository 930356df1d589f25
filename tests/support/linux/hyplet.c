// Hyplets with permitted and denied operations: a failed check prints a line `WRONG`.
// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "hyplet-test.h"

enum { CPU = 3, RELEASES = 2000, PERIOD = 50000, STACK = 16384 };

HYP_DATA static struct {
    uint64_t value;
    uint64_t done, early;
    const uint64_t *forbidden;
    long (*code)(long);
    hyp_spinlock lock;
    uint64_t sum;
} shared = { .value = 1 };

// In separate pages, as mappings are whole pages.
static uint64_t secret[512] __attribute__((aligned(4096))) = { 42 };
static char stack[STACK] __attribute__((aligned(4096)));

// ---- hyplets -------------------------------------------------------------------------------

HYP_CODE static long count(long last)
{
    double half = 0.5;

    shared.value += 41;
    hyp_print("HYPLET prints %d %s %#lx\n", 7, "seven", (unsigned long)hyp_cpu());
    __asm__ volatile("fadd %d0, %d0, %d0" : "+w"(half));
    return last + (half == 1.0 ? 1000 : 0);
}

HYP_CODE static long timer(long unused)
{
    uint64_t i, next = hyp_gettime() + 10 * PERIOD;

    for (i = 0; i < RELEASES; i++, next += PERIOD) {
        hyp_wait_until(next);
        shared.early += hyp_gettime() < next;
        shared.done++;
        hyp_progress();
    }
    return unused;
}

HYP_CODE static long outside(long unused)
{
    return *(volatile const uint64_t *)shared.forbidden + unused;
}

HYP_CODE static long into_data(long unused)
{
    return shared.code(unused);
}

HYP_CODE static long into_code(long unused)
{
    *(volatile uint32_t *)shared.code = 0;
    return unused;
}

HYP_CODE static long forever(long unused)
{
    for (;;)
        hyp_progress();
    return unused;
}

HYP_CODE static long sleeps(long unused)
{
    hyp_wait_until(UINT64_MAX);
    return unused;
}

HYP_CODE static long asks_linux(long unused)
{
    register uint64_t x8 __asm__("x8") = 172;  // getpid, by the immediate that passes

    __asm__ volatile("svc #0x7e0" : : "r"(x8) : "x0", "memory");
    return unused;
}

HYP_CODE static long asks_for_vectors(long unused)
{
    __asm__ volatile(".inst 0x04bf5020" : : : "x0");  // RDVL x0, #1
    return unused;
}

HYP_CODE static long adds(long unused)
{
    int i;

    for (i = 0; i < 1000; i++) {
        hyp_lock(&shared.lock);
        shared.sum = shared.sum + 1;
        hyp_unlock(&shared.lock);
    }
    return unused;
}

// With a kernel function in between, which adds a hundred.
HYP_CODE static long steps(long given)
{
    shared.value = given;
    hyp_progress();
    return given + 1;
}

// Outside of mapped sections: each is declared separately.
__attribute__((noinline)) static long asks_the_machine(long value)
{
    __asm__ volatile("mrs %0, midr_el1" : "=r"(value));
    return value;
}

// On one page of code, each mapped by itself.
#define BESIDE __attribute__((section("beside"), noinline, aligned(64)))

BESIDE static long adds_one(long value)
{
    return value + 1;
}

BESIDE static long adds_two(long value)
{
    return value + 2;
}

// ---- what holds before anything runs -------------------------------------------------------

static void maps(void)
{
    uint32_t instruction = 0;
    void *address, *page;
    size_t size;

    FAILS(ENOENT, get_section_addr("nothing", &address, &size));
    CHECK(!get_section_addr("hyp_data", &address, &size));
    CHECK(address == &shared && size == sizeof(shared));
    FAILS(ENOEXEC, hyp_map(asks_the_machine, 16));
    CHECK(hyp_refused(&instruction) >= (uintptr_t)asks_the_machine);
    CHECK(hyp_refused(NULL) < (uintptr_t)asks_the_machine + 16);
    CHECK((instruction & ~31u) == 0xd5380000);
    FAILS(EFAULT, hyp_map(NULL, 4096));
    FAILS(EINVAL, hyp_map(&shared, 0));
    FAILS(EINVAL, hyp_map((void *)0xfffffffff000, 8));
    FAILS(EINVAL, hyp_map(&shared, SIZE_MAX));
    FAILS(ENOENT, hyp_unmap(&shared));
    CHECK(!hyp_map(&shared.value, 8));
    FAILS(EEXIST, hyp_map(&shared, sizeof(shared)));
    CHECK(!hyp_unmap(&shared.value));
    CHECK(!hyp_map_section("hyp_data") && !hyp_map_section("hyp_code"));
    FAILS(EACCES, hyp_set_stack(maps, 64));
    page = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(!munmap((char *)page + 4096, 4096));
    FAILS(EFAULT, hyp_map_vma(page, 8192));
    FAILS(EFAULT, hyp_map(page, 8192));
    CHECK(!hyp_map_vma(page, 0) && !hyp_unmap(page));
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FAILS(EACCES, hyp_map(page, 4096));
    CHECK(!munmap(page, 4096));
    puts("HYPLET maps what it may");
}

static void assigns(void)
{
    FAILS(ENODEV, hyp_assign_offlet(CPU, count));  // not dropped yet
    FAILS(EPERM, hyplet_drop_cpu(1));  // not one that the system lends
    CHECK(!hyplet_drop_cpu(CPU));
    FAILS(EBUSY, hyplet_drop_cpu(CPU));
    FAILS(EINVAL, hyp_assign_offlet(CPU, count));  // no stack
    CHECK(!hyp_set_stack(stack, sizeof(stack)));
    FAILS(EFAULT, hyp_assign_offlet(CPU, (hyplet_function *)&shared));
    FAILS(EFAULT, hyp_assign_offlet(CPU, asks_the_machine));
    FAILS(ENOENT, hyp_unassign_offlet(count));
}

// ---- what runs -----------------------------------------------------------------------------

static int is_in(uint64_t pc, hyplet_function *function)
{
    return pc >= (uintptr_t)function && pc < (uintptr_t)function + 512;
}

static void returns(void)
{
    struct tenon_hyplet_end end = run_to_end(CPU, count);

    CHECK(end.state == TENON_HYPLET_RETURNED && end.value == 1000 && end.steps == 1);
    CHECK(shared.value == 42);
    CHECK(print_hyp() == 1 && !print_hyp());
    end = run_to_end(CPU, count);
    CHECK(end.state == TENON_HYPLET_RETURNED && shared.value == 83 && print_hyp() == 1);
}

static void keeps_time(void)
{
    struct tenon_hyplet_end end;

    end = run_to_end(CPU, timer);
    CHECK(end.state == TENON_HYPLET_RETURNED);
    CHECK(end.progress == shared.done && !shared.early);
    printf("HYPLET timer has had %llu releases\n", (unsigned long long)shared.done);
}

static void faults(void)
{
    struct tenon_hyplet_end end;

    shared.forbidden = secret;
    end = run_to_end(CPU, outside);
    CHECK(end.state == TENON_HYPLET_FAULTED && end.address == (uintptr_t)secret);
    CHECK(is_in(end.pc, outside) && end.syndrome >> 26 == 0x24);
    shared.forbidden = (const uint64_t *)0xffff800000000000;  // the kernel's
    end = run_to_end(CPU, outside);
    CHECK(end.state == TENON_HYPLET_FAULTED && is_in(end.pc, outside));
    shared.code = (hyplet_function *)&shared;
    end = run_to_end(CPU, into_data);
    CHECK(end.state == TENON_HYPLET_FAULTED && end.pc == (uintptr_t)&shared);
    CHECK(end.syndrome >> 26 == 0x20);
    shared.code = count;
    end = run_to_end(CPU, into_code);
    CHECK(end.state == TENON_HYPLET_FAULTED && end.address == (uintptr_t)count);
    end = run_to_end(CPU, asks_linux);
    CHECK(end.state == TENON_HYPLET_FAULTED && end.syndrome >> 26 == 0x15);
    end = run_to_end(CPU, asks_for_vectors);  // undefined, or kept from EL0
    CHECK(end.state == TENON_HYPLET_FAULTED && is_in(end.pc, asks_for_vectors));
    CHECK(!(end.syndrome >> 26) || end.syndrome >> 26 == 0x19);
    puts("HYPLET faults are told");
}

static int is_undefined(struct tenon_hyplet_end end, uint64_t pc)
{
    return end.state == TENON_HYPLET_FAULTED && end.pc == pc && !(end.syndrome >> 26);
}

// A page of code has zeros where no region is mapped, also where one was.
static void leaves_no_code(void)
{
    void *code;
    size_t size;

    CHECK(!get_section_addr("hyp_code", &code, &size));
    shared.code = (hyplet_function *)((char *)code + size);
    CHECK(is_undefined(run_to_end(CPU, into_data), (uintptr_t)shared.code));
    CHECK(!hyp_map(adds_one, 8) && !hyp_map(adds_two, 8));
    shared.code = adds_one;
    CHECK(run_to_end(CPU, into_data).value == 1);
    shared.code = adds_two;
    CHECK(run_to_end(CPU, into_data).value == 2);
    CHECK(!hyp_unmap(adds_two));
    CHECK(is_undefined(run_to_end(CPU, into_data), (uintptr_t)adds_two));
    shared.code = adds_one;
    CHECK(run_to_end(CPU, into_data).value == 1 && !hyp_unmap(adds_one));
    puts("HYPLET leaves no code");
}

static volatile pid_t waiting;

static void *waits(void *end)
{
    waiting = syscall(SYS_gettid);
    CHECK(!hyp_wait(forever, end));
    return NULL;
}

// Returns once the waiting thread sleeps in its call, or has ended.
static void until_asleep(void)
{
    char name[64], state = 'R';

    while (state != 'S') {
        FILE *file;

        usleep(1000);
        if (!waiting)
            continue;
        snprintf(name, sizeof(name), "/proc/self/task/%d/stat", waiting);
        file = fopen(name, "r");
        if (!file)
            return;
        CHECK(fscanf(file, "%*d (%*[^)]) %c", &state) == 1);
        fclose(file);
    }
}

static void runs_away(void)
{
    struct tenon_hyplet_end end;
    pthread_t waiter;

    CHECK(!hyp_assign_offlet(CPU, forever));
    FAILS(EBUSY, hyp_map(secret, 8));
    FAILS(EBUSY, hyp_unmap(&shared));
    FAILS(EBUSY, hyp_assign_offlet(CPU, count));
    usleep(20000);
    CHECK(hyp_shared.progress[CPU] > 1000);
    CHECK(!pthread_create(&waiter, NULL, waits, &end));
    until_asleep();
    CHECK(!hyp_unassign_offlet(forever));
    pthread_join(waiter, NULL);
    CHECK(end.state == TENON_HYPLET_STOPPED && is_in(end.pc, forever));
    CHECK(hyp_shared.progress[CPU] >= end.progress && end.progress > 1000);
    // And by an unrelated process.
    CHECK(!hyp_assign_offlet(CPU, forever));
    CHECK(!system("echo 1 > /sys/kernel/tenon/hyplet/cpu3/stop"));
    CHECK(!hyp_wait(forever, &end) && end.state == TENON_HYPLET_STOPPED);
    CHECK(!hyp_unassign_offlet(forever));
}

static void locks(void)
{
    struct tenon_hyplet_end end;

    CHECK(!hyp_assign_offlet(CPU, adds));
    adds(0);
    CHECK(!hyp_wait(adds, &end) && !hyp_unassign_offlet(adds));
    CHECK(shared.sum == 2000);
}

static void stays_frozen_to_others(void)
{
    int status;
    pid_t child = fork();

    CHECK(child >= 0);
    if (!child) {
        FAILS(EPERM, hyp_map(secret, 8));
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child && !status);
    CHECK(run_to_end(CPU, count).state == TENON_HYPLET_RETURNED);
    print_hyp();
}

static void all(void)
{
    struct tenon_hyplet_end end;

    CHECK(!hyp_map_all());
    CHECK(!hyplet_drop_cpu(CPU) && !hyp_set_stack(stack, sizeof(stack)));
    shared.forbidden = secret;
    CHECK(run_to_end(CPU, outside).value == 42);
    end = run_to_end(CPU, asks_the_machine);
    CHECK(end.state == TENON_HYPLET_FAULTED && is_in(end.pc, asks_the_machine));
    puts("HYPLET maps all");
}

static void begin(int cpu)
{
    CHECK(!hyp_map_section("hyp_data") && !hyp_map_section("hyp_code"));
    CHECK(!hyp_set_stack(stack, sizeof(stack)) && !hyplet_drop_cpu(cpu));
}

static void between(void)
{
    struct tenon_hyplet_end end;

    begin(CPU);
    CHECK(!hyp_assign_offlet(CPU, steps));
    while (*(volatile uint64_t *)&hyp_shared.progress[CPU] < 100)
        usleep(1000);
    CHECK(!hyp_unassign_offlet(steps));
    CHECK(shared.value >= 99 * 101 && shared.value % 101 == 0);
    // The module is unloaded during the run: the current step is the last one.
    CHECK(!hyp_assign_offlet(CPU, steps) && !usleep(1000) && !system("rmmod pulse"));
    CHECK(!hyp_wait(steps, &end) && !hyp_unassign_offlet(steps));
    CHECK(end.state == TENON_HYPLET_RETURNED && end.steps > 1);
    CHECK((uint64_t)end.value == (end.steps - 1) * 101 + 1);
    CHECK(!system("insmod /lib/pulse.ko"));
    CHECK(!system("echo 1 > /sys/module/pulse/parameters/wrong"));
    CHECK(!hyp_assign_offlet(CPU, steps));
    CHECK(!hyp_wait(steps, &end) && !hyp_unassign_offlet(steps));
    CHECK(end.state == TENON_HYPLET_FAULTED && end.steps == 1);
    puts("HYPLET steps with the kernel");
}

// Until its program is killed.
static void lives(int cpu, hyplet_function *function)
{
    begin(cpu);
    CHECK(!hyp_assign_offlet(cpu, function));
    puts("HYPLET lives");
    pause();
}

int main(int arguments, char **argument)
{
    const char *what = arguments > 1 ? argument[1] : "";
    int cpu = arguments > 2 ? atoi(argument[2]) : CPU;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!strcmp(what, "spins")) {
        lives(cpu, spins);
    } else if (!strcmp(what, "sleeps")) {
        lives(cpu, sleeps);
    } else if (!strcmp(what, "between")) {
        between();
    } else if (!strcmp(what, "all")) {
        all();
    } else {
        maps();
        assigns();
        returns();
        keeps_time();
        faults();
        leaves_no_code();
        runs_away();
        locks();
        stays_frozen_to_others();
        puts("HYPLET over");
    }
    return 0;
}
