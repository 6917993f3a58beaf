"""The tests; README.rst tells what is where."""

import os
import sys

# Hundreds of processes load the same modules. Without bytecode each of them compiles
# the whole package, which takes a third of the time that it starts in.
sys.dont_write_bytecode = False
os.environ.pop('PYTHONDONTWRITEBYTECODE', None)
