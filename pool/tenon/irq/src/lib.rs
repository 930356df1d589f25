//! Interrupt registration and dispatch.
//!
//! Each interrupt, identified by its INTID, has one handler. The vector acknowledges the pending
//! interrupt, loads the handler from the table at [`TABLE`], calls it on the interrupt stack with
//! interrupts masked unless they nest, and ends the interrupt; interrupts without a handler go to
//! [`Interrupts::refuse`]. A handler is short and must not block.
//!
//! Guarantees: the handler is found by one indexed load; no loop, lock or allocation between vector
//! and handler. An interrupt without a handler is counted and disabled, so that it cannot storm.
//! The interrupt path accesses the CPU interface only, which a direct partition under Mortise
//! reaches without an exit; registration accesses the distributor, which exits.
//!
//! The [`Controller`] is a GICv2 or a GICv3. An image selects its [`Drivers`]; the other one is not
//! linked.

#![no_std]
#![forbid(unsafe_code)]

mod controller;

pub use controller::{Controller, Drivers, Priority, Target};
pub use hw_irqchip::Trigger;

use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use hw_irqchip::is_special;

/// A handler, which takes its INTID; called by assembly, hence the ABI.
pub type Handler = extern "C" fn(u32);

/// Error of a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// The table has no entry for this INTID.
    OutOfRange(u32),
    /// This INTID already has a handler.
    Taken(u32),
    /// The thread of a threaded interrupt could not be created.
    NoThread(u32),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange(intid) => {
                write!(f, "interrupt {intid} is beyond TENON_IRQ_LINES")
            }
            Self::Taken(intid) => write!(f, "interrupt {intid} has a handler already"),
            Self::NoThread(intid) => write!(
                f,
                "interrupt {intid} has no thread: its storage is in use or too small"
            ),
        }
    }
}

impl core::error::Error for Error {}

/// Table entry of one interrupt.
#[derive(Debug)]
pub struct Line(Cell<Option<Handler>>);

impl Line {
    /// An empty entry.
    pub const fn new() -> Self {
        Self(Cell::new(None))
    }
}

impl Default for Line {
    fn default() -> Self {
        Self::new()
    }
}

/// The table in the layout that the vector reads.
#[derive(Debug)]
#[repr(C)]
struct Table {
    first: Cell<Option<&'static Line>>,
    lines: Cell<usize>,
    interface: Cell<usize>,
}

/// Offset of the vector's data in [`Interrupts`]: one word with the address of the first entry, one
/// with the number of entries. An entry is one word for each INTID, zero without a handler.
pub const TABLE: usize = core::mem::offset_of!(Interrupts<Neither>, table);

/// Offset of the address of a GICv2's CPU interface.
pub const INTERFACE: usize = TABLE + core::mem::offset_of!(Table, interface);

/// A type for the offsets, which do not depend on the drivers.
enum Neither {}

/// The interrupts of one core. The caller masks interrupts during each call.
#[derive(Debug)]
#[repr(C)]
pub struct Interrupts<D> {
    table: Table,
    lines: Cell<Option<&'static [Line]>>,
    controller: Cell<Controller>,
    unexpected: Cell<u32>,
    drivers: PhantomData<D>,
}

impl<D> Default for Interrupts<D> {
    fn default() -> Self {
        Self::new()
    }
}

impl<D> Interrupts<D> {
    /// An empty table without a controller. All bytes are zero.
    pub const fn new() -> Self {
        Self {
            table: Table {
                first: Cell::new(None),
                lines: Cell::new(0),
                interface: Cell::new(0),
            },
            lines: Cell::new(None),
            controller: Cell::new(Controller::None),
            unexpected: Cell::new(0),
            drivers: PhantomData,
        }
    }
}

impl<D: Drivers> Interrupts<D> {
    /// Sets the table and this core's view of the controller; the distributor is already
    /// initialised.
    #[inline(always)]
    pub fn start(&self, lines: &'static [Line], controller: Controller) {
        self.place(lines);
        self.table.interface.set(controller.interface::<D>());
        self.controller.set(controller);
        controller.initialise_core::<D>();
    }

    /// The controller.
    pub fn controller(&self) -> Controller {
        self.controller.get()
    }

    fn place(&self, lines: &'static [Line]) {
        self.lines.set(Some(lines));
        self.table.first.set(lines.first());
        self.table.lines.set(lines.len());
    }

