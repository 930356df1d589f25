//! Loading of programs: ELF files into areas, arguments onto a stack.

use crate::errno::Errno;
use elf::abi::{EM_AARCH64, ET_DYN, ET_EXEC, PF_R, PF_W, PF_X, PT_INTERP, PT_LOAD};
use elf::endian::LittleEndian;
use elf::file::{Class, FileHeader, parse_ident};
use elf::parse::ParseAt as _;
use elf::segment::ProgramHeader;
use tenon_address_space::{Backing, PAGE, Permissions, Sharing};
use tenon_frames::{Frames, Object};
use tenon_vdso::{CLOCK, IMAGE, SIGRETURN};

/// The address space of a process.
pub type Space = tenon_address_space::AddressSpace<AREAS>;

/// Areas of a process.
const AREAS: usize = 800;

/// Bytes of all arguments and environment variables together.
pub(crate) const TEXT: usize = 16 << 10;
/// Arguments and environment variables.
const STRINGS: usize = 512;
/// Bytes of a stack.
const STACK: usize = 8 << 20;
/// Where programs lie that are linked to no address, in front of their displacement.
const RELOCATED: usize = 0x55_0000_0000;
/// Pages by which places vary.
const VARIATION: u64 = 1 << 14;

/// Arguments and environment of a program: strings with their NULs, arguments first. Memory of zeros
/// has none.
#[derive(Debug)]
#[repr(C)]
pub struct Strings {
    length: usize,
    arguments: usize,
    strings: usize,
    text: [u8; TEXT],
}

impl Default for Strings {
    fn default() -> Self {
        Self::new()
    }
}

impl Strings {
    /// No strings.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            length: 0,
            arguments: 0,
            strings: 0,
            text: [0; TEXT],
        }
    }

    /// Removes all strings.
    pub fn clear(&mut self) {
        (self.length, self.arguments, self.strings) = (0, 0, 0);
    }

    /// Whether there is no string.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.strings == 0
    }

    /// Appends an argument, or an environment variable if `environment`; arguments come first.
    pub fn push(&mut self, string: &[u8], environment: bool) -> Result<(), Errno> {
        let room = self.room(environment)?;
        let place = room.get_mut(..string.len()).ok_or(Errno::E2BIG)?;
        place.copy_from_slice(string);
        self.end_string(string.len(), environment)
    }

    /// The room for a string, which [`end_string`](Self::end_string) ends.
    pub fn room(&mut self, environment: bool) -> Result<&mut [u8], Errno> {
        let in_order = environment || self.arguments == self.strings;
        if self.strings == STRINGS || !in_order {
            return Err(Errno::E2BIG);
        }
        self.text.get_mut(self.length..).ok_or(Errno::E2BIG)
    }

    /// Ends a string of `length` bytes that were written to the room, by a NUL.
    pub fn end_string(&mut self, length: usize, environment: bool) -> Result<(), Errno> {
        let end = self.length + length;
        *self.text.get_mut(end).ok_or(Errno::E2BIG)? = 0;
        self.length = end + 1;
        self.strings += 1;
        self.arguments += usize::from(!environment);
        Ok(())
    }

    /// Puts strings in place of the first argument.
    pub fn replace_first(&mut self, strings: &[&str]) -> Result<(), Errno> {
        // Where the second string begins.
        let first = match self.arguments {
            0 => 0,
            _ => self.offsets().nth(1).unwrap_or(self.length),
        };
        let size: usize = strings.iter().map(|string| string.len() + 1).sum();
        let length = self.length - first + size;
        if length > TEXT || self.strings + strings.len() > STRINGS {
            return Err(Errno::E2BIG);
        }
        self.text.copy_within(first..self.length, size);
        let mut at = 0;
        for string in strings {
            self.text[at..at + string.len()].copy_from_slice(string.as_bytes());
            self.text[at + string.len()] = 0;
            at += string.len() + 1;
        }
        let replaced = usize::from(self.arguments > 0);
        self.length = length;
        self.strings += strings.len() - replaced;
        self.arguments += strings.len() - replaced;
        Ok(())
    }

    /// The strings with their NULs.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.text.get(..self.length).unwrap_or_default()
    }

    /// The number of arguments, and of all strings.
    #[cfg(test)]
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.arguments, self.strings)
    }

    /// Offsets of the strings in the text.
    fn offsets(&self) -> impl Iterator<Item = usize> {
        let mut next = 0;
        (0..self.strings).map(move |_| {
            let offset = next;
            let rest = self.bytes().get(offset..).unwrap_or_default();
            next += 1 + rest.iter().position(|byte| *byte == 0).unwrap_or(0);
            offset
        })
    }
}

/// Bytes of a script's first line at most.
pub const LINE: usize = 256;

