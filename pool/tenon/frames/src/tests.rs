//! Tests of [`Frames`](crate::Frames) against a model of references.

use super::*;
use core::ops::Range;
use proptest::prelude::*;

/// Memory that is freed after the test.
struct Ram(Vec<[u8; PAGE]>);

impl Ram {
    fn new(pages: usize) -> Self {
        Self(vec![[0xa5; PAGE]; pages + 1])
    }

    fn range(&self) -> Range<usize> {
        let start = (self.0.as_ptr() as usize).next_multiple_of(PAGE);
        start..start + (self.0.len() - 1) * PAGE
    }

    fn frames(&self) -> Frames {
        // SAFETY: nothing else uses the memory, which has its own address.
        unsafe { Frames::new(self.range()) }
    }
}

#[test]
fn a_range_without_room_has_no_frame() {
    for pages in [0, 1] {
        let ram = Ram::new(pages);
        let mut frames = ram.frames();
        assert_eq!((frames.available(), frames.allocate()), (0, None));
    }
    // SAFETY: an empty range is not used.
    let mut frames = unsafe { Frames::new(0x1001..0x1fff) };
    assert_eq!(frames.allocate(), None);
}

#[test]
fn frames_are_within_the_range_and_apart_from_the_table() {
    let ram = Ram::new(1100);
    let mut frames = ram.frames();
    // 1,098 frames need two pages of words.
    assert_eq!(frames.available(), 1098);
    let all: Vec<_> = std::iter::from_fn(|| frames.allocate()).collect();
    let first = ram.range().start + 2 * PAGE;
    for (index, frame) in all.iter().enumerate() {
        assert_eq!(frame.address(), first + index * PAGE);
    }
    assert_eq!(all.len(), 1098);
}

#[test]
fn what_exceeds_a_frame_is_not_copied() {
    let ram = Ram::new(4);
    let mut frames = ram.frames();
    let (one, two) = (frames.allocate().unwrap(), frames.allocate().unwrap());
    one.write(PAGE - 2, b"abcd");
    one.write(PAGE + 9, b"x");
    let mut read = *b"....";
    one.read(PAGE - 2, &mut read);
    assert_eq!(&read, b"ab..");
    two.read(0, &mut read);
    assert_eq!(&read, &[0; 4]);
    let copy = frames.allocate_copy(&one).unwrap();
    copy.read(PAGE - 2, &mut read[..2]);
    assert_eq!(&read[..2], b"ab");
}

#[derive(Clone, Debug)]
enum Step {
    Allocate,
    Share(usize),
    Release(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        Just(Step::Allocate),
        (0..64usize).prop_map(Step::Share),
        (0..64usize).prop_map(Step::Release),
    ];
    prop::collection::vec(step, 1..200)
}

proptest! {
    #[test]
    fn a_frame_is_free_when_its_last_reference_ends(steps in steps()) {
        let ram = Ram::new(17);
        let mut frames = ram.frames();
        let mut references: Vec<Frame> = Vec::new();
        for step in steps {
            match step {
                Step::Allocate => {
                    let before = frames.available();
                    match frames.allocate() {
                        None => prop_assert_eq!(before, 0),
                        Some(frame) => {
                            let mut words = [1; PAGE];
                            frame.read(0, &mut words);
                            prop_assert_eq!(words, [0; PAGE]);
                            prop_assert!(!references.contains(&frame));
                            frame.write(0, &[0x5a; PAGE]);
                            references.push(frame);
                        }
                    }
                }
                Step::Share(which) if !references.is_empty() => {
                    let shared = frames.share(&references[which % references.len()]);
                    references.push(shared);
                }
                Step::Release(which) if !references.is_empty() => {
                    let frame = references.swap_remove(which % references.len());
                    let others = references.iter().filter(|other| **other == frame).count();
                    prop_assert_eq!(frames.is_exclusive(&frame), others == 0);
                    frames.release(frame);
                }
                _ => {}
            }
            let mut distinct: Vec<_> = references.iter().map(Frame::address).collect();
            distinct.sort_unstable();
            distinct.dedup();
            prop_assert_eq!(frames.available(), 16 - distinct.len());
        }
    }
}

/// Steps on a map and a table: number, and whether it is inserted.
fn changes() -> impl Strategy<Value = Vec<(u32, bool)>> {
    prop::collection::vec((prop_oneof![0..40u32, 500..1200u32], any::<bool>()), 0..60)
}

/// The frames of the smallest tree that has these indices.
fn least_frames(indices: &std::collections::BTreeMap<u64, ()>) -> usize {
    let highest = indices.keys().next_back().copied().unwrap_or(0);
    let mut count = indices.len();
    let mut span = 1;
    while highest >= span {
        span *= 512;
        let nodes: std::collections::BTreeSet<u64> =
            indices.keys().map(|index| index / span).collect();
        count += nodes.len();
    }
    count
}