    /// Registers `handler` for `intid` and enables the interrupt.
    pub fn register(
        &self,
        intid: u32,
        trigger: Trigger,
        priority: Priority,
        handler: Handler,
    ) -> Result<(), Error> {
        let line = self.line(intid).ok_or(Error::OutOfRange(intid))?;
        if line.0.get().is_some() {
            return Err(Error::Taken(intid));
        }
        line.0.set(Some(handler));
        self.share(intid, trigger, priority);
        Ok(())
    }

    /// Enables a private interrupt on this core; another core, which shares the table, registered
    /// its handler.
    pub fn share(&self, intid: u32, trigger: Trigger, priority: Priority) {
        let controller = self.controller.get();
        controller.configure::<D>(intid, trigger, priority);
        controller.enable::<D>(intid);
    }

    /// Disables the interrupt and removes its handler.
    pub fn unregister(&self, intid: u32) {
        self.disable(intid);
        if let Some(line) = self.line(intid) {
            line.0.set(None);
        }
    }

    /// Enables a disabled interrupt again.
    pub fn enable(&self, intid: u32) {
        self.controller.get().enable::<D>(intid);
    }

    /// Disables the interrupt; it stays pending.
    pub fn disable(&self, intid: u32) {
        self.controller.get().disable::<D>(intid);
    }

    /// Pends the interrupt.
    pub fn raise(&self, intid: u32) {
        self.controller.get().raise::<D>(intid);
    }

    /// Number of interrupts without a handler so far.
    pub fn unexpected(&self) -> u32 {
        self.unexpected.get()
    }

    /// Ends and disables an acknowledged interrupt without a handler; a spurious INTID is ignored.
    #[cold]
    pub fn refuse(&self, acknowledged: u32) {
        let controller = self.controller.get();
        let intid = controller.intid::<D>(acknowledged);
        if is_special(intid) {
            return;
        }
        self.unexpected.set(self.unexpected.get().saturating_add(1));
        controller.disable::<D>(intid);
        controller.end::<D>(acknowledged);
    }

    fn line(&self, intid: u32) -> Option<&'static Line> {
        self.lines.get()?.get(intid as usize)
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

    /// Both drivers, as in an image that detects the GIC at boot.
    struct Both;

    impl Drivers for Both {
        fn gicv2() -> bool {
            true
        }

        fn gicv3() -> bool {
            true
        }
    }

    fn interrupts() -> Interrupts<Both> {
        let lines: Vec<Line> = (0..40).map(|_| Line::new()).collect();
        let interrupts = Interrupts::new();
        interrupts.place(Box::leak(lines.into_boxed_slice()));
        interrupts
    }

    /// Model of the vector.
    fn dispatch(interrupts: &Interrupts<Both>, intid: u32) {
        assert_eq!(
            interrupts.table.first.get().map(core::ptr::from_ref),
            interrupts.line(0).map(core::ptr::from_ref)
        );
        match interrupts.line(intid).and_then(|line| line.0.get()) {
            Some(handler) => handler(intid),
            None => interrupts.refuse(intid),
        }
    }

    #[test]
    fn calls_the_handler_of_the_number() {
        let interrupts = interrupts();
        interrupts
            .register(27, Trigger::Level, Priority::DEFAULT, note)
            .unwrap();
        interrupts
            .register(33, Trigger::Edge, Priority::DEFAULT, note)
            .unwrap();
        dispatch(&interrupts, 33);
        dispatch(&interrupts, 27);
        assert_eq!(CALLS.with(Cell::get), 3327);
        assert_eq!(interrupts.unexpected(), 0);
    }

    #[test]
    fn refuses_a_second_handler_and_a_number_beyond() {
        let interrupts = interrupts();
        interrupts
            .register(27, Trigger::Level, Priority::DEFAULT, note)
            .unwrap();
        let second = interrupts.register(27, Trigger::Level, Priority::DEFAULT, note);
        assert_eq!(second, Err(Error::Taken(27)));
        let beyond = interrupts.register(40, Trigger::Level, Priority::DEFAULT, note);
        assert_eq!(beyond, Err(Error::OutOfRange(40)));
        interrupts.unregister(27);
        interrupts
            .register(27, Trigger::Level, Priority::DEFAULT, note)
            .unwrap();
    }

    #[test]
    fn counts_interrupts_without_a_handler() {
        let interrupts = interrupts();
        dispatch(&interrupts, 5);
        dispatch(&interrupts, 1_000);
        dispatch(&interrupts, 1_023);
        assert_eq!(interrupts.unexpected(), 2);
    }
}
