//! Deferred work of a core: console output, input and periodic work.

use super::{input::take_typed, output, serial_irq::settle_lines};
use crate::machine::{Core, deferred_work::ASKED, report::flush};
use core_manifest::Name;

/// Console of a core.
pub trait ConsoleAccess {
    /// Does a step of the chores: until `stop` says so, which it is asked between two pieces of it.
    fn run_deferred_work(&'static self, stop: &dyn Fn() -> bool);

    /// Puts a byte of tenant number `writer` on the line; returns when it is there.
    fn put(&'static self, writer: usize, name: &str, byte: u8);
}

impl ConsoleAccess for Core {
    fn run_deferred_work(&'static self, stop: &dyn Fn() -> bool) {
        if !settle_lines(self, stop) || !flush(self.machine, stop) || stop() {
            return;
        }
        if self.typed.get() {
            self.typed.set(!take_typed(self.machine, stop));
            return;
        }
        // What is due is not for everybody to wait for.
        let asked = self.deferred_work.kinds()[ASKED].replace(0) != 0;
        if !asked && !self.step_periodic_work(stop) {
            self.deferred_work.0.set([0; 4]);
        }
    }

    fn put(&'static self, writer: usize, name: &str, byte: u8) {
        let writer = self.machine.vms.len() + writer;
        let name = Name::new(name.as_bytes()).unwrap_or(Name::NONE);
        while !output::put(self.machine, writer, byte, &name) {}
    }
}
