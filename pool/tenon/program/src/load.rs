//! Loading of programs: ELF files into areas, arguments onto a stack.

use crate::errno::Errno;
use elf::ElfBytes;
use elf::abi::{EM_AARCH64, ET_DYN, ET_EXEC, PF_R, PF_W, PF_X, PT_INTERP, PT_LOAD};
use elf::endian::LittleEndian;
use elf::segment::ProgramHeader;
use tenon_address_space::{Area, Backing, PAGE, Permissions};
use tenon_frames::Frames;

/// The address space of a process.
pub type Space = tenon_address_space::AddressSpace<AREAS>;

/// Areas of a process.
const AREAS: usize = 80;

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

/// The interpreter of a script, and its argument: the words behind `#!` in the first line.
pub fn script(file: &'static [u8]) -> Option<(&'static str, Option<&'static str>)> {
    let line = file
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

/// Where a loaded program begins.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// The first instruction.
    pub pc: usize,
    /// The stack pointer.
    pub sp: usize,
    /// The first address behind the program's variables.
    pub heap: usize,
}

/// A mapped ELF file.
struct Mapped {
    entry: usize,
    /// Address of the program headers, and their number.
    headers: (usize, usize),
    end: usize,
    base: usize,
}

/// What an interpreter is looked up by.
pub type Lookup<'a> = &'a dyn Fn(&str) -> Result<&'static [u8], Errno>;

/// Loads a program into an empty address space. `random` are 32 bytes of entropy.
pub fn load(
    space: &mut Space,
    file: &'static [u8],
    (strings, name): (&Strings, &str),
    lookup: Lookup<'_>,
    random: &[u8; 32],
    frames: &mut Frames,
) -> Result<Start, Errno> {
    let vary = |index: usize| {
        let bytes = [random[index], random[index + 1], random[index + 2], 0];
        (u64::from(u32::from_le_bytes(bytes)) % VARIATION) as usize * PAGE
    };
    let elf = parse(file)?;
    let program = map(space, file, &elf, RELOCATED + vary(0))?;
    let stack_top = space.main_part().end - PAGE * 16 - vary(3);
    let stack = stack_top - STACK;
    space.map(Area {
        start: stack,
        end: stack_top,
        permissions: Permissions {
            read: true,
            write: true,
            execute: false,
        },
        backing: Backing::Zero,
    })?;
    let interpreter = match interpreter(file, &elf)? {
        None => None,
        Some(path) => {
            let file = lookup(path)?;
            let elf = parse(file)?;
            let size = extent(&elf)?;
            let place = space.find_free(size, stack - PAGE * 256 - vary(6))?;
            Some(map(space, file, &elf, place)?)
        }
    };
    let sp = write_stack(
        space,
        stack_top,
        (strings, name),
        &program,
        interpreter.as_ref(),
        random,
        frames,
    )?;
    Ok(Start {
        pc: interpreter.as_ref().unwrap_or(&program).entry,
        sp,
        heap: program.end,
    })
}

/// Fails if a file is no program.
pub fn check(file: &'static [u8]) -> Result<(), Errno> {
    parse(file).map(drop)
}

fn parse(file: &'static [u8]) -> Result<ElfBytes<'static, LittleEndian>, Errno> {
    let elf = ElfBytes::minimal_parse(file).map_err(|_| Errno::ENOEXEC)?;
    let header = elf.ehdr;
    let fits = header.e_machine == EM_AARCH64 && header.class == elf::file::Class::ELF64;
    let kind = header.e_type == ET_EXEC || header.e_type == ET_DYN;
    (fits && kind).then_some(elf).ok_or(Errno::ENOEXEC)
}

fn segments(
    elf: &ElfBytes<'static, LittleEndian>,
) -> Result<impl Iterator<Item = ProgramHeader>, Errno> {
    Ok(elf.segments().ok_or(Errno::ENOEXEC)?.iter())
}

/// The interpreter's path.
fn interpreter(
    file: &'static [u8],
    elf: &ElfBytes<'static, LittleEndian>,
) -> Result<Option<&'static str>, Errno> {
    let Some(header) = segments(elf)?.find(|header| header.p_type == PT_INTERP) else {
        return Ok(None);
    };
    let bytes = part(file, header.p_offset, header.p_filesz)?;
    let path = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    core::str::from_utf8(path)
        .map(Some)
        .map_err(|_| Errno::ENOEXEC)
}

