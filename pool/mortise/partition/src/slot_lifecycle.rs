//! Filling and emptying of a VM slot, in bounded steps.

use core::sync::atomic::Ordering;
use mortise_machine::{Core, Machine, Vm};
use mortise_output::log_drain::flush_log;
use mortise_psci::Power;
use mortise_run::reset_spis;
use mortise_state::resumable::Step;

/// Life cycle of a VM slot.
pub trait SlotLifecycle {
    /// Makes a vacant slot ready for a [start](Vm::begin); returns the next step, if any.
    fn ready(&'static self, machine: &'static Machine, step: Step) -> Option<Step>;

    /// Vacates a slot, when no core acts for it and its vCPUs are off: withdraws its memory and
    /// closes its console. Returns the next step, if any.
    fn vacate(&'static self, machine: &'static Machine, step: Step) -> Option<Step>;
}

impl SlotLifecycle for Vm {
    fn ready(&'static self, machine: &'static Machine, step: Step) -> Option<Step> {
        let slot = self.vacant_slot()?;
        let more = match step.stage {
            0 => {
                let vcpus = self.vcpus();
                if let Some(gic) = self.interrupts.shared() {
                    gic.lock().set_vcpus(vcpus).ok()?;
                }
                *self.power.lock() = Power::new(vcpus, 0);
                false
            }
            // The previous instance may have left interrupts enabled or pending.
            1 => return Some(step.resume_at(reset_spis(self, machine, step.number))),
            2 => {
                self.reset_for_instance();
                false
            }
            _ => {
                slot.backlog.lock().clear();
                slot.vacant.store(false, Ordering::Release);
                return None;
            }
        };
        Some(step.next(more))
    }

    fn vacate(&'static self, machine: &'static Machine, step: Step) -> Option<Step> {
        let slot = self.slot()?;
        let more = match step.stage {
            0 => {
                let more = !flush_log(machine, self, &|| Core::current().preemption_pending());
                if !more {
                    *self.log.lock() = None;
                }
                more
            }
            1 => {
                slot.vacant.store(true, Ordering::Release);
                slot.map.withdraw();
                mortise_vcpu::invalidate_translations_of(self.vttbr());
                slot.map.restore();
                false
            }
            2 => self.alive.load(Ordering::Acquire) && machine.vm_stopped(self, step.number),
            _ => {
                self.count_ended(machine);
                return None;
            }
        };
        Some(step.next(more))
    }
}
