//! Tests of [`AddressSpace`] against a model of pages.

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::ops::Range;
use tenon_frames::Frames;

const LIMIT: usize = 12;
const BASE: usize = 0x1_0000_0000;
static FILE: [u8; 5 * PAGE + 77] = {
    let mut bytes = [0; 5 * PAGE + 77];
    let mut index = 0;
    while index < bytes.len() {
        bytes[index] = (index / 64 % 251) as u8 + 1;
        index += 1;
    }
    bytes
};

type Space = AddressSpace<LIMIT>;

/// Memory of the frames, and the kernel's table of the lowest GiB.
struct Machine {
    _ram: Vec<[u8; PAGE]>,
    frames: Frames,
    total: usize,
}

impl Machine {
    fn new(pages: usize) -> Self {
        let ram = vec![[0xa5; PAGE]; pages + 1];
        let start = (ram.as_ptr() as usize).next_multiple_of(PAGE);
        // SAFETY: nothing else uses the memory, which has its own address.
        let frames = unsafe { Frames::new(start..start + pages * PAGE) };
        let total = frames.available();
        Self {
            _ram: ram,
            frames,
            total,
        }
    }
}

fn kernel() -> KernelPart {
    // SAFETY: no processor walks these.
    unsafe { KernelPart::new([0, 1 << 30 | 1, 0, 0]) }
}

const NONE: Permissions = Permissions {
    read: false,
    write: false,
    execute: false,
};
const READ: Permissions = Permissions { read: true, ..NONE };
const DATA: Permissions = Permissions {
    write: true,
    ..READ
};
const CODE: Permissions = Permissions {
    execute: true,
    ..READ
};

fn pages(pages: Range<usize>) -> Range<usize> {
    BASE + pages.start * PAGE..BASE + pages.end * PAGE
}

/// A private mapping of an object.
fn private(object: &Object, page: u32) -> Backing<'_> {
    Backing::Object(object, page, Sharing::Private)
}

fn shared(object: &Object, page: u32) -> Backing<'_> {
    Backing::Object(object, page, Sharing::Shared)
}

#[test]
fn a_range_of_the_kernel_or_of_no_page_is_refused() {
    let mut machine = Machine::new(64);
    let mut space = Space::new(kernel(), 1, &mut machine.frames).unwrap();
    let frames = &mut machine.frames;
    let mut map =
        |space: &mut Space, start, end| space.map(&(start..end), DATA, &Backing::Zero, frames);
    for (start, end) in [
        (0, PAGE),
        (0xf000, 0x1_1000),
        (0x4000_0000, 0x4000_1000),
        (0x3fff_f000, 0x4000_1000),
        (0xffff_f000, BASE + PAGE),
        (BASE + 1, BASE + PAGE),
        (BASE, BASE),
        (BASE + PAGE, BASE),
        (0x7f_ffff_f000, 0x80_0000_1000),
        (usize::MAX & !0xfff, 0),
    ] {
        assert_eq!(map(&mut space, start, end), Err(Error::Range), "{start:#x}");
    }
    map(&mut space, 0x1_0000, 0x1_1000).unwrap();
    map(&mut space, 0x7f_ffff_f000, 0x80_0000_0000).unwrap();
    let both = Permissions {
        execute: true,
        ..DATA
    };
    let frames = &mut machine.frames;
    assert_eq!(
        space.map(&pages(0..1), both, &Backing::Zero, frames),
        Err(Error::WritableCode)
    );
    space.release(&mut machine.frames);
    assert_eq!(machine.frames.available(), machine.total);
}

#[test]
fn the_kernels_lowest_mapping_ends_the_fixed_part() {
    #[repr(align(4096))]
    struct Table([u64; 512]);
    let mut low = Box::new(Table([0; 512]));
    low.0[64] = 0x0800_0000 | 1;
    let entry = std::ptr::from_ref(&low.0) as u64 | 3;
    // SAFETY: the table stays until the end of the test, and no processor walks it.
    let kernel = unsafe { KernelPart::new([entry, 0, 0, 0]) };
    let mut machine = Machine::new(64);
    let mut space = Space::new(kernel, 1, &mut machine.frames).unwrap();
    assert_eq!(space.fixed_part(), 0x1_0000..0x800_0000);
    let frames = &mut machine.frames;
    space
        .map(&(0x40_0000..0x40_1000), DATA, &Backing::Zero, frames)
        .unwrap();
    space.write(0x40_0ffe, &[1, 2], frames).unwrap();
    space.release(&mut machine.frames);
    assert_eq!(machine.frames.available(), machine.total);
    assert_eq!(low.0[64], 0x0800_0000 | 1);
}

