//! The way from virtual machines' log rings to the line.
//!
//! One in direct mode must not exit to write: it fills a ring in its memory, which the console's
//! core empties by a timer, or, where no core can be disturbed for it, the virtual machine itself
//! asks Mortise to empty.

use super::output::{self as console, finish};
use crate::machine::{Machine, Vm, options, report::flush};
use core_sync::TicketLock;

/// Bytes of one virtual machine that are written at a time: what a line of
/// 115,200 baud, 10 bits a byte, carries away until the next time, and some.
const SHARE: usize = 256;

/// Bytes of them that are taken out of a ring at a time.
const PIECE: usize = 2;

/// What is on its way from the rings to the line.
pub(crate) struct Drain {
    /// The last piece that was taken, whose it is, whether it is in that one's backlog, if it has one,
    /// and how much of it is on the line.
    vm: Option<&'static Vm>,
    piece: [u8; PIECE],
    length: usize,
    kept: bool,
    put: usize,
    /// Whose ring is emptied by the clock, and how many bytes of it are left for this time.
    turn: usize,
    left: usize,
}

static DRAIN: TicketLock<Drain> = TicketLock::new(Drain::NONE);

impl Drain {
    /// Nothing.
    pub(crate) const NONE: Self = Self {
        vm: None,
        piece: [0; PIECE],
        length: 0,
        kept: true,
        put: 0,
        turn: 0,
        left: SHARE,
    };

    /// Takes a piece of at most `left` bytes out of the ring of `vm`, and says of how many; the one
    /// before is on the line.
    fn take(&mut self, vm: &'static Vm, left: usize) -> usize {
        let room = PIECE.min(left);
        let count = match vm.log.lock().as_mut() {
            Some(ring) => ring.read(&mut self.piece[..room]),
            None => 0,
        };
        (self.vm, self.length, self.put) = (Some(vm), count, 0);
        self.kept = count == 0 || !vm.is_slot();
        count
    }

    /// The piece. The bound is one the compiler knows, so that nothing is left to check.
    fn taken(&self) -> &[u8] {
        &self.piece[..self.length.min(PIECE)]
    }

    /// Does a step of emptying the ring of `vm`, of which `left` bytes are to be taken; whether
    /// there was something to do. What was taken before goes first: of this one it is older, of
    /// another one it is not to come under a new one's name.
    fn step(&mut self, machine: &'static Machine, vm: &'static Vm, left: &mut usize) -> bool {
        if self.put(machine) {
            return true;
        }
        let count = self.take(vm, *left);
        *left -= count;
        count > 0
    }

    /// Does a step of keeping the piece and putting it on the line; whether there was something to do.
    #[inline(always)]
    fn put(&mut self, machine: &Machine) -> bool {
        let Some(&byte) = self.taken().get(self.put) else {
            return false;
        };
        if !self.kept {
            self.keep();
            return true;
        }
        self.put += usize::from(self.vm.is_none_or(|vm| console::step(machine, vm, byte)));
        true
    }

    /// Keeps the piece in the backlog of whose it is.
    #[inline(never)]
    fn keep(&mut self) {
        if let Some(slot) = self.vm.and_then(Vm::slot) {
            slot.backlog.lock().push(self.taken());
        }
        self.kept = true;
    }

    /// Does a step of emptying every ring; whether there was something to do. One that writes on
    /// and on does not keep Mortise: what is too much now is left for the next time.
    fn go_round(&mut self, machine: &'static Machine) -> bool {
        if self.put(machine) {
            return true;
        }
        let Some(vm) = machine.vm(self.turn) else {
            self.turn = 0;
            return false;
        };
        match self.take(vm, self.left) {
            0 => (self.turn, self.left) = (self.turn + 1, SHARE),
            count => self.left -= count,
        }
        true
    }
}

/// Empties every ring until `stop` says so; whether all are.
pub(crate) fn drain_rings(machine: &'static Machine, stop: &dyn Fn() -> bool) -> bool {
    // What goes before anybody's next byte has steps of its own, so that none is of both.
    while flush(machine, stop) && !stop() {
        if !DRAIN.lock().go_round(machine) {
            return flush(machine, stop);
        }
    }
    false
}

/// Empties the ring of one virtual machine until `stop` says so; whether it is empty, or had its
/// share.
pub(crate) fn drain_ring(
    machine: &'static Machine,
    vm: &'static Vm,
    stop: &dyn Fn() -> bool,
) -> bool {
    empty(machine, vm, SHARE, stop)
}

/// Puts the last that a virtual machine had to say on the line, and ends it, until `stop` says so;
/// whether it is done. It does not run any more: it starts anew or is gone.
pub(crate) fn conclude(
    machine: &'static Machine,
    vm: &'static Vm,
    stop: &dyn Fn() -> bool,
) -> bool {
    empty(machine, vm, usize::MAX, stop) && finish(machine, vm, stop)
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
        if !DRAIN.lock().step(machine, vm, &mut left) {
            return flush(machine, stop);
        }
    }
    false
}
