//! The virtual GIC as a whole, on a model of the hardware.

mod delivery;
mod hardware;
mod hostile;
mod linux;
mod machine;
mod port;
mod pulse;
mod random;
mod registers;
mod short;
mod steps;
