// SPDX-License-Identifier: GPL-2.0
/* Hypercalls to Mortise by the SMC Calling Convention (Arm DEN 0028). */
#include "module.h"

#include <linux/arm-smccc.h>
#include <linux/errno.h>

/*
 * HVC is undefined without a hypervisor. It is the conduit of PSCI exactly if there is one; only
 * then is a hypercall safe.
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
 * A long hypercall returns to this kernel for each pending interrupt and is then restarted: the
 * program counter stays at the HVC, and the upper half of x0 holds the progress. So the caller can
 * be interrupted, preempted and migrated to another CPU meanwhile.
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
