"""The tests; README.rst describes their layout."""

import os
import sys

# Hundreds of processes load the same modules. Without bytecode, each of them compiles
# the whole package, which takes a third of the start time.
sys.dont_write_bytecode = False
os.environ.pop('PYTHONDONTWRITEBYTECODE', None)
