//! Entropy for guests: seeds in their device trees, and the TRNG of the SMC Calling Convention.
//!
//! # Purpose
//!
//! A VM has no source of entropy of its own. Linux without a seed extracts a number by its slowest path in
//! every system call and has no KASLR. At boot Mortise collects what the board offers ([`source`]): the
//! `rng-seed` of the boot loader's device tree, the firmware's TRNG, the instruction RNDR. From that it
//! derives a generator for each core, an Ascon-XOF128 (NIST SP 800-232) that is read 8 bytes at a time and
//! keyed anew by its own output. The seed in the boot loader's tree is overwritten.
//!
//! - At each start of a VM, `rng-seed` and `kaslr-seed` in `/chosen` of its device tree get new values.
//! - Guests call TRNG_VERSION, FEATURES, GET_UUID, RND32 and RND64 (Arm DEN 0098).
//!
//! # Guarantees
//!
//! - **No false entropy.** Without a source the calls are not supported, and both properties are removed
//!   from the tree (`FDT_NOP`), as a guest would credit them.
//! - **Bounded.** A step is one permutation of 12 rounds, some 400 instructions, and what stores its 8 bytes.
//!   Between steps interrupts are taken. At boot, before any VM runs, nothing is bounded.
//! - **Separate.** No output is given out twice; from what one VM reads that of another does not follow.
//! - **Forward secure.** When a VM has its seeds, they do not follow from the state of the generator any
//!   more; nor do the numbers of calls, but for the last 16 words.
//! - No lock is shared between cores, no allocation.
//!
//! With QEMU, `-seed` fixes the seed of the tree: deterministic runs repeat bit for bit.
#![cfg_attr(not(test), no_std)]
#![expect(
    unsafe_code,
    reason = "reads device trees, and writes the seeds of guests that do not run"
)]

mod generator;
mod seeds;
mod source;
mod tree;
mod trng;

use core_log::info;
use core_manifest::{Kind, System, limits};
use core_sync::TicketLock;
use generator::Generator;
use mortise_hypercall::Group;
use mortise_partition::{Core, Machine, Seeder, Vm};
use seeds::Seeds;
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

/// Hypercall group.
pub const TRNG: Group = trng::GROUP;

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
        seeds.write(part, generator.lock().as_mut(), transfer)
    }
}
