//! The disks of a system: where they are, and whose.
//!
//! A driver that notifies its disk stores to a register, and its own core does what it asked for: in
//! steps, between which it looks whether an interrupt waits. Then the store is made again, behind what
//! was pending, until nothing is left. So a request of any size masks interrupts for no longer than a
//! step of it, and nobody but the VM itself pays for it.

use crate::{Block, Geometry, Halt, SECTOR, Step, Store, registers::offset};
use core::cell::Cell;
use core_manifest::{Disk, Mapping, System, limits};
use core_memory::{IntermediateRange, PhysicalRange};
use core_sync::TicketLock;
use core_virtq::{Memory, Outside};
use hw_arch::cpu::is_interrupt_pending;
use mortise_partition::{Access, Core, Device, DeviceResponse, Machine, Vm, VmExtension};
use mortise_transfer::{Transfer, View};
use spin::Once;

/// What is copied at once is a multiple of this, at multiples of it.
const CHUNK: u64 = 64;

/// Smallest unit that a core maps.
const PAGE: u64 = 4096;

/// Where the content of a disk is.
pub trait Content: Sized + Send + Sync + 'static {
    /// Which of the manifest's disks have theirs there.
    const STORE: core_manifest::Store;

    /// That of a disk, the so-manieth of the manifest's. Called before a VM runs.
    ///
    /// # Errors
    ///
    /// Why there is none, in a few words.
    fn open(disk: &'static Disk, number: usize) -> Result<Self, &'static str>;

    /// Does a step of what the driver asked for.
    fn step(&self, block: &mut Block, reach: &mut Reach<'_>) -> Step;
}

/// The disks of the system whose content is of that kind.
pub struct Disks<C = InMemory> {
    all: [Once<Placed<C>>; limits::DISKS],
}

/// The disks of this image's system that are in memory.
pub static DISKS: Disks = Disks::new();

/// In memory, which is where the manifest says.
pub struct InMemory;

impl Content for InMemory {
    const STORE: core_manifest::Store = core_manifest::Store::Memory;

    fn open(_disk: &'static Disk, _number: usize) -> Result<Self, &'static str> {
        Ok(Self)
    }

    fn step(&self, block: &mut Block, reach: &mut Reach<'_>) -> Step {
        block.step(reach)
    }
}

/// A disk, and the device that its VM sees.
struct Placed<C> {
    disk: &'static Disk,
    content: C,
    block: TicketLock<Block>,
}

impl<C: Content> Disks<C> {
    /// None yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            all: [const { Once::new() }; limits::DISKS],
        }
    }
}

impl<C: Content> Default for Disks<C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C: Content> Placed<C> {
    fn new(disk: &'static Disk, number: usize, content: C) -> Self {
        let mut name = *b"tenonos-0\0\0\0\0\0\0\0\0\0\0\0";
        if let Some(digit) = name.get_mut(8) {
            *digit += number as u8;
        }
        let block = Block::new(Geometry {
            sectors: disk.sectors,
            read_only: disk.read_only,
            name,
        });
        Self {
            disk,
            content,
            block: TicketLock::new(block),
        }
    }

    fn is_of(&self, vm: &Vm) -> bool {
        usize::from(self.disk.vm) == vm.index()
    }

    /// Carries out an access of its VM's to a register.
    fn access(
        &self,
        core: &'static Core,
        vm: &'static Vm,
        at: usize,
        width: u8,
        stored: Option<u64>,
    ) -> DeviceResponse {
        // Another of its vCPUs may be at work: to wait for it takes as long as an interrupt of that
        // one's stays away, and is to mask none here.
        let Some(mut block) = self.block.try_lock() else {
            return DeviceResponse::Retry;
        };
        if core.preemption_pending() {
            return DeviceResponse::Retry;
        }
        let Some(stored) = stored else {
            return DeviceResponse::Value(block.read(at, width));
        };
        block.write(at, width, stored);
        match core.transfer() {
            Some(transfer) if at == offset::NOTIFY => self.work(&mut block, core, vm, transfer),
            _ => DeviceResponse::Value(0),
        }
    }

