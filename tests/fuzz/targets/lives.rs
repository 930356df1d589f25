//! Life-cycle calls and descriptors with arbitrary registers and bytes.
#![cfg_attr(fuzzing, no_main)]

#[macro_use]
mod any;

use mortise_hypercall::Call;
use mortise_instance::{Descriptor, Error, RawDescriptor};
use mortise_lifecycle::{FIRST, Request};
use zerocopy::{FromZeros, IntoBytes};

const RAM: u64 = 0x4000_0000;

target!(|input: (u8, [u64; 7], Vec<u8>)| {
    let (function, [x1, x2, x3, x4, x5, x6, x7], bytes) = input;
    let x0 = u64::from(FIRST) + u64::from(function);
    if let Ok(Request::Load { target, source, .. }) =
        Request::parse(&Call::new([x0, x1, x2, x3, x4, x5, x6, x7]))
    {
        assert_eq!(target.size(), source.size());
    }
    // Nearly valid inputs, which random bytes rarely hit.
    let mut raw = RawDescriptor::new("job", 2 << 20, 0x1_2000, (RAM, 0), &[1]);
    for (at, byte) in raw.as_mut_bytes().iter_mut().zip(&bytes) {
        *at ^= byte;
    }
    if let Ok(vm) = parse(&raw) {
        assert!(vm.memory.holds(vm.entry) && !vm.cpus().is_empty());
        assert!((1..32).contains(&vm.name.as_str().len()));
    }
    let mut wild = RawDescriptor::new_zeroed();
    for (at, byte) in wild.as_mut_bytes().iter_mut().zip(&bytes) {
        *at = *byte;
    }
    let _any = parse(&wild);
});

fn parse(raw: &RawDescriptor) -> Result<Descriptor, Error> {
    Descriptor::parse(raw, RAM, || Ok(()))
}
