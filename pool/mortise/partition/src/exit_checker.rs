//! What checks, in test builds, what guests go on with.
//!
//! A library that registers a [`ExitChecker`] in the table `witnesses` sees each exit at its beginning and
//! its end, short ways among them, and what it has to look at. The ways that are all assembly
//! (`mortise_vcpu::PinnedVcpu`) are not told; what they left is there at the next exit's beginning. An image
//! without one has nothing of it.

use crate::{Core, Machine, Vm, colouring, irq_assignment::SPI_ROWS, registry};
use core_manifest::limits;
use mortise_vcpu::Cause;
use mortise_vgic::VirtualGic;

/// Checks what guests go on with. Called with interrupts masked, and but for [`ExitChecker::open`] on the
/// core of the virtual CPU, whose guest is in the registers. One that finds something wrong panics.
pub trait ExitChecker: Sync {
    /// All of the system's virtual machines are made and none runs. Called once, on the first core,
    /// which reaches all memory; whoever fails says why in a few words.
    ///
    /// # Errors
    ///
    /// Mortise does not start.
    fn init(&self, machine: &'static Machine) -> Result<(), &'static str>;

    /// A guest came to Mortise, which has done nothing yet but to acknowledge an interrupt.
    fn exit(&self, core: &'static Core, vm: &'static Vm, vcpu: usize, cause: Cause);

    /// What a virtual CPU did is over: it begins anew, or never.
    fn vcpu_stopped(&self, core: &'static Core, vm: &'static Vm, vcpu: usize);

    /// A guest goes on, or begins, with what is in the registers.
    fn entry(&self, core: &'static Core, vm: &'static Vm, vcpu: usize);
}

/// What is told of a core.
impl Core {
    /// A guest came to Mortise.
    #[inline(always)]
    pub fn check_exit(&'static self, cause: Cause) {
        for checker in registry::exit_checkers() {
            if let Some((vm, vcpu)) = self.current_vcpu() {
                checker.exit(self, vm, vcpu, cause);
            }
        }
    }

    /// The guest in the registers goes on.
    #[inline(always)]
    pub fn check_entry(&'static self) {
        for checker in registry::exit_checkers() {
            if let Some((vm, vcpu)) = self.current_vcpu() {
                checker.entry(self, vm, vcpu);
            }
        }
    }

    /// What a virtual CPU did is over.
    #[inline(always)]
    pub(crate) fn check_stop(&'static self, vm: &'static Vm, vcpu: usize) {
        for checker in registry::exit_checkers() {
            checker.vcpu_stopped(self, vm, vcpu);
        }
    }

    /// Whether several virtual CPUs share it.
    #[must_use]
    pub fn is_shared_core(&self) -> bool {
        self.dispatcher().is_some()
    }
}

/// What a witness looks at.
impl Machine {
    /// The virtual machines that there are places for.
    pub fn all(&self) -> impl Iterator<Item = &'static Vm> {
        self.vms()
    }

    /// INTID of the virtual timer.
    #[must_use]
    pub fn virtual_timer(&self) -> u32 {
        self.board.virtual_timer
    }

    /// INTID of EL1's physical timer.
    #[must_use]
    pub fn physical_timer(&self) -> u32 {
        self.board.physical_timer
    }

    /// Whether some of its cores are shared out among virtual CPUs.
    #[must_use]
    pub fn has_shared_cores(&self) -> bool {
        registry::cores_are_shared()
    }
}

/// What a witness looks at.
impl Vm {
    /// Whether its stage 2 is made of Mortise's own tables, which each core reaches.
    #[must_use]
    pub fn uses_shared_tables(&self) -> bool {
        colouring::frames(self.index).is_none()
    }

    /// Lets somebody look at its virtual interrupt controller, if it has one. With its lock held.
    pub fn inspect_vgic<R>(
        &self,
        look: impl FnOnce(&VirtualGic<{ limits::VCPUS }, SPI_ROWS>) -> R,
    ) -> Option<R> {
        self.interrupts.shared().map(|gic| look(&gic.lock()))
    }
}