    /// Does what was asked for until it is done or an interrupt waits.
    fn work(
        &self,
        block: &mut Block,
        core: &'static Core,
        vm: &'static Vm,
        transfer: &Transfer,
    ) -> DeviceResponse {
        let mut reach = Reach {
            disk: self.disk,
            vm,
            known: Cell::new(vm.description().memory().next().map(known)),
            view: View::new(transfer),
        };
        if core.preemption_pending() {
            return DeviceResponse::Retry;
        }
        loop {
            match self.content.step(block, &mut reach) {
                Step::Idle => return DeviceResponse::Value(0),
                Step::Wait => return DeviceResponse::Retry,
                Step::Interrupt => vm.raise(core.machine(), self.disk.interrupt.into()),
                Step::More => {}
            }
            if is_interrupt_pending() {
                return DeviceResponse::Retry;
            }
        }
    }
}

impl<C: Content> Device for Disks<C> {
    fn access(
        &self,
        core: &'static Core,
        vm: &'static Vm,
        ipa: u64,
        access: Access,
        stored: Option<u64>,
    ) -> Option<DeviceResponse> {
        let mut all = self.all.iter().map_while(Once::get);
        let (placed, at) = all.find_map(|placed| {
            let at = ipa.checked_sub(placed.disk.registers)?;
            if at >= limits::TRANSPORT {
                return None;
            }
            placed.is_of(vm).then_some((placed, at))
        })?;
        Some(placed.access(core, vm, at as usize, access.width, stored))
    }
}

impl<C: Content> VmExtension for Disks<C> {
    fn init(
        &self,
        machine: &'static Machine,
        system: &System<'static>,
        manifest: &'static [u8],
    ) -> Result<(), &'static str> {
        let malformed = "its disks are malformed";
        let disks = Disk::parse(manifest, system).map_err(|_| malformed)?;
        let own = disks.iter().enumerate();
        let own = own.filter(|(_, disk)| disk.store == C::STORE);
        for (place, (number, disk)) in self.all.iter().zip(own) {
            let vm = machine.vm(disk.vm.into()).ok_or(malformed)?;
            vm.add_interrupt(disk.interrupt.into())?;
            let content = C::open(disk, number)?;
            place.call_once(|| Placed::new(disk, number, content));
        }
        Ok(())
    }

    fn memory_ranges(&self, _core: &'static Core, _range: &mut dyn FnMut(PhysicalRange)) {}

    fn register_pages(&self, core: &'static Core, page: &mut dyn FnMut(PhysicalRange)) {
        if C::STORE == core_manifest::Store::Memory {
            return;
        }
        let all = || self.all.iter().map_while(Once::get);
        let there = |placed: &&Placed<C>| core.hosts(placed.disk.vm.into());
        let start = |placed: &Placed<C>| placed.disk.place.start() / PAGE * PAGE;
        for (number, placed) in all().enumerate().filter(|(_, placed)| there(placed)) {
            let mut before = all().take(number).filter(there);
            if before.all(|other| start(other) != start(placed)) {
                PhysicalRange::new(start(placed), PAGE).map(&mut *page);
            }
        }
    }

    fn vm_starts(&self, _machine: &'static Machine, vm: &'static Vm, part: usize) -> bool {
        let Some(placed) = self.all.get(part).and_then(Once::get) else {
            return false;
        };
        if placed.is_of(vm) {
            placed.block.lock().reset();
        }
        true
    }

    fn vm_stopped(&self, _machine: &'static Machine, _vm: &'static Vm, _part: usize) -> bool {
        false
    }
}

/// A disk and its VM's memory, as the core that works reaches them: through its windows.
pub struct Reach<'a> {
    disk: &'a Disk,
    vm: &'a Vm,
    /// A piece of that memory in which something was found: where its VM sees it, and where it is.
    known: Cell<Option<(IntermediateRange, u64)>>,
    view: View<'a>,
}

/// A piece of a VM's memory: where it sees it, and where it is.
fn known(ram: &Mapping) -> (IntermediateRange, u64) {
    (ram.intermediate, ram.physical.start())
}