#[test]
fn a_file_is_followed_by_zeros() {
    let mut machine = Machine::new(64);
    let frames = &mut machine.frames;
    let mut space = Space::new(kernel(), 1, frames).unwrap();
    let file = frames.create_object(&FILE).unwrap();
    let backing = private(&file, 4);
    space.map(&pages(0..4), CODE, &backing, frames).unwrap();
    frames.release_object(file);
    let mut read = vec![9; 2 * PAGE - 10];
    space.read(BASE + 10, &mut read, frames).unwrap();
    assert_eq!(read[..PAGE + 67], FILE[4 * PAGE + 10..]);
    assert!(read[PAGE + 67..].iter().all(|byte| *byte == 0));
    assert_eq!(space.write(BASE, b"x", frames), Err(Denied::Permission));
    assert_eq!(
        space.read(BASE + 2 * PAGE, &mut [0; 2], frames),
        Err(Denied::BeyondEnd)
    );
    assert_eq!(
        space.read(BASE + 4 * PAGE, &mut [0; 2], frames),
        Err(Denied::NoArea)
    );
    assert_eq!(
        space.read(usize::MAX - 1, &mut [0; 4], frames),
        Err(Denied::NoArea)
    );
    space.release(frames);
    assert_eq!(machine.frames.available(), machine.total);
}

#[test]
fn a_word_needs_the_access_of_its_use() {
    let mut machine = Machine::new(64);
    let frames = &mut machine.frames;
    let mut space = Space::new(kernel(), 1, frames).unwrap();
    let file = frames.create_object(&FILE).unwrap();
    space
        .map(&pages(0..1), READ, &private(&file, 1), frames)
        .unwrap();
    frames.release_object(file);
    let word = [0, 1, 2, 3].map(|byte| FILE[PAGE + 64 + byte]);
    let read = space.load_word(BASE + 64, frames);
    assert_eq!(read, Ok(u32::from_le_bytes(word)));
    let changed = space.with_word(BASE + 64, frames, |_| ());
    assert_eq!(changed, Err(Denied::Permission));
    for address in [BASE + 2, BASE + PAGE, usize::MAX - 3] {
        assert_eq!(space.load_word(address, frames), Err(Denied::NoArea));
    }
    space.release(frames);
    assert_eq!(machine.frames.available(), machine.total);
}

#[test]
fn a_string_ends_at_its_nul_or_at_the_limit() {
    let mut machine = Machine::new(64);
    let frames = &mut machine.frames;
    let mut space = Space::new(kernel(), 1, frames).unwrap();
    space
        .map(&pages(0..2), DATA, &Backing::Zero, frames)
        .unwrap();
    space.write(BASE + PAGE - 3, b"abcdef\0gh", frames).unwrap();
    let mut text = [0; 16];
    let at = BASE + PAGE - 3;
    assert_eq!(space.read_string(at, &mut text, frames), Ok(6));
    assert_eq!(&text[..6], b"abcdef");
    assert_eq!(space.read_string(at, &mut text[..4], frames), Ok(4));
    // Bytes beside zero in all respects, at each place of a word.
    for length in 0..40 {
        let bytes: Vec<u8> = (0..length).map(|at| [0x80, 1, 0xff][at % 3]).collect();
        space.write(BASE + length, &bytes, frames).unwrap();
        space.write(BASE + 2 * length, &[0, 1], frames).unwrap();
        let mut text = [0; 48];
        assert_eq!(
            space.read_string(BASE + length, &mut text, frames),
            Ok(length)
        );
        assert_eq!(&text[..length], bytes);
    }
    let end = BASE + 2 * PAGE - 2;
    space.write(end, b"zz", frames).unwrap();
    assert_eq!(
        space.read_string(end, &mut text, frames),
        Err(Denied::NoArea)
    );
}

