//! Virtual networks of a system: their ports, and the memory of the VMs behind these.
//!
//! A driver notifies its card by a store to a register. Its own core sends the frames, in steps with a
//! check for pending interrupts between them. If one is pending, the store is repeated after it was
//! served, until nothing is left. Frames thus mask interrupts for one step at most, and take time of
//! the sender only, except for the interrupt of the receiver.

use crate::{Port, Progress, Properties, Refusal, Wire, registers::offset, send};
use core::cell::Cell;
use core_manifest::{Mapping, Port as Description, System, limits};
use core_memory::{IntermediateRange, PhysicalRange};
use core_virtq::{Memory, Outside};
use hw_arch::cpu::is_interrupt_pending;
use mortise_partition::{
    Access, Core, Device, DeviceResponse, Machine, Manifest, RaiseInterrupt, Ready, Vm, VmExtension,
};
use mortise_transfer::View;
use spin::Once;

/// The ports of all networks of a system.
pub struct Networks {
    ports: [Port; limits::PORTS],
    descriptions: [Once<&'static Description>; limits::PORTS],
}

/// Networks of this image's system.
pub static NETWORKS: Networks = Networks::new();

impl Networks {
    /// No networks.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            ports: [const { Port::new() }; limits::PORTS],
            descriptions: [const { Once::new() }; limits::PORTS],
        }
    }

    /// Descriptions of the ports, with their numbers.
    fn descriptions(&self) -> impl Iterator<Item = (usize, &'static Description)> {
        let all = self.descriptions.iter().map_while(Once::get);
        all.copied().enumerate()
    }

    /// Resets a card of a VM that its driver used. Returns whether more are left.
    fn reset_one(&self, vm: &Vm) -> bool {
        let own = self.descriptions().filter(|(_, port)| is_of(port, vm));
        let mut used =
            own.filter_map(|(number, _)| self.ports.get(number).filter(|it| it.is_used()));
        let Some(first) = used.next() else {
            return false;
        };
        first.reset().is_err() || used.next().is_some()
    }
}

impl Default for Networks {
    fn default() -> Self {
        Self::new()
    }
}

fn is_of(port: &Description, vm: &Vm) -> bool {
    usize::from(port.vm) == vm.index()
}

impl Device for Networks {
    fn access(
        &self,
        core: &'static Core,
        vm: &'static Vm,
        ipa: u64,
        access: Access,
        stored: Option<u64>,
    ) -> Option<DeviceResponse> {
        let mut own = self.descriptions().filter(|(_, port)| is_of(port, vm));
        let (number, at) = own.find_map(|(number, port)| {
            let at = ipa.checked_sub(port.registers)?;
            (at < limits::TRANSPORT).then_some((number, at as usize))
        })?;
        let port = self.ports.get(number)?;
        if core.preemption_pending() {
            return Some(DeviceResponse::Retry);
        }
        let answer = match stored {
            None => port.read(at, access.width),
            Some(value) => port.write(at, access.width, value).map(|()| 0),
        };
        Some(match answer {
            // Another vCPU of the VM, or a sender on another core, has it. To wait here would mask
            // interrupts.
            Err(_) => DeviceResponse::Retry,
            Ok(_) if stored.is_some() && at == offset::NOTIFY => self.send(core, vm, number),
            Ok(value) => DeviceResponse::Value(value),
        })
    }
}

impl Networks {
    /// Sends the frames of a port, until all are sent or an interrupt is pending.
    fn send(&self, core: &'static Core, vm: &'static Vm, number: usize) -> DeviceResponse {
        let Some(transfer) = core.transfer() else {
            return DeviceResponse::Value(0);
        };
        let view = View::new(transfer);
        let mut lines = Lines {
            networks: self,
            core,
            view: &view,
            sender: Ram::new(vm, &view),
            receiver: Ram::new(vm, &view),
        };
        if core.preemption_pending() {
            return DeviceResponse::Retry;
        }
        match send(&self.ports, number, &mut lines) {
            Progress::Done => DeviceResponse::Value(0),
            Progress::Repeat => DeviceResponse::Retry,
        }
    }
}

impl VmExtension for Networks {
    fn init(&self, machine: &'static Machine, system: &System<'static>, bytes: Manifest) -> Ready {
        let malformed = "its networks are malformed";
        let all = || Description::parse(bytes, system).map_err(|_| malformed);
        for (number, port) in all()?.enumerate() {
            let vm = machine.vm(port.vm.into()).ok_or(malformed)?;
            vm.add_interrupt(port.interrupt.into())?;
            let mut peers = 0;
            for (other, peer) in all()?.enumerate() {
                peers |= u16::from(port.reaches(peer) && other != number) << other;
            }
            let (Some(place), Some(description)) =
                (self.ports.get(number), self.descriptions.get(number))
            else {
                return Err(malformed);
            };
            place.set_properties(Properties {
                address: port.address(),
                peers,
                rate: port.rate,
            });
            description.call_once(|| port);
        }
        Ok(())
    }

