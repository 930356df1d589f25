//! Model of cores with virtual CPU interfaces, and of a physical GIC.

use crate::*;

/// Operation of the virtual GIC on a physical interrupt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Enable(u32, usize, bool),
    Pending(u32, usize, bool),
    Route(u32, usize),
    Edge(u32, usize, bool),
    Deactivate(u32, usize),
}

impl Effect {
    pub fn target(self) -> (u32, usize) {
        match self {
            Self::Enable(intid, vcpu, _)
            | Self::Pending(intid, vcpu, _)
            | Self::Route(intid, vcpu)
            | Self::Edge(intid, vcpu, _)
            | Self::Deactivate(intid, vcpu) => (intid, vcpu),
        }
    }
}

/// The state of a physical interrupt; private ones have one for each core.
#[derive(Clone, Copy, Debug, Default)]
pub struct Source {
    pub enabled: bool,
    pub pending: bool,
    pub active: bool,
    pub route: usize,
}

/// One core: its list registers and the running priorities of its guest.
#[derive(Clone)]
pub struct Core {
    pub lists: Vec<ListRegister>,
    pub maintenance: Maintenance,
    pub eoi_count: usize,
    pub running: Vec<(u32, u8)>,
    pub kicked: bool,
    pub template: ListRegister,
    pub sources: [Source; 288],
}

impl Core {
    /// Whether the maintenance interrupt is asserted (section 4.6.4).
    pub fn maintenance_asserted(&self) -> bool {
        let used = self.lists.iter().filter(|list| !list.is_free()).count();
        let pending = self.lists.iter().any(|list| list.state() == State::Pending);
        let pulse_local = self
            .lists
            .iter()
            .any(|list| list.is_free() && list.has_eoi_maintenance());
        self.maintenance.has(Maintenance::UNDERFLOW) && used <= 1
            || self.maintenance.has(Maintenance::NO_PENDING) && !pending
            || self.maintenance.has(Maintenance::ENTRY_NOT_PRESENT) && self.eoi_count > 0
            || pulse_local
    }

    /// The list register that a read of `ICC_IAR<n>_EL1` would acknowledge.
    pub fn highest(&self) -> Option<usize> {
        let running = self
            .running
            .last()
            .map_or(0x100, |&(_, priority)| u16::from(priority));
        (0..self.lists.len())
            .filter(|&i| self.lists[i].state() == State::Pending)
            .filter(|&i| u16::from(self.lists[i].priority()) < running)
            .min_by_key(|&i| (self.lists[i].priority(), self.lists[i].intid()))
    }
}
