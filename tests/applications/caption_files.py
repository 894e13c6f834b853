"""Folders of captioned images that tests write."""

from tests.applications.image_files import picture


def captioned_folder(root, count=60):
    """Write `count` different images, each with two captions, one shared by all."""
    lines = []
    for value in range(count):
        picture(root / "more" / f"{value}.png", value)
        lines += [f"more/{value}.png\tPicture {value}.", f"more/{value}.png\ta picture"]
    (root / "captions.tsv").write_text("\n".join(lines), encoding="utf-8")
    return root
