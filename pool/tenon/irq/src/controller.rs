//! Interrupt controller interface over GICv2 and GICv3.

use hw_irqchip::{FIRST_SPI, Group, Trigger};
use hw_irqchip_gicv2 as gicv2;
use hw_irqchip_gicv3 as gicv3;

/// INTIDs below this one are SGIs.
const FIRST_PPI: u32 = 16;

/// The drivers linked into an image; an unselected one is not linked.
pub trait Drivers {
    /// Whether the GICv2 driver is linked.
    fn gicv2() -> bool;
    /// Whether the GICv3 driver is linked.
    fn gicv3() -> bool;
}

/// Priority of an interrupt: 0 to [`Priority::HIGHEST`], the higher the more urgent, as for
/// threads.
///
/// A GIC shared with a more privileged exception level has at least seven, and Mortise leaves as
/// many to a direct partition: values from 0x80 to 0xe0, 0x10 apart (IHI 0069, 4.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Priority(u8);

impl Priority {
    /// The highest priority.
    pub const HIGHEST: Self = Self(6);
    /// The default priority.
    pub const DEFAULT: Self = Self(4);

    /// The priority of a number; saturates at the highest.
    #[must_use]
    pub const fn new(number: u8) -> Self {
        if number > Self::HIGHEST.0 {
            Self::HIGHEST
        } else {
            Self(number)
        }
    }

    /// The number.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// The value of the GIC's priority register.
    const fn value(self) -> u8 {
        0xe0 - self.0 * 0x10
    }
}

/// A core as the target of interrupts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target(u64);

/// The controller as seen by one core.
#[derive(Clone, Copy, Debug)]
pub enum Controller {
    /// No controller yet: all operations are without effect. The first variant, so that it is zero.
    None,
    /// A GICv3, with system registers as its CPU interface.
    Gicv3 {
        /// The distributor.
        distributor: gicv3::Distributor,
        /// This core's redistributor.
        redistributor: gicv3::Redistributor,
    },
    /// A GICv2, with a memory-mapped CPU interface.
    Gicv2 {
        /// The distributor, with its banked registers for this core.
        distributor: gicv2::Distributor,
        /// This core's CPU interface.
        interface: gicv2::CpuInterface,
    },
}

/// Dispatches to the linked drivers: one expression for a GICv3, another for a GICv2; the default
/// without a controller.
macro_rules! by_generation {
    ($self:ident, $drivers:ident,
     gicv3($d3:pat, $r3:pat) => $three:expr,
     gicv2($d2:pat, $i2:pat) => $two:expr $(,)?) => {
        match $self {
            Self::Gicv3 {
                distributor: $d3,
                redistributor: $r3,
            } if $drivers::gicv3() => $three,
            Self::Gicv2 {
                distributor: $d2,
                interface: $i2,
            } if $drivers::gicv2() => $two,
            _ => Default::default(),
        }
    };
}

impl Controller {
    /// Initialises the distributor, on the first core.
    pub fn initialise<D: Drivers>(&self) {
        by_generation!(self, D,
            gicv3(distributor, _) => distributor.initialise(),
            gicv2(distributor, _) => distributor.initialise(),
        );
    }

    /// Initialises this core's SGIs and PPIs and its CPU interface, on each core.
    ///
    /// EOImode is 0, and the priority mask admits all priorities.
    ///
    /// A direct partition under Mortise has no other mode.
    pub fn initialise_core<D: Drivers>(&self) {
        by_generation!(self, D,
            gicv3(_, redistributor) => {
                redistributor.initialise();
                gicv3::cpu_interface::initialise(gicv3::cpu_interface::EndMode::Deactivate);
            },
            gicv2(distributor, interface) => {
                distributor.initialise_private();
                interface.initialise();
            },
        );
    }

    /// This core as a target.
    pub fn own_target<D: Drivers>(&self) -> Target {
        Target(by_generation!(self, D,
            gicv3(_, redistributor) => redistributor.affinity(),
            gicv2(distributor, _) => distributor.own_target().0.into(),
        ))
    }

