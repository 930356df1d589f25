//! SMMU driver: initialisation, commands and events.

use crate::command::{Command, INVALIDATE_CONFIGURATION, INVALIDATE_TRANSLATIONS, SYNC};
use crate::context::{ABORT, Context, Stage};
use crate::event::Event;
use crate::registers::{
    BYPASS_ABORTS, CACHED, COMMAND_ERROR, EVENT_INTERRUPT, Identity, RECORD_UNKNOWN, Registers64,
    UPDATE, cr0, offset,
};
pub use crate::streams::Memory;
use crate::streams::{COMMANDS, EVENTS, STREAMS};
use crate::{Error, Frame};

/// Maximum number of polls of a register before an SMMU is considered unresponsive.
pub const POLL_LIMIT: u32 = 100_000;

/// Overflow flag of the event queue, and its acknowledgement (IHI 0070, 6.3.30 and 6.3.31).
const OVERFLOW: u32 = 1 << 31;

/// `RA` and `WA` of the base addresses: reads and writes allocate in caches.
const ALLOCATE: u64 = 1 << 62;

/// SMMU that aborts all streams or translates all of them by one context.
#[derive(Debug)]
pub struct Smmu<R = Frame> {
    registers: R,
    memory: &'static Memory,
    identity: Identity,
    /// First word of every stream table entry while streams are translated.
    through: u64,
    /// Indices of the next command and the next event, with a wrap bit above.
    produced: u32,
    consumed: u32,
}

impl<R: Registers64> Smmu<R> {
    /// Enables the SMMU with every stream aborted.
    ///
    /// # Errors
    ///
    /// If a required capability is missing, or the SMMU does not respond.
    pub fn open(mut registers: R, memory: &'static Memory) -> Result<Self, Error> {
        let identity = Identity::read(&registers, COMMANDS.max(EVENTS))?;
        // While it is disabled, accesses are aborted too (6.3.14).
        registers.write(offset::GBPA, BYPASS_ABORTS | UPDATE);
        wait(|| registers.read(offset::GBPA) & UPDATE == 0)?;
        let mut smmu = Self {
            registers,
            memory,
            identity,
            through: ABORT,
            produced: 0,
            consumed: 0,
        };
        smmu.enable(0)?;
        memory.begin_all(ABORT);
        smmu.place();
        let mut on = cr0::CMDQEN;
        smmu.enable(on)?;
        smmu.invalidate_all()?;
        on |= cr0::EVENTQEN;
        smmu.enable(on)?;
        smmu.registers.write(offset::IRQ_CTRL, EVENT_INTERRUPT);
        wait(|| smmu.registers.read(offset::IRQ_CTRLACK) == EVENT_INTERRUPT)?;
        smmu.enable(on | cr0::SMMUEN)?;
        Ok(smmu)
    }

    /// Sets the addresses and attributes of table and queues.
    fn place(&mut self) {
        let registers = &mut self.registers;
        registers.write(offset::CR1, CACHED);
        registers.write(offset::CR2, RECORD_UNKNOWN);
        registers.write64(offset::STRTAB_BASE, self.memory.table() | ALLOCATE);
        registers.write(offset::STRTAB_BASE_CFG, STREAMS.ilog2());
        let commands = self.memory.command_queue() | u64::from(COMMANDS);
        registers.write64(offset::CMDQ_BASE, commands | ALLOCATE);
        let events = self.memory.event_queue() | u64::from(EVENTS);
        registers.write64(offset::EVENTQ_BASE, events | ALLOCATE);
        // Wired interrupt, without the message that the firmware may have set up (6.3.32).
        registers.write64(offset::EVENTQ_IRQ_CFG0, 0);
        for index in [
            offset::CMDQ_PROD,
            offset::CMDQ_CONS,
            offset::EVENTQ_PROD,
            offset::EVENTQ_CONS,
        ] {
            registers.write(index, 0);
        }
    }

    fn enable(&mut self, bits: u32) -> Result<(), Error> {
        self.registers.write(offset::CR0, bits);
        wait(|| self.registers.read(offset::CR0ACK) == bits)
    }

    /// Translation stage.
    #[must_use]
    pub const fn stage(&self) -> Stage {
        self.identity.stage
    }

    /// Sets the context of all streams, which must be aborted at this time.
    pub fn set_context(&mut self, context: &Context) {
        let size = self.identity.output_size;
        let entry = context.entry(self.memory.descriptor(), size);
        self.memory.prepare_all(&entry, &context.descriptor(size));
        let [first, ..] = entry;
        self.through = first;
    }

