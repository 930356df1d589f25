//! View of the interrupt state in memory, for the exit checker.

use super::VirtualGic;
use super::row;
use mortise_gicd::{PRIVATE, bits};

/// State of 32 interrupts in memory, one bit each, as one vCPU sees them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Assigned to the VM.
    pub present: u32,
    /// Backed by hardware.
    pub hardware: u32,
    /// Pending outside list registers: by an edge, by a write, or by the level of a line.
    pub pending: u32,
    /// Pending while a line is high.
    pub level: u32,
    /// Active; for listed interrupts as of the last exit of their holder.
    pub active: u32,
    /// In a list register of any vCPU.
    pub listed: u32,
    /// In a list register of this vCPU.
    pub held: u32,
    /// Listed, and pending from an edge or a write.
    pub from_latch: u32,
}

impl<const VCPUS: usize, const ROWS: usize> VirtualGic<VCPUS, ROWS> {
    /// Row `index` as `vcpu` sees it: row 0 holds its private interrupts, row 1 INTID 32 to 63. Empty for
    /// a row that does not exist.
    #[must_use]
    pub fn view(&self, vcpu: usize, index: usize) -> View {
        let first = PRIVATE.saturating_mul(index as u32);
        let bank = match index {
            0 => self.bank(vcpu, 0),
            _ => self.shared.get(row(first)),
        };
        let Some(bank) = bank else {
            return View::default();
        };
        let held = bits(bank.listed).filter(|&bit| usize::from(bank.owner(bit)) == vcpu);
        View {
            present: bank.present,
            hardware: bank.hardware,
            pending: bank.pending(),
            level: bank.line & !bank.edge,
            active: bank.active,
            listed: bank.listed,
            held: held.fold(0, |word, bit| word | 1 << bit),
            from_latch: bank.from_latch,
        }
    }
}
