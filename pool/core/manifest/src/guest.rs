//! One guest's own view, for Tenon.

use crate::node::Node;
use crate::{Error, limits, tree};
use core_memory::IntermediateRange;
use heapless::Vec;

/// A periodic task whose samples have a place in shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task<'a> {
    /// Its name.
    pub name: &'a str,
    /// Where its samples go.
    pub area: IntermediateRange,
    /// From one release to the next; not zero.
    pub period_ns: u64,
    /// From a release to the latest start that counts as in time.
    pub deadline_ns: u64,
}

/// What a guest is told about itself.
#[derive(Clone, Debug)]
pub struct Guest<'a> {
    /// The VM's name.
    pub vm: &'a str,
    /// Its memory.
    pub memory: IntermediateRange,
    /// How many vCPUs it has.
    pub cpus: u32,
    /// Its status page, which it may only read.
    pub status: Option<IntermediateRange>,
    /// Its log ring.
    pub log: Option<IntermediateRange>,
    /// Its periodic tasks.
    pub tasks: Vec<Task<'a>, { limits::TASKS }>,
}

impl<'a> Guest<'a> {
    /// Parses the tree at the start of `bytes`.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, Error<'a>> {
        let root = Node::new(tree(bytes)?.root());
        root.require_compatible("tenonos,guest-1")?;
        let area = |name| {
            root.find_child(name)
                .map(|node| node.range("reg"))
                .transpose()
        };
        let mut guest = Self {
            vm: root.text("vm")?,
            memory: root.child("memory")?.range("reg")?,
            cpus: root.number("cpus")?,
            status: area("status")?,
            log: area("log")?,
            tasks: Vec::new(),
        };
        let tasks = root.find_child("tasks");
        for node in tasks.iter().flat_map(Node::children) {
            let task = Task::parse(&node)?;
            guest
                .tasks
                .push(task)
                .map_err(|_| root.too_many("tasks", limits::TASKS))?;
        }
        guest.check()?;
        Ok(guest)
    }

    /// The task of this name.
    pub fn task(&self, name: &str) -> Option<&Task<'a>> {
        self.tasks.iter().find(|task| task.name == name)
    }

    fn check(&self) -> Result<(), Error<'a>> {
        let fixed = [
            ("memory", Some(self.memory)),
            ("status", self.status),
            ("log", self.log),
        ];
        let fixed = fixed
            .into_iter()
            .filter_map(|(name, range)| Some((name, range?)));
        let tasks = self.tasks.iter().map(|task| (task.name, task.area));
        let ranges: Vec<_, { limits::TASKS + 3 }> = fixed.chain(tasks).collect();
        for (index, (node, range)) in ranges.iter().enumerate() {
            let mut earlier = ranges.iter().take(index);
            if let Some((other, _)) = earlier.find(|(_, other)| other.overlaps(range)) {
                return Err(Error::Clash {
                    node: other,
                    other: node,
                    what: "address",
                });
            }
        }
        Ok(())
    }
}

impl<'a> Task<'a> {
    fn parse(node: &Node<'a>) -> Result<Self, Error<'a>> {
        let period_ns = node.wide("period-ns")?;
        if period_ns == 0 {
            return Err(node.invalid("period-ns", "not be zero"));
        }
        let (area, deadline_ns) = (node.range("reg")?, node.wide("deadline-ns")?);
        Ok(Self {
            name: node.name(),
            area,
            period_ns,
            deadline_ns,
        })
    }
}