/// The interpreter of a script, and its argument: the words behind `#!` in the first line, which
/// `start` has.
#[must_use]
pub fn script(start: &[u8]) -> Option<(&str, Option<&str>)> {
    let line = start
        .strip_prefix(b"#!")?
        .split(|byte| *byte == b'\n')
        .next()?;
    let line = core::str::from_utf8(line).ok()?.trim();
    let (interpreter, argument) = match line.split_once([' ', '\t']) {
        Some((interpreter, argument)) => (interpreter, Some(argument.trim())),
        None => (line, None),
    };
    (!interpreter.is_empty()).then_some((interpreter, argument))
}

/// Maps the clock page and the vDSO, behind the stack: a page apart, so that an access beyond the
/// stack is a fault. Returns the address of the vDSO.
fn map_vdso(space: &mut Space, stack_top: usize, frames: &mut Frames) -> Result<usize, Errno> {
    let mut start = stack_top + PAGE;
    for (page, execute) in [(CLOCK.bytes(), false), (IMAGE.bytes(), true)] {
        let object = frames.create_object(page).ok_or(Errno::ENOMEM)?;
        let permissions = Permissions {
            read: true,
            write: false,
            execute,
        };
        let backing = Backing::Object(&object, 0, Sharing::Private);
        let mapped = space.map(&(start..start + PAGE), permissions, &backing, frames);
        frames.release_object(object);
        mapped?;
        start += PAGE;
    }
    Ok(start - PAGE)
}

/// Where a loaded program begins.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// The first instruction.
    pub pc: usize,
    /// The stack pointer.
    pub sp: usize,
    /// The first address behind the program's variables.
    pub heap: usize,
    /// Where handlers of signals return to.
    pub trampoline: usize,
}

/// A mapped ELF file.
struct Mapped {
    entry: usize,
    /// Address of the program headers, and their number.
    headers: (usize, usize),
    end: usize,
    base: usize,
}

/// What an interpreter is looked up by; the reference is released when it is mapped.
pub type Lookup<'a> = &'a mut dyn FnMut(&str, &mut Frames) -> Result<Object, Errno>;

/// Loads a program into an empty address space. `random` are 32 bytes of entropy.
pub fn load(
    space: &mut Space,
    file: &Object,
    (strings, name): (&Strings, &str),
    lookup: Lookup<'_>,
    random: &[u8; 32],
    frames: &mut Frames,
) -> Result<Start, Errno> {
    let vary = |index: usize| {
        let bytes = [random[index], random[index + 1], random[index + 2], 0];
        (u64::from(u32::from_le_bytes(bytes)) % VARIATION) as usize * PAGE
    };
    let elf = Elf::read(file)?;
    let program = map(space, &elf, RELOCATED + vary(0), frames)?;
    let stack_top = space.main_part().end - PAGE * 16 - vary(3);
    let stack = stack_top - STACK;
    let variables = Permissions {
        read: true,
        write: true,
        execute: false,
    };
    space.map(&(stack..stack_top), variables, &Backing::Zero, frames)?;
    let vdso = map_vdso(space, stack_top, frames)?;
    let mut path = [0; PATH];
    let interpreter = match elf.interpreter(&mut path)? {
        None => None,
        Some(path) => {
            let file = lookup(path, frames)?;
            let below = stack - PAGE * 256 - vary(6);
            let mapped = map_interpreter(space, &file, below, frames);
            frames.release_object(file);
            Some(mapped?)
        }
    };
    let sp = write_stack(
        space,
        stack_top,
        (strings, name),
        &program,
        (interpreter.as_ref(), vdso),
        random,
        frames,
    )?;
    Ok(Start {
        pc: interpreter.as_ref().unwrap_or(&program).entry,
        sp,
        heap: program.end,
        trampoline: vdso + SIGRETURN,
    })
}

fn map_interpreter(
    space: &mut Space,
    file: &Object,
    below: usize,
    frames: &mut Frames,
) -> Result<Mapped, Errno> {
    let elf = Elf::read(file)?;
    let place = space.find_free(elf.extent()?, below)?;
    map(space, &elf, place, frames)
}

/// Fails if a file is no program.
pub fn check(file: &Object) -> Result<(), Errno> {
    Elf::read(file).map(drop)
}

/// Bytes of the path of an interpreter at most.
const PATH: usize = 128;
/// Bytes of an ELF header.
const ELF_HEADER: usize = 64;

/// A file with an ELF header.
struct Elf<'a> {
    file: &'a Object,
    header: FileHeader<LittleEndian>,
}

