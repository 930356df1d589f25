//! The virtual GIC as a whole, on a model of the hardware.

mod delivery;
mod fast_path;
mod hardware;
mod hostile;
mod linux;
mod machine;
mod port;
mod pulse;
mod random;
mod registers;
mod steps;
