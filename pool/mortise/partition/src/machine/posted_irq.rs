//! Interrupts that no hardware has, raised for a vCPU that has its core to itself.
//!
//! Who raises one leaves its INTID with the core, as a *notice*, and rings with an SGI that is for this
//! alone. That takes no lock, least of all the one of the other's interrupt controller, which stands on
//! the other's core, where its vCPUs may be at work with it. The core takes the notice into the
//! controller as soon as the SGI comes, whatever the guest has masked, so that nothing of the guest's
//! comes in between: to the guest it was raised then.
//!
//! There is room for one notice. The same once more is the same; another one is raised in the
//! controller by whoever has it.

use super::{
    topology::{Core, Machine},
    vm::Vm,
};
use core::sync::atomic::{AtomicU64, Ordering};
use hw_irqchip_gicv3::{
    Group,
    cpu_interface::{self, Sgi},
};
use mortise_psci::LEADER;
use mortise_vcpu::POSTED_SGI;

/// Leaves `intid`; false if another one is there.
#[inline(always)]
fn leave(posted_irq: &AtomicU64, intid: u32) -> bool {
    let intid = u64::from(intid);
    // It is written even if it is there already: who takes it sees all that was stored before.
    let free = |there| (there == 0 || there == intid).then_some(intid);
    posted_irq
        .fetch_update(Ordering::Release, Ordering::Relaxed, free)
        .is_ok()
}

/// Takes what was left.
#[inline(always)]
pub(crate) fn take(posted_irq: &AtomicU64) -> Option<u32> {
    match posted_irq.swap(0, Ordering::Acquire) as u32 {
        0 => None,
        intid => Some(intid),
    }
}

impl Machine {
    /// Raises interrupt `intid` of the vCPU that has core `cpu` to itself and is
    /// [reached](Vm::reach) by notices; false if it is to be [raised](Vm::raise).
    #[inline(always)]
    #[must_use]
    pub fn post_irq(&self, cpu: usize, intid: u32) -> bool {
        let Some(core) = self.cores.get(cpu) else {
            return false;
        };
        let Some(bell) = Sgi::from_bits(core.posted_irq_sgi.load(Ordering::Relaxed)) else {
            return false;
        };
        let left = leave(&core.resident.posted_intid, intid);
        if left {
            cpu_interface::send(Group::Zero, bell);
        }
        left
    }
}

impl Vm {
    /// Has notices of interrupt `intid` reach it, on the core of its first vCPU, where this is called
    /// before it runs: the core, or nothing if it has its interrupts itself or shares the core.
    /// What was left for an earlier run is gone.
    #[must_use]
    pub fn enable_posted_irq(&self, intid: u32) -> Option<usize> {
        let core = Core::current();
        let alone = core.dispatcher().is_none()
            && core.current_vcpu().is_some_and(|(_, vcpu)| vcpu == LEADER);
        let own = self.is_shared() && core.is_running(self) && alone;
        if !own || core.machine.board.doorbell == POSTED_SGI {
            return None;
        }
        let private = core.machine.board.redistributor(core.cpu);
        private.set_group(POSTED_SGI, Group::Zero);
        private.set_priority(POSTED_SGI, 0);
        private.enable(POSTED_SGI);
        let bell = Sgi::new(POSTED_SGI, hw_arch::cpu::affinity());
        core.posted_irq_sgi.store(bell.bits(), Ordering::Relaxed);
        core.clear_posted_irq(intid);
        Some(core.cpu)
    }

    /// Forgets what was left for it: its run is over.
    pub fn clear_posted_irq(&self, machine: &Machine, intid: u32) {
        if let Some(core) = machine.cores.get(self.cpu(0)) {
            core.clear_posted_irq(intid);
        }
    }
}

impl Core {
    fn clear_posted_irq(&self, intid: u32) {
        let _other = self.resident.posted_intid.compare_exchange(
            intid.into(),
            0,
            Ordering::Relaxed,
            Ordering::Relaxed,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_left_until_it_is_taken_and_again_is_the_same() {
        let posted_irq = AtomicU64::new(0);
        assert_eq!(take(&posted_irq), None);
        assert!(leave(&posted_irq, 40) && leave(&posted_irq, 40));
        assert!(!leave(&posted_irq, 41), "another one is raised otherwise");
        assert_eq!(take(&posted_irq), Some(40));
        assert_eq!(take(&posted_irq), None, "once");
        assert!(leave(&posted_irq, 41));
        assert_eq!(take(&posted_irq), Some(41));
    }

    #[test]
    fn what_is_left_while_it_is_taken_is_taken_now_or_next() {
        const ROUNDS: u64 = 20_000;
        static MESSAGES: AtomicU64 = AtomicU64::new(0);
        static BELL: AtomicU64 = AtomicU64::new(0);
        static LEFT: AtomicU64 = AtomicU64::new(0);
        let sender = std::thread::spawn(|| {
            for message in 1..=ROUNDS {
                MESSAGES.store(message, Ordering::Relaxed);
                assert!(leave(&LEFT, 40));
                BELL.store(1, Ordering::Release);
            }
        });
        let mut seen = 0;
        while seen < ROUNDS {
            // Acknowledged first, as above: what is left behind that rings again.
            if BELL.swap(0, Ordering::AcqRel) == 0 {
                std::thread::yield_now();
            } else if take(&LEFT).is_some() {
                seen = MESSAGES.load(Ordering::Relaxed);
            }
        }
        assert!(sender.join().is_ok());
    }
}
