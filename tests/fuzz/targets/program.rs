//! Programs with arbitrary bytes: they are loaded or refused, and no page is lost.
#![cfg_attr(fuzzing, no_main)]
#![expect(unsafe_code, reason = "memory of the host as frames")]

#[macro_use]
mod any;

use tenon_address_space::{KernelPart, PAGE};
use tenon_frames::Frames;
use tenon_program::{Errno, Space, Strings, load, script};

/// Pages of the machine: enough for tables and the initial stack.
const PAGES: usize = 40;

parser!("program", |bytes| {
    // A file of the image's archive is there for good.
    let file: &'static [u8] = bytes.to_vec().leak();
    let ram = vec![[0u8; PAGE]; PAGES + 1];
    let start = (ram.as_ptr() as usize).next_multiple_of(PAGE);
    // SAFETY: nothing else uses the memory, which has its own address.
    let mut frames = unsafe { Frames::new(start..start + PAGES * PAGE) };
    let total = frames.available();
    // SAFETY: no processor walks these entries.
    let kernel = unsafe { KernelPart::new([0; 4]) };
    let mut space = Space::new(kernel, 1, &mut frames).expect("there are frames");
    let mut strings = Strings::new();
    strings.push(b"program", false).expect("there is room");
    let itself = |path: &str| match path {
        "" => Err(Errno::ENOENT),
        _ => Ok(file),
    };
    let loaded = load(
        &mut space,
        file,
        (&strings, "program"),
        &itself,
        &[0xff; 32],
        &mut frames,
    );
    if let Ok(start) = loaded {
        let mut word = [0; 8];
        let arguments = space.read(start.sp, &mut word, &mut frames);
        assert_eq!((arguments, u64::from_le_bytes(word)), (Ok(()), 1));
    }
    if let Some((interpreter, _)) = script(file) {
        assert!(!interpreter.is_empty());
    }
    space.release(&mut frames);
    assert_eq!(frames.available(), total, "pages are lost");
    drop(ram);
});
