//! Output of the VMs' log rings on the console.
//!
//! A VM with direct interrupts must not exit to write: it fills a ring in its memory. The console's
//! core empties it periodically, or, where no core has a timer for it, the VM makes a hypercall to
//! have it emptied.

use crate::output::{self as console, end_line};
use mortise_console::Progress;
use mortise_machine::{
    Machine, Vm,
    drain::{Drain, PIECE, SHARE},
    report::flush,
};
use mortise_state::options;

/// Takes a piece of at most `left` bytes out of the log ring of `vm`; returns its bytes. The piece
/// before is printed.
fn take(drain: &mut Drain, vm: &'static Vm, left: usize) -> usize {
    let room = PIECE.min(left);
    let count = match vm.log.lock().as_mut() {
        Some(ring) => ring.read(&mut drain.piece[..room]),
        None => 0,
    };
    (drain.vm, drain.length, drain.put) = (Some(vm), count, 0);
    drain.kept = count == 0 || !vm.is_slot();
    count
}

/// The current piece. The bound is known to the compiler, so that no check is left.
fn taken(drain: &Drain) -> &[u8] {
    &drain.piece[..drain.length.min(PIECE)]
}

/// Does a step of emptying the log ring of `vm`, of which up to `left` bytes are to be taken.
/// An earlier piece is printed first: if it is of this VM it is
/// older, and if it is of another one it must not appear under this VM's name.
fn step(drain: &mut Drain, machine: &'static Machine, vm: &'static Vm, left: &mut usize) -> Piece {
    match put(drain, machine) {
        Piece::Printed => {}
        other => return other,
    }
    let count = take(drain, vm, *left);
    *left -= count;
    if count > 0 {
        Piece::More
    } else {
        Piece::Printed
    }
}

/// State of the current piece after a step.
enum Piece {
    /// It was printed before.
    Printed,
    /// More steps may follow.
    More,
    /// A writer on another core has the line.
    Held,
}

/// Does a step of keeping the piece in the backlog and printing it.
#[inline(always)]
fn put(drain: &mut Drain, machine: &Machine) -> Piece {
    let Some(&byte) = taken(drain).get(drain.put) else {
        return Piece::Printed;
    };
    if !drain.kept {
        append_to_backlog(drain);
        return Piece::More;
    }
    match drain.vm.map(|vm| console::step(machine, vm, byte)) {
        Some(Progress::Held) => return Piece::Held,
        Some(Progress::More) => {}
        Some(Progress::Written) | None => drain.put += 1,
    }
    Piece::More
}

/// Appends the piece to its VM's backlog.
#[inline(never)]
fn append_to_backlog(drain: &mut Drain) {
    if let Some(slot) = drain.vm.and_then(Vm::slot) {
        slot.backlog.lock().push(taken(drain));
    }
    drain.kept = true;
}

/// Does a step of emptying every log ring; returns whether there was work. What exceeds a VM's
/// share is left for the next period, so that a guest that writes continuously does not occupy the
/// core; so is the rest while a writer on another core has the line.
fn step_all(drain: &mut Drain, machine: &'static Machine) -> bool {
    match put(drain, machine) {
        Piece::Printed => {}
        Piece::More => return true,
        Piece::Held => return false,
    }
    let Some(vm) = machine.vm(drain.turn) else {
        drain.turn = 0;
        return false;
    };
    match take(drain, vm, drain.left) {
        0 => (drain.turn, drain.left) = (drain.turn + 1, SHARE),
        count => drain.left -= count,
    }
    true
}

/// Empties every log ring until `stop` returns true; returns whether all are empty.
pub fn drain_rings(machine: &'static Machine, stop: &dyn Fn() -> bool) -> bool {
    // Work that comes before the next byte has its own steps, so that no step does both.
    while flush(machine, stop) && !stop() {
        if !step_all(&mut machine.drain.lock(), machine) {
            return flush(machine, stop);
        }
    }
    false
}

/// Empties the log ring of one VM until `stop` returns true; returns whether it is empty or its
/// share is used up.
pub fn drain_ring(machine: &'static Machine, vm: &'static Vm, stop: &dyn Fn() -> bool) -> bool {
    empty(machine, vm, SHARE, stop)
}

/// Prints the last output of a VM and ends its line until `stop` returns true; returns whether that
/// is complete. The VM does not run any more: it restarts or has ended.
pub fn flush_log(machine: &'static Machine, vm: &'static Vm, stop: &dyn Fn() -> bool) -> bool {
    empty(machine, vm, usize::MAX, stop) && end_line(machine, vm, stop)
}

fn empty(
    machine: &'static Machine,
    vm: &'static Vm,
    mut left: usize,
    stop: &dyn Fn() -> bool,
) -> bool {
    while flush(machine, stop) && !stop() {
        if !options::log_rings() {
            return true;
        }
        let piece = step(&mut machine.drain.lock(), machine, vm, &mut left);
        match piece {
            Piece::More => {}
            Piece::Held => console::leave_line(machine, stop),
            Piece::Printed => return flush(machine, stop),
        }
    }
    false
}
