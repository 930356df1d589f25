// SPDX-License-Identifier: GPL-2.0
/*
  * Hostile Linux: invalid calls about lent cores and cells. With `serves`, in a VM that is a vLib, also
  * invalid vLib calls, and at last a store to the notification page.
 */
#include <linux/arm-smccc.h>
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/io.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/of_address.h>
#include <linux/sched/mm.h>
#include <linux/smp.h>
#include <asm/mmu_context.h>
#include <asm/sysreg.h>

#include "cell.h"

#define FIRST 0xc6000100u
#define LAST 0xc60004ffu
#define CELL 0xc6000300u
#define RUN 0xc6000301u
#define STOP 0xc6000302u
#define VLIB_CALL 0xc6000401u
#define VLIB_STATE 0xc6000404u
#define VLIB_LEAVE 0xc6000405u
#define VCPU 2

static int rounds = 300;
module_param(rounds, int, 0);
static int wild;
module_param(wild, int, 0);
static int serves;
module_param(serves, int, 0);

static u64 state = 88172645463325252ull;
static struct tenon_cell *cell;

static u64 any(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static long call(u32 function, u64 vcpu, struct arm_smccc_res *res)
{
	arm_smccc_1_1_hvc(function, vcpu, any(), any(), any(), res);
	return (int)res->a0;
}

static void expect(u32 function, u64 vcpu, long expected)
{
	struct arm_smccc_res res;
	long answer = call(function, vcpu, &res);

	if (answer != expected)
		pr_alert("FORGE WRONG: %x of %llx is %ld instead of %ld\n", function, vcpu, answer,
			 expected);
}

static const u64 nobody[] = { 3, 4, 7, 8, 255, 256, 1ull << 31, 1ull << 32, ~0ull };

static void calls(void)
{
	u32 function;
	int i;

	for (function = CELL; function <= STOP; function++) {
		for (i = 0; i < ARRAY_SIZE(nobody); i++)
			expect(function, nobody[i], -2);
		expect(function, 0, -3);
		expect(function, 1, -3);
	}
	expect(RUN, VCPU, -5);
	expect(STOP, VCPU, -5);
	for (function = STOP + 1; function < STOP + 8; function++)
		expect(function, VCPU, -1);
}

/* All other calls of the module, for which this VM has no authority. */
static void others(void)
{
	struct arm_smccc_res res;
	u32 function;

	for (function = FIRST; function <= LAST; function++) {
		if (function >= CELL && function <= STOP)
			continue;
		if (call(function, any(), &res) >= 0)
			pr_alert("FORGE WRONG: %x is answered with %lx\n", function, res.a0);
	}
}

/* A random context in this process's memory; wild: with any memory, at any exception level. */
static void fill(unsigned long asid)
{
	u64 *words = (u64 *)cell;
	int i;

	for (i = 1; i < sizeof(*cell) / 8; i++)
		WRITE_ONCE(words[i], any());
	if (any() % 4)
		cell->pstate &= ~0x1full;
	if (wild) {
		if (any() % 2)
			cell->pstate = (cell->pstate & ~0x1full) | 5;
		if (any() % 2)
			return;
	} else {
		cell->flags &= ~TENON_CELL_KERNEL;
	}
	cell->ttbr0_el1 = phys_to_ttbr(virt_to_phys(current->mm->pgd));
	cell->ttbr1_el1 = (u64)asid << 48 | (any() & 0xffffffffffff);
	cell->tcr_el1 = read_sysreg(tcr_el1);
	cell->mair_el1 = read_sysreg(mair_el1);
	cell->sctlr_el1 = read_sysreg(sctlr_el1);
	/* Some run for ever, and wait, in mapped memory. */
	if (any() % 2)
		cell->pc = current->mm->start_code + (any() & 0xffc);
	if (any() % 4 == 0)
		cell->x[8] = 0x7e00001;
}

/* All fields except translation change while the core reads them. */
static void scribble(void)
{
	u64 *words = (u64 *)cell;
	int i;

	for (i = 0; i < 200; i++) {
		int word = any() % (sizeof(*cell) / 8);

		if (word >= 0x140 / 8 && word < 0x1a0 / 8)
			continue;
		WRITE_ONCE(words[word], word == 1 ? any() & ~(2ull << 32) : any());
	}
}

static void run(unsigned long asid)
{
	struct arm_smccc_res res;
	int calls;

	fill(asid);
	smp_store_release(&cell->owner, TENON_CELL_CORE);
	call(RUN, VCPU, &res);
	for (calls = any() % 8; calls; calls--)
		call(any() % 2 ? RUN : STOP, VCPU, &res);
	if (any() % 2)
		scribble();
	udelay(any() % 50);
	call(STOP, VCPU, &res);
	udelay(20);
	cell->owner = TENON_CELL_FREE;
	call(STOP, VCPU, &res);
}

/* Permitted calls of a server: query its state, and leave. */
static int as_server(void)
{
	struct device_node *node = of_find_compatible_node(NULL, NULL, "tenonos,vlib");
	void __iomem *door = node ? of_iomap(node, 1) : NULL;
	u32 function;
	int i;

	for (function = VLIB_CALL; function <= VLIB_LEAVE; function++)
		for (i = 0; i < ARRAY_SIZE(nobody); i++)
			expect(function, nobody[i], -6);
	for (function = VLIB_CALL; function < VLIB_STATE; function++)
		expect(function, 0, -3);
	for (i = 0; i < rounds; i++)
		expect(i % 2 ? VLIB_STATE : VLIB_LEAVE, 0, 0);
	for (function = VLIB_LEAVE + 1; function < VLIB_LEAVE + 8; function++)
		expect(function, 0, -1);
	if (!door)
		return -ENODEV;
	pr_alert("FORGE at the door\n");
	writel(0, door);
	pr_alert("FORGE WRONG: there was no door\n");
	return 0;
}

static int __init forge(void)
{
	struct arm_smccc_res res;
	unsigned long asid;
	int i;

	if (serves)
		return as_server();
	asid = arm64_mm_context_get(current->mm);
	calls();
	others();
	if (call(CELL, VCPU, &res))
		return -ENODEV;
	cell = memremap(res.a1, SZ_4K, MEMREMAP_WB);
	if (!cell || remove_cpu(VCPU))
		return -EIO;
	expect(STOP, VCPU, -5); /* off, and not lent */
	for (i = 0; i < rounds; i++) {
		if (wild)
			pr_alert("FORGE round %d\n", i);
		run(asid);
		/* Reclaimed and lent again during a call. */
		if (i % 64 == 63 && (add_cpu(VCPU) || remove_cpu(VCPU)))
			pr_alert("FORGE WRONG: the CPU does not come back\n");
	}
	if (add_cpu(VCPU))
		pr_alert("FORGE WRONG: the CPU does not come back\n");
	arm64_mm_context_put(current->mm);
	memunmap(cell);
	pr_alert("FORGE done\n");
	return 0;
}

static void __exit leave(void)
{
}

module_init(forge);
module_exit(leave);
MODULE_LICENSE("GPL");
