// Hyplet that reads a device register of its VM, and is denied others.
// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tenon/hyplet.h>

#include "check.h"

enum { CPU = 3, STACK = 16384 };
enum { VIRTIO0 = 0xa000000, VIRTIO1 = 0xa001000, VIRTIO = 0x74726976 };  // "virt"

HYP_DATA static struct {
    const volatile uint32_t *at;
} look;

static char stack[STACK] __attribute__((aligned(4096)));

HYP_CODE static long reads(long unused)
{
    return *look.at + unused;
}

static struct tenon_hyplet_end ended(void)
{
    struct tenon_hyplet_end end;

    CHECK(!hyp_assign_offlet(CPU, reads));
    CHECK(!hyp_wait(reads, &end));
    CHECK(!hyp_unassign_offlet(reads));
    return end;
}

// Registers of a device, mapped by a driver or /dev/mem.
static void *registers(off_t at)
{
    int memory = open("/dev/mem", O_RDONLY | O_SYNC);
    void *mapped = mmap(NULL, 4096, PROT_READ, MAP_SHARED, memory, at);

    CHECK(memory >= 0 && mapped != MAP_FAILED);
    close(memory);
    return mapped;
}

int main(void)
{
    char *kernels = (char *)getauxval(AT_SYSINFO_EHDR) - 2 * 4096;
    void *device = registers(VIRTIO0);
    struct tenon_hyplet_end end;

    setvbuf(stdout, NULL, _IOLBF, 0);
    CHECK(!hyp_map_section("hyp_data") && !hyp_map_section("hyp_code"));
    CHECK(!hyp_set_stack(stack, sizeof(stack)) && !hyplet_drop_cpu(CPU));
    // A device of this VM: a virtio transport, by its magic value.
    look.at = device;
    CHECK(!hyp_map(device, 4096));
    end = ended();
    CHECK(end.state == TENON_HYPLET_RETURNED && end.value == VIRTIO);
    CHECK(!hyp_unmap(device));
    end = ended();
    CHECK(end.state == TENON_HYPLET_FAULTED && end.address == (uintptr_t)device);
    // Memory of Linux that a driver mapped: the vvar page.
    CHECK(*(volatile const char *)kernels >= 0);
    FAILS(EACCES, hyp_map(kernels, 8));
    // A device of another VM, which Linux lets root map as well.
    FAILS(EACCES, hyp_map(registers(VIRTIO1), 4096));
    puts("HYPLET reads its device");
    return 0;
}
