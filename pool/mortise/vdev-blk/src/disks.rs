//! Virtual disks of a system: their memory and their VMs.
//!
//! A driver notifies its disk by a store to a register. Its own core executes the request, in steps
//! with a check for pending interrupts between them. If one is pending, the store is repeated after
//! it was served, until nothing is left. A request of any size thus masks interrupts for one step
//! at most, and takes time of its own VM only.

use crate::{Block, Geometry, IoError, SECTOR, Step, Store, registers::offset};
use core::cell::Cell;
use core_manifest::{Disk, Mapping, System, limits};
use core_memory::{IntermediateRange, PhysicalRange};
use core_sync::TicketLock;
use core_virtq::{Memory, Outside};
use hw_arch::cpu::is_interrupt_pending;
use mortise_partition::{
    Access, Core, Device, DeviceResponse, Machine, Manifest, RaiseInterrupt, Ready, Vm, VmExtension,
};
use mortise_transfer::{Transfer, View};
use spin::Once;

/// Granularity of copies, in bytes.
const CHUNK: u64 = 64;

/// Smallest unit of a core's map.
const PAGE: u64 = 4096;

/// Storage of a disk.
pub trait Storage: Sized + Send + Sync + 'static {
    /// The kind of disk in the manifest that this implements.
    const STORE: core_manifest::Store;

    /// Opens disk `number` of the manifest, before any VM runs.
    ///
    /// # Errors
    ///
    /// The reason why it cannot be opened.
    fn open(disk: &'static Disk, number: usize) -> Result<Self, &'static str>;

    /// Executes a step of the driver's requests.
    fn step(&self, block: &mut Block, access: &mut DiskAccess<'_>) -> Step;
}

/// The disks of the system with this kind of storage.
pub struct Disks<C = InMemory> {
    all: [Once<VirtualDisk<C>>; limits::DISKS],
}

/// Disks of this image's system that are in memory.
pub static DISKS: Disks = Disks::new();

/// Storage in memory, at an address of the manifest.
pub struct InMemory;

impl Storage for InMemory {
    const STORE: core_manifest::Store = core_manifest::Store::Memory;

    fn open(_disk: &'static Disk, _number: usize) -> Result<Self, &'static str> {
        Ok(Self)
    }

    fn step(&self, block: &mut Block, access: &mut DiskAccess<'_>) -> Step {
        block.step(access)
    }
}

/// A disk with the device that its VM sees.
struct VirtualDisk<C> {
    disk: &'static Disk,
    content: C,
    block: TicketLock<Block>,
}

impl<C: Storage> Disks<C> {
    /// No disks.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            all: [const { Once::new() }; limits::DISKS],
        }
    }
}

impl<C: Storage> Default for Disks<C> {
    fn default() -> Self {
        Self::new()
    }
}

impl<C: Storage> VirtualDisk<C> {
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

