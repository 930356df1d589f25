//! The image as a reader of ELF files sees it, and the clock page.

use crate::{CLOCK, IMAGE, PAGE};
use elf::ElfBytes;
use elf::abi::{DT_VERDEF, DT_VERSYM, PT_LOAD, SHN_UNDEF};
use elf::endian::LittleEndian;
use elf::hash::SysVHashTable;
use elf::string_table::StringTable;
use elf::symbol::SymbolTable;

fn file() -> ElfBytes<'static, LittleEndian> {
    ElfBytes::minimal_parse(IMAGE.bytes()).unwrap()
}

/// The value of a key of the dynamic section.
fn dynamic(key: i64) -> usize {
    let table = file().dynamic().unwrap().unwrap();
    let entry = table.iter().find(|entry| entry.d_tag == key).unwrap();
    entry.d_val() as usize
}

#[test]
fn functions_are_found_by_their_names() {
    let bytes = IMAGE.bytes();
    let load = file().segments().unwrap().iter().next().unwrap();
    assert_eq!((load.p_type, load.p_offset, load.p_vaddr), (PT_LOAD, 0, 0));
    let hashes = &bytes[dynamic(elf::abi::DT_HASH)..];
    let class = elf::file::Class::ELF64;
    let hashes = SysVHashTable::new(LittleEndian, class, hashes).unwrap();
    let symbols = &bytes[dynamic(elf::abi::DT_SYMTAB)..][..5 * 24];
    let symbols = SymbolTable::new(LittleEndian, class, symbols);
    let names = &bytes[dynamic(elf::abi::DT_STRTAB)..][..dynamic(elf::abi::DT_STRSZ)];
    let names = StringTable::new(names);
    for (name, number) in [
        ("__kernel_rt_sigreturn", 0xd280_1168u32),
        ("__kernel_clock_gettime", 0xd280_0e28),
        ("__kernel_clock_getres", 0xd280_0e48),
        ("__kernel_gettimeofday", 0xd53b_e048),
    ] {
        let found = hashes.find(name.as_bytes(), &symbols, &names).unwrap();
        let (index, symbol) = found.unwrap();
        assert_ne!(symbol.st_shndx, SHN_UNDEF);
        let (start, size) = (symbol.st_value as usize, symbol.st_size as usize);
        let code = &bytes[start..start + size];
        assert!((start + size) as u64 <= load.p_filesz);
        // It loads the number of its call, or reads the counter.
        let mut words = code
            .as_chunks()
            .0
            .iter()
            .map(|word| u32::from_le_bytes(*word));
        assert!(words.any(|word| word == number), "{name}");
        let version = &bytes[dynamic(DT_VERSYM) + 2 * index..][..2];
        assert_eq!(version, [2, 0]);
    }
    // The second version: its number, and the hash of its name as linkers have it.
    let version = &bytes[dynamic(DT_VERDEF) + 28..];
    assert_eq!(version[4..6], [2, 0]);
    assert_eq!(version[8..12], 0x075f_cb89u32.to_le_bytes());
}

#[test]
fn the_clock_page_has_the_counter_as_a_fraction() {
    let words = || {
        let bytes = CLOCK.bytes();
        let words = bytes.as_chunks().0.iter();
        words
            .map(|word| u64::from_le_bytes(*word))
            .take(4)
            .collect::<Vec<_>>()
    };
    for (hertz, expected) in [
        (62_500_000, [1, 16, 5, 16]),
        (24_000_000, [3, 125, 5, 42]),
        (1_000_000_000, [1, 1, 5, 1]),
    ] {
        CLOCK.set_frequency(hertz);
        CLOCK.set_start(5);
        assert_eq!(words(), expected);
        assert_eq!(CLOCK.start(), 5);
    }
    assert_eq!(CLOCK.bytes().len(), PAGE);
}