#[test]
fn memory_that_ends_is_an_error_and_comes_back() {
    /// Frames of a space: the areas, four tables, eight pages. One more is the table of frames.
    const USED: usize = 1 + 4 + 8;
    for size in 0..40 {
        let mut machine = Machine::new(size);
        let frames = &mut machine.frames;
        let Ok(mut space) = Space::new(kernel(), 1, frames) else {
            assert_eq!(machine.frames.available(), machine.total);
            continue;
        };
        if space
            .map(&pages(0..8), DATA, &Backing::Zero, frames)
            .is_err()
        {
            space.release(frames);
            assert_eq!(machine.frames.available(), machine.total);
            continue;
        }
        let written = space.write(BASE, &[7; 8 * PAGE], frames);
        let child = space.fork(kernel(), 2, frames);
        if let Ok(mut child) = child {
            let copied = child.write(BASE, &[8; 8 * PAGE], frames);
            let mut first = [0];
            space.read(BASE, &mut first, frames).unwrap();
            assert_eq!(first, [7]);
            assert_eq!(copied.is_ok(), size > 2 * USED);
            child.release(frames);
        }
        assert_eq!(written.is_ok(), size > USED);
        space.unmap(&(BASE..BASE + 8 * PAGE), frames).unwrap();
        // The areas, two tables of the space, and one of level 2.
        assert!(machine.total - machine.frames.available() <= 4);
        space.release(&mut machine.frames);
        assert_eq!(machine.frames.available(), machine.total);
    }
}

#[test]
fn a_copy_has_the_pages_of_an_object_by_its_accesses() {
    let mut machine = Machine::new(64);
    let frames = &mut machine.frames;
    let mut space = Space::new(kernel(), 1, frames).unwrap();
    let object = frames.create_object(&FILE).unwrap();
    for at in [0..3, 10..13] {
        let backing = private(&object, 0);
        space.map(&pages(at), DATA, &backing, frames).unwrap();
    }
    let (first, second) = (pages(0..3), pages(10..13));
    let mut read = [0; 3];
    for at in [0, PAGE] {
        space.read(first.start + at, &mut read, frames).unwrap();
        space.read(second.start + at, &mut read, frames).unwrap();
    }
    space.write(second.start, b"own", frames).unwrap();
    // What was stored stays where permissions change and areas are divided.
    space.protect(&pages(10..11), READ, frames).unwrap();
    let mut child = space.fork(kernel(), 2, frames).unwrap();
    assert!(space.has_pages(&first) && !child.has_pages(&first));
    assert!(child.has_pages(&pages(10..11)));
    child.read(second.start, &mut read, frames).unwrap();
    assert_eq!(&read, b"own");
    child.read(first.start, &mut read, frames).unwrap();
    assert_eq!(read, FILE[..3]);
    // Areas that differ in this alone are one again.
    space.protect(&pages(10..11), DATA, frames).unwrap();
    assert_eq!(space.areas().count(), 2);
    child.release(frames);
    space.release(frames);
    frames.release_object(object);
    assert_eq!(machine.frames.available(), machine.total);
}

