//! The virtual GIC as a whole, on a model of the hardware.
