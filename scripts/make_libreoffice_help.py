"""Make the embedded English-German help corpus again from its two Debian packages.

    python -m scripts.make_libreoffice_help

Prints the version of the packages and the counts that the builder's docstring
states. The same packages give the same file, byte for byte.
"""

from applications.datasets.libreoffice_help import corpus
from applications.datasets.pairs import split


def main() -> None:
    """Fetch, write, and print what was written."""
    pairs, version = corpus.fetch("de")
    corpus.write(pairs)
    size = corpus.EMBEDDED.stat().st_size
    words = sum(len(pair.source.split()) for pair in pairs) / len(pairs)
    print(f"{corpus.EMBEDDED.name}: {size} bytes from version {version}")
    print(f"{len(pairs)} pairs, {words:.1f} words per source sentence")
    for name, part in split(pairs).items():
        print(f"{name}: {len(part)} pairs, {len({pair.group for pair in part})} pages")


if __name__ == "__main__":
    main()
