// A hyplet that runs to its end on a lent CPU.
// SPDX-License-Identifier: GPL-2.0
#include "hyplet-test.h"

enum { CPU = 2, STACK = 16384 };

HYP_DATA static long seven = 7;
static char stack[STACK] __attribute__((aligned(4096)));

HYP_CODE static long returns(long unused)
{
    return seven + unused;
}

int main(void)
{
    struct tenon_hyplet_end end;

    CHECK(!hyp_map_section("hyp_data") && !hyp_map_section("hyp_code"));
    CHECK(!hyp_set_stack(stack, sizeof(stack)) && !hyplet_drop_cpu(CPU));
    end = run_to_end(CPU, returns);
    CHECK(end.state == TENON_HYPLET_RETURNED && end.value == 7);
    return 0;
}
