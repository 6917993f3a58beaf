"""Templates of stacks: parsing, validation and evaluation, without I/O."""
