//! Lines of Mortise itself on the console.

use super::topology::{Core, Machine};
use core_log::Level;
use core_manifest::Name;
use mortise_console::{Argument, Words};

impl Machine {
    /// Says something on the console, about somebody whose name it begins with.
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
    /// Puts on the line what waits for it. What is left when the core is wanted becomes a chore.
    pub(crate) fn flush(&'static self) {
        if !flush(self.machine, &|| self.preemption_pending()) {
            self.deferred_work.request();
        }
    }
}

/// Puts on the line what waits for it, until `stop` says so; whether nothing is left.
pub(crate) fn flush(machine: &Machine, stop: &dyn Fn() -> bool) -> bool {
    while !stop() {
        if !machine.console.lock().step() {
            return true;
        }
    }
    false
}