    /// Translates all streams by the context, or aborts all.
    ///
    /// # Errors
    ///
    /// If the SMMU does not respond. Streams that were to be aborted may then still pass.
    pub fn switch(&mut self, through: bool) -> Result<(), Error> {
        let first = if through { self.through } else { ABORT };
        self.memory.begin_all(first);
        self.invalidate_all()
    }

    /// Invalidates cached configuration and translations, and waits for completion.
    fn invalidate_all(&mut self) -> Result<(), Error> {
        for command in [INVALIDATE_CONFIGURATION, INVALIDATE_TRANSLATIONS, SYNC] {
            self.command(command);
        }
        let produced = self.produced;
        let registers = &self.registers;
        wait(|| registers.read(offset::CMDQ_CONS) & WRAPPED == produced)?;
        let errors = registers.read(offset::GERROR) ^ registers.read(offset::GERRORN);
        match errors & COMMAND_ERROR {
            0 => Ok(()),
            _ => Err(Error::Silent),
        }
    }

    /// Appends a command. The queue has room, as it is empty after each wait.
    fn command(&mut self, command: Command) {
        self.memory.put(self.produced, command);
        self.produced = (self.produced + 1) & WRAPPED;
        self.registers.write(offset::CMDQ_PROD, self.produced);
    }

    /// Takes the next event, if there is one. Events are lost while the queue is full.
    pub fn next_event(&mut self) -> Option<Event> {
        let told = self.registers.read(offset::EVENTQ_PROD);
        if told & EVENTS_WRAPPED == self.consumed {
            return None;
        }
        let event = Event::parse(&self.memory.record(self.consumed));
        self.consumed = (self.consumed + 1) & EVENTS_WRAPPED;
        let acknowledged = self.consumed | told & OVERFLOW;
        self.registers.write(offset::EVENTQ_CONS, acknowledged);
        Some(event)
    }
}

/// An index into a queue, with a wrap bit above.
const WRAPPED: u32 = (2 << COMMANDS) - 1;
const EVENTS_WRAPPED: u32 = (2 << EVENTS) - 1;

