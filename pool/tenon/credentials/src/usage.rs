//! [`Usage`] of resources by a process.

/// What a process and its children have used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// When it was created, in nanoseconds from the start of the VM.
    pub begun: u64,
    /// Execution time of its threads that ended, in ticks of the clock.
    pub ended_threads: u64,
    /// Execution time of children that it collected and of theirs, in ticks.
    pub children: u64,
    /// Pages that it got at an access.
    pub faults: u64,
    /// Those of the collected children.
    pub faults_of_children: u64,
}

impl Usage {
    /// That of a process that is created at a time.
    #[must_use]
    pub const fn new(begun: u64) -> Self {
        Self {
            begun,
            ended_threads: 0,
            children: 0,
            faults: 0,
            faults_of_children: 0,
        }
    }

    /// Adds that of a child that was collected.
    pub fn add_child(&mut self, child: &Self) {
        self.children += child.ended_threads + child.children;
        self.faults_of_children += child.faults + child.faults_of_children;
    }
}