    fn memory_ranges(&self, _core: &'static Core, _range: &mut dyn FnMut(PhysicalRange)) {}

    fn vm_starts(&self, _machine: &'static Machine, vm: &'static Vm, _part: usize) -> bool {
        self.reset_one(vm)
    }

    fn vm_stopped(&self, _machine: &'static Machine, vm: &'static Vm, _part: usize) -> bool {
        self.reset_one(vm)
    }
}

/// Memory of a VM, through the windows of the executing core.
struct Ram<'a> {
    vm: &'static Vm,
    view: &'a View<'a>,
    /// The last region of that memory that was accessed: its IPA range and its PA.
    known: Cell<Option<(IntermediateRange, u64)>>,
}

/// A region of a VM's memory: its IPA range and its PA.
fn known(ram: &Mapping) -> (IntermediateRange, u64) {
    (ram.intermediate, ram.physical.start())
}

impl<'a> Ram<'a> {
    fn new(vm: &'static Vm, view: &'a View<'a>) -> Self {
        Self {
            vm,
            view,
            known: Cell::new(vm.description().memory().next().map(known)),
        }
    }

    /// Translates an IPA range of the VM's own memory.
    #[inline]
    fn translate(&self, at: u64, size: u64) -> Result<u64, Outside> {
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
}

impl Memory for Ram<'_> {
    fn read(&self, at: u64, bytes: &mut [u8]) -> Result<(), Outside> {
        if !bytes.is_empty() {
            let place = self.translate(at, bytes.len() as u64)?;
            // SAFETY: these are this core's windows, and the range lies in RAM of the VM.
            unsafe { self.view.read_bytes(place, bytes) };
        }
        Ok(())
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> Result<(), Outside> {
        if !bytes.is_empty() {
            let place = self.translate(at, bytes.len() as u64)?;
            // SAFETY: these are this core's windows, and the range lies in RAM of the VM, to which no
            // Rust reference exists.
            unsafe { self.view.write_bytes(place, bytes) };
        }
        Ok(())
    }

    // The parts of a queue are aligned, and a VM's memory consists of whole pages.

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
        // SAFETY: these are this core's windows, and both addresses lie in RAM of the VM, to which no
        // Rust reference exists.
        unsafe {
            self.view.write(place, first);
            self.view.write(place + 4, second);
        }
        Ok(())
    }
}

/// The sender and the receiver of a frame.
struct Lines<'a> {
    networks: &'a Networks,
    core: &'static Core,
    view: &'a View<'a>,
    sender: Ram<'a>,
    receiver: Ram<'a>,
}

impl Lines<'_> {
    /// VM and interrupt of a port.
    fn end(&self, port: usize) -> Option<(&'static Vm, u32)> {
        let description = self.networks.descriptions.get(port)?.get()?;
        let vm = self.core.machine().vm(description.vm.into())?;
        Some((vm, description.interrupt.into()))
    }
}

impl<'a> Wire for Lines<'a> {
    type Memory = Ram<'a>;

    #[inline]
    fn is_interrupted(&self) -> bool {
        is_interrupt_pending()
    }

    #[inline]
    fn is_preempted(&self) -> bool {
        self.core.preemption_pending()
    }

    fn now(&self) -> u64 {
        self.core.machine().now()
    }

    fn sender(&mut self) -> &mut Ram<'a> {
        &mut self.sender
    }

    fn choose(&mut self, port: usize) {
        if let Some((vm, _)) = self.end(port)
            && !core::ptr::eq(vm, self.receiver.vm)
        {
            self.receiver = Ram::new(vm, self.view);
        }
    }

    fn receiver(&mut self) -> &mut Ram<'a> {
        &mut self.receiver
    }

    fn copy(&mut self, from: u64, to: u64, size: u32) -> Result<u32, Refusal> {
        let source = self.sender.translate(from, size.into());
        let source = source.map_err(|_| Refusal::Source)?;
        let target = self.receiver.translate(to, size.into());
        let target = target.map_err(|_| Refusal::Target)?;
        // SAFETY: these are this core's windows; both ranges are RAM of VMs, to which no Rust
        // reference exists.
        Ok(unsafe { self.view.copy_piece(source, target, size.into()) } as u32)
    }

    fn interrupt(&mut self, port: usize) {
        if let Some((vm, interrupt)) = self.end(port) {
            vm.raise(self.core.machine(), interrupt);
        }
    }
}
