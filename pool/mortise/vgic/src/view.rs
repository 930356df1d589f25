//! What memory has of a row of interrupts, for who checks it against list registers.

use crate::VirtualGic;
use crate::virtual_gic::row;
use mortise_gicd::{PRIVATE, bits};

/// What stands in memory of 32 interrupts, one bit each, as one vCPU sees them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// Given to the VM.
    pub present: u32,
    /// Backed by hardware.
    pub hardware: u32,
    /// To be taken, list registers aside: by an edge, by a write, or by the level of a line.
    pub pending: u32,
    /// Pending as long as a line is high.
    pub level: u32,
    /// Taken and not ended; of those that are listed, as of their holder's last exit.
    pub active: u32,
    /// In some vCPU's list register.
    pub listed: u32,
    /// In one of this vCPU.
    pub held: u32,
    /// Listed, and pending from an edge or a write.
    pub from_latch: u32,
}

impl<const VCPUS: usize, const ROWS: usize> VirtualGic<VCPUS, ROWS> {
    /// Row `index` as `vcpu` sees it: 0 has its private interrupts, the next one INTID 32 to 63.
    /// Nothing where there is none.
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
