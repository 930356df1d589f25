//! The plan: what to count and what to watch, one statement per line, numbers in hexadecimal.
//!
//! ```text
//! ram BASE SIZE PATH      the machine's RAM and the file behind it
//! coloured BASE SIZE COLOURS PART...  memory that VMs have by colour: addresses of all else count
//!                         the pages of each part, a set of colours, one behind the other
//! pipe FD                 where records go
//! el2 START END           Mortise's code, or other code that is to be counted
//! guest START END         RAM of a VM with periodic tasks
//! status ADDRESS          a VM's status page, in the order of the VMs
//! word ADDRESS            a word; each sample has its value
//! task ADDRESS SIZE       a task's journal, in the order of the tasks
//! path START END          a path to measure; from START 0: since the core came to Mortise; to END 0:
//!                         until the emulator ends
//! reach ADDRESS           since the last mark that begins one, on whatever core
//! visits                  tell every visit of Mortise
//! steps                   and each instruction of it
//! executed                tell each instruction of Mortise when it is executed first
//! marks                   measure what a program marks as a path, too
//! blocks                  count all other code too, by blocks, as visits does
//! quiet                   let a core wait only once the emulator's main loop sleeps
//! cache SIZE WAYS LINE    model a last-level cache of all cores, and tell a path's misses
//! ```

use std::ops::Range;
use std::path::PathBuf;

use core_colouring::ColouredMemory;

use crate::cache::Geometry;

/// A parsed plan.
#[derive(Debug, Default, PartialEq)]
pub struct Plan {
    /// The first physical address of RAM.
    pub ram_base: u64,
    /// The size of RAM.
    pub ram_size: u64,
    /// The file QEMU maps as RAM.
    pub ram_file: PathBuf,
    /// Memory that VMs own by colour.
    pub coloured: Option<ColouredMemory>,
    /// The descriptor records are written to.
    pub pipe: i32,
    /// Mortise's code.
    pub el2: Vec<Range<u64>>,
    /// The RAM of watched VMs.
    pub guest: Vec<Range<u64>>,
    /// The status pages.
    pub status: Vec<u64>,
    /// Words; each sample record contains their values.
    pub words: Vec<u64>,
    /// The tasks' journals: address and size.
    pub tasks: Vec<(u64, u64)>,
    /// The paths to measure: the addresses of their first instruction and of the first behind them.
    pub paths: Vec<(u64, u64)>,
    /// End of a path that any core's mark begins and any core may end, numbered behind the path
    /// between marks.
    pub reaches: Vec<u64>,
    /// Whether each visit of Mortise is recorded.
    pub visits: bool,
    /// Whether the record of a visit has its executed addresses.
    pub steps: bool,
    /// Whether the first execution of each instruction of Mortise is recorded.
    pub executed: bool,
    /// Whether marks of programs are a path too, the last one.
    pub marks: bool,
    /// Whether other code is counted, by blocks.
    pub blocks: bool,
    /// Whether the emulator's main loop must sleep before a core executes WFI.
    pub quiet: bool,
    /// The modelled shared cache, if any.
    pub cache: Option<Geometry>,
}

impl Plan {
    /// Parses a plan; the error names the invalid line.
    pub fn parse(text: &str) -> Result<Plan, String> {
        let mut plan = Plan::default();
        for (index, line) in text.lines().enumerate() {
            plan.statement(line)
                .ok_or_else(|| format!("plan:{}: {line}", index + 1))?;
        }
        Ok(plan)
    }

