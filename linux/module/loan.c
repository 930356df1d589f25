// SPDX-License-Identifier: GPL-2.0
/*
 * Lent cores.
 *
 * A core is claimed by turning its CPU off through CPU hotplug, and returned by turning it on. In
 * between, Mortise runs the context of the cell on it.
 */
#include "module.h"
#include "loan.h"

#include <linux/arm-smccc.h>
#include <linux/cpu.h>
#include <linux/interrupt.h>
#include <linux/iopoll.h>
#include <linux/irq.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/of.h>
#include <linux/of_address.h>
#include <linux/platform_device.h>
#include <uapi/linux/psci.h>

/* Time limit until a CPU that Linux has turned off is off; longer than Linux's own 100 ms. */
#define OFF_US 5000000

struct core {
	struct tenon_loan loan;
	u32 vcpu; /* its number in hypercalls */
	bool claimed;
};

static struct core *cores;
static int count;
static int doorbell; /* the event interrupt */
static DEFINE_MUTEX(lock); /* protects `claimed` and `count` */

static struct core *core_of(struct tenon_loan *loan)
{
	return container_of(loan, struct core, loan);
}

static struct core *take(int cpu)
{
	struct core *found = ERR_PTR(cpu < 0 ? -EBUSY : -EPERM);
	int i;

	mutex_lock(&lock);
	if (!count)
		found = ERR_PTR(-ENODEV);
	for (i = 0; i < count; i++) {
		if (cpu >= 0 && cores[i].loan.cpu != cpu)
			continue;
		if (cores[i].claimed) {
			found = ERR_PTR(-EBUSY);
			continue;
		}
		found = &cores[i];
		found->claimed = true;
		break;
	}
	mutex_unlock(&lock);
	return found;
}

static void give_back(struct core *core)
{
	mutex_lock(&lock);
	core->claimed = false;
	mutex_unlock(&lock);
}

bool tenon_loan_any(void)
{
	return READ_ONCE(count);
}

static bool is_off(const struct core *core)
{
	struct arm_smccc_res res;

	arm_smccc_1_1_hvc(PSCI_0_2_FN64_AFFINITY_INFO, core->vcpu, 0, &res);
	return res.a0 == PSCI_0_2_AFFINITY_LEVEL_OFF;
}

/*
 * Linux polls a CPU for 100 ms, warns that it "may not have shut down cleanly", and treats it as
 * off. A core that is delayed that long goes off later.
 */
static int turn_off(const struct core *core)
{
	unsigned int cpu = core->loan.cpu;
	int error = cpu_online(cpu) ? remove_cpu(cpu) : 0;
	bool off;

	if (error)
		return error;
	error = read_poll_timeout(is_off, off, off, 1000, OFF_US, false, core);
	if (error)
		pr_err("CPU %u does not go off\n", cpu);
	return error;
}

struct tenon_loan *tenon_loan_claim(int cpu)
{
	struct core *core = take(cpu);
	int error;

	if (IS_ERR(core))
		return ERR_CAST(core);
	error = turn_off(core);
	if (error) {
		give_back(core);
		return ERR_PTR(error);
	}
	core->loan.cell->owner = TENON_CELL_FREE;
	core->loan.cell->sleeper = 0;
	return &core->loan;
}
EXPORT_SYMBOL_GPL(tenon_loan_claim);

void tenon_loan_release(struct tenon_loan *loan)
{
	struct core *core = core_of(loan);
	int error;

	if (!tenon_loan_returned(loan))
		tenon_loan_stop(loan);
	error = cpu_online(loan->cpu) ? 0 : add_cpu(loan->cpu);
	if (error < 0) /* above 0: it was turned on meanwhile */
		pr_err("CPU %u does not come back: %d\n", loan->cpu, error);
	give_back(core);
}
EXPORT_SYMBOL_GPL(tenon_loan_release);

int tenon_loan_run(struct tenon_loan *loan)
{
	int error;

	smp_store_release(&loan->cell->owner, TENON_CELL_CORE);
	error = mortise_call(MORTISE_RUN, core_of(loan)->vcpu, 0, 0, 0, NULL);
	if (error)
		WRITE_ONCE(loan->cell->owner, TENON_CELL_FREE);
	return error;
}
EXPORT_SYMBOL_GPL(tenon_loan_run);

