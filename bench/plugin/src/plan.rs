//! The plan: what to count and what to watch, one statement per line, numbers in hexadecimal.
//!
//! ```text
//! ram BASE SIZE PATH      the machine's RAM and the file behind it
//! pipe FD                 where records go
//! el2 START END           Mortise's code
//! guest START END         RAM of a VM with periodic tasks
//! status ADDRESS          a VM's status page, in the order of the VMs
//! task ADDRESS SIZE       a task's journal, in the order of the tasks
//! path START END          a path to measure
//! reads                   measure from each read of the cycle counter to the next, too
//! ```

use std::ops::Range;
use std::path::PathBuf;

/// A parsed plan.
#[derive(Debug, Default, PartialEq)]
pub struct Plan {
    /// The first physical address of RAM.
    pub ram_base: u64,
    /// The size of RAM.
    pub ram_size: u64,
    /// The file QEMU maps as RAM.
    pub ram_file: PathBuf,
    /// The descriptor records are written to.
    pub pipe: i32,
    /// Mortise's code.
    pub el2: Vec<Range<u64>>,
    /// The RAM of watched VMs.
    pub guest: Vec<Range<u64>>,
    /// The status pages.
    pub status: Vec<u64>,
    /// The tasks' journals: address and size.
    pub tasks: Vec<(u64, u64)>,
    /// The paths to measure: the addresses of their first instruction and of the first behind them.
    pub paths: Vec<(u64, u64)>,
    /// Whether what lies between reads of the cycle counter is a path too, the last.
    pub reads: bool,
}

impl Plan {
    /// The plan in a text; the error names the line that is wrong.
    pub fn parse(text: &str) -> Result<Plan, String> {
        let mut plan = Plan::default();
        for (index, line) in text.lines().enumerate() {
            plan.statement(line)
                .ok_or_else(|| format!("plan:{}: {line}", index + 1))?;
        }
        Ok(plan)
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
            "pipe" => self.pipe = number()?.try_into().ok()?,
            "el2" => self.el2.push(number()?..number()?),
            "guest" => self.guest.push(number()?..number()?),
            "status" => self.status.push(number()?),
            "task" => self.tasks.push((number()?, number()?)),
            "reads" => self.reads = true,
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
                    status 5\ntask 6 7\npath 8 9\nreads\n";
        let plan = Plan::parse(text).unwrap();
        assert_eq!(plan.ram_file, PathBuf::from("/tmp/with space/ram"));
        assert_eq!(
            (plan.ram_base, plan.ram_size, plan.pipe),
            (0x4000_0000, 0x1000, 10)
        );
        assert_eq!((&plan.el2[0], &plan.guest[0]), (&(1..2), &(3..4)));
        assert!(plan.reads);
        assert_eq!(
            (plan.status, plan.tasks, plan.paths),
            (vec![5], vec![(6, 7)], vec![(8, 9)])
        );
    }

    #[test]
    fn the_wrong_line_is_named() {
        assert_eq!(Plan::parse("pipe 1\nel2 1\n").unwrap_err(), "plan:2: el2 1");
    }
}