#[test]
fn shared_pages_are_those_of_the_object() {
    let mut machine = Machine::new(64);
    let frames = &mut machine.frames;
    let mut space = Space::new(kernel(), 1, frames).unwrap();
    let object = frames.create_object(&FILE).unwrap();
    let map = |space: &mut Space, at, permissions, backing: &Backing<'_>, frames: &mut Frames| {
        space.map(&pages(at), permissions, backing, frames)
    };
    map(&mut space, 0..3, DATA, &shared(&object, 0), frames).unwrap();
    map(&mut space, 10..13, DATA, &private(&object, 0), frames).unwrap();
    let mut child = space.fork(kernel(), 2, frames).unwrap();
    child.write(BASE + 5, b"child", frames).unwrap();
    let mut read = [0; 5];
    space.read(BASE + 5, &mut read, frames).unwrap();
    assert_eq!(&read, b"child");
    object.read(5, &mut read);
    assert_eq!(&read, b"child");
    // A private mapping sees it until it has a copy.
    space.read(BASE + 10 * PAGE + 5, &mut read, frames).unwrap();
    assert_eq!(&read, b"child");
    space.write(BASE + 10 * PAGE, b"own", frames).unwrap();
    object.read(0, &mut read);
    assert_eq!(read, FILE[..5]);
    assert_eq!(frames.write_object(&object, 6, b"HILD"), 4);
    space.read(BASE + 5, &mut read, frames).unwrap();
    assert_eq!(&read, b"cHILD");
    // What the object loses is gone for both.
    assert!(frames.resize_object(&object, PAGE as u64));
    for space in [&mut space, &mut child] {
        space.write(BASE, b"x", frames).unwrap();
        space.discard_object(object.key(), 1, frames);
        let at = BASE + PAGE;
        assert_eq!(space.read(at, &mut read, frames), Err(Denied::BeyondEnd));
        assert_eq!(space.write(at, b"x", frames), Err(Denied::BeyondEnd));
    }
    child.release(frames);
    space.release(frames);
    frames.release_object(object);
    assert_eq!(machine.frames.available(), machine.total);
}

#[test]
fn no_mapping_writes_what_another_one_executes() {
    let mut machine = Machine::new(64);
    let frames = &mut machine.frames;
    let mut one = Space::new(kernel(), 1, frames).unwrap();
    let mut two = Space::new(kernel(), 2, frames).unwrap();
    let object = frames.create_object(&FILE).unwrap();
    let (first, second) = (pages(0..2), pages(4..6));
    let refused = Err(Error::WritableCode);
    one.map(&first, DATA, &shared(&object, 0), frames).unwrap();
    assert_eq!(two.map(&first, CODE, &shared(&object, 0), frames), refused);
    assert_eq!(two.map(&first, CODE, &private(&object, 4), frames), refused);
    assert_eq!(
        one.map_over(&second, CODE, &private(&object, 0), frames),
        refused
    );
    two.map(&first, READ, &shared(&object, 0), frames).unwrap();
    assert_eq!(two.protect(&first, CODE, frames), refused);
    // Once none is writable, one can be executable, and none becomes writable again.
    one.protect(&first, READ, frames).unwrap();
    two.protect(&(first.start..first.start + PAGE), CODE, frames)
        .unwrap();
    assert_eq!(one.protect(&first, DATA, frames), refused);
    assert_eq!(two.protect(&first, DATA, frames), refused);
    assert_eq!(one.map(&second, DATA, &shared(&object, 0), frames), refused);
    // A private mapping writes its own copies.
    one.map(&second, DATA, &private(&object, 0), frames)
        .unwrap();
    let child = two.fork(kernel(), 3, frames).unwrap();
    two.unmap(&first, frames).unwrap();
    assert_eq!(one.protect(&first, DATA, frames), refused);
    child.release(frames);
    one.protect(&first, DATA, frames).unwrap();
    // A file that was opened for reading.
    let read_only = Backing::Object(&object, 0, Sharing::SharedReadOnly);
    two.map(&first, READ, &read_only, frames).unwrap();
    assert_eq!(two.protect(&first, DATA, frames), refused);
    one.release(frames);
    two.release(frames);
    frames.release_object(object);
    assert_eq!(machine.frames.available(), machine.total);
}

#[test]
fn a_mapping_that_cannot_move_stays() {
    for size in 18..40 {
        let mut machine = Machine::new(size);
        let frames = &mut machine.frames;
        let mut space = Space::new(kernel(), 1, frames).unwrap();
        space
            .map(&pages(0..4), DATA, &Backing::Zero, frames)
            .unwrap();
        if space.write(BASE, &[5; 4 * PAGE], frames).is_ok() {
            while frames.available() > size % 4 {
                let _ = frames.allocate().unwrap().into_address();
            }
            // Tables of another GiB are needed.
            let to = BASE + (1 << 30)..BASE + (1 << 30) + 6 * PAGE;
            let moved = space.remap(&pages(0..4), &to, false, frames);
            let at = if moved.is_ok() { to.start } else { BASE };
            let mut bytes = vec![0; 4 * PAGE];
            space.read(at, &mut bytes, frames).unwrap();
            assert!(bytes.iter().all(|byte| *byte == 5));
            assert_eq!(space.areas().count(), 1);
            assert_eq!(moved.is_ok(), size % 4 >= 2);
        }
    }
}