    /// Numbers of the paths that end with the emulator.
    pub fn endless(&self) -> impl Iterator<Item = usize> + '_ {
        let paths = self.paths.iter().enumerate();
        paths.filter_map(|(path, &(_, end))| (end == 0).then_some(path))
    }

    /// Numbers and ends of the paths that begin at the entry into Mortise.
    pub fn arrivals(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let paths = self.paths.iter().enumerate();
        paths.filter_map(|(path, &(start, end))| (start == 0).then_some((path, end)))
    }

    fn statement(&mut self, line: &str) -> Option<()> {
        let mut words = line.split(' ');
        let verb = words.next()?;
        let mut number = || u64::from_str_radix(words.next()?, 16).ok();
        match verb {
            "ram" => {
                (self.ram_base, self.ram_size) = (number()?, number()?);
                self.ram_file = line.splitn(4, ' ').nth(3)?.into();
            }
            "coloured" => {
                let (base, size, colours) = (number()?, number()?, number()?);
                let parts: Vec<_> = std::iter::from_fn(number).collect();
                self.coloured = Some(ColouredMemory::new(
                    base,
                    size,
                    colours.try_into().ok()?,
                    &parts,
                )?);
            }
            "pipe" => self.pipe = number()?.try_into().ok()?,
            "el2" => self.el2.push(number()?..number()?),
            "guest" => self.guest.push(number()?..number()?),
            "status" => self.status.push(number()?),
            "word" => self.words.push(number()?),
            "task" => self.tasks.push((number()?, number()?)),
            "marks" => self.marks = true,
            "reach" => self.reaches.push(number()?),
            "cache" => self.cache = Some(Geometry::new(number()?, number()?, number()?)?),
            "quiet" => self.quiet = true,
            "steps" => self.steps = true,
            "executed" => self.executed = true,
            "visits" => (self.visits, self.blocks) = (true, true),
            "blocks" => self.blocks = true,
            "path" => self.paths.push((number()?, number()?)),
            _ => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_statement_is_read() {
        let text = "ram 40000000 1000 /tmp/with space/ram\npipe a\nel2 1 2\nguest 3 4\n\
                    status 5\nword a\ntask 6 7\npath 8 9\nmarks\nvisits\nsteps\nexecuted\nquiet\nreach b\n\
                    cache 1000 4 40\n\
                    coloured 10000 10000 4 3 c\n";
        let plan = Plan::parse(text).unwrap();
        assert_eq!(plan.ram_file, PathBuf::from("/tmp/with space/ram"));
        assert_eq!(
            (plan.ram_base, plan.ram_size, plan.pipe),
            (0x4000_0000, 0x1000, 10)
        );
        assert_eq!((&plan.el2[0], &plan.guest[0]), (&(1..2), &(3..4)));
        assert_eq!(plan.reaches, [11]);
        assert_eq!(plan.cache, Geometry::new(0x1000, 4, 0x40));
        assert!(plan.marks && plan.visits && plan.steps && plan.quiet && plan.executed);
        assert_eq!(
            plan.coloured,
            ColouredMemory::new(0x10000, 0x10000, 4, &[0b0011, 0b1100])
        );
        assert_eq!(
            (plan.status, plan.words, plan.tasks, plan.paths),
            (vec![5], vec![10], vec![(6, 7)], vec![(8, 9)])
        );
    }

    #[test]
    fn a_visit_is_told_beside_other_code() {
        for (text, visits) in [("visits\n", true), ("blocks\n", false)] {
            let plan = Plan::parse(text).unwrap();
            assert_eq!((plan.visits, plan.blocks), (visits, true));
        }
        assert!(!Plan::parse("marks\n").unwrap().blocks);
    }

    #[test]
    fn a_path_from_nowhere_is_one_of_arrival() {
        let plan = Plan::parse("path 8 9\npath 0 a\n").unwrap();
        assert_eq!(plan.arrivals().collect::<Vec<_>>(), [(1, 10)]);
    }

    #[test]
    fn a_path_to_nowhere_is_ended_by_the_emulator() {
        let plan = Plan::parse("path 8 9\npath 10 0\n").unwrap();
        assert_eq!(plan.endless().collect::<Vec<_>>(), [1]);
    }

    #[test]
    fn the_wrong_line_is_named() {
        assert_eq!(Plan::parse("pipe 1\nel2 1\n").unwrap_err(), "plan:2: el2 1");
        let wrong = "cache 1000 3 40";
        assert_eq!(Plan::parse(wrong).unwrap_err(), format!("plan:1: {wrong}"));
    }
}
