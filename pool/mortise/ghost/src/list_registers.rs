//! Rules for list registers, alone and with the state of the virtual GIC in memory.

use crate::Violation;
use mortise_vgic::{ListRegister, View};

/// Rows of 32 interrupts: the private ones of a vCPU, and INTID 32 to 287.
pub const ROWS: usize = 9;

/// Maximum number of list registers.
pub const LISTS: usize = 16;

/// Bits of 32 interrupts each.
pub type Rows = [u32; ROWS];

/// Interrupts that a VM owns. Those backed by hardware are taken from the manifest, not from the virtual GIC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct OwnedIrqs {
    /// Backed by hardware.
    pub hardware: Rows,
    /// Not backed by hardware: SGIs, and those of emulated devices and channels.
    pub software: Rows,
}

impl OwnedIrqs {
    /// Adds an interrupt backed by hardware.
    pub fn add_hardware(&mut self, intid: u32) {
        set(&mut self.hardware, intid);
    }
}

/// Sets the bit of an interrupt, if it has one.
fn set(rows: &mut Rows, intid: u32) {
    if let Some(row) = rows.get_mut((intid / 32) as usize) {
        *row |= 1 << (intid % 32);
    }
}

/// Whether the bit of an interrupt is set.
fn has(rows: &Rows, intid: u32) -> bool {
    let row = rows.get((intid / 32) as usize);
    row.is_some_and(|row| row >> (intid % 32) & 1 != 0)
}

/// The list registers that are not free, with their indices.
fn used(lists: &[ListRegister]) -> impl Iterator<Item = (usize, ListRegister)> {
    let lists = lists.iter().copied().enumerate();
    lists.filter(|(_, list)| !list.is_free())
}

/// Checks list registers alone, at any time: the VM owns each interrupt, which is bound to its own physical
/// interrupt if and only if it is backed by hardware, and is in one list register only (IHI 0069, 12.4.6).
///
/// # Errors
///
/// The first violation.
pub fn check_list_registers(lists: &[ListRegister], owned: &OwnedIrqs) -> Result<(), Violation> {
    let mut seen = [0; ROWS];
    for (index, list) in used(lists) {
        let (intid, found) = (list.intid(), (index, list.bits()));
        let (hard, soft) = (has(&owned.hardware, intid), has(&owned.software, intid));
        if !hard && !soft {
            return Err(Violation::Foreign { list: found });
        }
        let bound = list.is_hardware();
        let both = list.is_pending() && list.is_active();
        if bound != hard || bound && (list.physical_intid() != intid || both) {
            return Err(Violation::Binding { list: found });
        }
        if has(&seen, intid) {
            let first = used(lists).find(|(_, other)| other.intid() == intid);
            let first = first.map_or(index, |(first, _)| first);
            return Err(Violation::Duplicate {
                intid,
                lists: (first, index),
            });
        }
        set(&mut seen, intid);
    }
    Ok(())
}

/// Checks list registers against memory, at guest entry: interrupts that are listed in memory are in a list
/// register, and those in a list register are listed unless they are backed by hardware.
///
/// # Errors
///
/// The first violation.
pub fn check_consistency(lists: &[ListRegister], memory: &[View; ROWS]) -> Result<(), Violation> {
    let mut there = [0; ROWS];
    // An ended interrupt stays in its list register until the next refresh: it is not lost.
    let filled = lists.iter().filter(|&&list| list != ListRegister::EMPTY);
    filled.for_each(|list| set(&mut there, list.intid()));
    for (row, (view, there)) in memory.iter().zip(there).enumerate() {
        let lost = view.held & !there;
        if lost != 0 {
            let intid = row as u32 * 32 + lost.trailing_zeros();
            return Err(Violation::Missing { intid });
        }
    }
    for (index, list) in used(lists) {
        let view = memory.get((list.intid() / 32) as usize);
        let bit = 1 << (list.intid() % 32);
        // An interrupt backed by hardware may have been injected by a template, or have another target by
        // now.
        if view.is_some_and(|view| view.held & bit == 0 && view.hardware & bit == 0) {
            let list = (index, list.bits());
            return Err(Violation::Unknown { list });
        }
    }
    Ok(())
}

/// Abstract state of the interrupts of a vCPU that no other vCPU can end: inactive, pending, active, or
/// both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IrqState {
    /// Pending private interrupts.
    pub pending: u32,
    /// Active interrupts; shared ones only if not backed by hardware.
    pub active: Rows,
}

impl IrqState {
    /// The state in list registers and memory. With `ends`, the guest ended interrupts that are in no list
    /// register, which memory does not reflect yet: the active ones are unknown.
    #[must_use]
    pub fn of(lists: &[ListRegister], memory: &[View; ROWS], ends: bool) -> Self {
        let (mut pending, mut active) = ([0; ROWS], [0; ROWS]);
        for (_, list) in used(lists) {
            if list.is_pending() {
                set(&mut pending, list.intid());
            }
            if list.is_active() {
                set(&mut active, list.intid());
            }
        }
        let [private, ..] = memory;
        // A level that fell while listed is not pending any more.
        let firm = private.from_latch | private.level | !private.listed;
        let rows = memory.iter().zip(&mut active).enumerate();
        rows.for_each(|(row, (view, active))| {
            let here = if row == 0 {
                u32::MAX
            } else {
                view.held & !view.hardware
            };
            *active &= if ends { 0 } else { here };
            if row == 0 && !ends {
                *active |= view.active & !view.listed;
            }
        });
        let [listed, ..] = pending;
        Self {
            pending: private.pending | listed & firm,
            active,
        }
    }

    /// Checks that no interrupt is lost from this state to the one in `lists` and `memory`, over an exit
    /// without a write to the virtual GIC: an active interrupt is active or, if hardware signalled it again,
    /// pending; a pending one is pending or active.
    ///
    /// # Errors
    ///
    /// The first lost interrupt.
    pub fn check_successor(
        &self,
        lists: &[ListRegister],
        memory: &[View; ROWS],
    ) -> Result<(), Violation> {
        let after = Self::of(lists, memory, false);
        for (row, (was, view)) in self.active.iter().zip(memory).enumerate() {
            // An interrupt saved from a list register is active in memory.
            let is = after.active.get(row).copied().unwrap_or(0) | view.active & !view.held;
            let again = if row == 0 {
                after.pending & view.hardware
            } else {
                0
            };
            let lost = was & !is & !again;
            if lost != 0 {
                let intid = row as u32 * 32 + lost.trailing_zeros();
                return Err(Violation::Lost {
                    intid,
                    active: true,
                });
            }
        }
        let [active, ..] = after.active;
        match self.pending & !after.pending & !active {
            0 => Ok(()),
            lost => Err(Violation::Lost {
                intid: lost.trailing_zeros(),
                active: false,
            }),
        }
    }
}