/// Pages of the model: permissions, and a byte of each.
#[derive(Clone, Default)]
struct Model(BTreeMap<usize, (Permissions, u8)>);

#[derive(Clone, Debug)]
enum Step {
    Map(Range<usize>, bool, bool),
    Unmap(Range<usize>),
    Protect(Range<usize>, usize),
    Write(usize, u8),
    Remap(Range<usize>, Range<usize>, bool),
    Fork,
    Swap,
}

const CHOICE: [Permissions; 4] = [NONE, READ, DATA, CODE];
/// Pages of the test, on both sides of a boundary of 2 MiB.
const PAGES: usize = 24;

fn step() -> impl Strategy<Value = Step> {
    let range = || (0..PAGES, 1..8usize).prop_map(|(start, n)| start..(start + n).min(PAGES));
    prop_oneof![
        3 => (range(), any::<bool>(), any::<bool>()).prop_map(|(r, w, f)| Step::Map(r, w, f)),
        2 => range().prop_map(Step::Unmap),
        2 => (range(), 0..4usize).prop_map(|(r, p)| Step::Protect(r, p)),
        4 => (0..PAGES, 1..255u8).prop_map(|(p, b)| Step::Write(p, b)),
        2 => (range(), range(), any::<bool>()).prop_map(|(r, t, f)| Step::Remap(r, t, f)),
        1 => Just(Step::Fork),
        1 => Just(Step::Swap),
    ]
}

/// The pages lie around this address.
const AT: usize = BASE + (1 << 21) - PAGES / 2 * PAGE;

fn at(pages: &Range<usize>) -> Range<usize> {
    AT + pages.start * PAGE..AT + pages.end * PAGE
}

/// The byte of a page behind the end of the file.
const END: u8 = 255;

fn file_byte(page: usize) -> u8 {
    FILE.get(page * PAGE).copied().unwrap_or(END)
}

