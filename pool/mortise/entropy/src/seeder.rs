//! Seeder of the guests: the generators of the cores, and the places of the seeds of the VMs.

use crate::{generator::Generator, seeds::Seeds, source};
use core_log::info;
use core_manifest::{Kind, System, limits};
use core_sync::TicketLock;
use mortise_partition::{Core, Machine, Seeder, Vm};
use spin::Once;

/// Cores at most.
const CORES: usize = 8;

/// Generators of the cores, and the seeds of the VMs.
pub struct Entropy {
    /// By core; `None` without a source of entropy.
    generators: [TicketLock<Option<Generator>>; CORES],
    seeds: Once<[Option<Seeds>; limits::VMS]>,
}

/// Source of the seeds of guests.
pub static ENTROPY: Entropy = Entropy {
    generators: [const { TicketLock::new(None) }; CORES],
    seeds: Once::new(),
};

impl Entropy {
    /// The generator of the executing core. Its lock is never contended.
    pub(crate) fn generator(&self, core: &Core) -> Option<&TicketLock<Option<Generator>>> {
        self.generators.get(core.cpu)
    }
}

impl Seeder for Entropy {
    fn init(&self, machine: &'static Machine, system: &System<'static>) {
        self.seeds.call_once(|| {
            let mut seeds = [const { None }; limits::VMS];
            for (place, vm) in seeds.iter_mut().zip(system.vms) {
                if vm.kind != Kind::Tenon {
                    *place = Seeds::of(vm);
                }
            }
            seeds
        });
        match source::collect(machine) {
            Some(seed) => {
                let generators = self.generators.iter().zip(machine.cores);
                for (cpu, (generator, _)) in generators.enumerate() {
                    *generator.lock() = Some(Generator::new(&seed, cpu));
                }
            }
            None => info!("no source of entropy: guests have no seed"),
        }
    }

    fn vm_starts(&self, vm: &'static Vm, part: usize) -> bool {
        let core = Core::current();
        let seeds = self.seeds.get().and_then(|seeds| seeds.get(vm.index()));
        let Some(((seeds, transfer), generator)) = seeds
            .and_then(Option::as_ref)
            .zip(core.transfer())
            .zip(self.generator(core))
        else {
            return false;
        };
        // A pinned core, on which no VM is delayed, does not take interrupts between the steps.
        let stop = || core.preemption_pending();
        seeds.write(part, generator.lock().as_mut(), transfer, stop)
    }
}