proptest! {
    #[test]
    fn a_map_has_the_frames_that_it_was_given(steps in changes(), pages in 4..80usize) {
        let ram = Ram::new(pages);
        let mut frames = ram.frames();
        let total = frames.available();
        let mut map = PageMap::new();
        let mut model = std::collections::BTreeMap::new();
        for (index, inserts) in steps {
            let index = u64::from(index);
            if inserts {
                if let Some(frame) = map.get_or_allocate(index, &mut frames) {
                    frame.write(0, &index.to_le_bytes());
                    model.insert(index, ());
                }
            } else {
                let range = index..index + 3;
                let count = model.range(range.clone()).count();
                let mut budget = 2;
                prop_assert_eq!(map.remove(range.clone(), &mut budget, &mut frames), count <= 2);
                for _ in 0..count.min(2) {
                    let first = *model.range(range.clone()).next().unwrap().0;
                    model.remove(&first);
                }
            }
            prop_assert_eq!(total - frames.available(), least_frames(&model));
            for index in 0..1210 {
                let frame = map.get(index);
                prop_assert_eq!(frame.is_some(), model.contains_key(&index));
                if let Some(frame) = frame {
                    let mut word = [0; 8];
                    frame.read(0, &mut word);
                    prop_assert_eq!(u64::from_le_bytes(word), index);
                }
            }
        }
        let mut left = model.clone();
        for index in model.into_keys().step_by(2) {
            let before = frames.available();
            let frame = map.take(index).unwrap();
            frames.release(frame);
            left.remove(&index);
            prop_assert_eq!(frames.available(), before + 1);
            for index in 0..1210 {
                prop_assert_eq!(map.get(index).is_some(), left.contains_key(&index));
            }
        }
        prop_assert!(map.take(1 << 40).is_none());
        prop_assert!(map.remove(0..u64::MAX, &mut 1000, &mut frames));
        prop_assert!(map.is_empty());
        prop_assert_eq!(frames.available(), total);
    }

    #[test]
    fn a_table_gives_the_lowest_free_number(steps in changes(), lasts in any::<bool>()) {
        let ram = Ram::new(40);
        let mut frames = ram.frames();
        let total = frames.available();
        let new = if lasts { Table::lasting } else { Table::new };
        let mut table: Table<[u32; 40]> = new(600);
        let mut kept = 0;
        let mut model = std::collections::BTreeMap::new();
        for (number, inserts) in steps {
            if inserts {
                let expected = (number..600).find(|number| !model.contains_key(number));
                let inserted = table.insert([number; 40], number, &mut frames);
                match inserted {
                    Ok(place) => {
                        prop_assert_eq!(Some(place), expected);
                        // The numbers of the first frame.
                        kept |= usize::from(lasts && place < (PAGE as u32 - 8) / 164);
                        model.insert(place, number);
                    }
                    Err(object) => {
                        prop_assert_eq!(object, [number; 40]);
                        prop_assert!(expected.is_none());
                    }
                }
            } else {
                let removed = table.remove(number, &mut frames);
                prop_assert_eq!(removed.map(|object| object[39]), model.remove(&number));
            }
        }
        let numbers: Vec<u32> = table.numbers(0).collect();
        prop_assert_eq!(&numbers, &model.keys().copied().collect::<Vec<_>>());
        let objects: Vec<u32> = table.objects().map(|object| object[0]).collect();
        prop_assert_eq!(objects, model.values().copied().collect::<Vec<_>>());
        let before = frames.available();
        let copied = table.copy(|object| object.map(|word| word + 1), &mut frames);
        let is_whole = copied.is_ok();
        let mut copy = copied.unwrap_or_else(|part| part);
        let in_copy: Vec<u32> = copy.numbers(0).collect();
        prop_assert!(numbers.starts_with(&in_copy));
        prop_assert_eq!(in_copy.len() == numbers.len(), is_whole);
        for number in in_copy {
            prop_assert_eq!(copy.get(number).unwrap()[39], model[&number] + 1);
            copy.remove(number, &mut frames);
        }
        let number = copy.insert([0; 40], 0, &mut frames);
        prop_assert_eq!(number, if before == 0 { Err([0; 40]) } else { Ok(0) });
        copy.remove(0, &mut frames);
        prop_assert_eq!(frames.available(), before);
        for number in numbers {
            table.get_mut(number).unwrap()[0] = 1;
            prop_assert_eq!(table.get(number).unwrap()[0], 1);
            table.remove(number, &mut frames);
        }
        prop_assert_eq!(frames.available(), total - kept);
    }
}

#[derive(Clone, Debug)]
enum Change {
    Write(usize, usize, u8),
    Resize(usize),
    Reserve(usize),
    View(usize),
    Discard(usize),
    Relieve,
}

