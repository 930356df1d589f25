//! vLibs: Linux as a library on its caller's time.
//!
//! # Purpose
//!
//! A real-time VM, the master, calls what only Linux has, on its own time (*vLibOS*, sections 3 and 4):
//! the Linux VM, the server, stands still until it is called, runs while the thread that called does,
//! and stands still again when it listens for the next call. There is no thread of Mortise's and no
//! budget here: the master's scheduler stops the server and lets it go on.
//!
//! | function | who | does |
//! |---|---|---|
//! | `0xC600_0401` CALL | master | lets the server run; x1 the call's number; -5 (BUSY) if a call is under way, -6 (NOT_FOUND) if nobody listens |
//! | `0xC600_0402` STOP, `0xC600_0403` GO | master | has it stand still, or go on, in a call |
//! | `0xC600_0404` STATE | both | x1 state, x2 calls begun, x3 the number of the last one answered |
//! | `0xC600_0405` LEAVE | server | says that nobody serves any more; it runs until somebody listens again |
//!
//! A load from the status page, which the server does not have, is LISTEN: it ends the call that is
//! served, if any, stands still until the next, and finds 0 there, or -5 (BUSY) if somebody listens
//! already. So a program asks for it without its kernel.
//!
//! x1 is the vLib's number. All answer 0, -3 (DENIED) to a VM that is not in this role, or -6 if there
//! is no such vLib. The status page has what STATE tells, for the master to read without an exit.
//!
//! # Guarantees
//!
//! - **All of the server stands still** outside of calls and while stopped: its vCPUs are called by the
//!   doorbell, which it cannot mask, and none goes on.
//! - The master is told once of each call's end, by LISTEN or by the server's end, through an
//!   interrupt. When the master's run ends in a call, the call is stopped; its next run finds it.
//! - A call takes a fixed number of steps for each vCPU of the server, and no lock but the vLib's and
//!   that of the master's virtual interrupt controller.
//! - Mortise reads nothing of what both share, and writes the status page alone.

#![cfg_attr(not(test), no_std)]
#![expect(unsafe_code, reason = "status pages lie where the manifest says")]

mod calls;
mod placed;
mod session;

pub use calls::GROUP;

use core_manifest::{Dynamic, System, limits};
use core_memory::PhysicalRange;
use core_trace::Event;
use mortise_partition::{Core, DirectSgi, Machine, Vm, VmExtension};
use placed::{Placed, Role};
use session::Session;
use spin::Once;

/// Not now: the status of a call, and what who listens finds.
const BUSY: i32 = -5;

/// The vLibs of the system.
pub struct Vlibs {
    all: [Once<Placed>; limits::VLIBS],
}

/// The vLibs of this image's system.
pub static VLIBS: Vlibs = Vlibs {
    all: [const { Once::new() }; limits::VLIBS],
};

impl Vlibs {
    fn iter(&self) -> impl Iterator<Item = &Placed> {
        self.all.iter().map_while(Once::get)
    }

    /// The vLib of this number.
    fn get(&self, number: u64) -> Option<&Placed> {
        self.all.get(usize::try_from(number).ok()?)?.get()
    }
}

impl VmExtension for Vlibs {
    fn init(
        &self,
        machine: &'static Machine,
        system: &System<'static>,
        manifest: &'static [u8],
    ) -> Result<(), &'static str> {
        let malformed = "its vLibs are malformed";
        let dynamic = Dynamic::parse(manifest, system).map_err(|_| malformed)?;
        for (place, described) in self.all.iter().zip(dynamic.vlibs) {
            let placed = Placed::new(described).ok_or(malformed)?;
            let (master, server) = (placed.master(machine), placed.server(machine));
            let (master, server) = master.zip(server).ok_or(malformed)?;
            master.add_interrupt(placed.interrupt())?;
            if described.virtual_time {
                server.use_virtual_time();
            }
            place.call_once(|| placed);
        }
        Ok(())
    }

    fn memory_ranges(&self, core: &'static Core, range: &mut dyn FnMut(PhysicalRange)) {
        let here = self.iter().filter(|vlib| vlib.is_reached_by(core));
        here.for_each(|vlib| range(vlib.page()));
    }

    fn load(&self, core: &'static Core, vm: &'static Vm, vcpu: usize, ipa: u64) -> Option<u64> {
        // A server has its memory where it is, and what lies in front of it would be there, too.
        let is_door =
            |vlib: &Placed| vlib.role(vm.index()) == Some(Role::Server) && vlib.page().holds(ipa);
        let mut numbered = self.iter().enumerate();
        let (number, vlib) = numbered.find(|(_, vlib)| is_door(vlib))?;
        let listens = vlib.step(core.machine(), Some(vcpu), Session::listen);
        core.record(Event::Ring, number as u64);
        Some(listens.map_or(i64::from(BUSY).cast_unsigned(), |_| 0))
    }

    fn vm_starts(&self, machine: &'static Machine, vm: &'static Vm, part: usize) -> bool {
        let Some(vlib) = self.get(part as u64) else {
            return false;
        };
        if vlib.role(vm.index()) == Some(Role::Master) {
            let bell = vm.direct_sgi(machine, vlib.interrupt());
            vlib.master_begins(bell.map_or(0, DirectSgi::bits));
        }
        true
    }

    fn vm_stopped(&self, machine: &'static Machine, vm: &'static Vm, part: usize) -> bool {
        let Some(vlib) = self.get(part as u64) else {
            return false;
        };
        // What is refused here is nobody's to hear: no step of these is.
        let _ = match vlib.role(vm.index()) {
            Some(Role::Master) => vlib.step(machine, None, |it| Ok(it.stop())),
            Some(Role::Server) => vlib.step(machine, None, |it| Ok(it.server_ends())),
            None => return true,
        };
        true
    }
}
