//! The decisions, register by register and against a hostile guest.