    /// Sends SGI `intid` to a core, which observes all earlier stores.
    pub fn send<D: Drivers>(&self, intid: u32, target: Target) {
        by_generation!(self, D,
            gicv3(_, _) => gicv3::cpu_interface::send_sgi(Group::One, intid, target.0),
            gicv2(distributor, _) => distributor.send_sgi(intid, gicv2::Targets(target.0 as u8)),
        );
    }

    /// Configures trigger, priority and target of `intid`, the calling core.
    pub(crate) fn configure<D: Drivers>(&self, intid: u32, trigger: Trigger, priority: Priority) {
        let priority = priority.value();
        by_generation!(self, D,
            gicv3(distributor, redistributor) => if intid < FIRST_SPI {
                redistributor.set_trigger(intid, trigger);
                redistributor.set_priority(intid, priority);
            } else {
                distributor.set_trigger(intid, trigger);
                distributor.set_priority(intid, priority);
                distributor.route(intid, redistributor.affinity());
            },
            gicv2(distributor, _) => {
                distributor.set_trigger(intid, trigger);
                distributor.set_priority(intid, priority);
                distributor.route(intid, distributor.own_target());
            },
        );
    }

    /// Enables `intid`.
    pub(crate) fn enable<D: Drivers>(&self, intid: u32) {
        by_generation!(self, D,
            gicv3(distributor, redistributor) => if intid < FIRST_SPI {
                redistributor.enable(intid);
            } else {
                distributor.enable(intid);
            },
            gicv2(distributor, _) => distributor.enable(intid),
        );
    }

    /// Disables `intid`.
    pub(crate) fn disable<D: Drivers>(&self, intid: u32) {
        by_generation!(self, D,
            gicv3(distributor, redistributor) => if intid < FIRST_SPI {
                redistributor.disable(intid);
            } else {
                distributor.disable(intid);
            },
            gicv2(distributor, _) => distributor.disable(intid),
        );
    }

    /// Pends `intid`; an SGI is sent to this core.
    pub(crate) fn raise<D: Drivers>(&self, intid: u32) {
        by_generation!(self, D,
            gicv3(distributor, redistributor) => if intid < FIRST_PPI {
                let own = redistributor.affinity();
                gicv3::cpu_interface::send_sgi(Group::One, intid, own);
            } else if intid < FIRST_SPI {
                redistributor.set_pending(intid, true);
            } else {
                distributor.set_pending(intid, true);
            },
            gicv2(distributor, _) => if intid < FIRST_PPI {
                distributor.send_sgi_to_self(intid);
            } else {
                distributor.set_pending(intid, true);
            },
        );
    }

    /// The INTID in an acknowledged value.
    pub(crate) fn intid<D: Drivers>(&self, acknowledged: u32) -> u32 {
        match self {
            Self::Gicv2 { .. } if D::gicv2() => gicv2::intid(acknowledged),
            _ => acknowledged,
        }
    }

    /// Ends an acknowledged interrupt.
    pub(crate) fn end<D: Drivers>(&self, value: u32) {
        by_generation!(self, D,
            gicv3(_, _) => gicv3::cpu_interface::end(Group::One, value),
            gicv2(_, interface) => interface.end(value),
        );
    }

    /// Address of a memory-mapped CPU interface; zero if there is none.
    pub(crate) fn interface<D: Drivers>(&self) -> usize {
        by_generation!(self, D,
            gicv3(_, _) => 0,
            gicv2(_, interface) => interface.base(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Priority;

    #[test]
    fn priorities_are_what_every_controller_has() {
        let values: [u8; 8] = core::array::from_fn(|number| Priority::new(number as u8).value());
        assert_eq!(values, [0xe0, 0xd0, 0xc0, 0xb0, 0xa0, 0x90, 0x80, 0x80]);
        assert_eq!(Priority::DEFAULT.value(), hw_irqchip::DEFAULT_PRIORITY);
    }
}