fn wait(done: impl Fn() -> bool) -> Result<(), Error> {
    match (0..POLL_LIMIT).any(|_| done()) {
        true => Ok(()),
        false => Err(Error::Silent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Registers;
    use crate::event::Denied;
    use std::cell::{Cell, RefCell};
    use std::collections::BTreeMap;

    /// Model of an SMMU that executes commands at once, unless it is stuck.
    #[derive(Debug)]
    struct Fake {
        values: RefCell<BTreeMap<usize, u64>>,
        order: RefCell<Vec<usize>>,
        stuck: Cell<bool>,
    }

    impl Fake {
        fn new() -> Self {
            let values = [
                // S1P, TTF of AArch64, COHACC, STALL_MODEL none; queues of 2^19; 44 bits, 4 KiB.
                (offset::IDR0, 1 << 1 | 0b10 << 2 | 1 << 4 | 1 << 24),
                (offset::IDR1, 19 << 21 | 19 << 16 | 16),
                (offset::IDR5, 0b100 | 1 << 4),
            ];
            Self {
                values: RefCell::new(values.into()),
                order: RefCell::default(),
                stuck: Cell::new(false),
            }
        }

        fn with(self, offset: usize, value: u64) -> Self {
            self.values.borrow_mut().insert(offset, value);
            self
        }

        fn get(&self, offset: usize) -> u64 {
            *self.values.borrow().get(&offset).unwrap_or(&0)
        }
    }

    impl Registers for &'static Fake {
        fn read(&self, offset: usize) -> u32 {
            self.get(offset) as u32
        }

        fn write(&mut self, offset: usize, value: u32) {
            self.write64(offset, value.into());
        }
    }

    impl Registers64 for &'static Fake {
        fn write64(&mut self, offset: usize, value: u64) {
            self.order.borrow_mut().push(offset);
            let mut values = self.values.borrow_mut();
            values.insert(
                offset,
                value & !u64::from(if offset == offset::GBPA { UPDATE } else { 0 }),
            );
            let follows = match offset {
                offset::CR0 => offset::CR0ACK,
                offset::IRQ_CTRL => offset::IRQ_CTRLACK,
                offset::CMDQ_PROD if !self.stuck.get() => offset::CMDQ_CONS,
                _ => return,
            };
            values.insert(follows, value);
        }
    }

    fn opened(
        fake: Fake,
    ) -> (
        &'static Fake,
        &'static Memory,
        Result<Smmu<&'static Fake>, Error>,
    ) {
        let (fake, memory) = (
            &*Box::leak(Box::new(fake)),
            &*Box::leak(Box::new(Memory::new())),
        );
        (fake, memory, Smmu::open(fake, memory))
    }

    #[test]
    fn it_is_enabled_with_all_streams_aborted() {
        let (fake, memory, smmu) = opened(Fake::new());
        assert_eq!(smmu.unwrap().stage(), Stage::One);
        assert_eq!(fake.get(offset::CR0), 0b1101);
        assert_eq!(fake.get(offset::GBPA), 1 << 20);
        assert_eq!(
            fake.order.borrow()[..2],
            [offset::GBPA, offset::CR0],
            "before it is off"
        );
        assert_eq!(fake.get(offset::STRTAB_BASE) & 0x3fff, 0);
        assert_eq!(fake.get(offset::STRTAB_BASE_CFG), 8);
        assert_eq!(fake.get(offset::EVENTQ_BASE) & 0x7ff, 6);
        assert_eq!(fake.get(offset::CMDQ_BASE) & 0xff, 4);
        assert!((0..STREAMS).all(|stream| memory.entry(stream)[0] == ABORT));
        let commands = [0, 1, 2].map(|index| memory.command(index));
        assert_eq!(commands, [[0x04, 31], [0x30, 0], [0x46, 0]]);
    }

    #[test]
    fn streams_are_switched_again_and_again() {
        let (fake, memory, smmu) = opened(Fake::new());
        let mut smmu = smmu.unwrap();
        let context = Context {
            stage: Stage::One,
            root: 0x4000,
            address_bits: 39,
        };
        smmu.set_context(&context);
        assert_eq!(memory.entry(255)[0], ABORT);
        for _ in 0..20 {
            smmu.switch(true).unwrap();
            assert_eq!(memory.entry(255), context.entry(memory.descriptor(), 0b100));
            smmu.switch(false).unwrap();
            assert_eq!(memory.entry(0)[0], ABORT);
        }
        // 41 times 3 commands, in a queue of 16.
        assert_eq!(fake.get(offset::CMDQ_PROD), 123 % 32);
        fake.stuck.set(true);
        assert_eq!(smmu.switch(true), Err(Error::Silent));
    }

    #[test]
    fn a_command_error_is_reported() {
        let (_, _, smmu) = opened(Fake::new().with(offset::GERROR, 1));
        assert_eq!(smmu.unwrap_err(), Error::Silent);
        // An earlier error that the firmware acknowledged.
        let old = Fake::new().with(offset::GERROR, 1);
        let (_, _, smmu) = opened(old.with(offset::GERRORN, 1));
        assert!(smmu.is_ok());
    }

    #[test]
    fn each_event_is_taken_once_around_the_queue() {
        let (fake, memory, smmu) = opened(Fake::new());
        let mut smmu = smmu.unwrap();
        assert_eq!(smmu.next_event(), None);
        for number in 0..200_u32 {
            let told = (number + 1) % 128;
            memory.set_record(number as usize % 64, [0x10, 0, number.into(), 0]);
            let overflow = if number == 150 { OVERFLOW } else { 0 };
            fake.values
                .borrow_mut()
                .insert(offset::EVENTQ_PROD, (told | overflow).into());
            let event = smmu.next_event().unwrap();
            assert_eq!(
                (event.denied, event.address),
                (Denied::Access, number.into())
            );
            assert_eq!(fake.get(offset::EVENTQ_CONS), (told | overflow).into());
            assert_eq!(smmu.next_event(), None);
        }
    }

    #[test]
    fn unfit_hardware_is_refused() {
        let refused = |offset, value| opened(Fake::new().with(offset, value)).2.unwrap_err();
        let zero = Fake::new().get(offset::IDR0);
        assert_eq!(
            refused(offset::IDR0, zero & !0b11),
            Error::Unfit,
            "no stage"
        );
        assert_eq!(
            refused(offset::IDR0, zero & !(1 << 3)),
            Error::Unfit,
            "no AArch64"
        );
        assert_eq!(refused(offset::IDR0, zero & !(1 << 4)), Error::Incoherent);
        assert_eq!(
            refused(offset::IDR0, zero ^ 0b11 << 24),
            Error::Unfit,
            "stalls only"
        );
        assert_eq!(
            refused(offset::IDR1, 5 << 21 | 19 << 16),
            Error::Unfit,
            "small queues"
        );
        assert_eq!(
            refused(offset::IDR1, 19 << 21 | 19 << 16 | 1 << 30),
            Error::Unfit,
            "preset"
        );
        assert_eq!(
            refused(offset::IDR5, 0b100),
            Error::Unfit,
            "no pages of 4 KiB"
        );
        let both = opened(Fake::new().with(offset::IDR0, zero | 1)).2.unwrap();
        assert_eq!(both.stage(), Stage::Two);
    }
}
