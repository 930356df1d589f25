//! DMA protection: PCI devices of a VM access only its memory.
//!
//! # Purpose
//!
//! A device accesses memory at addresses that its owner, an untrusted guest, gives it. The SMMUv3
//! in front of the devices translates them as addresses of the owner, to the memory that its stage
//! 2 maps. The tables are Mortise's and not accessible to guests: of stage 2 if the SMMU has one,
//! otherwise of stage 1. Other accesses are aborted, counted as denied to the owner, and reported.
//!
//! All devices on bus 0 of the root complex have one owner, so that all streams use the same
//! tables. Guests see no SMMU: their device trees have none.
//!
//! # Guarantees
//!
//! - Devices have no access before the owner's first run, between two of its runs, and after the
//!   last one: their streams are aborted, accesses in flight are completed, and bus mastering is
//!   off.
//! - Memory that the owner shares with others, and registers, the targets of message-signalled
//!   interrupts, are not accessible.
//! - Interrupts of the SMMU go to the owner's first core only. One interrupt handles at most
//!   [`AT_ONCE`] records of denied accesses, and prints at most one line each time that their
//!   number has doubled.
//! - If the SMMU stops responding, all streams stay aborted.

#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

mod bus;

use core_paging::{DeviceMap, Frames};
use core_sync::TicketLock;
use hw_arch::mmio::Mmio;
use hw_iommu_smmuv3::{Context, Denied, Event, Frame, Memory, Smmu, Stage};
use mortise_partition::{Argument, Iommu, Machine, RootComplex, Vm};

/// Most records of denied accesses that one interrupt handles.
pub const AT_ONCE: u64 = 32;

/// Address bits that are translated, from a root table of level 1.
const ADDRESS_BITS: u32 = 39;

/// Tables and queues that the SMMU accesses.
static MEMORY: Memory = Memory::new();

/// The SMMU of this image's board.
pub static SMMU: Protection = Protection(TicketLock::new(None));

/// Confines the devices behind an SMMU to the memory of their owner.
pub struct Protection(TicketLock<Option<Devices>>);

struct Devices {
    smmu: Smmu,
    configuration: Mmio,
    denied: u64,
    /// Whether the SMMU has always responded.
    answers: bool,
}

impl Iommu for Protection {
    fn init(
        &self,
        root: RootComplex,
        owner: &'static Vm,
        frames: &'static dyn Frames,
    ) -> Result<(), &'static str> {
        let mut smmu =
            Smmu::open(Frame::new(root.iommu), &MEMORY).map_err(|error| error.words())?;
        let stage = smmu.stage();
        let map = match stage {
            Stage::One => DeviceMap::of_stage_1(frames),
            Stage::Two => DeviceMap::of_stage_2(frames),
        };
        let tables = map.and_then(|mut map| {
            owner.for_memory(|seen, place, size| {
                map.map(seen as usize, place as usize, size as usize)
            })?;
            Ok(map.root() as u64)
        });
        smmu.set_context(&Context {
            stage,
            root: tables.map_err(|_| "too few page tables: raise MORTISE_PAGE_TABLES")?,
            address_bits: ADDRESS_BITS,
        });
        *self.0.lock() = Some(Devices {
            smmu,
            configuration: root.configuration,
            denied: 0,
            answers: true,
        });
        Ok(())
    }

    fn attach_devices(&self, machine: &'static Machine, owner: &'static Vm) {
        if let Some(devices) = &mut *self.0.lock() {
            devices.switch(true, machine, owner);
        }
    }

    fn detach_devices(&self, machine: &'static Machine, owner: &'static Vm, part: usize) -> bool {
        let mut guard = self.0.lock();
        let Some(devices) = &mut *guard else {
            return false;
        };
        match part {
            0 => devices.switch(false, machine, owner),
            1..=bus::DEVICES => bus::silence(&mut devices.configuration, part - 1),
            _ => return false,
        }
        true
    }

    fn report_events(&self, machine: &'static Machine, owner: &'static Vm) -> bool {
        let mut guard = self.0.lock();
        let Some(devices) = &mut *guard else {
            return false;
        };
        let Some(first) = devices.smmu.next_event() else {
            return false;
        };
        let mut taken = 1;
        while taken < AT_ONCE && devices.smmu.next_event().is_some() {
            taken += 1;
        }
        devices.deny(first, taken, machine, owner);
        taken == AT_ONCE
    }
}

impl Devices {
    /// Lets the devices through, or aborts their accesses. Once the SMMU does not respond, every
    /// stream is aborted in its table, and none is let through again.
    fn switch(&mut self, through: bool, machine: &'static Machine, owner: &Vm) {
        let done = self.smmu.switch(through && self.answers);
        if self.answers && done.is_err() {
            self.answers = false;
            let _silent = self.smmu.switch(false);
            let text = " has no PCI devices any more: the SMMU does not answer";
            machine.report(owner.name(), text, &[]);
        }
    }

    /// Counts denied accesses, of which `first` was the first, and reports them at a limited rate,
    /// as the console line is shared.
    fn deny(&mut self, first: Event, count: u64, machine: &'static Machine, owner: &Vm) {
        let before = self.denied;
        self.denied += count;
        owner.count_denied(count);
        if before.checked_ilog2() == self.denied.checked_ilog2() {
            return;
        }
        let what = match (first.denied, first.write) {
            (Denied::Access, true) => &" was denied a write to ",
            (Denied::Access, false) => &" was denied a read from ",
            (Denied::Stream, _) => &" is on no bus that has memory; it asked for ",
            (Denied::Other(_), _) => &" was denied something at ",
        };
        let arguments = [
            Argument::Decimal((first.stream >> 3).into()),
            Argument::Decimal((first.stream & 7).into()),
            Argument::Text(what),
            Argument::Hexadecimal(first.address),
            Argument::Decimal(self.denied),
        ];
        let text = ": PCI device {}.{}{}{} ({} so far)";
        machine.report(owner.name(), text, &arguments);
    }
}