impl<'a> Elf<'a> {
    fn read(file: &'a Object) -> Result<Self, Errno> {
        let mut bytes = [0; ELF_HEADER];
        file.read(0, &mut bytes);
        let ident = parse_ident(&bytes).map_err(|_| Errno::ENOEXEC)?;
        let tail = bytes.get(elf::abi::EI_NIDENT..).unwrap_or_default();
        let header = FileHeader::parse_tail(ident, tail).map_err(|_| Errno::ENOEXEC)?;
        let fits = header.e_machine == EM_AARCH64 && header.class == Class::ELF64;
        let kind = header.e_type == ET_EXEC || header.e_type == ET_DYN;
        let has_segments = header.e_phnum > 0
            && usize::from(header.e_phentsize) == HEADER
            && header.e_phoff <= file.size();
        (fits && kind && has_segments)
            .then_some(Self { file, header })
            .ok_or(Errno::ENOEXEC)
    }

    /// The program headers.
    fn segments(&self) -> impl Iterator<Item = ProgramHeader> {
        let (file, start) = (self.file, self.header.e_phoff);
        (0..u64::from(self.header.e_phnum)).map_while(move |index| {
            let mut bytes = [0; HEADER];
            let at = start.checked_add(index * HEADER as u64)?;
            if file.read(at, &mut bytes) < HEADER {
                return None;
            }
            ProgramHeader::parse_at(LittleEndian, Class::ELF64, &mut 0, &bytes).ok()
        })
    }

    /// Segments with memory.
    fn loaded(&self) -> impl Iterator<Item = ProgramHeader> {
        let is_loaded = |segment: &ProgramHeader| segment.p_type == PT_LOAD && segment.p_memsz > 0;
        self.segments().filter(is_loaded)
    }

    /// The interpreter's path.
    fn interpreter<'p>(&self, path: &'p mut [u8; PATH]) -> Result<Option<&'p str>, Errno> {
        let Some(header) = self.segments().find(|header| header.p_type == PT_INTERP) else {
            return Ok(None);
        };
        let size = usize::try_from(header.p_filesz).unwrap_or(PATH);
        let path = path.get_mut(..size).ok_or(Errno::ENOEXEC)?;
        if self.file.read(header.p_offset, path) < size {
            return Err(Errno::ENOEXEC);
        }
        let end = path.iter().position(|byte| *byte == 0).unwrap_or(size);
        let path = path.get(..end).unwrap_or_default();
        core::str::from_utf8(path)
            .map(Some)
            .map_err(|_| Errno::ENOEXEC)
    }

    /// The last address of a file that is linked to zero.
    fn extent(&self) -> Result<usize, Errno> {
        let ends = self
            .loaded()
            .map(|header| header.p_vaddr.saturating_add(header.p_memsz));
        let end = usize::try_from(ends.max().unwrap_or(0)).map_err(|_| Errno::ENOEXEC)?;
        end.checked_next_multiple_of(PAGE).ok_or(Errno::ENOEXEC)
    }
}

/// Maps the segments of a file, at `place` unless it is linked to an address.
fn map(
    space: &mut Space,
    elf: &Elf<'_>,
    place: usize,
    frames: &mut Frames,
) -> Result<Mapped, Errno> {
    let header = &elf.header;
    let base = if header.e_type == ET_DYN { place } else { 0 };
    let at = |address: u64| {
        let address = usize::try_from(address).map_err(|_| Errno::ENOEXEC)?;
        base.checked_add(address).ok_or(Errno::ENOEXEC)
    };
    let mut mapped = Mapped {
        entry: at(header.e_entry)?,
        headers: (0, usize::from(header.e_phnum)),
        end: 0,
        base,
    };
    for segment in elf.loaded() {
        if segment.p_filesz > segment.p_memsz {
            return Err(Errno::ENOEXEC);
        }
        let start = at(segment.p_vaddr)?;
        let end = at(segment.p_vaddr.saturating_add(segment.p_memsz))?;
        map_segment(space, elf.file, &segment, start..end, frames)?;
        mapped.end = mapped.end.max(end);
        let in_file = segment.p_offset..segment.p_offset.saturating_add(segment.p_filesz);
        if in_file.contains(&header.e_phoff) {
            mapped.headers.0 = start + (header.e_phoff - segment.p_offset) as usize;
        }
    }
    mapped.end = mapped.end.next_multiple_of(PAGE);
    Ok(mapped)
}

