//! What a dispatcher asks of its core.

use crate::{Core, Vm, exits, gic, interrupts, machine::Timer};
use core::cell::Cell;
use core::sync::atomic::{AtomicU64, Ordering};
use core_manifest::limits;
use core_trace::Event;
use hw_arch::{El2, registers::ich_lr};
use hw_clock::Clock;
use hw_irqchip_gicv3::{Group, cpu_interface, is_special};
use mortise_vcpu::{Cause, Frame, Interface};

/// What an interrupt was that was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Taken {
    /// The hypervisor timer's.
    Alarm,
    /// The timer's of the guest in the registers, who has it listed now.
    Listed,
    /// A device's, of the virtual machine with a number; it is active, and to be noted.
    Device {
        /// That number.
        owner: usize,
        /// The interrupt.
        intid: u32,
    },
    /// Any other, with which all is done.
    Other,
}

/// Where the interrupt of a timer stands whose virtual CPU is off its core.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AwayTimer {
    /// Nowhere.
    Idle,
    /// The deadline passed while it waited.
    Due,
    /// It has been listed, and was active in the physical controller.
    Active,
}

/// Each on that core.
impl Core {
    /// Does what an exit asks for, but for who goes on after it.
    #[inline(never)]
    pub fn handle(&'static self, frame: &mut Frame, cause: Cause) {
        if let Some((vm, vcpu)) = self.vcpu() {
            exits::handle(self, vm, vcpu, frame, cause);
        }
    }

    /// Whether the guest in the registers has an interrupt to take.
    #[inline]
    #[must_use]
    pub fn is_listed(&self) -> bool {
        // A list register that is empty by itself, as its interrupt has ended, needs no look.
        let empty = hw_arch::registers::ich_elrsr_el2::read();
        u64::from(self.listed.get()) & !empty != 0 && gic::is_interrupt_listed(self)
    }

    /// Takes one pending Group 1 interrupt. What came for others than the guest in the registers
    /// is told the dispatcher.
    #[inline(always)]
    pub fn take_interrupt(&'static self) -> Taken {
        let intid = cpu_interface::acknowledge_any(Group::One);
        let board = &self.machine.board;
        if intid == board.hypervisor_timer {
            cpu_interface::end(Group::One, intid);
            self.record(Event::Enter, intid.into());
            self.record(Event::Leave, intid.into());
            cpu_interface::deactivate(intid);
            return Taken::Alarm;
        }
        if intid == board.virtual_timer && self.take_timer(intid) {
            return Taken::Listed;
        }
        let owner = self.machine.owners.of(intid);
        if owner < limits::VMS {
            cpu_interface::end(Group::One, intid);
            self.record(Event::Enter, intid.into());
            self.record(Event::Leave, intid.into());
            return Taken::Device { owner, intid };
        }
        self.take_other(intid);
        Taken::Other
    }

    /// Lists the interrupt of the virtual timer, if that can be done at once.
    #[inline(never)]
    fn take_timer(&'static self, intid: u32) -> bool {
        let Some((vm, vcpu)) = self.vcpu() else {
            return false;
        };
        let listed = gic::list_timer(self, vm, vcpu);
        if listed {
            cpu_interface::end(Group::One, intid);
            self.record(Event::Enter, intid.into());
            self.record(Event::Leave, intid.into());
        }
        listed
    }

    /// Returns a device's interrupt that was taken to the controller: it is pending again, and active no more.
    #[cold]
    #[inline(never)]
    pub fn return_interrupt(&self, intid: u32) {
        let distributor = self.machine.board.distributor();
        distributor.set_pending(intid, true);
        cpu_interface::deactivate(intid);
    }

    #[inline(never)]
    fn take_other(&'static self, intid: u32) {
        if !is_special(intid) {
            cpu_interface::end(Group::One, intid);
            interrupts::deliver(self, self.vcpu(), intid);
        }
    }

