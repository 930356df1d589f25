//! Interrupt controllers other than the GICv3.
//!
//! Mortise drives a GICv3 itself, in many places and with few instructions. A library that registers an
//! [`Irqchip`] in the table `irqchips` has another one driven in its stead, for static partitions whose
//! virtual machines own their interrupts; without one, nothing of it is in the image.

use crate::{
    board::Board,
    irq_assignment::SPI_ROWS,
    machine::{Core, Machine},
    registry,
    vm::Vm,
};
use core_manifest::{Console, limits};
use hw_arch::mmio::Mmio;
use mortise_gicd::{Access, Decision};

/// What a virtual machine owns of the interrupt controller.
pub type OwnedInterrupts = mortise_gicd::OwnedInterrupts<{ limits::VCPUS }, SPI_ROWS>;

/// Carries out a decision; what a load finds.
pub type ApplyDecision<'a> = &'a dyn Fn(Decision) -> u64;

/// The registers of an interrupt controller with a CPU interface in memory.
#[derive(Debug, Clone, Copy)]
pub struct Gic {
    /// Of the distributor.
    pub distributor: Mmio,
    /// Of whichever core's CPU interface accesses them.
    pub interface: Mmio,
    /// The SGI by which a core at rest is called, most urgent of all.
    pub doorbell: u32,
}

/// An interrupt controller whose CPU interface a virtual machine has, registers and all. Cores have the
/// numbers that the board gives them. Called with interrupts masked.
pub trait Irqchip: Sync {
    /// Makes the shared half ready: every interrupt off, the controller on.
    fn init(&self, gic: &Gic);

    /// Makes the half of the core that calls ready, for its rest.
    ///
    /// # Errors
    ///
    /// If it does not know this core by its number.
    fn init_core(&self, gic: &Gic, cpu: usize) -> Result<(), &'static str>;

    /// Takes this core's half back to a rest, in which the doorbell wakes it and nothing else does.
    fn reset_core(&self, gic: &Gic);

    /// Gives this core's half to a guest that starts, as at power-on.
    fn hand_over(&self, gic: &Gic);

    /// Rings the doorbell of a core. What was stored before is seen there.
    fn send_doorbell(&self, gic: &Gic, cpu: usize);

    /// Takes this core's doorbell, if it rang.
    fn acknowledge_doorbell(&self, gic: &Gic);

    /// Waits on behalf of this core's guest, whatever it masks, and leaves its half as it was.
    fn wait(&self, gic: &Gic, wait: fn());

    /// Sends a shared interrupt to one core.
    fn route(&self, gic: &Gic, intid: u32, cpu: usize);

    /// Makes a shared interrupt pending as if a device had, or takes that back.
    fn set_pending(&self, gic: &Gic, intid: u32, pending: bool);

    /// Does what an access of a guest's to the distributor may do, by `carry` where a GICv3 has the
    /// same; what a load finds.
    fn access(
        &self,
        gic: &Gic,
        owned: &OwnedInterrupts,
        vcpu: usize,
        access: Access,
        carry: ApplyDecision<'_>,
    ) -> u64;
}

/// That no image has two: asked for each pair of what is registered.
#[must_use]
pub const fn only_one_irqchip(_: &dyn Irqchip, _: &dyn Irqchip) -> bool {
    false
}

impl Board {
    /// The registers of an interrupt controller that is no GICv3.
    pub(crate) fn gic(&self) -> Gic {
        // SAFETY: the board description says where they are; `core_map` maps them as device memory
        // on every core.
        unsafe {
            Gic {
                distributor: Mmio::new(self.gicd_base, self.gicd_size),
                interface: Mmio::new(self.gicc_base, self.gicc_size),
                doorbell: self.doorbell,
            }
        }
    }

    /// Where the cores' halves of the interrupt controller are, and how many bytes of them.
    pub(crate) fn core_frames(&self) -> (usize, usize) {
        match registry::irqchip() {
            Some(_) => (self.gicc_base, self.gicc_size),
            None => (self.gicr_base, self.gicr_stride * self.cpus),
        }
    }

    /// The affinity of a core: that of its redistributor, and where there is none its number.
    pub(crate) fn affinity(&self, cpu: usize) -> u64 {
        match registry::irqchip() {
            Some(_) => cpu as u64,
            None => self.redistributor(cpu).affinity(),
        }
    }
}

impl Machine {
    /// Whether all of the image works with an interrupt controller that is no GICv3.
    pub(crate) fn fits_irqchip(
        &self,
        system: &core_manifest::System<'_>,
    ) -> Result<(), &'static str> {
        let vms = system.vms.iter();
        if registry::dispatcher().is_some()
            || !registry::vm_extensions().is_empty()
            || !registry::core_tasks().is_empty()
        {
            Err(
                "the board has a GICv2, with which Mortise has virtual machines on cores of their own and nothing between them",
            )
        } else if vms.filter(|vm| vm.console == Console::Pl011).count() > 1 {
            Err("the board has a GICv2, with which one virtual machine has a serial port")
        } else {
            Ok(())
        }
    }
}

// What is called from where instructions are counted is apart, and leaves nothing there without a chip.
impl Core {
    /// Takes this core's doorbell.
    #[cold]
    #[inline(never)]
    pub(crate) fn answer_by(&self, chip: &dyn Irqchip) {
        chip.acknowledge_doorbell(&self.machine.board.gic());
        hw_arch::barrier::dsb_sy();
    }

    /// Waits on behalf of this core's guest.
    #[cold]
    #[inline(never)]
    pub(crate) fn sleep_by(&self, chip: &dyn Irqchip) {
        chip.wait(&self.machine.board.gic(), hw_arch::cpu::wait_for_interrupt);
    }
}

impl Machine {
    /// Rings the doorbell of a core.
    #[cold]
    #[inline(never)]
    pub(crate) fn ring_by(&self, chip: &dyn Irqchip, cpu: usize) {
        chip.send_doorbell(&self.board.gic(), cpu);
    }
}

/// The interrupt of the serial port of a virtual machine that owns its interrupts: the board's own, so
/// that what is typed interrupts it with no exit.
impl Vm {
    /// Sends its shared interrupts to its first core.
    pub(crate) fn route_by(&self, chip: &dyn Irqchip, machine: &Machine) {
        let intids = self.description().interrupts.iter();
        let serial = self.has_serial().then_some(machine.board.uart_irq);
        for intid in intids.map(|&intid| intid.into()).chain(serial) {
            chip.route(&machine.board.gic(), intid, self.cpu(0));
        }
    }

    pub(crate) fn has_serial_interrupt(&self) -> bool {
        registry::irqchip().is_some() && self.has_serial()
    }

    /// Tells it the level of its serial port's line.
    #[cold]
    #[inline(never)]
    pub(crate) fn set_serial_interrupt(&self, machine: &Machine) {
        if let Some(chip) = registry::irqchip() {
            let level = self.serial.lock().interrupt();
            chip.set_pending(&machine.board.gic(), machine.board.uart_irq, level);
        }
    }
}
