"""Templates of stacks: from text to what each resource is to be; no I/O."""
