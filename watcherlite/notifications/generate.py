"""Write everything that follows from the classes: `python -m` this module.

Run it after every change of a payload; a test fails until then.
"""

import pathlib
import sys

from watcherlite.notifications import reference, samples
from watcherlite.objects import catalogue

#: The root of the source tree.
ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / 'doc' / 'source' / 'notifications.rst'
SAMPLES = ROOT / 'doc' / 'notification_samples'
SCHEMA = ROOT / 'watcherlite' / 'notifications' / 'schema.py'


def files() -> dict[pathlib.Path, str]:
    """Return what is to be in which file."""
    texts = {
        SCHEMA: catalogue.source(),
        PAGE: reference.inserted(PAGE.read_text(encoding='utf-8')),
    }
    for event_type, document in samples.samples().items():
        texts[SAMPLES / samples.file_name(event_type)] = samples.text(document)
    return texts


def outdated() -> list[pathlib.Path]:
    """Return the files that differ from what they are to be, and stray samples."""
    texts = files()
    stray = [path for path in SAMPLES.glob('*') if path not in texts]
    return stray + [
        path
        for path, text in texts.items()
        if not path.exists() or path.read_text(encoding='utf-8') != text
    ]


def main() -> None:
    """Write the files that are out of date, and name them."""
    texts = files()
    for path in outdated():
        if path in texts:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(texts[path], encoding='utf-8')
            sys.stdout.write(f'written: {path.relative_to(ROOT)}\n')
        else:
            sys.stdout.write(f'not ours, delete it: {path.relative_to(ROOT)}\n')


if __name__ == '__main__':
    main()
