//! vLibs: Linux as a library that runs on the time of its caller.
//!
//! # Purpose
//!
//! A real-time VM, the *master*, calls functions that only Linux has, on its own time (*vLibOS*,
//! sections 3 and 4). The Linux VM, the *server*, is suspended until it is called, runs while the
//! calling thread does, and is suspended again when it listens for the next call. Mortise has
//! neither a thread nor a budget for this: the master's scheduler stops and resumes the server.
//!
//! | function | caller | effect |
//! |---|---|---|
//! | `0xC600_0401` CALL | master | runs the server; x1 returns the number of the call; -5 (BUSY) if
//! a call is in progress, -6 (NOT_FOUND) if the server does not listen |
//! | `0xC600_0402` STOP, `0xC600_0403` GO | master | suspends or resumes the server during a call |
//! | `0xC600_0404` STATE | both | x1 state, x2 calls begun, x3 number of the last call answered |
//! | `0xC600_0405` LEAVE | server | ends the service; the server runs until it listens again |
//!
//! A load from the status page, which the server's stage 2 does not map, is LISTEN: it ends the
//! call in progress, if any, suspends the server until the next call, and returns 0, or -5 (BUSY)
//! if another thread listens already. A program thus needs no service of its kernel.
//!
//! x1 is the number of the vLib. All return 0, or -3 (DENIED) to a VM without this role, or -6 if
//! there is no such vLib. The status page holds the values of STATE, for the master to read without
//! an exit.
//!
//! # Guarantees
//!
//! - **All vCPUs of the server are suspended** outside of calls and while stopped: they are kicked
//!   by an IPI, which the server cannot mask, and none is resumed.
//! - The master is notified once of the end of each call, by LISTEN or by the end of the server,
//!   through an interrupt. If the master's run ends during a call, the call is stopped, and its
//!   next run finds it.
//! - A call takes a bounded number of steps per vCPU of the server, and no lock but the vLib's and
//!   that of the master's virtual interrupt controller.
//! - Mortise reads nothing of the memory that both share, and writes only the status page.

#![cfg_attr(not(test), no_std)]
#![expect(unsafe_code, reason = "status pages lie at stated addresses")]

mod calls;
mod mapped;
mod session;

pub use calls::GROUP;

use core_manifest::{Dynamic, System, limits};
use core_memory::PhysicalRange;
use core_trace::Event;
use mapped::{MappedVlib, Role};
use mortise_partition::{Core, DirectSgi, Machine, Manifest, Ready, Vm, VmExtension};
use session::Session;
use spin::Once;

/// Busy: status of a call, and the value that LISTEN returns.
const BUSY: i32 = -5;

/// The vLibs of the system.
pub struct Vlibs {
    all: [Once<MappedVlib>; limits::VLIBS],
}

/// Entry in the table of VM extensions.
pub static VLIBS: Vlibs = Vlibs {
    all: [const { Once::new() }; limits::VLIBS],
};

impl Vlibs {
    fn iter(&self) -> impl Iterator<Item = &MappedVlib> {
        self.all.iter().map_while(Once::get)
    }

    /// The vLib with this number.
    fn get(&self, number: u64) -> Option<&MappedVlib> {
        self.all.get(usize::try_from(number).ok()?)?.get()
    }
}

impl VmExtension for Vlibs {
    fn init(&self, machine: &'static Machine, system: &System<'static>, bytes: Manifest) -> Ready {
        let malformed = "its vLibs are malformed";
        let dynamic = Dynamic::parse(bytes, system).map_err(|_| malformed)?;
        for (place, described) in self.all.iter().zip(dynamic.vlibs) {
            let mapped = MappedVlib::new(described).ok_or(malformed)?;
            let (master, server) = (mapped.master(machine), mapped.server(machine));
            let (master, server) = master.zip(server).ok_or(malformed)?;
            master.add_interrupt(mapped.interrupt())?;
            if described.virtual_time {
                server.use_virtual_time();
            }
            place.call_once(|| mapped);
        }
        Ok(())
    }

    fn memory_ranges(&self, core: &'static Core, range: &mut dyn FnMut(PhysicalRange)) {
        let here = self.iter().filter(|vlib| vlib.is_reached_by(core));
        here.for_each(|vlib| range(vlib.page()));
    }

    fn load(&self, core: &'static Core, vm: &'static Vm, vcpu: usize, ipa: u64) -> Option<u64> {
        // The server's own RAM is mapped at its physical addresses, and may lie below the page.
        let is_door = |vlib: &MappedVlib| {
            vlib.role(vm.index()) == Some(Role::Server) && vlib.page().holds(ipa)
        };
        let mut numbered = self.iter().enumerate();
        let (number, vlib) = numbered.find(|(_, vlib)| is_door(vlib))?;
        let listens = vlib.step(core.machine(), Some(vcpu), Session::listen);
        core.record(Event::Ring, number as u64);
        Some(listens.map_or(i64::from(BUSY).cast_unsigned(), |_| 0))
    }

    fn vm_starts(&self, machine: &'static Machine, vm: &'static Vm, part: usize) -> bool {
        let Some(vlib) = self.get(part as u64) else {
            let mut own = self.iter().filter(|vlib| vlib.role(vm.index()).is_some());
            return own.any(MappedVlib::scrub);
        };
        if vlib.role(vm.index()) == Some(Role::Master) {
            let sgi = vm.direct_sgi(machine, vlib.interrupt());
            vlib.master_begins(sgi.map_or(0, DirectSgi::bits));
        }
        true
    }

    fn vm_stopped(&self, machine: &'static Machine, vm: &'static Vm, part: usize) -> bool {
        let Some(vlib) = self.get(part as u64) else {
            return false;
        };
        // A refusal has no addressee: the VM has ended.
        let _ = match vlib.role(vm.index()) {
            Some(Role::Master) => vlib.step(machine, None, |it| Ok(it.stop())),
            Some(Role::Server) => vlib.step(machine, None, |it| Ok(it.server_ends())),
            None => return true,
        };
        true
    }
}
