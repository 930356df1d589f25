// Hyplet that reads the memory of a channel, which its VM shares with another.
// SPDX-License-Identifier: GPL-2.0
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <tenon.h>
#include "hyplet-test.h"

enum { CPU = 1, STACK = 16384 };

HYP_DATA static struct {
    volatile uint64_t *at;
} look;

static char stack[STACK] __attribute__((aligned(4096)));

HYP_CODE static long reads(long unused)
{
    return (long)*look.at + unused;
}

HYP_CODE static long writes(long unused)
{
    *look.at = 0;
    return unused;
}

// The writer's index of a channel: its number of sent messages.
int main(void)
{
    int answers = open("/dev/tenon/answers", O_RDONLY);
    struct tenon_channel shape;
    struct tenon_hyplet_end end;
    size_t size;

    setvbuf(stdout, NULL, _IOLBF, 0);
    CHECK(answers >= 0 && !ioctl(answers, TENON_CHANNEL, &shape));
    size = shape.parts[0];
    look.at = mmap(NULL, size, PROT_READ, MAP_SHARED, answers, 0);
    CHECK(look.at != MAP_FAILED && *look.at);
    CHECK(!hyp_map_section("hyp_data") && !hyp_map_section("hyp_code"));
    CHECK(!hyp_map((void *)look.at, size));
    CHECK(!hyp_set_stack(stack, sizeof(stack)) && !hyplet_drop_cpu(CPU));
    end = run_to_end(CPU, reads);
    CHECK(end.state == TENON_HYPLET_RETURNED && (uint64_t)end.value == *look.at);
    end = run_to_end(CPU, writes);
    CHECK(end.state == TENON_HYPLET_FAULTED && end.address == (uintptr_t)look.at);
    puts("HYPLET overhears");
    return 0;
}
