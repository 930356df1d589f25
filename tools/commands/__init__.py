"""The commands of `./tenon` that only developers run, one module each."""
