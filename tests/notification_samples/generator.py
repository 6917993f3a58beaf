"""Write the samples and the reference of the notifications.

Run `python -m tests.notification_samples.generator` after every change of a payload; a
test fails until then.
"""

import pathlib
import sys

from tests.notification_samples import documents, reference

#: The root of the source tree.
ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / 'doc' / 'source' / 'notifications.rst'
SAMPLES = ROOT / 'doc' / 'notification_samples'


def files() -> dict[pathlib.Path, str]:
    """Return the text of each generated file."""
    texts = {PAGE: reference.fill_page(PAGE.read_text(encoding='utf-8'))}
    for event_type, document in documents.samples().items():
        texts[SAMPLES / documents.file_name(event_type)] = documents.text(document)
    return texts


def outdated() -> list[pathlib.Path]:
    """Return the files that are out of date, and stray samples."""
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
            sys.stdout.write(f'not generated, delete it: {path.relative_to(ROOT)}\n')


if __name__ == '__main__':
    main()