impl Reach<'_> {
    /// Where a piece of the VM's own memory is.
    ///
    /// # Errors
    ///
    /// If some of it is not the VM's.
    #[inline]
    pub fn own(&self, at: u64, size: u64) -> Result<u64, Outside> {
        match self.known.get() {
            Some((seen, place)) if at >= seen.start() && size <= seen.size() => {
                let offset = at - seen.start();
                match offset <= seen.size() - size {
                    true => Ok(place + offset),
                    false => self.look_up(at, size),
                }
            }
            _ => self.look_up(at, size),
        }
    }

    #[cold]
    #[inline(never)]
    fn look_up(&self, at: u64, size: u64) -> Result<u64, Outside> {
        let piece = IntermediateRange::new(at, size).ok_or(Outside)?;
        let mut memory = self.vm.description().memory();
        let found = memory.find(|ram| ram.intermediate.contains(&piece));
        let (seen, place) = found.map(known).ok_or(Outside)?;
        self.known.set(Some((seen, place)));
        Ok(place + (at - seen.start()))
    }

    /// Where a piece of the disk is.
    fn content(&self, at: u64, size: u64) -> Result<u64, Outside> {
        let end = at.checked_add(size).ok_or(Outside)?;
        match end <= self.disk.sectors * SECTOR {
            true => Ok(self.disk.place.start() + at),
            false => Err(Outside),
        }
    }

    /// Copies some of a piece of memory, by physical addresses, or nothing if an interrupt waits; how
    /// much.
    ///
    /// # Safety
    ///
    /// Both are RAM, one of them the VM's own, to which nobody in Rust refers.
    pub unsafe fn copy(&mut self, from: u64, to: u64, size: u32) -> u32 {
        if is_interrupt_pending() {
            return 0;
        }
        let whole = u64::from(size) / CHUNK * CHUNK;
        // SAFETY: this core's windows; of what they show the caller's promise.
        let copied = unsafe {
            match PhysicalRange::new(from, whole) {
                Some(piece) if (from | to).is_multiple_of(CHUNK) => self.view.copy(piece, to),
                _ => self.view.copy_some(from, to, size.into()),
            }
        };
        copied as u32
    }
}

impl Memory for Reach<'_> {
    fn read(&self, at: u64, bytes: &mut [u8]) -> Result<(), Outside> {
        if !bytes.is_empty() {
            let place = self.own(at, bytes.len() as u64)?;
            for (place, byte) in (place..).zip(bytes) {
                // SAFETY: this core's windows, and the VM's own memory.
                *byte = unsafe { self.view.read(place) };
            }
        }
        Ok(())
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Outside> {
        if !bytes.is_empty() {
            let place = self.own(at, bytes.len() as u64)?;
            for (place, &byte) in (place..).zip(bytes) {
                // SAFETY: as in `read`; nobody in Rust refers to what is a VM's.
                unsafe { self.view.write(place, byte) };
            }
        }
        Ok(())
    }

    // Words of a queue are aligned, as it is, and a VM's memory is by whole pages.

    fn write8(&mut self, at: u64, value: u8) -> Result<(), Outside> {
        let place = self.own(at, 1)?;
        // SAFETY: as in `write`.
        unsafe { self.view.write(place, value) };
        Ok(())
    }

    fn read16(&self, at: u64) -> Result<u16, Outside> {
        let place = self.own(at, 2)?;
        // SAFETY: as in `read`.
        Ok(unsafe { self.view.read(place) })
    }

    fn read64s(&self, at: u64) -> Result<[u64; 2], Outside> {
        let place = self.own(at, 16)?;
        // SAFETY: as in `read`.
        Ok(unsafe { [self.view.read(place), self.view.read(place + 8)] })
    }

    fn write16(&mut self, at: u64, value: u16) -> Result<(), Outside> {
        let place = self.own(at, 2)?;
        // SAFETY: as in `write`.
        unsafe { self.view.write(place, value) };
        Ok(())
    }

    fn write32s(&mut self, at: u64, [first, second]: [u32; 2]) -> Result<(), Outside> {
        let place = self.own(at, 8)?;
        // SAFETY: as in `write`.
        unsafe {
            self.view.write(place, first);
            self.view.write(place + 4, second);
        }
        Ok(())
    }
}

impl Store for Reach<'_> {
    fn load(&mut self, from: u64, to: u64, size: u32) -> Result<u32, Halt> {
        let source = self.content(from, size.into())?;
        let target = self.own(to, size.into())?;
        // SAFETY: memory of a disk, to which only this refers, and its VM's own.
        Ok(unsafe { self.copy(source, target, size) })
    }

    fn store(&mut self, from: u64, to: u64, size: u32) -> Result<u32, Halt> {
        let source = self.own(from, size.into())?;
        let target = self.content(to, size.into())?;
        // SAFETY: as in `load`.
        Ok(unsafe { self.copy(source, target, size) })
    }
}
