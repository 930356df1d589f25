//! Programs with arbitrary bytes: they are loaded or refused, and no page is lost.
#![cfg_attr(fuzzing, no_main)]

#[macro_use]
mod any;

use tenon_address_space::KernelPart;
use tenon_frames::Frames;
use tenon_program::{Errno, Space, Strings, load, script};

/// Pages of the machine: enough for tables and the initial stack.
const PAGES: usize = 48;

parser!("program", |bytes| {
    // A file of the image's archive is there for good.
    let file: &'static [u8] = bytes.to_vec().leak();
    let mut frames = Frames::of_host(PAGES);
    let total = frames.available();
    let object = frames.create_object(file).expect("there are frames");
    let mut space = Space::new(KernelPart::EMPTY, 1, &mut frames).expect("there are frames");
    let mut strings = Strings::new();
    strings.push(b"program", false).expect("there is room");
    let mut itself = |path: &str, frames: &mut Frames| match path {
        "" => Err(Errno::ENOENT),
        _ => frames.create_object(file).ok_or(Errno::ENOMEM),
    };
    let loaded = load(
        &mut space,
        &object,
        (&strings, "program"),
        &mut itself,
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
    frames.release_object(object);
    space.release(&mut frames);
    assert_eq!(frames.available(), total, "pages are lost");
});
