//! Interrupt registration and dispatch.
//!
//! An interrupt, named by its INTID, has one handler. The vector itself acknowledges what is
//! pending, finds the handler in the table at [`Interrupts::TABLE`], calls it on the interrupt
//! stack with interrupts masked, and ends the interrupt; what has no handler goes to
//! [`Interrupts::refuse`]. A handler is short and must not wait.
//!
//! Guarantees: the handler is found by one indexed load; no loop, lock or allocation between
//! vector and handler. An interrupt without a handler is counted and switched off, so that it
//! cannot storm. Of the controller only the CPU interface is used here, which a direct partition
//! under Mortise reaches without an exit; registering touches the distributor, which exits.

#![no_std]
#![forbid(unsafe_code)]

use core::cell::Cell;
use core::fmt;
use hw_irqchip_gicv3::{Distributor, FIRST_SPI, Group, Redistributor, Trigger, cpu_interface};

/// What is called for an interrupt, with its INTID; by assembly, hence the ABI.
pub type Handler = extern "C" fn(u32);

/// Why a handler was not registered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The table has no place for this INTID.
    OutOfRange(u32),
    /// This INTID has a handler already.
    Taken(u32),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange(intid) => {
                write!(f, "interrupt {intid} is beyond TENON_IRQ_LINES")
            }
            Self::Taken(intid) => write!(f, "interrupt {intid} has a handler already"),
        }
    }
}

impl core::error::Error for Error {}

/// The place of one interrupt in the table.
#[derive(Debug)]
pub struct Line(Cell<Option<Handler>>);

impl Line {
    /// A place without a handler.
    pub const fn new() -> Self {
        Self(Cell::new(None))
    }
}

impl Default for Line {
    fn default() -> Self {
        Self::new()
    }
}

/// The two halves of the controller that registering needs.
#[derive(Clone, Copy, Debug)]
pub struct Controller {
    /// The shared interrupts.
    pub distributor: Distributor,
    /// This core's private ones.
    pub redistributor: Redistributor,
}

impl Controller {
    fn enable(&self, intid: u32, trigger: Trigger) {
        if intid < FIRST_SPI {
            self.redistributor.set_trigger(intid, trigger);
            self.redistributor.enable(intid);
        } else {
            self.distributor.set_trigger(intid, trigger);
            self.distributor.route(intid, self.redistributor.affinity());
            self.distributor.enable(intid);
        }
    }

    fn disable(&self, intid: u32) {
        if intid < FIRST_SPI {
            self.redistributor.disable(intid);
        } else {
            self.distributor.disable(intid);
        }
    }
}

/// The table as the vector sees it: two words, loaded by one instruction.
#[derive(Debug)]
#[repr(C)]
struct Table {
    first: Option<&'static Line>,
    lines: usize,
}

/// The interrupts of one core. The caller has them masked during each call.
#[derive(Debug)]
pub struct Interrupts {
    table: Table,
    lines: &'static [Line],
    controller: Cell<Option<Controller>>,
    unexpected: Cell<u32>,
}

impl Interrupts {
    /// Where the vector finds the address of the first handler, a word for each INTID, zero where
    /// there is none, and behind it the number of words.
    pub const TABLE: usize = core::mem::offset_of!(Self, table);

    /// A table over these places, with no controller yet.
    pub const fn new(lines: &'static [Line]) -> Self {
        Self {
            table: Table {
                first: lines.first(),
                lines: lines.len(),
            },
            lines,
            controller: Cell::new(None),
            unexpected: Cell::new(0),
        }
    }

    /// Takes charge of a controller that has been initialised, and of this core's interface to it.
    ///
    /// Ending an interrupt is one step and nothing is masked by priority: a direct partition under
    /// Mortise has no other way.
    pub fn start(&self, controller: Controller) {
        self.controller.set(Some(controller));
        cpu_interface::initialise(cpu_interface::End::Whole);
    }

    /// Makes `handler` the one of `intid` and lets the interrupt through.
    pub fn register(&self, intid: u32, trigger: Trigger, handler: Handler) -> Result<(), Error> {
        let line = self.line(intid).ok_or(Error::OutOfRange(intid))?;
        if line.0.get().is_some() {
            return Err(Error::Taken(intid));
        }
        line.0.set(Some(handler));
        if let Some(controller) = self.controller.get() {
            controller.enable(intid, trigger);
        }
        Ok(())
    }

    /// Stops the interrupt and forgets its handler.
    pub fn unregister(&self, intid: u32) {
        if let Some(controller) = self.controller.get() {
            controller.disable(intid);
        }
        if let Some(line) = self.line(intid) {
            line.0.set(None);
        }
    }

    /// Interrupts that came without a handler so far.
    pub fn unexpected(&self) -> u32 {
        self.unexpected.get()
    }

    /// Ends an acknowledged interrupt without a handler, and switches it off; nothing was
    /// acknowledged if the number is beyond all interrupts.
    #[cold]
    pub fn refuse(&self, intid: u32) {
        if cpu_interface::is_special(intid) {
            return;
        }
        self.unexpected.set(self.unexpected.get().saturating_add(1));
        if let Some(controller) = self.controller.get() {
            controller.disable(intid);
        }
        cpu_interface::end(Group::One, intid);
    }

    fn line(&self, intid: u32) -> Option<&'static Line> {
        self.lines.get(intid as usize)
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::boxed::Box;
    use std::vec::Vec;

    std::thread_local! {
        static CALLS: Cell<u32> = const { Cell::new(0) };
    }

    extern "C" fn note(intid: u32) {
        CALLS.with(|calls| calls.set(calls.get() * 100 + intid));
    }

    fn interrupts() -> Interrupts {
        let lines: Vec<Line> = (0..40).map(|_| Line::new()).collect();
        Interrupts::new(Box::leak(lines.into_boxed_slice()))
    }

    /// What the vector does.
    fn dispatch(interrupts: &Interrupts, intid: u32) {
        assert_eq!(
            interrupts.table.first.map(core::ptr::from_ref),
            interrupts.lines.first().map(core::ptr::from_ref)
        );
        match interrupts.line(intid).and_then(|line| line.0.get()) {
            Some(handler) => handler(intid),
            None => interrupts.refuse(intid),
        }
    }

    #[test]
    fn calls_the_handler_of_the_number() {
        let interrupts = interrupts();
        interrupts.register(27, Trigger::Level, note).unwrap();
        interrupts.register(33, Trigger::Edge, note).unwrap();
        dispatch(&interrupts, 33);
        dispatch(&interrupts, 27);
        assert_eq!(CALLS.with(Cell::get), 3327);
        assert_eq!(interrupts.unexpected(), 0);
    }

    #[test]
    fn refuses_a_second_handler_and_a_number_beyond() {
        let interrupts = interrupts();
        interrupts.register(27, Trigger::Level, note).unwrap();
        let second = interrupts.register(27, Trigger::Level, note);
        assert_eq!(second, Err(Error::Taken(27)));
        let beyond = interrupts.register(40, Trigger::Level, note);
        assert_eq!(beyond, Err(Error::OutOfRange(40)));
        interrupts.unregister(27);
        interrupts.register(27, Trigger::Level, note).unwrap();
    }

    #[test]
    fn counts_what_nobody_registered_for() {
        let interrupts = interrupts();
        dispatch(&interrupts, 5);
        dispatch(&interrupts, 1_000);
        dispatch(&interrupts, 1_023);
        assert_eq!(interrupts.unexpected(), 2);
    }
}
