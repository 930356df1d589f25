// SPDX-License-Identifier: GPL-2.0
/* Calls to Mortise, after the SMC Calling Convention (Arm DEN 0028). */
#include "module.h"

#include <linux/arm-smccc.h>
#include <linux/errno.h>

/*
 * Without a hypervisor HVC is undefined, and it is PSCI's conduit exactly where there is one: only
 * then is it safe to ask whether the hypervisor is Mortise.
 */
bool mortise_reachable(void)
{
	return arm_smccc_1_1_get_conduit() == SMCCC_CONDUIT_HVC;
}

static int as_errno(long result)
{
	switch (result) {
	case 0:
		return 0;
	case -1:
		return -EOPNOTSUPP;
	case -3:
		return -EPERM;
	case -4:
		return -ENOMEM;
	case -5:
		return -EBUSY;
	case -6:
		return -ENOENT;
	default:
		return -EINVAL;
	}
}

/*
 * A call that takes long leaves Mortise for each interrupt of ours and then repeats itself: the
 * program counter stays at the HVC and how far it came is in the upper half of x0. So this may
 * be interrupted, preempted and moved to another CPU in between, and needs to know nothing of it.
 */
int mortise_call(u32 function, u64 a1, u64 a2, u64 a3, u64 a4, struct mortise_answer *answer)
{
	struct arm_smccc_res res;

	arm_smccc_1_1_hvc(function, a1, a2, a3, a4, &res);
	if (answer) {
		answer->value[0] = res.a1;
		answer->value[1] = res.a2;
		answer->value[2] = res.a3;
	}
	return as_errno(res.a0);
}
