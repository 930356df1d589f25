//! Reports of Mortise on the console.

use crate::{Core, Machine};
use core_log::Level;
use core_manifest::Name;
use mortise_console::{Argument, Words};
use mortise_state::options;

impl Machine {
    /// Prints a line on the console that begins with the name of a VM.
    pub fn report(&'static self, about: &Name, text: &'static str, arguments: &[Argument]) {
        if Level::Info > self.board.log {
            return;
        }
        let words = Words { text, arguments };
        self.console.lock().console.say(self.now(), about, words);
        let core = Core::current();
        match core.dispatcher() {
            Some(_) => core.deferred_work.request(),
            None => core.flush(),
        }
    }
}

impl Core {
    /// Prints pending output. What is left when an interrupt is pending becomes deferred work.
    #[inline]
    pub fn flush(&'static self) {
        if !flush(self.machine, &|| self.preemption_pending()) {
            self.deferred_work.request();
        }
    }
}

/// Time for which a core leaves the console's line to another one at least, in nanoseconds.
pub const NAP: u64 = 100_000;

/// Prints pending output until `stop` returns true; returns whether nothing is left.
#[inline]
pub fn flush(machine: &Machine, stop: &dyn Fn() -> bool) -> bool {
    while !stop() {
        if !machine.console.lock().step() {
            return true;
        }
        if options::line_is_shared() {
            leave_taken_line(machine);
        }
    }
    false
}

/// Sleeps while another core has the line for a byte: cores that queue for its lock have each byte wait
/// for all others.
#[cold]
#[inline(never)]
fn leave_taken_line(machine: &Machine) {
    if machine.console.is_locked() {
        Core::current().sleep(NAP);
    }
}