    /// Handles an access of its VM to a register.
    fn access(
        &self,
        core: &'static Core,
        vm: &'static Vm,
        at: usize,
        width: u8,
        stored: Option<u64>,
    ) -> DeviceResponse {
        // Another vCPU of the VM may be executing a request. To wait for it could take until its
        // next interrupt, with interrupts masked here.
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

    /// Executes requests until all are complete or an interrupt is pending.
    fn work(
        &self,
        block: &mut Block,
        core: &'static Core,
        vm: &'static Vm,
        transfer: &Transfer,
    ) -> DeviceResponse {
        let mut access = DiskAccess {
            core,
            disk: self.disk,
            vm,
            known: Cell::new(vm.description().memory().next().map(known)),
            view: View::new(transfer),
        };
        if core.preemption_pending() {
            return DeviceResponse::Retry;
        }
        loop {
            match self.content.step(block, &mut access) {
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

impl<C: Storage> Device for Disks<C> {
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

impl<C: Storage> VmExtension for Disks<C> {
    fn init(&self, machine: &'static Machine, system: &System<'static>, bytes: Manifest) -> Ready {
        let malformed = "its disks are malformed";
        let disks = Disk::parse(bytes, system).map_err(|_| malformed)?;
        let own = disks.iter().enumerate();
        let own = own.filter(|(_, disk)| disk.store == C::STORE);
        for (place, (number, disk)) in self.all.iter().zip(own) {
            let vm = machine.vm(disk.vm.into()).ok_or(malformed)?;
            vm.add_interrupt(disk.interrupt.into())?;
            let content = C::open(disk, number)?;
            place.call_once(|| VirtualDisk::new(disk, number, content));
        }
        Ok(())
    }

    fn memory_ranges(&self, _core: &'static Core, _range: &mut dyn FnMut(PhysicalRange)) {}

    fn register_pages(&self, core: &'static Core, page: &mut dyn FnMut(PhysicalRange)) {
        if C::STORE == core_manifest::Store::Memory {
            return;
        }
        let all = || self.all.iter().map_while(Once::get);
        let there = |placed: &&VirtualDisk<C>| core.hosts(placed.disk.vm.into());
        let start = |placed: &VirtualDisk<C>| placed.disk.place.start() / PAGE * PAGE;
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

/// Access to a disk and its VM's memory, through the windows of the executing core.
pub struct DiskAccess<'a> {
    core: &'static Core,
    disk: &'a Disk,
    vm: &'a Vm,
    /// The last region of that memory that was accessed: its IPA range and its PA.
    known: Cell<Option<(IntermediateRange, u64)>>,
    view: View<'a>,
}

/// A region of a VM's memory: its IPA range and its PA.
fn known(ram: &Mapping) -> (IntermediateRange, u64) {
    (ram.intermediate, ram.physical.start())
}

impl DiskAccess<'_> {
    /// Translates an IPA range of the VM's own memory.
    ///
    /// # Errors
    ///
    /// If part of it is not memory of the VM.
    #[inline]
    pub fn translate(&self, at: u64, size: u64) -> Result<u64, Outside> {
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

    /// Physical address of a range of the disk.
    fn content(&self, at: u64, size: u64) -> Result<u64, Outside> {
        let end = at.checked_add(size).ok_or(Outside)?;
        match end <= self.disk.sectors * SECTOR {
            true => Ok(self.disk.place.start() + at),
            false => Err(Outside),
        }
    }

    /// Copies part of a range of memory, by physical addresses, or nothing if an interrupt is
    /// pending on a shared core. On a pinned one the guest may hold an interrupt pending. Returns
    /// the number of bytes.
    ///
    /// # Safety
    ///
    /// Both ranges are RAM to which no Rust reference exists, and one of them is memory of the VM.
    pub unsafe fn copy(&mut self, from: u64, to: u64, size: u32) -> u32 {
        if self.core.preemption_pending() {
            return 0;
        }
        let whole = u64::from(size) / CHUNK * CHUNK;
        // SAFETY: these are this core's windows; the caller states that both ranges are RAM without
        // references.
        let copied = unsafe {
            match PhysicalRange::new(from, whole) {
                Some(piece) if (from | to).is_multiple_of(CHUNK) => self.view.copy(piece, to),
                _ => self.view.copy_some(from, to, size.into()),
            }
        };
        copied as u32
    }
}

impl Memory for DiskAccess<'_> {
    fn read(&self, at: u64, bytes: &mut [u8]) -> Result<(), Outside> {
        if !bytes.is_empty() {
            let place = self.translate(at, bytes.len() as u64)?;
            for (place, byte) in (place..).zip(bytes) {
                // SAFETY: these are this core's windows, and the address lies in RAM of the VM.
                *byte = unsafe { self.view.read(place) };
            }
        }
        Ok(())
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Outside> {
        if !bytes.is_empty() {
            let place = self.translate(at, bytes.len() as u64)?;
            for (place, &byte) in (place..).zip(bytes) {
                // SAFETY: these are this core's windows, and the address lies in RAM of the VM, to
                // which no Rust reference exists.
                unsafe { self.view.write(place, byte) };
            }
        }
        Ok(())
    }

    // The parts of a queue are aligned, and a VM's memory consists of whole pages.

    fn write8(&mut self, at: u64, value: u8) -> Result<(), Outside> {
        let place = self.translate(at, 1)?;
        // SAFETY: these are this core's windows, and the address lies in RAM of the VM, to which no
        // Rust reference exists.
        unsafe { self.view.write(place, value) };
        Ok(())
    }

    fn read16(&self, at: u64) -> Result<u16, Outside> {
        let place = self.translate(at, 2)?;
        // SAFETY: these are this core's windows, and the address lies in RAM of the VM.
        Ok(unsafe { self.view.read(place) })
    }

    fn read64s(&self, at: u64) -> Result<[u64; 2], Outside> {
        let place = self.translate(at, 16)?;
        // SAFETY: these are this core's windows, and both addresses lie in RAM of the VM.
        Ok(unsafe { [self.view.read(place), self.view.read(place + 8)] })
    }

    fn write16(&mut self, at: u64, value: u16) -> Result<(), Outside> {
        let place = self.translate(at, 2)?;
        // SAFETY: these are this core's windows, and the address lies in RAM of the VM, to which no
        // Rust reference exists.
        unsafe { self.view.write(place, value) };
        Ok(())
    }

    fn write32s(&mut self, at: u64, [first, second]: [u32; 2]) -> Result<(), Outside> {
        let place = self.translate(at, 8)?;
        // SAFETY: these are this core's windows, and both addresses lie in RAM of the VM, to which
        // no Rust reference exists.
        unsafe {
            self.view.write(place, first);
            self.view.write(place + 4, second);
        }
        Ok(())
    }
}

impl Store for DiskAccess<'_> {
    fn load(&mut self, from: u64, to: u64, size: u32) -> Result<u32, IoError> {
        let source = self.content(from, size.into())?;
        let target = self.translate(to, size.into())?;
        // SAFETY: the source is memory of the disk, to which no Rust reference exists; the target
        // is RAM of the VM.
        Ok(unsafe { self.copy(source, target, size) })
    }

    fn store(&mut self, from: u64, to: u64, size: u32) -> Result<u32, IoError> {
        let source = self.translate(from, size.into())?;
        let target = self.content(to, size.into())?;
        // SAFETY: the source is RAM of the VM; the target is memory of the disk, to which no Rust
        // reference exists.
        Ok(unsafe { self.copy(source, target, size) })
    }
}
