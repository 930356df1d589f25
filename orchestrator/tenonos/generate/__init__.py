"""The generator: one crate per image, written from an evaluated configuration."""
