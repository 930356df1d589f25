//! List registers, and what the virtual controller's memory says of them.

use crate::Broken;
use mortise_vgic::{ListRegister, View};

/// Rows of 32 interrupts: the private ones of a virtual CPU, and INTID 32 to 287.
pub const ROWS: usize = 9;

/// List registers that there can be.
pub const LISTS: usize = 16;

/// Bits of 32 interrupts each.
pub type Rows = [u32; ROWS];

/// Whose interrupts are which: what hardware backs is as the manifest says, not as the controller does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Owned {
    /// Backed by hardware.
    pub hardware: Rows,
    /// Of no hardware: SGIs, and what emulated devices and channels raise.
    pub software: Rows,
}

impl Owned {
    /// Adds one that hardware backs.
    pub fn add_hardware(&mut self, intid: u32) {
        set(&mut self.hardware, intid);
    }
}

/// Sets the bit of an interrupt, if there is one.
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

/// The list registers of a core that say something, with their numbers.
fn used(lists: &[ListRegister]) -> impl Iterator<Item = (usize, ListRegister)> {
    let lists = lists.iter().copied().enumerate();
    lists.filter(|(_, list)| !list.is_free())
}

/// What holds of list registers by themselves, at any time: each interrupt is the VM's, bound to
/// hardware if that backs it and to none other, and in one of them (IHI 0069, 12.4.6).
///
/// # Errors
///
/// What is wrong first.
pub fn check_alone(lists: &[ListRegister], owned: &Owned) -> Result<(), Broken> {
    let mut seen = [0; ROWS];
    for (index, list) in used(lists) {
        let (intid, found) = (list.intid(), (index, list.bits()));
        let (hard, soft) = (has(&owned.hardware, intid), has(&owned.software, intid));
        if !hard && !soft {
            return Err(Broken::Foreign { list: found });
        }
        let bound = list.is_hardware();
        let both = list.is_pending() && list.is_active();
        if bound != hard || bound && (list.physical_intid() != intid || both) {
            return Err(Broken::Binding { list: found });
        }
        if has(&seen, intid) {
            let first = used(lists).find(|(_, other)| other.intid() == intid);
            let first = first.map_or(index, |(first, _)| first);
            return Err(Broken::Twice {
                intid,
                lists: (first, index),
            });
        }
        set(&mut seen, intid);
    }
    Ok(())
}

/// What holds between list registers and memory whenever a guest goes on: what memory says to be in
/// them is there, and what is there and not the hardware's memory knows.
///
/// # Errors
///
/// What is wrong first.
pub fn check_with(lists: &[ListRegister], memory: &[View; ROWS]) -> Result<(), Broken> {
    let mut there = [0; ROWS];
    // What is ended stays until somebody looks: it is not lost.
    let filled = lists.iter().filter(|&&list| list != ListRegister::EMPTY);
    filled.for_each(|list| set(&mut there, list.intid()));
    for (row, (view, there)) in memory.iter().zip(there).enumerate() {
        let lost = view.held & !there;
        if lost != 0 {
            let intid = row as u32 * 32 + lost.trailing_zeros();
            return Err(Broken::Nowhere { intid });
        }
    }
    for (index, list) in used(lists) {
        let view = memory.get((list.intid() / 32) as usize);
        let bit = 1 << (list.intid() % 32);
        // Hardware's may have come by a template, or be another's by now.
        if view.is_some_and(|view| view.held & bit == 0 && view.hardware & bit == 0) {
            let list = (index, list.bits());
            return Err(Broken::Unknown { list });
        }
    }
    Ok(())
}

/// The abstract state of a virtual CPU's interrupts, as far as nobody else may end it: inactive,
/// pending, active, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Abstract {
    /// Of its private interrupts, those that are to be taken.
    pub pending: u32,
    /// Those that it took and has not ended; of shared ones what no hardware backs.
    pub active: Rows,
}

impl Abstract {
    /// What list registers and memory come to. With `ends` it ended interrupts that are in no list
    /// register, of which memory does not know yet: nobody can say which is active.
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
        // A level that fell while it was listed is pending no more.
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

    /// Whether nothing is lost on the way to `after`, from an exit at which nobody wrote to the
    /// controller: what was active is so or, if hardware raised it anew, pending; what was pending is
    /// pending or active.
    ///
    /// # Errors
    ///
    /// The first that is.
    pub fn becomes(&self, lists: &[ListRegister], memory: &[View; ROWS]) -> Result<(), Broken> {
        let after = Self::of(lists, memory, false);
        for (row, (was, view)) in self.active.iter().zip(memory).enumerate() {
            // What went back to memory from a list register is active there.
            let is = after.active.get(row).copied().unwrap_or(0) | view.active & !view.held;
            let again = if row == 0 {
                after.pending & view.hardware
            } else {
                0
            };
            let lost = was & !is & !again;
            if lost != 0 {
                let intid = row as u32 * 32 + lost.trailing_zeros();
                return Err(Broken::Lost {
                    intid,
                    active: true,
                });
            }
        }
        let [active, ..] = after.active;
        match self.pending & !after.pending & !active {
            0 => Ok(()),
            lost => Err(Broken::Lost {
                intid: lost.trailing_zeros(),
                active: false,
            }),
        }
    }
}
