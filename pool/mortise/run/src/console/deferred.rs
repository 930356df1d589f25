//! Deferred work of a core: console output, input and periodic work.

use super::{input::process_input, serial_irq::update_deferred_lines};
use core_manifest::Name;
use mortise_machine::{Core, report::flush};
use mortise_output::output;
use mortise_state::deferred_work::REQUESTED;

/// Console access of a core.
pub trait ConsoleAccess {
    /// Does deferred work until `stop` returns true, which is called between two steps.
    fn run_deferred_work(&'static self, stop: &dyn Fn() -> bool);

    /// Prints a byte of core task number `writer`; returns when it is on the line.
    fn put(&'static self, writer: usize, name: &str, byte: u8);
}

impl ConsoleAccess for Core {
    fn run_deferred_work(&'static self, stop: &dyn Fn() -> bool) {
        if !update_deferred_lines(self, stop) || !flush(self.machine, stop) || stop() {
            return;
        }
        if self.input_pending.get() {
            self.input_pending.set(!process_input(self.machine, stop));
            return;
        }
        // Periodic work is deferred behind urgent vCPUs.
        let asked = self.deferred_work.kinds()[REQUESTED].replace(0) != 0;
        if !asked && !self.step_periodic_work(stop) {
            self.deferred_work.0.set([0; 4]);
        }
    }

    fn put(&'static self, writer: usize, name: &str, byte: u8) {
        let writer = self.machine.vms.len() + writer;
        let name = Name::new(name.as_bytes()).unwrap_or(Name::NONE);
        output::write(self.machine, (writer, &name), byte, &|| false);
    }
}