fn map_segment(
    space: &mut Space,
    file: &Object,
    segment: &ProgramHeader,
    range: core::ops::Range<usize>,
    frames: &mut Frames,
) -> Result<(), Errno> {
    let permissions = Permissions {
        read: segment.p_flags & PF_R != 0,
        write: segment.p_flags & PF_W != 0,
        execute: segment.p_flags & PF_X != 0,
    };
    let first = range.start & !(PAGE - 1);
    let last = range
        .end
        .checked_next_multiple_of(PAGE)
        .ok_or(Errno::ENOEXEC)?;
    let in_file = segment.p_filesz as usize;
    let before = range.start - first;
    // A segment of zeros alone can lie behind the end of the file.
    let middle = match in_file {
        0 => first,
        _ => (range.start + in_file).next_multiple_of(PAGE).min(last),
    };
    let is_in_place = (segment.p_offset as usize % PAGE) == before;
    let end = segment.p_offset.checked_add(segment.p_filesz);
    let is_present = end.is_some_and(|end| end <= file.size());
    let page = u32::try_from(segment.p_offset / PAGE as u64);
    let backing = match page {
        _ if in_file == 0 => Backing::Zero,
        Ok(page) if is_in_place && is_present => Backing::Object(file, page, Sharing::Private),
        _ => return Err(Errno::ENOEXEC),
    };
    for (start, end, backing) in [(first, middle, backing), (middle, last, Backing::Zero)] {
        if start < end {
            // An address of the kernel, or two segments in one page.
            let mapped = space.map(&(start..end), permissions, &backing, frames);
            mapped.map_err(|error| match Errno::from(error) {
                Errno::EINVAL => Errno::ENOEXEC,
                other => other,
            })?;
        }
    }
    // What is behind the segment in the file are no values of variables.
    let behind = range.start + in_file..middle.min(range.end.next_multiple_of(PAGE));
    if permissions.write {
        space.clear(&behind, frames)?;
    }
    Ok(())
}

/// Keys of the auxiliary vector (System V ABI; Linux, uapi/linux/auxvec.h).
mod key {
    pub const PHDR: u64 = 3;
    pub const PHENT: u64 = 4;
    pub const PHNUM: u64 = 5;
    pub const PAGESZ: u64 = 6;
    pub const BASE: u64 = 7;
    pub const FLAGS: u64 = 8;
    pub const ENTRY: u64 = 9;
    pub const UID: u64 = 11;
    pub const EUID: u64 = 12;
    pub const GID: u64 = 13;
    pub const EGID: u64 = 14;
    pub const HWCAP: u64 = 16;
    pub const CLKTCK: u64 = 17;
    pub const SECURE: u64 = 23;
    pub const RANDOM: u64 = 25;
    pub const EXECFN: u64 = 31;
    pub const SYSINFO_EHDR: u64 = 33;
}

/// Size of a program header.
const HEADER: usize = 56;
/// HWCAP of floating point and SIMD.
const HWCAP: u64 = 0b11;

/// Writes the initial stack (System V ABI, AArch64); returns the stack pointer.
fn write_stack(
    space: &mut Space,
    top: usize,
    (strings, name): (&Strings, &str),
    program: &Mapped,
    (interpreter, vdso): (Option<&Mapped>, usize),
    random: &[u8; 32],
    frames: &mut Frames,
) -> Result<usize, Errno> {
    let name_at = top - (name.len() + 1);
    let text_at = name_at - strings.bytes().len();
    let random_at = (text_at - 16) & !15;
    space.write(name_at, name.as_bytes(), frames)?;
    space.write(text_at, strings.bytes(), frames)?;
    space.write(random_at, &random[16..], frames)?;
    let vector = [
        (key::SYSINFO_EHDR, vdso as u64),
        (key::PHDR, program.headers.0 as u64),
        (key::PHENT, HEADER as u64),
        (key::PHNUM, program.headers.1 as u64),
        (key::PAGESZ, PAGE as u64),
        (
            key::BASE,
            interpreter.map_or(0, |mapped| mapped.base as u64),
        ),
        (key::FLAGS, 0),
        (key::ENTRY, program.entry as u64),
        (key::UID, 0),
        (key::EUID, 0),
        (key::GID, 0),
        (key::EGID, 0),
        (key::HWCAP, HWCAP),
        (key::CLKTCK, 100),
        (key::SECURE, 0),
        (key::RANDOM, random_at as u64),
        (key::EXECFN, name_at as u64),
        (0, 0),
    ];
    // The count, the pointers with a null behind each kind, the vector.
    let words = 1 + strings.strings + 2 + 2 * vector.len();
    let sp = (random_at - words * size_of::<u64>()) & !15;
    let mut at = sp;
    let mut put = |word: u64| {
        let result = space.write(at, &word.to_le_bytes(), frames);
        at += size_of::<u64>();
        result
    };
    put(strings.arguments as u64)?;
    for (index, offset) in strings.offsets().enumerate() {
        if index == strings.arguments {
            put(0)?;
        }
        put((text_at + offset) as u64)?;
    }
    if strings.arguments == strings.strings {
        put(0)?;
    }
    put(0)?;
    let vector = vector.map(|(key, value)| [key, value].map(u64::to_le_bytes));
    space.write(at, vector.as_flattened().as_flattened(), frames)?;
    Ok(sp)
}