void tenon_loan_stop(struct tenon_loan *loan)
{
	/* A core that Linux has turned on has returned already; the call fails. */
	mortise_call(MORTISE_STOP, core_of(loan)->vcpu, 0, 0, 0, NULL);
	while (!tenon_loan_returned(loan))
		cpu_relax();
}
EXPORT_SYMBOL_GPL(tenon_loan_stop);

void tenon_loan_route_event(void)
{
	struct irq_data *data = irq_get_irq_data(doorbell);
	unsigned int cpu = raw_smp_processor_id();

	/* If this fails, another CPU takes the interrupt and sends an IPI. */
	if (data && !cpumask_test_cpu(cpu, irq_data_get_effective_affinity_mask(data)))
		irq_set_affinity(doorbell, cpumask_of(cpu));
}

static irqreturn_t event(int irq, void *data)
{
	int i;

	for (i = 0; i < count; i++)
		if (tenon_loan_returned(&cores[i].loan))
			tenon_loan_wake(&cores[i].loan);
	return IRQ_HANDLED;
}

/* Linux CPU of a vCPU. */
static int cpu_of(u32 vcpu)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu) {
		struct device *device = get_cpu_device(cpu);
		u32 number;

		if (device && !of_property_read_u32(device->of_node, "reg", &number) &&
		    number == vcpu)
			return cpu;
	}
	return -ENODEV;
}

static int describe(struct device *device, struct core *core, int index, void *cells, u64 start)
{
	struct mortise_answer answer;
	int cpu, error;

	error = of_property_read_u32_index(device->of_node, "tenonos,cpus", index, &core->vcpu);
	cpu = error ?: cpu_of(core->vcpu);
	if (cpu < 0)
		return cpu;
	error = mortise_call(MORTISE_CELL, core->vcpu, 0, 0, 0, &answer);
	if (error)
		return error;
	if (answer.value[0] != start + index * SZ_4K)
		return -EINVAL;
	core->loan.cpu = cpu;
	core->loan.cell = cells + index * SZ_4K;
	rcuwait_init(&core->loan.waiter);
	return 0;
}

static void forget(void)
{
	mutex_lock(&lock);
	count = 0;
	cores = NULL;
	mutex_unlock(&lock);
}

/* A claimed core holds a reference to the module. */
static void loan_ends(void *unused)
{
	tenon_loan_file_exit();
	forget();
}

static int loan_probe(struct platform_device *platform)
{
	struct device *device = &platform->dev;
	int number = of_property_count_u32_elems(device->of_node, "tenonos,cpus");
	int irq = platform_get_irq(platform, 0);
	struct resource place;
	struct core *known;
	void *cells;
	int i, error;

	if (irq < 0)
		return irq;
	if (cores || number < 1 || of_address_to_resource(device->of_node, 0, &place) ||
	    resource_size(&place) < number * SZ_4K)
		return dev_err_probe(device, -EINVAL, "not as docs/formats.md says\n");
	known = devm_kcalloc(device, number, sizeof(*known), GFP_KERNEL);
	if (!known)
		return -ENOMEM;
	/* Normal memory that this kernel does not manage. */
	cells = devm_memremap(device, place.start, resource_size(&place), MEMREMAP_WB);
	if (IS_ERR(cells))
		return PTR_ERR(cells);
	for (i = 0; i < number; i++) {
		error = describe(device, &known[i], i, cells, place.start);
		if (error)
			return dev_err_probe(device, error, "CPUs as Mortise does not have them\n");
	}
	cores = known;
	doorbell = irq;
	error = devm_request_irq(device, irq, event, 0, "tenon-loan", known);
	if (error) {
		cores = NULL;
		return error;
	}
	mutex_lock(&lock);
	count = number;
	mutex_unlock(&lock);
	error = tenon_loan_file_init();
	if (error) {
		forget();
		return error;
	}
	/* The type of a driver's remove() differs between versions of Linux. */
	return devm_add_action_or_reset(device, loan_ends, NULL);
}

static const struct of_device_id lends[] = { { .compatible = "tenonos,detach" }, {} };
MODULE_DEVICE_TABLE(of, lends);

static struct platform_driver driver = {
	.probe = loan_probe,
	.driver = {
		.name = "tenon-loan",
		.of_match_table = lends,
		.suppress_bind_attrs = true,
	},
};

int tenon_loan_init(void)
{
	return platform_driver_register(&driver);
}

void tenon_loan_exit(void)
{
	platform_driver_unregister(&driver);
}