fn change() -> impl Strategy<Value = Change> {
    let at = || 0..9 * PAGE;
    prop_oneof![
        4 => (at(), 1..2 * PAGE, 1..255u8).prop_map(|(a, n, b)| Change::Write(a, n, b)),
        2 => at().prop_map(Change::Resize),
        1 => (0..9usize).prop_map(Change::Reserve),
        2 => (0..9usize).prop_map(Change::View),
        1 => (0..9usize).prop_map(Change::Discard),
        1 => Just(Change::Relieve),
    ]
}

proptest! {
    #[test]
    fn an_object_has_the_bytes_that_are_written(
        changes in prop::collection::vec(change(), 1..40),
        below in 0..3 * PAGE,
        room in 12..40usize,
    ) {
        let ram = Ram::new(room);
        let mut frames = ram.frames();
        let total = frames.available();
        let below: &[u8] = vec![9; below].leak();
        let object = frames.create_object(below).unwrap();
        let mut model = below.to_vec();
        let mut views = Vec::new();
        for change in changes {
            match change {
                Change::Write(at, length, byte) => {
                    let done = frames.write_object(&object, at as u64, &vec![byte; length]);
                    prop_assert!(done == length || frames.available() == 0);
                    if done > 0 {
                        model.resize(model.len().max(at + done), 0);
                        model[at..at + done].fill(byte);
                    }
                }
                Change::Resize(size) => {
                    while !frames.resize_object(&object, size as u64) {}
                    model.resize(size, 0);
                }
                Change::Reserve(index) => {
                    frames.reserve_page(&object, index as u64);
                    prop_assert!(object.has_page(index as u64) || frames.available() == 0);
                }
                Change::View(index) => {
                    if let Some(view) = frames.object_view(&object, index as u64) {
                        let mut bytes = vec![1; PAGE];
                        view.read(0, &mut bytes);
                        let mut expected = model.get(index * PAGE..).unwrap_or_default().to_vec();
                        expected.resize(PAGE, 0);
                        prop_assert_eq!(&bytes, &expected);
                        views.push(view);
                    }
                }
                Change::Discard(index) => {
                    let range = index as u64..index as u64 + 1;
                    frames.discard_pages(&object, range, &mut 1);
                    let end = model.len().min((index + 1) * PAGE);
                    let start = (index * PAGE).min(end);
                    // What is below was cut where the object was.
                    object.read(start as u64, &mut model[start..end]);
                    prop_assert!(model[start..end].iter().all(|byte| matches!(byte, 0 | 9)));
                }
                Change::Relieve => {
                    let before = frames.available();
                    frames.relieve();
                    prop_assert!(frames.available() >= before);
                }
            }
            prop_assert_eq!(object.size(), model.len() as u64);
            let mut bytes = vec![0xff; model.len() + 9];
            prop_assert_eq!(object.read(0, &mut bytes), model.len());
            prop_assert_eq!(&bytes[..model.len()], &model[..]);
        }
        let second = frames.share_object(&object);
        frames.release_object(object);
        prop_assert_eq!(second.size(), model.len() as u64);
        frames.release_object(second);
        for view in views {
            frames.release(view);
        }
        prop_assert!(!frames.reclaim());
        prop_assert_eq!(frames.available(), total);
    }
}

#[repr(align(4096))]
struct Aligned([u8; 2 * PAGE + 5]);

static IMAGE: Aligned = Aligned([7; 2 * PAGE + 5]);

#[test]
fn pages_of_the_image_are_neither_copied_nor_released() {
    let ram = Ram::new(16);
    let mut frames = ram.frames();
    let total = frames.available();
    let object = frames.create_object(&IMAGE.0).unwrap();
    let before = frames.available();
    let view = frames.object_view(&object, 1).unwrap();
    assert_eq!(view.address(), IMAGE.0.as_ptr() as usize + PAGE);
    assert!(!frames.is_exclusive(&view));
    let again = frames.share(&view);
    frames.release(view);
    frames.release(again);
    assert_eq!(frames.available(), before);
    // The last page has zeros behind its bytes: a copy, which is kept until memory is needed.
    let last = frames.object_view(&object, 2).unwrap();
    let mut bytes = [1; 8];
    last.read(0, &mut bytes);
    assert_eq!(bytes, [7, 7, 7, 7, 7, 0, 0, 0]);
    assert!(object.has_page(2));
    frames.relieve();
    assert!(object.has_page(2));
    frames.release(last);
    frames.relieve();
    assert!(!object.has_page(2));
    // What was written is kept.
    assert_eq!(frames.write_object(&object, PAGE as u64, b"x"), 1);
    frames.relieve();
    assert!(object.has_page(1));
    frames.release_object(object);
    assert_eq!(frames.available(), total);
}
