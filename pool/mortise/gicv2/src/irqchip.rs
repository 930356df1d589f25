//! GICv2 driver behind the interrupt controller interface of partitions.

use crate::{Decision, decide, targets};
use core_manifest::limits;
use hw_irqchip_gicv2::{CpuInterface, Distributor, Targets, intid, is_special};
use mortise_gicd::Access;
use mortise_partition::{ApplyDecision, Gic, Irqchip, OwnedInterrupts};

/// The instance that the image registers.
pub static GICV2: Gicv2 = Gicv2;

/// Priority mask of the CPU interface of an idle core, which passes the doorbell only: its priority
/// is zero, and those of guests are clamped to [`mortise_gicd::HIGHEST_GUEST_PRIORITY`].
const DOORBELL_ONLY: u8 = 0x10;
const _: () = assert!(DOORBELL_ONLY <= mortise_gicd::HIGHEST_GUEST_PRIORITY);

const fn distributor(gic: &Gic) -> Distributor {
    Distributor::new(gic.distributor)
}

const fn interface(gic: &Gic) -> CpuInterface {
    CpuInterface::new(gic.interface)
}

/// The core of this number, which is also the number of its CPU interface.
const fn core(cpu: usize) -> Targets {
    Targets(1 << (cpu & 7))
}

/// A GICv2. It has no state besides its registers.
pub struct Gicv2;

impl Irqchip for Gicv2 {
    fn init(&self, gic: &Gic) {
        distributor(gic).initialise();
    }

    fn init_core(&self, gic: &Gic, cpu: usize) -> Result<(), &'static str> {
        let own = distributor(gic).own_target();
        self.reset_core(gic);
        // The only core of a uniprocessor may have no number (IHI 0048, 4.3.12).
        if own == core(cpu) || own == Targets(0) && cpu == 0 {
            Ok(())
        } else {
            Err("its number is not that of its interface to the interrupt controller")
        }
    }

    fn reset_core(&self, gic: &Gic) {
        let distributor = distributor(gic);
        interface(gic).disable();
        distributor.initialise_private();
        distributor.clear_pending_sgis();
        distributor.set_priority(gic.doorbell, 0);
        distributor.enable(gic.doorbell);
        interface(gic).enable_above(DOORBELL_ONLY);
    }

    fn hand_over(&self, gic: &Gic) {
        interface(gic).disable();
        distributor(gic).clear_pending_sgi(gic.doorbell);
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
        interface.restore(&own.enabled_for_all());
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
        apply: ApplyDecision<'_>,
    ) -> u64 {
        let Access {
            offset,
            width,
            operation,
            ..
        } = access;
        match decide::<{ limits::VCPUS }, _>(owned, vcpu, offset, width, operation) {
            Decision::Common(decision) => apply(decision),
            Decision::ReadTargets { at, mask } => {
                let word = gic.distributor.read32(at.offset & !3) >> (at.offset % 4 * 8);
                u64::from(targets(owned, word & mask))
            }
        }
    }
}
