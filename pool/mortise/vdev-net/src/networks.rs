//! Virtual networks of a system: their ports, and the memory of the VMs behind these.
//!
//! A driver notifies its card by a store to a register. Its own core sends the frames, in steps with a
//! check for pending interrupts between them. If one is pending, the store is repeated after it was
//! served, until nothing is left. Frames thus mask interrupts for one step at most, and take time of
//! the sender only, except for the interrupt of the receiver.

use crate::{Port, Progress, Properties, Refusal, Wire, registers::offset, send};
use core_manifest::{Port as Description, System, limits};
use core_memory::PhysicalRange;
use core_paging::Window;
use hw_arch::{El2, cpu::is_interrupt_pending};
use mortise_guest_memory::GuestMemory;
use mortise_partition::{
    Access, Core, Device, DeviceResponse, Machine, Manifest, RaiseInterrupt, Ready, Vm, VmExtension,
};
use spin::Once;

/// VM behind a port.
struct End {
    vm: &'static Vm,
    /// IPA of the card's registers.
    registers: u64,
    interrupt: u32,
}

/// The ports of all networks of a system.
pub struct Networks {
    ports: [Port; limits::PORTS],
    ends: [Once<End>; limits::PORTS],
}

/// Networks of this image's system.
pub static NETWORKS: Networks = Networks::new();

impl Networks {
    /// No networks.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            ports: [const { Port::new() }; limits::PORTS],
            ends: [const { Once::new() }; limits::PORTS],
        }
    }

    /// The end of a port.
    #[inline]
    fn end(&self, port: usize) -> Option<&End> {
        self.ends.get(port)?.get()
    }

    /// Ports of a VM: their numbers, and the IPAs of their registers.
    #[inline]
    fn of<'a>(&'a self, vm: &'a Vm) -> impl Iterator<Item = (usize, u64)> + 'a {
        let ends = self.ends.iter().map_while(Once::get).enumerate();
        ends.filter_map(|(number, end)| {
            core::ptr::eq(end.vm, vm).then_some((number, end.registers))
        })
    }

    /// Resets a card of a VM that its driver used. Returns whether more are left.
    fn reset_one(&self, vm: &Vm) -> bool {
        let mut used = self
            .of(vm)
            .filter_map(|(number, _)| self.ports.get(number).filter(|it| it.is_used()));
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

impl Device for Networks {
    fn access(
        &self,
        core: &'static Core,
        vm: &'static Vm,
        ipa: u64,
        access: Access,
        stored: Option<u64>,
    ) -> Option<DeviceResponse> {
        let (number, at) = self.of(vm).find_map(|(number, registers)| {
            let at = ipa.wrapping_sub(registers);
            (at < limits::TRANSPORT).then_some((number, at as usize))
        })?;
        if core.preemption_pending() {
            return Some(DeviceResponse::Retry);
        }
        if let Some(value) = stored
            && Port::notifies(at, access.width, value)
        {
            return Some(self.send(core, vm, number));
        }
        let port = self.ports.get(number)?;
        let answer = match stored {
            None => port.read(at, access.width),
            Some(value) => port.write(at, access.width, value).map(|()| 0),
        };
        // What it did is a section of its own, and may be repeated. An acknowledgement may not: it could
        // meet a new cause.
        if at != offset::ACKNOWLEDGE && core.preemption_pending() {
            return Some(DeviceResponse::Retry);
        }
        // Another vCPU of the VM, or a sender on another core, has it. To wait here would mask
        // interrupts.
        Some(answer.map_or(DeviceResponse::Retry, DeviceResponse::Value))
    }
}

impl Networks {
    /// Sends the frames of a port, until all are sent or an interrupt is pending.
    fn send(&self, core: &'static Core, vm: &'static Vm, number: usize) -> DeviceResponse {
        let Some(transfer) = core.transfer() else {
            return DeviceResponse::Value(0);
        };
        let [own, window] = transfer.windows();
        // SAFETY: these are two windows of this core, which nothing else uses until the end of this
        // function. No Rust reference to RAM of a VM exists.
        let (sender, receiver) = unsafe {
            let description = vm.description();
            (
                GuestMemory::new(own, description),
                GuestMemory::new(window, description),
            )
        };
        let mut lines = Lines {
            networks: self,
            core,
            sender,
            window,
            chosen: number,
            receiver,
        };
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
            let (Some(place), Some(end)) = (self.ports.get(number), self.ends.get(number)) else {
                return Err(malformed);
            };
            place.set_properties(Properties {
                address: port.address(),
                peers,
                rate: port.rate,
            });
            end.call_once(|| End {
                vm,
                registers: port.registers,
                interrupt: port.interrupt.into(),
            });
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

/// The sender and the receiver of a frame.
struct Lines<'a> {
    networks: &'a Networks,
    core: &'static Core,
    sender: GuestMemory<'a>,
    /// Window for the receiver's memory.
    window: &'a Window<El2>,
    /// Port of the receiver.
    chosen: usize,
    receiver: GuestMemory<'a>,
}

impl<'a> Wire for Lines<'a> {
    type Memory = GuestMemory<'a>;

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

    #[inline]
    fn sender(&mut self) -> &mut GuestMemory<'a> {
        &mut self.sender
    }

    #[inline]
    fn choose(&mut self, port: usize) {
        if port != self.chosen
            && let Some(end) = self.networks.end(port)
        {
            self.receiver.close();
            // SAFETY: the window is this core's, and the memory behind it was used by the former
            // receiver alone. No Rust reference to RAM of a VM exists.
            self.receiver = unsafe { GuestMemory::new(self.window, end.vm.description()) };
            self.chosen = port;
        }
    }

    #[inline]
    fn receiver(&mut self) -> &mut GuestMemory<'a> {
        &mut self.receiver
    }

    #[inline(always)]
    fn copy(&mut self, from: u64, to: u64, size: u32) -> Result<u32, Refusal> {
        let source = self.sender.piece(from, size.into());
        let source = source.map_err(|_| Refusal::Source)?;
        let target = self.receiver.piece(to, size.into());
        let target = target.map_err(|_| Refusal::Target)?;
        // What comes before is a section of its own.
        if self.core.preemption_pending() {
            return Ok(0);
        }
        Ok(source.copy_to(&target, is_interrupt_pending) as u32)
    }

    fn interrupt(&mut self, port: usize) {
        if let Some(end) = self.networks.end(port) {
            end.vm.raise(self.core.machine(), end.interrupt);
        }
    }
}
