// SPDX-License-Identifier: GPL-2.0
/*
 * /dev/tenon/loan: a program runs its own code on a lent core and handles the exceptions.
 *
 * The program claims a core and runs a register context on it; it sleeps until the core returns
 * with an exception, which the program handles itself. The code uses the memory of the program; an
 * access to a page that is not present faults.
 */
#include "module.h"
#include "loan.h"

#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <asm/mmu_context.h>
#include <asm/pgtable.h>
#include <asm/sysreg.h>
#include <tenon.h>

struct borrower {
	struct mutex lock;
	struct tenon_loan *loan;
	struct tenon_context context;
};

/* System registers of the process; the ASID is pinned, so that it is not reassigned. */
static void fill_control(struct tenon_cell *cell, unsigned long asid)
{
	u64 tcr = read_sysreg(tcr_el1);
	u64 table = phys_to_ttbr(virt_to_phys(current->mm->pgd));

	cell->ttbr0_el1 = table | (tcr & TCR_A1 ? 0 : (u64)asid << 48);
	cell->ttbr1_el1 = (u64)asid << 48;
	cell->tcr_el1 = tcr;
	cell->mair_el1 = read_sysreg(mair_el1);
	cell->sctlr_el1 = read_sysreg(sctlr_el1);
	cell->cpacr_el1 = read_sysreg(cpacr_el1) | 3 << 20; /* FPEN: no FP trap at EL0 */
	cell->cntkctl_el1 = read_sysreg(cntkctl_el1);
#ifdef CONFIG_ARM64_PTR_AUTH
	BUILD_BUG_ON(sizeof(cell->keys) != sizeof(current->thread.keys_user));
	memcpy(cell->keys, &current->thread.keys_user, sizeof(cell->keys));
#endif
}

static void fill(struct tenon_cell *cell, const struct tenon_context *context)
{
	memcpy(cell->x, context->x, sizeof(cell->x));
	cell->sp = context->sp;
	cell->pc = context->pc;
	cell->pstate = context->pstate;
	cell->tpidr_el0 = context->tpidr;
	cell->tpidrro_el0 = 0;
	cell->flags = TENON_CELL_FP;
	cell->fpcr = context->fpcr;
	cell->fpsr = context->fpsr;
	memcpy(cell->v, context->v, sizeof(cell->v));
}

static void save(const struct tenon_cell *cell, struct tenon_context *context)
{
	context->reason = cell->reason;
	context->esr = cell->esr;
	context->far = cell->far;
	memcpy(context->x, cell->x, sizeof(context->x));
	context->sp = cell->sp;
	context->pc = cell->pc;
	context->pstate = cell->pstate;
	context->tpidr = cell->tpidr_el0;
	context->fpcr = cell->fpcr;
	context->fpsr = cell->fpsr;
	memcpy(context->v, cell->v, sizeof(context->v));
}

/* Sleeps until the core returns; a signal stops the context. */
static void await(struct tenon_loan *loan)
{
	tenon_loan_wait(loan, tenon_loan_returned(loan), TASK_INTERRUPTIBLE);
	if (!tenon_loan_returned(loan))
		tenon_loan_stop(loan);
}

static int run(struct tenon_loan *loan, struct tenon_context *context)
{
	unsigned long asid = arm64_mm_context_get(current->mm);
	int error;

	if (!asid)
		return -ENOSPC;
	fill(loan->cell, context);
	fill_control(loan->cell, asid);
	error = tenon_loan_run(loan);
	if (!error) {
		await(loan);
		save(loan->cell, context);
	}
	arm64_mm_context_put(current->mm);
	return error;
}

static long claim(struct borrower *borrower, int cpu)
{
	struct tenon_loan *loan;

	if (borrower->loan)
		return -EBUSY;
	loan = tenon_loan_claim(cpu);
	if (IS_ERR(loan))
		return PTR_ERR(loan);
	borrower->loan = loan;
	return loan->cpu;
}

static long borrow(struct borrower *borrower, void __user *user)
{
	struct tenon_context *context = &borrower->context;
	int error;

	if (!borrower->loan)
		return -ENXIO;
	if (copy_from_user(context, user, sizeof(*context)))
		return -EFAULT;
	error = run(borrower->loan, context);
	if (error)
		return error;
	return copy_to_user(user, context, sizeof(*context)) ? -EFAULT : 0;
}

static long loan_ioctl(struct file *file, unsigned int command, unsigned long argument)
{
	struct borrower *borrower = file->private_data;
	long result = -ENOTTY;

	if (mutex_lock_interruptible(&borrower->lock))
		return -ERESTARTSYS;
	if (command == TENON_LOAN_CLAIM)
		result = claim(borrower, (int)argument);
	else if (command == TENON_LOAN_RUN)
		result = borrow(borrower, (void __user *)argument);
	mutex_unlock(&borrower->lock);
	return result;
}

static int loan_open(struct inode *inode, struct file *file)
{
	struct borrower *borrower = kzalloc(sizeof(*borrower), GFP_KERNEL);

	if (!borrower)
		return -ENOMEM;
	mutex_init(&borrower->lock);
	file->private_data = borrower;
	return 0;
}

static int loan_close(struct inode *inode, struct file *file)
{
	struct borrower *borrower = file->private_data;

	if (borrower->loan)
		tenon_loan_release(borrower->loan);
	kfree(borrower);
	return 0;
}

static const struct file_operations operations = {
	.owner = THIS_MODULE,
	.open = loan_open,
	.release = loan_close,
	.unlocked_ioctl = loan_ioctl,
};

static struct miscdevice device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "tenon-loan-file",
	.nodename = "tenon/loan",
	.mode = 0600,
	.fops = &operations,
};

int tenon_loan_file_init(void)
{
	return misc_register(&device);
}

void tenon_loan_file_exit(void)
{
	misc_deregister(&device);
}
