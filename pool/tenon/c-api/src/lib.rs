//! The interface of Tenon beyond POSIX, for applications in C.
//!
//! # Purpose
//!
//! The headers in `include/tenon/` are for C what the libraries of the same names are for Rust:
//! `<tenon/server.h>` ([`tenon_thread::server`]), `<tenon/vlib.h>` ([`tenon_vlib`]) and `<tenon/vm.h>`
//! ([`tenon_vm`]). Each function returns 0, or -1 with the reason in `errno`. The calls of vLibs and of
//! VMs are features, which an image enables where it has the library behind them.
//!
//! # Guarantees
//!
//! Those of the libraries. Null pointers and invalid handles are `EINVAL`. No allocation.

#![no_std]
#![cfg_attr(not(target_os = "none"), allow(dead_code, reason = "C calls it"))]
#![cfg_attr(
    any(target_os = "none", feature = "vlib", feature = "vm"),
    expect(
        unsafe_code,
        reason = "the C interface: pointers from C, names that C links"
    )
)]

mod server;
#[cfg(feature = "vlib")]
mod vlib;
#[cfg(feature = "vm")]
mod vm;
