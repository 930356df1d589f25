//! Cores that several virtual CPUs share: what Mortise asks of who shares them out.
//!
//! A library that registers a [`Dispatch`] in the table `dispatch` makes an image
//! one of mode 2 (TenonOS paper, 4.4.3, Figure 7). Without one, a core has its
//! virtual CPU for good; with one, so does each core that only one virtual CPU uses.

use crate::{
    Core, Machine, PerCore, Vm, registry,
    vm::{DISCARDED, HELD},
};
use core::sync::atomic::Ordering;
use mortise_vcpu::{Cause, FrameCell};

/// What came for a virtual CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WakeReason {
    /// What is in its list registers already.
    Listed,
    /// What stands in memory: its virtual interrupt controller, its VM's power states.
    StateChanged,
    /// A shared peripheral interrupt that the core has acknowledged for it.
    Interrupt(u32),
}

/// What a library of mode 2 registers: a dispatcher for each core.
pub trait Dispatch: Sync {
    /// The dispatcher of core `cpu`, if there is one for so many virtual machines.
    fn core(&'static self, cpu: usize, vms: usize) -> Option<&'static dyn Dispatcher>;

    /// Where the dispatchers are: whole pages of each core's own.
    fn records(&'static self) -> PerCore;
}

/// Shares one core out among virtual CPUs. Called on that core, with every interrupt masked.
pub trait Dispatcher: Sync {
    /// Begins with the core, which nothing is needed of any more: waits until somebody can go
    /// on.
    fn begin(&'static self, core: &'static Core) -> !;

    /// Takes an exit of the guest in the registers, to its end: who goes on is entered, or
    /// its frame is returned.
    fn exit(&'static self, cause: Cause, core: &'static Core) -> &'static FrameCell;

    /// The virtual CPU whose guest is in the registers has nothing to do until something
    /// comes for it.
    fn wait(&self, core: &'static Core);

    /// The virtual CPU whose guest is in the registers has ended what it did.
    fn stop(&self, core: &'static Core);

    /// Something came for a VM's virtual CPU on this core. One that it hears of for the first
    /// time gets a place, and rests there until its VM's power states say otherwise.
    fn wake(&'static self, core: &'static Core, vm: &'static Vm, news: WakeReason);

    /// A VM's virtual CPU on this core is to have the core no more until it is woken after
    /// its VM's release, and that [noted](Core::mark_off_core). With `forget` nothing of it is needed any
    /// more.
    fn hold(&'static self, core: &'static Core, vm: &'static Vm, forget: bool);

    /// What Mortise itself waits for on this core has changed ([`Core::hypervisor_deadline`]).
    fn reconsider(&self, core: &'static Core);

    /// The guest in the registers used floating point, which traps.
    fn floating_point(&self);

    /// What a register of identification, which traps, says to the guest in the registers.
    fn identity(&self, encoding: u16) -> u64;
}

/// Virtual machines that are kept off their cores.
impl Vm {
    /// Takes all its vCPUs off their cores, whatever they do, until it is
    /// [released](Self::release). They are when it [is held](Self::is_held).
    pub fn hold(&'static self, machine: &'static Machine) {
        self.keep_off(HELD, machine);
    }

    /// Does the same, and has the cores forget what its vCPUs did: they are off.
    pub fn discard(&'static self, machine: &'static Machine) {
        self.keep_off(HELD | DISCARDED, machine);
    }

    fn keep_off(&'static self, order: u8, machine: &'static Machine) {
        // In this order: who obeys an earlier order may still say that it is away.
        self.orders.fetch_or(order, Ordering::AcqRel);
        self.away.store(0, Ordering::Release);
        if !self.is_shared() {
            // It can make its cores deaf to the doorbell (see `call_in`).
            self.withdraw();
        }
        machine.kick_vcpus(self, self.all_vcpus());
    }

    /// Whether none of its vCPUs is on its core any more, nor will be.
    #[must_use]
    pub fn is_held(&self) -> bool {
        let all = self.all_vcpus().bits();
        self.orders() & HELD != 0 && self.away.load(Ordering::Acquire) & all == all
    }

    /// Lets its vCPUs go on. One whose run ends stays without its memory until the next one
    /// begins: a core that has not come back yet would go on in it.
    pub fn release(&'static self, machine: &'static Machine) {
        if !self.is_shared() && !self.is_ending() {
            self.stage2.restore_from_outside();
            if self.is_ending() {
                self.withdraw();
            }
        }
        self.orders.fetch_and(!(HELD | DISCARDED), Ordering::AcqRel);
        machine.kick_vcpus(self, self.all_vcpus());
    }

    /// Whether it is to be held.
    #[must_use]
    pub fn hold_requested(&self) -> bool {
        registry::orders_are_given() && self.orders() & HELD != 0
    }
}

/// That no image has two: asked for each pair of what is registered.
#[must_use]
pub const fn only_one(_: &dyn Dispatch, _: &dyn Dispatch) -> bool {
    false
}