fn part(file: &'static [u8], offset: u64, size: u64) -> Result<&'static [u8], Errno> {
    let start = usize::try_from(offset).map_err(|_| Errno::ENOEXEC)?;
    let size = usize::try_from(size).map_err(|_| Errno::ENOEXEC)?;
    let end = start.checked_add(size).ok_or(Errno::ENOEXEC)?;
    file.get(start..end).ok_or(Errno::ENOEXEC)
}

/// The last address of a file that is linked to zero.
fn extent(elf: &ElfBytes<'static, LittleEndian>) -> Result<usize, Errno> {
    let loaded = segments(elf)?.filter(|header| header.p_type == PT_LOAD);
    let end = loaded
        .map(|header| header.p_vaddr.saturating_add(header.p_memsz))
        .max();
    let end = usize::try_from(end.unwrap_or(0)).map_err(|_| Errno::ENOEXEC)?;
    end.checked_next_multiple_of(PAGE).ok_or(Errno::ENOEXEC)
}

/// Maps the segments of a file, at `place` unless it is linked to an address.
fn map(
    space: &mut Space,
    file: &'static [u8],
    elf: &ElfBytes<'static, LittleEndian>,
    place: usize,
) -> Result<Mapped, Errno> {
    let header = elf.ehdr;
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
    for segment in segments(elf)?.filter(|segment| segment.p_type == PT_LOAD) {
        if segment.p_memsz == 0 {
            continue;
        }
        if segment.p_filesz > segment.p_memsz {
            return Err(Errno::ENOEXEC);
        }
        let start = at(segment.p_vaddr)?;
        let end = at(segment.p_vaddr.saturating_add(segment.p_memsz))?;
        map_segment(space, file, &segment, start..end)?;
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
    file: &'static [u8],
    segment: &ProgramHeader,
    range: core::ops::Range<usize>,
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
    // A segment of zeros alone can lie behind the end of the file.
    let (offset, size) = match segment.p_filesz {
        0 => (range.start - first, 0),
        _ => {
            part(file, segment.p_offset, segment.p_filesz)?;
            (segment.p_offset as usize, segment.p_filesz as usize)
        }
    };
    let before = range.start - first;
    let from = offset.checked_sub(before).ok_or(Errno::ENOEXEC)?;
    // What lies behind the segment in the file is not part of it.
    let bytes = match size {
        0 => &[],
        _ => file.get(..offset + size).ok_or(Errno::ENOEXEC)?,
    };
    let middle = match size {
        0 => first,
        _ => (range.start + size).next_multiple_of(PAGE).min(last),
    };
    let parts = [
        (first, middle, Backing::Bytes(bytes, from)),
        (middle, last, Backing::Zero),
    ];
    for (start, end, backing) in parts {
        if start < end {
            // An address of the kernel, or two segments in one page.
            let mapped = space.map(Area {
                start,
                end,
                permissions,
                backing,
            });
            mapped.map_err(|error| match Errno::from(error) {
                Errno::EINVAL => Errno::ENOEXEC,
                other => other,
            })?;
        }
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
}

/// Size of a program header.
const HEADER: u64 = 56;
/// HWCAP of floating point and SIMD.
const HWCAP: u64 = 0b11;

/// Writes the initial stack (System V ABI, AArch64); returns the stack pointer.
fn write_stack(
    space: &mut Space,
    top: usize,
    (strings, name): (&Strings, &str),
    program: &Mapped,
    interpreter: Option<&Mapped>,
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
        (key::PHDR, program.headers.0 as u64),
        (key::PHENT, HEADER),
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
    for (key, value) in vector {
        put(key)?;
        put(value)?;
    }
    Ok(sp)
}
