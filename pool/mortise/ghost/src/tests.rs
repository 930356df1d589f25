//! The specification against the real controller and the real tables, and against what is planted.

mod controller;
mod planted;
mod registers;
mod stage2;
