//! Reports of Mortise on the console.

use crate::{Core, Machine};
use core_log::Level;
use core_manifest::Name;
use mortise_console::{Argument, Words};

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

/// Prints pending output until `stop` returns true; returns whether nothing is left.
#[inline]
pub fn flush(machine: &Machine, stop: &dyn Fn() -> bool) -> bool {
    while !stop() {
        if !machine.console.lock().step() {
            return true;
        }
    }
    false
}
