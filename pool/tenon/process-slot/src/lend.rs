//! Memory that a process lends to its child of `vfork`, for which it waits.
//!
//! The two [`Process`]es exchange their address spaces: the child has the lender's, and the lender an
//! empty one of the child's ASID.

use crate::{Process, limit};
use core::mem;

/// Exchanges the address spaces of a process and of its lender, which exists as long as it is one: the
/// process has its own again, and the lender its memory, with the heap as it is now.
pub fn give_back(processes: &mut [Option<Process>], borrower: usize) {
    let process = processes.get_mut(borrower).and_then(Option::as_mut);
    let Some(process) = process.filter(|_| limit() > 1) else {
        return;
    };
    let Some(number) = process.lender.take() else {
        return;
    };
    let (mut space, heap) = (process.space.take(), process.heap.clone());
    let mut all = processes.iter_mut().flatten();
    if let Some(lender) = all.find(|process| process.number == number) {
        mem::swap(&mut lender.space, &mut space);
        lender.heap = heap;
    }
    if let Some(process) = &mut processes[borrower] {
        process.space = space;
    }
}

/// Leaves the memory of a process that ends to the one to which it lent it; the index of that one and
/// its translation base, which its threads have from now on.
pub fn bequeath(processes: &mut [Option<Process>], lender: usize) -> Option<(usize, u64)> {
    let process = processes.get(lender)?.as_ref().filter(|_| limit() > 1);
    let number = process?.number;
    let lent = |process: &Process| process.lender == Some(number);
    let index = processes
        .iter()
        .position(|process| process.as_ref().is_some_and(lent))?;
    let process = processes[index].as_mut()?;
    process.lender = None;
    let space = process.space.as_mut()?;
    // Another process gets the index of the lender, and its ASID.
    space.set_asid(index as u8 + 1);
    Some((index, space.translation_base()))
}