    /// Brings the list registers of the virtual CPU in the registers up to date.
    pub fn refresh(&'static self, vm: &'static Vm, vcpu: usize) {
        interrupts::refresh(self, vm, vcpu);
    }

    /// Gives the virtual CPU in the registers an interrupt that was acknowledged for it; false, and
    /// nothing is done, if something goes first.
    #[must_use]
    pub fn inject(&'static self, vm: &'static Vm, vcpu: usize, intid: u32) -> bool {
        let Some(gic) = vm.interrupts.shared() else {
            return true;
        };
        let mut gic = gic.lock();
        if self.is_wanted() {
            return false;
        }
        let machine = self.machine;
        gic.inject_hardware(vcpu, intid, &mut gic::VmInterrupts { machine, vm });
        true
    }

    /// Gives the virtual CPU in the registers the interrupt of its timer, which is due,
    /// before the hardware can: it would be an exit. Not if it cannot be done at once.
    #[inline(never)]
    pub fn inject_timer(&'static self, vm: &'static Vm, vcpu: usize) {
        if gic::list_timer(self, vm, vcpu) {
            self.activate_timer();
        }
    }

    /// Makes the virtual timer's interrupt active in the physical controller.
    #[inline]
    fn activate_timer(&self) {
        if let Some(lever) = self.timer_activation.get() {
            lever.pull();
        }
    }

    /// Takes the virtual CPU interface of the one in the registers into `interface`; where the
    /// interrupt of its timer stands from here on, which is not active in the physical controller.
    #[inline(always)]
    pub fn store_interface(&self, interface: &Interface) -> AwayTimer {
        interface.save(self.listed.get());
        match self.timer.get() {
            Timer::Inactive => AwayTimer::Idle,
            // The guest's end of it frees its list register and deactivates it, at once.
            Timer::Listed if interface.is_first_free() => AwayTimer::Idle,
            Timer::Listed => {
                cpu_interface::deactivate(self.machine.board.virtual_timer);
                AwayTimer::Active
            }
            Timer::Elsewhere => self.deactivate_timer(),
        }
    }

    /// Ends the active state of the virtual timer's interrupt.
    #[cold]
    #[inline(never)]
    fn deactivate_timer(&self) -> AwayTimer {
        let board = &self.machine.board;
        let private = board.redistributor(self.cpu);
        if !private.is_active(board.virtual_timer) {
            return AwayTimer::Idle;
        }
        private.deactivate(board.virtual_timer);
        AwayTimer::Active
    }

    /// Puts the virtual CPU interface of one that comes into the registers. The interrupt of its
    /// timer, if that is due, is listed by its [template](Vm::timer_template) if there is one and
    /// the list register for it is free, and made active.
    #[inline(always)]
    pub fn load_interface(
        &self,
        interface: &Interface,
        timer: &Cell<AwayTimer>,
        template: &Cell<&AtomicU64>,
    ) {
        let listed = interface.load();
        match timer.get() {
            AwayTimer::Idle => self.note_interface(listed, Timer::Inactive),
            AwayTimer::Due => {
                let template = template.get().load(Ordering::Acquire);
                if template == 0 || !interface.is_first_free() {
                    return self.note_interface(listed, Timer::Inactive);
                }
                ich_lr::write(0, template);
                self.record_injection(self.machine.board.virtual_timer);
                self.activate_timer();
                self.note_interface(listed | 1, Timer::Listed);
            }
            AwayTimer::Active => {
                self.activate_timer();
                self.note_interface(listed, Timer::Elsewhere);
            }
        }
    }

    #[inline(always)]
    fn note_interface(&self, listed: u32, timer: Timer) {
        self.listed.set(listed);
        self.timer.set(timer);
    }

    /// The hypervisor's clock of this core.
    #[inline]
    pub fn clock(&self) -> &Clock<El2> {
        &self.machine.board.clock
    }

    /// First byte after its stack.
    #[must_use]
    pub fn stack_end(&self) -> usize {
        self.stack_top()
    }
}
