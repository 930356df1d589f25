//! The interrupt controller, of whichever generation this machine has.

use hw_irqchip::{FIRST_SPI, Group, Trigger};
use hw_irqchip_gicv2 as gicv2;
use hw_irqchip_gicv3 as gicv3;

/// INTIDs below this one are software's own, the SGIs.
const FIRST_PPI: u32 = 16;

/// Which drivers an image has: what is off is not linked.
pub trait Drivers {
    /// Whether that of GICv2 is linked.
    fn gicv2() -> bool;
    /// Whether that of GICv3 is linked.
    fn gicv3() -> bool;
}

/// How urgent an interrupt is: 0 to [`Priority::HIGHEST`], higher is more urgent, as for threads.
///
/// Seven are what every GIC has that is shared with a more privileged side, and what Mortise leaves
/// to a direct partition: values from 0x80 to 0xe0, 0x10 apart (IHI 0069, 4.8).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Priority(u8);

impl Priority {
    /// The most urgent.
    pub const HIGHEST: Self = Self(6);
    /// What an interrupt has unless told otherwise.
    pub const DEFAULT: Self = Self(4);

    /// That priority; a number beyond the highest is the highest.
    #[must_use]
    pub const fn new(number: u8) -> Self {
        if number > Self::HIGHEST.0 {
            Self::HIGHEST
        } else {
            Self(number)
        }
    }

    /// Its number.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// What the controller calls it.
    const fn value(self) -> u8 {
        0xe0 - self.0 * 0x10
    }
}

/// A core as a receiver of interrupts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target(u64);

/// A controller as one core sees it.
#[derive(Clone, Copy, Debug)]
pub enum Controller {
    /// None yet: what is asked of it has no effect. First, so that it is zero.
    None,
    /// A GICv3, whose CPU interface is system registers.
    Gicv3 {
        /// The shared interrupts.
        distributor: gicv3::Distributor,
        /// This core's private ones.
        redistributor: gicv3::Redistributor,
    },
    /// A GICv2, whose CPU interface is memory.
    Gicv2 {
        /// All interrupts, the private ones as this core sees them.
        distributor: gicv2::Distributor,
        /// This core's end.
        interface: gicv2::CpuInterface,
    },
}

/// Does one thing with the halves of a GICv3, another with those of a GICv2, as linked; the default
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
    /// Brings the shared interrupts into their first state: the first core's work.
    pub fn initialise<D: Drivers>(&self) {
        by_generation!(self, D,
            gicv3(distributor, _) => distributor.initialise(),
            gicv2(distributor, _) => distributor.initialise(),
        );
    }

    /// Brings this core's private interrupts into their first state and opens its interface: each
    /// core's work.
    ///
    /// Ending an interrupt is one step and nothing is masked by priority: a direct partition under
    /// Mortise has no other way.
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

    /// This core as a receiver.
    pub fn own_target<D: Drivers>(&self) -> Target {
        Target(by_generation!(self, D,
            gicv3(_, redistributor) => redistributor.affinity(),
            gicv2(distributor, _) => distributor.own_target().0.into(),
        ))
    }

    /// Sends SGI `intid` to a core, who sees all that was stored before.
    pub fn send<D: Drivers>(&self, intid: u32, target: Target) {
        by_generation!(self, D,
            gicv3(_, _) => gicv3::cpu_interface::send_sgi(Group::One, intid, target.0),
            gicv2(distributor, _) => distributor.send_sgi(intid, gicv2::Targets(target.0 as u8)),
        );
    }

    /// Sets what is said of `intid`, and that it comes to this core.
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

    /// Lets `intid` through.
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

    /// Stops `intid`.
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

    /// Makes `intid` come as if its device had raised it; an SGI is sent to this core.
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

    /// The INTID in what was acknowledged.
    pub(crate) fn intid<D: Drivers>(&self, acknowledged: u32) -> u32 {
        match self {
            Self::Gicv2 { .. } if D::gicv2() => gicv2::intid(acknowledged),
            _ => acknowledged,
        }
    }

    /// Ends what was acknowledged.
    pub(crate) fn end<D: Drivers>(&self, value: u32) {
        by_generation!(self, D,
            gicv3(_, _) => gicv3::cpu_interface::end(Group::One, value),
            gicv2(_, interface) => interface.end(value),
        );
    }

    /// Where its CPU interface is in memory; zero if it is not.
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
