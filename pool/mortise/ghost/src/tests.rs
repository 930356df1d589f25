//! The rules against the real virtual GIC and real translation tables, and against planted violations.

mod controller;
mod planted;
mod registers;
mod stage2;
