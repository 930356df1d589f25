//! Tests of what needs no processor: timers, and event polls of sources.

use crate::timer::Timer;
use crate::watches::{Watches, mode};
use tenon_process::{Files, Frames, Object, Observer, ready};

#[test]
fn a_timer_counts_its_expirations() {
    let mut timer = Timer::default();
    assert_eq!(timer.take(100), 0);
    timer.set(100, 0);
    assert_eq!((timer.rest(40), timer.take(99)), ((60, 0), 0));
    assert_eq!((timer.take(100), timer.take(101)), (1, 0));
    timer.set(100, 30);
    assert_eq!(timer.take(189), 3);
    assert_eq!(timer.rest(189), (1, 30));
    // One that nothing has read yet.
    assert_eq!(timer.rest(200), (20, 30));
    assert_eq!(timer.take(191), 1);
    timer.set(1, 1);
    assert_eq!(timer.take(u64::MAX - 1), u64::MAX - 1);
}

static OBSERVER: Observer = Observer {
    notify: |_, _, _| {},
    forget: |_, _, _| {},
};

fn none(_: &Object) -> Option<u32> {
    None
}

/// Event polls over pipes.
struct Bench {
    frames: Frames,
    files: Files,
    watches: Watches,
    total: usize,
}

fn bench() -> Bench {
    let mut frames = Frames::of_host(100);
    let files = Files::new(tenon_vfs::Tree::new(b"", &mut frames).unwrap());
    let total = frames.available();
    Bench {
        frames,
        files,
        watches: Watches::new(),
        total,
    }
}

impl Bench {
    fn collect(&mut self, poll: u32, most: usize) -> Vec<(u32, u64)> {
        let mut found = Vec::new();
        let ends = (&mut self.files, none as fn(&Object) -> Option<u32>);
        let done = self.watches.collect(poll, most, ends, |_, events, data| {
            found.push((events, data));
            Ok(())
        });
        assert_eq!(done.map(|(count, _)| count), Ok(found.len()));
        found
    }
}

#[test]
fn an_event_poll_states_levels_and_edges_and_forgets_what_is_closed() {
    let mut bench = bench();
    let (reader, writer) = bench.files.pipe(0, &mut bench.frames).unwrap();
    let object = bench.files.get(&reader).unwrap().object;
    let Object::Pipe(pipe, ..) = object else {
        panic!();
    };
    let source = bench.files.pipe_source(pipe).unwrap();
    let poll = bench.watches.create(1, &mut bench.frames).unwrap();
    let number = bench.files.watch_description(&reader);
    let watch = u32::from(ready::READABLE);
    for (fd, events) in [(3, watch), (4, watch | mode::EDGE), (5, watch | mode::ONCE)] {
        let name = (poll, fd, number);
        let parts = (&mut bench.files, &mut bench.frames);
        let place = (object, source);
        let added = bench
            .watches
            .add(name, (events, fd.into()), place, parts, (none, &OBSERVER));
        assert_eq!(added, Ok(()));
    }
    assert_eq!(bench.collect(poll, 8), []);
    let written = bench.files.write_pipe(pipe, b"a", &mut bench.frames);
    assert_eq!(written, Some(Ok(1)));
    bench
        .watches
        .notify(source, ready::READABLE, &mut bench.files);
    // The one that was added last is notified first.
    assert_eq!(bench.collect(poll, 2), [(1, 5), (1, 4)]);
    assert_eq!(bench.collect(poll, 8), [(1, 3)]);
    assert_eq!(bench.collect(poll, 8), [(1, 3)]);
    bench
        .watches
        .notify(source, ready::READABLE, &mut bench.files);
    assert_eq!(bench.collect(poll, 8), [(1, 3), (1, 4)]);
    let parts = (&mut bench.files, &mut bench.frames);
    bench.watches.forget(number, source, parts, &OBSERVER);
    assert_eq!(bench.collect(poll, 8), []);
    let parts = (&mut bench.files, &mut bench.frames);
    bench.watches.close(poll, parts, &OBSERVER);
    bench.files.close(reader, &mut bench.frames);
    bench.files.close(writer, &mut bench.frames);
    assert_eq!(bench.frames.available(), bench.total);
}
