// The sysfs state of a hyplet while it runs, after a stop by sysfs, and after a fault.
// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hyplet-test.h"

enum { CPU = 3, STACK = 16384 };

HYP_DATA static struct {
    const volatile uint64_t *at;
} look;

static char stack[STACK] __attribute__((aligned(4096)));

HYP_CODE static long reads(long unused)
{
    return (long)*look.at + unused;
}

// Outside of mapped sections.
__asm__(".text\n.balign 16\nasks_the_machine: nop\n mrs x0, midr_el1\n nop\n ret\n");
extern uint32_t asks_the_machine[4];

static const char *shown(const char *file)
{
    static char text[64];
    char path[64];
    FILE *open;

    snprintf(path, sizeof(path), "/sys/kernel/tenon/hyplet/cpu%d/%s", CPU, file);
    open = fopen(path, "r");
    CHECK(open && fgets(text, sizeof(text), open));
    fclose(open);
    text[strcspn(text, "\n")] = 0;
    return text;
}

static uint64_t number(const char *file, int base)
{
    return strtoull(shown(file), NULL, base);
}

static int is_in(uint64_t pc, hyplet_function *function)
{
    return pc >= (uintptr_t)function && pc < (uintptr_t)function + 128;
}

static void runs_away(void)
{
    struct tenon_hyplet_end end;
    uint64_t before;
    int tries;

    CHECK(!hyp_assign_offlet(CPU, spins));
    CHECK(!strcmp(shown("state"), "running"));
    CHECK(number("pid", 10) == (uint64_t)getpid());
    before = number("progress", 10);
    for (tries = 0; number("progress", 10) == before; tries++)
        CHECK(tries < 10000 && !usleep(1000));
    CHECK(!system("echo 0 > /sys/kernel/tenon/hyplet/cpu3/stop"));
    CHECK(!strcmp(shown("state"), "running"));
    CHECK(!system("echo 1 > /sys/kernel/tenon/hyplet/cpu3/stop"));
    CHECK(!strcmp(shown("state"), "stopped"));
    CHECK(is_in(number("pc", 16), spins) && !number("steps", 10));
    CHECK(!strcmp(shown("fault"), "0x0 0x0"));
    before = number("progress", 10);
    CHECK(!hyp_wait(spins, &end) && end.state == TENON_HYPLET_STOPPED);
    CHECK(end.pc == number("pc", 16) && end.progress == before && before);
    // And with unreadable memory.
    CHECK(!hyp_unassign_offlet(spins));
    CHECK(number("progress", 10) == before && hyp_shared.progress[CPU] == before);
    puts("HYPLET runaway is shown");
}

// Addresses are secret: those of a callback at EL1 are the kernel's.
static void shows_no_address(void)
{
    CHECK(!seteuid(65534));
    CHECK(!access("/sys/kernel/tenon/hyplet/cpu3/state", F_OK));
    CHECK(open("/sys/kernel/tenon/hyplet/cpu3/state", O_RDONLY) >= 0);
    CHECK(open("/sys/kernel/tenon/hyplet/cpu3/pc", O_RDONLY) < 0 && errno == EACCES);
    CHECK(open("/sys/kernel/tenon/hyplet/cpu3/fault", O_RDONLY) < 0 && errno == EACCES);
    CHECK(!seteuid(0));
    puts("HYPLET shows no address");
}

static void is_mapped_by_vma(void)
{
    struct tenon_hyplet_end end;
    uint64_t *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(pages != MAP_FAILED);
    look.at = &pages[512];
    pages[512] = 42;
    CHECK(!hyp_map_vma(pages, 0));
    CHECK(!hyp_assign_offlet(CPU, reads) && !hyp_wait(reads, &end));
    CHECK(end.state == TENON_HYPLET_RETURNED && end.value == 42);
    CHECK(!strcmp(shown("state"), "returned") && number("steps", 10) == 1);
    CHECK(!hyp_unassign_offlet(reads) && !hyp_unmap(pages));
    CHECK(!hyp_assign_offlet(CPU, reads) && !hyp_wait(reads, &end));
    CHECK(end.state == TENON_HYPLET_FAULTED && end.address == (uintptr_t)look.at);
    CHECK(!strcmp(shown("state"), "faulted") && number("pc", 16) == end.pc);
    CHECK(number("fault", 16) == end.syndrome && end.syndrome >> 26 == 0x24);
    CHECK(strtoull(strchr(shown("fault"), ' '), NULL, 16) == end.address);
    CHECK(!hyp_unassign_offlet(reads));
    // Mapped memory stays accessible to the hyplet, whatever its process does with it.
    CHECK(!hyp_map_vma(pages, 8192) && !hyp_assign_offlet(CPU, reads) && !munmap(pages, 8192));
    CHECK(!hyp_wait(reads, &end) && end.state == TENON_HYPLET_RETURNED && end.value == 42);
    CHECK(!hyp_unassign_offlet(reads) && !hyp_unmap(pages));
    puts("HYPLET maps VMAs");
}

static void is_refused_by_address(void)
{
    uint32_t *at = &asks_the_machine[1];
    uint32_t instruction;

    FAILS(ENOEXEC, hyp_map(asks_the_machine, sizeof(asks_the_machine)));
    CHECK(hyp_refused(&instruction) == (uintptr_t)at && instruction == *at);
    FAILS(ENOEXEC, hyp_map(at, 4));
    CHECK(hyp_refused(NULL) == (uintptr_t)at);
    // Its surroundings may be unmapped.
    CHECK(!hyp_map(at + 1, 8) && !hyp_map(asks_the_machine, 4));
    printf("HYPLET is refused at %lx\n", (unsigned long)at);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    CHECK(!hyp_map_section("hyp_data") && !hyp_map_section("hyp_code"));
    CHECK(!hyp_set_stack(stack, sizeof(stack)) && !hyplet_drop_cpu(CPU));
    runs_away();
    shows_no_address();
    is_mapped_by_vma();
    is_refused_by_address();
    return 0;
}
