//! Partitions on a GICv2.
//!
//! The CPU interface of a GICv2 is a page of registers, of which a virtual machine has the whole, on
//! cores that are its own: it takes and ends its interrupts with no exit, and can mask all that is
//! signalled there. So nothing that Mortise sends is sure to be heard by who runs, and control comes
//! back as stage 2 is withdrawn. Where nobody runs, the interface is Mortise's, and an SGI of its
//! own is what it waits for, the *doorbell*:
//!
//! | core | its interface | what calls it to Mortise |
//! |---|---|---|
//! | at rest in Mortise | open above [`DOORBELL_ONLY`] | the doorbell |
//! | runs a guest | the guest's | withdrawal: its next access of any kind |
//! | sleeps in a guest's WFI | the guest's | the doorbell wakes it, unless the guest masks all, and withdrawal does the rest |
//! | sleeps in a WFI that traps | open, and the guest's again behind it | the doorbell |
//!
//! The doorbell is in the group of all others: one that comes as its core begins to run a guest, late,
//! is to the guest an SGI that nobody there uses.
//!
//! Every call is a few accesses long, but for [`Irqchip::open`], which is linear in the number of
//! interrupts.
#![cfg_attr(not(test), no_std)]
#![forbid(unsafe_code)]

use core_manifest::limits;
use hw_irqchip_gicv2::{CpuInterface, Distributor, Targets, intid, is_special};
use mortise_gic_mediated::Access;
use mortise_gicv2_mediated::{Decision, decide, targets};
use mortise_partition::{ApplyDecision, Gic, Irqchip, OwnedInterrupts};

/// The GICv2, for partitions.
pub static GICV2: Gicv2 = Gicv2;

/// What an interface at rest lets through: guests' priorities are clamped behind it, the doorbell's is
/// zero.
const DOORBELL_ONLY: u8 = 0x10;
const _: () = assert!(DOORBELL_ONLY <= mortise_gic_mediated::MOST_URGENT);

const fn distributor(gic: &Gic) -> Distributor {
    Distributor::new(gic.distributor)
}

const fn interface(gic: &Gic) -> CpuInterface {
    CpuInterface::new(gic.interface)
}

/// The core of this number, which is that of its CPU interface.
const fn core(cpu: usize) -> Targets {
    Targets(1 << (cpu & 7))
}

/// A GICv2, which has nothing but its registers.
pub struct Gicv2;

impl Irqchip for Gicv2 {
    fn init(&self, gic: &Gic) {
        distributor(gic).initialise();
    }

    fn init_core(&self, gic: &Gic, cpu: usize) -> Result<(), &'static str> {
        let own = distributor(gic).own_target();
        self.reset_core(gic);
        // One that is alone may have no number.
        if own == core(cpu) || own == Targets(0) && cpu == 0 {
            Ok(())
        } else {
            Err("its number is not that of its interface to the interrupt controller")
        }
    }

    fn reset_core(&self, gic: &Gic) {
        let distributor = distributor(gic);
        interface(gic).close();
        distributor.initialise_private();
        distributor.forget_sgis();
        distributor.set_priority(gic.doorbell, 0);
        distributor.enable(gic.doorbell);
        interface(gic).open_above(DOORBELL_ONLY);
    }

    fn hand_over(&self, gic: &Gic) {
        interface(gic).close();
        distributor(gic).forget_sgi(gic.doorbell);
    }

    fn send_doorbell(&self, gic: &Gic, cpu: usize) {
        distributor(gic).send_sgi(gic.doorbell, core(cpu));
    }

    fn acknowledge_doorbell(&self, gic: &Gic) {
        let interface = interface(gic);
        loop {
            let acknowledged = interface.acknowledge();
            if is_special(intid(acknowledged)) {
                return;
            }
            interface.end(acknowledged);
        }
    }

    fn wait(&self, gic: &Gic, wait: fn()) {
        let interface = interface(gic);
        let own = interface.state();
        interface.restore(&own.opened());
        wait();
        interface.restore(&own);
    }

    fn route(&self, gic: &Gic, intid: u32, cpu: usize) {
        distributor(gic).route(intid, core(cpu));
    }

    fn set_pending(&self, gic: &Gic, intid: u32, pending: bool) {
        distributor(gic).set_pending(intid, pending);
    }

    fn access(
        &self,
        gic: &Gic,
        owned: &OwnedInterrupts,
        vcpu: usize,
        access: Access,
        carry: ApplyDecision<'_>,
    ) -> u64 {
        let Access {
            offset,
            width,
            operation,
            ..
        } = access;
        match decide::<{ limits::VCPUS }, _>(owned, vcpu, offset, width, operation) {
            Decision::Plain(decision) => carry(decision),
            Decision::ReadTargets { place, mask } => {
                let word = gic.distributor.read32(place.offset & !3) >> (place.offset % 4 * 8);
                u64::from(targets(owned, word & mask))
            }
        }
    }
}