proptest! {
    #[test]
    fn each_space_has_its_own_pages(steps in prop::collection::vec(step(), 1..60)) {
        let mut machine = Machine::new(256);
        let frames = &mut machine.frames;
        let object = frames.create_object(&FILE).unwrap();
        let mut one = (Space::new(kernel(), 1, frames).unwrap(), Model::default());
        let mut two = (Space::new(kernel(), 2, frames).unwrap(), Model::default());
        for step in steps {
            let (space, model) = &mut one;
            match step {
                Step::Map(pages, writable, file) => {
                    let range = at(&pages);
                    let permissions = if writable { DATA } else { READ };
                    let backing = if file { private(&object, 0) } else { Backing::Zero };
                    let free = pages.clone().all(|page| !model.0.contains_key(&page));
                    match space.map(&range, permissions, &backing, frames) {
                        Ok(()) => {
                            prop_assert!(free);
                            for page in pages.clone() {
                                let byte = if file { file_byte(page - pages.start) } else { 0 };
                                model.0.insert(page, (permissions, byte));
                            }
                        }
                        Err(Error::Occupied) => prop_assert!(!free),
                        Err(error) => {
                            prop_assert_eq!(error, Error::NoMemory);
                            prop_assert_eq!(space.areas().iter().count(), LIMIT);
                        }
                    }
                }
                Step::Unmap(pages) => match space.unmap(&at(&pages), frames) {
                    Ok(()) => model.0.retain(|page, _| !pages.contains(page)),
                    Err(error) => {
                        prop_assert_eq!(error, Error::NoMemory);
                        prop_assert!(space.areas().iter().count() + 2 > LIMIT);
                    }
                },
                Step::Protect(pages, choice) => {
                    let mapped = pages.clone().all(|page| model.0.contains_key(&page));
                    match space.protect(&at(&pages), CHOICE[choice], frames) {
                        Ok(()) => {
                            prop_assert!(mapped);
                            for page in pages {
                                model.0.get_mut(&page).unwrap().0 = CHOICE[choice];
                            }
                        }
                        Err(Error::Occupied) => prop_assert!(!mapped),
                        Err(error) => {
                            prop_assert_eq!(error, Error::NoMemory);
                            prop_assert!(space.areas().iter().count() + 2 > LIMIT);
                        }
                    }
                }
                Step::Write(page, byte) => {
                    let expected = match model.0.get_mut(&page) {
                        None => Err(Denied::NoArea),
                        Some((permissions, _)) if !permissions.write => Err(Denied::Permission),
                        Some((_, END)) => Err(Denied::BeyondEnd),
                        Some((_, value)) => { *value = byte; Ok(()) }
                    };
                    prop_assert_eq!(space.write(AT + page * PAGE, &[byte], frames), expected);
                }
                Step::Remap(from, to, replaces) => {
                    let source = at(&from);
                    let area = space.areas().find(source.start).copied();
                    let one = area.is_some_and(|area| source.end <= area.end);
                    let free = to.clone().all(|page| !model.0.contains_key(&page));
                    let apart = from.end <= to.start || to.end <= from.start;
                    match space.remap(&source, &at(&to), replaces, frames) {
                        Ok(()) => {
                            prop_assert!(one && apart && (free || replaces));
                            let area = area.unwrap();
                            let kept = from.len().min(to.len());
                            model.0.retain(|page, _| !to.contains(page));
                            for (index, page) in to.enumerate() {
                                let moved = model.0.get(&(from.start + index)).copied();
                                let first = area.object(source.start).map(|(_, first)| first);
                                let byte = first.map_or(0, |f| file_byte(f as usize + index));
                                let new = (area.permissions, byte);
                                let value = moved.filter(|_| index < kept).unwrap_or(new);
                                model.0.insert(page, value);
                            }
                            model.0.retain(|page, _| !from.contains(page));
                        }
                        Err(Error::Range) => prop_assert!(!apart),
                        Err(Error::Occupied) => prop_assert!(!one || !free && !replaces),
                        Err(error) => {
                            prop_assert_eq!(error, Error::NoMemory);
                            prop_assert!(space.areas().count() + 5 > LIMIT);
                        }
                    }
                }
                Step::Fork => {
                    let child = space.fork(kernel(), 3, frames).unwrap();
                    let model = model.clone();
                    std::mem::replace(&mut two, (child, model)).0.release(frames);
                }
                Step::Swap => std::mem::swap(&mut one, &mut two),
            }
            for (space, model) in [&mut one, &mut two] {
                let mut last = 0;
                for area in space.areas().iter() {
                    prop_assert!(last <= area.start && area.start < area.end);
                    last = area.end;
                }
                for page in 0..PAGES {
                    let mut byte = [0];
                    let expected = match model.0.get(&page) {
                        None => Err(Denied::NoArea),
                        Some((permissions, _)) if *permissions == NONE => Err(Denied::Permission),
                        Some((_, END)) => Err(Denied::BeyondEnd),
                        Some((_, value)) => Ok(*value),
                    };
                    let read = space.read(AT + page * PAGE, &mut byte, frames);
                    prop_assert_eq!(read.map(|()| byte[0]), expected);
                }
            }
        }
        one.0.release(frames);
        two.0.release(frames);
        frames.release_object(object);
        prop_assert_eq!(machine.frames.available(), machine.total);
    }

    #[test]
    fn a_free_range_is_the_highest(
        taken in prop::collection::vec((0..60usize, 1..9usize), 0..10),
        size in 1..12usize,
        below in 0..64usize,
    ) {
        let mut frames = Frames::of_host(4);
        let mut areas = Areas::<16>::new();
        let mut model = [false; 64];
        for (start, pages) in taken {
            let taken = start..(start + pages).min(64);
            let area = Area::new(&self::pages(taken.clone()), DATA, &Backing::Zero);
            if areas.insert(area, &mut frames).is_ok() {
                model[taken].fill(true);
            }
        }
        let expected = (0..(below + 1).saturating_sub(size)).rev()
            .find(|start| model[*start..start + size].iter().all(|taken| !taken));
        let found = areas.find_free(size * PAGE, &(BASE..BASE + below * PAGE));
        prop_assert_eq!(found, expected.map(|page| BASE + page * PAGE));
    }
}
