use super::*;
use proptest::prelude::*;

const RAM: u64 = 0x4000_0000;

fn raw() -> RawDescriptor {
    let mut raw = RawDescriptor::new_zeroed();
    raw.magic = MAGIC;
    raw.version = VERSION;
    raw.name.as_mut_bytes()[..5].copy_from_slice(b"job-1");
    raw.memory = 2 * BLOCK;
    raw.window = WINDOW_PAGES + 0x1000;
    raw.entry = RAM + 0x8_0000;
    raw.argument = RAM;
    raw.vcpus = 2;
    raw.cpus = [2, 0, NO_CPU, NO_CPU, NO_CPU, NO_CPU, NO_CPU, NO_CPU];
    raw.priority = 32;
    raw
}

fn with(change: impl FnOnce(&mut RawDescriptor)) -> Result<Descriptor, Error> {
    let mut raw = raw();
    change(&mut raw);
    Descriptor::parse(&raw, RAM, || Ok(()))
}

#[test]
fn a_valid_descriptor_is_parsed() {
    let good = with(|_| {}).unwrap();
    assert_eq!(good.name.as_str(), "job-1");
    assert_eq!((good.cpus(), good.cpu_set()), (&[2, 0][..], 0b101));
    let areas = good.areas.unwrap();
    assert_eq!((areas.start(), areas.size()), (0x8020_0000, BLOCK));
    assert_eq!(good.bytes(), 3 * BLOCK);
    let small = with(|raw| raw.window = WINDOW_LEAST).unwrap();
    assert_eq!((small.areas, small.bytes()), (None, 2 * BLOCK));
}

#[test]
fn each_mistake_has_an_error() {
    let refused = |change: fn(&mut RawDescriptor)| with(change).unwrap_err();
    assert_eq!(refused(|raw| raw.magic ^= 1), Error::Foreign);
    assert_eq!(refused(|raw| raw.version = 2), Error::Foreign);
    assert_eq!(refused(|raw| raw.zero = 1), Error::Reserved);
    assert_eq!(refused(|raw| raw.rest[18] = 1 << 63), Error::Reserved);
    assert_eq!(
        refused(|raw| raw.name.as_mut_bytes()[0] = b'-'),
        Error::Name
    );
    assert_eq!(
        refused(|raw| raw.name.as_mut_bytes()[7] = b'x'),
        Error::Name
    );
    assert_eq!(
        refused(|raw| raw.name.as_mut_bytes().fill(b'x')),
        Error::Name
    );
    assert_eq!(refused(|raw| raw.memory = 0), Error::Memory);
    assert_eq!(refused(|raw| raw.memory += 0x1000), Error::Memory);
    assert_eq!(refused(|raw| raw.memory = 129 * BLOCK), Error::Memory);
    assert_eq!(refused(|raw| raw.window = 0x1_1000), Error::Window);
    assert_eq!(refused(|raw| raw.window = u64::MAX - 0xfff), Error::Window);
    assert_eq!(refused(|raw| raw.entry = RAM + 2 * BLOCK), Error::Entry);
    assert_eq!(refused(|raw| raw.entry += 2), Error::Entry);
    assert_eq!(refused(|raw| raw.vcpus = 0), Error::Cpus);
    assert_eq!(refused(|raw| raw.vcpus = 9), Error::Cpus);
    assert_eq!(refused(|raw| raw.vcpus = 3), Error::Cpus);
    assert_eq!(refused(|raw| raw.cpus[1] = 2), Error::Cpus);
    assert_eq!(refused(|raw| raw.cpus[5] = 3), Error::Cpus);
    assert_eq!(refused(|raw| raw.cpus[0] = 64), Error::Cpus);
    assert_eq!(refused(|raw| raw.priority = 64), Error::Schedule);
    assert_eq!(refused(|raw| raw.schedule = 2), Error::Schedule);
    assert_eq!(
        refused(|raw| raw.schedule = 1),
        Error::Schedule,
        "no period"
    );
    assert_eq!(refused(|raw| raw.exhausted = 2), Error::Schedule);
    assert_eq!(refused(|raw| raw.budget_ns = 1), Error::Schedule);
    let more = refused(|raw| (raw.budget_ns, raw.period_ns) = (2, 1));
    assert_eq!(more, Error::Schedule);
}

proptest! {
    #[test]
    fn any_bytes_give_a_vm_that_fits_or_an_error(
        place in 0usize..0x100, bytes in prop::collection::vec(any::<u8>(), 1..16),
    ) {
        let mut wild = raw();
        for (at, byte) in (place..0x100).zip(bytes) {
            wild.as_mut_bytes()[at] = byte;
        }
        if let Ok(vm) = Descriptor::parse::<Error>(&wild, RAM, || Ok(())) {
            prop_assert!(vm.memory.holds(vm.entry) && vm.memory.is_aligned(BLOCK));
            prop_assert!(vm.bytes().is_multiple_of(BLOCK) && vm.bytes() <= MEMORY_MOST + WINDOW_MOST);
            prop_assert_eq!(vm.cpu_set().count_ones() as usize, vm.cpus().len());
            prop_assert!(!vm.cpus().is_empty() && vm.priority <= PRIORITY_MOST);
            prop_assert!(vm.reservation.is_none_or(|(budget, period)| 0 < budget && budget <= period));
        }
    }

    #[test]
    fn a_name_equals_its_bytes(
        mut bytes in prop::collection::vec(
            prop_oneof![8 => prop::sample::select(&b"abz059-"[..]), 1 => any::<u8>()], 0..=NAME,
        ),
    ) {
        bytes.resize(NAME, 0);
        let words = core::array::from_fn(|word| {
            u64::from_le_bytes(bytes[word * 8..][..8].try_into().unwrap())
        });
        let length = bytes.iter().position(|&byte| byte == 0).unwrap_or(NAME);
        let (name, rest) = bytes.split_at(length);
        let good = length < NAME
            && name.first().is_some_and(u8::is_ascii_lowercase)
            && name.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-'))
            && rest.iter().all(|&byte| byte == 0);
        let found = Name::new(words);
        prop_assert_eq!(found.as_ref().map(Name::as_bytes), good.then_some(name));
    }
}
