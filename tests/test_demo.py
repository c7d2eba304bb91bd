"""The demo: its steps reach the numbers they promise, its picture is written, broken files are refused by name."""

from __future__ import annotations

import io
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw

from gridwave import demo
from gridwave.demo import flow, homography, photograph, registration, scene, steps, volume
from gridwave.errors import ArgumentError, FileFormatError, GridwaveError


def silent(_: str) -> None:
    """Take a line of progress and do nothing with it."""


def shapes(height: int = 150, width: int = 180) -> Image.Image:
    """Discs of many sizes and colours: something for the descent to hold on to."""
    random = np.random.default_rng(0)
    picture = Image.new("RGB", (width, height), (90, 100, 110))
    pencil = ImageDraw.Draw(picture)
    for _ in range(40):
        x, y, r = (int(random.integers(0, n)) for n in (width, height, min(height, width) // 5))
        pencil.ellipse((x - r - 5, y - r - 5, x + r + 5, y + r + 5), fill=tuple(random.integers(0, 255, 3).tolist()))
    return picture


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("photos") / "shapes.png"
    shapes().save(path)
    return path


# --- the whole of it


def test_run_on_a_small_picture_writes_one_png(small: Path, tmp_path: Path) -> None:
    lines: list[str] = []
    output = demo.run(small, tmp_path / "out.png", lines.append)
    assert output == tmp_path / "out.png"
    with Image.open(output) as picture:
        assert picture.format == "PNG"
        assert picture.mode == "RGB"
        assert picture.width > 1200
        assert picture.height > 800
        assert np.asarray(picture).std() > 30
    assert [path.name for path in tmp_path.iterdir()] == ["out.png"]
    text = "\n".join(lines)
    assert "mean corner error" in text
    assert "4  a volume, turned in space" in text
    assert "turned minus the phantom itself" in text
    assert "not registered" not in text
    assert "s in all" in text


def test_run_on_the_default_photograph(tmp_path: Path) -> None:
    lines: list[str] = []
    demo.run(None, tmp_path / "out.png", lines.append, long_side=300)
    assert lines[0].endswith("grace_hopper.jpg")
    assert "reduced from 512 x 600" in lines[1]
    with Image.open(tmp_path / "out.png") as picture:
        assert picture.size == (1686, 1836)


def test_run_gives_the_same_picture_twice(small: Path, tmp_path: Path) -> None:
    for name in ("a.png", "b.png"):
        demo.run(small, tmp_path / name, silent)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


@pytest.mark.parametrize("suffix", list(steps.SUFFIXES))
def test_every_suffix_is_written_in_its_format(suffix: str, tmp_path: Path) -> None:
    steps._write(np.zeros((8, 8, 3), np.uint8), tmp_path / f"out{suffix}")
    with Image.open(tmp_path / f"out{suffix}") as picture:
        assert picture.format == steps.SUFFIXES[suffix]


def test_importing_the_demo_draws_in_neither_matplotlib_nor_pillow() -> None:
    code = "import sys, gridwave.demo; sys.exit('matplotlib' in sys.modules or 'PIL' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- the steps


def test_registration_of_the_default_photograph_is_within_half_a_pixel() -> None:
    photo = photograph.load(photograph.default_photograph(), 1024, silent)
    lines: list[str] = []
    result = registration.register_demo(photo, lines.append)
    assert result.steps[0].corner_error > 50
    assert result.corner_error < 0.5
    assert len(lines) >= 10
    np.testing.assert_allclose(result.found, result.truth, atol=2e-3)


def test_registration_gradient_is_the_slope_of_the_loss(small: Path) -> None:
    """A central difference along each of the six parameters, in float64."""
    photo = photograph.load(small, 1024, silent)
    grey = np.ascontiguousarray(photo[:, :1], dtype=np.float64)
    theta = registration.unknown_warp(*grey.shape[2:]).astype(np.float64)
    reference = np.ascontiguousarray(grey[..., ::-1])
    _, gradient = registration.loss_and_gradient(theta, grey, reference)
    for index in np.ndindex(1, 2, 3):
        change = np.zeros_like(theta)
        change[index] = 1e-7
        above, _ = registration.loss_and_gradient(theta + change, grey, reference)
        below, _ = registration.loss_and_gradient(theta - change, grey, reference)
        assert gradient[index] == pytest.approx((above - below) / 2e-7, rel=1e-2, abs=1e-4)


def test_rectified_view_is_the_photograph_where_the_camera_has_the_pixels(small: Path) -> None:
    photo = photograph.load(small, 1024, silent)
    result = scene.rectify(photo, 1.7)
    sharp, everywhere = scene.rectified_error(result)
    assert result.birdseye.shape == photo.shape
    assert sharp < everywhere < 12
    shifted = np.roll(photo, 2, axis=3)
    assert 255 * np.sqrt(((shifted - photo) ** 2).mean()) > 1.5 * everywhere


def test_inverse_flow_undoes_the_flow() -> None:
    forward = flow.swirl_and_wave(120, 100)
    back = flow.invert(forward)
    left_over = back + flow.sample(forward, back)
    assert np.abs(left_over).max() < 1e-3
    assert np.abs(forward).max() > 5


def test_constant_flow_shifts_by_whole_pixels() -> None:
    picture = np.arange(20, dtype=np.float32).reshape(1, 1, 4, 5)
    shift = np.zeros((1, 2, 4, 5), np.float32)
    shift[:, 0] = 1
    np.testing.assert_allclose(flow.sample(picture, shift)[..., :-1], picture[..., 1:], atol=1e-4)


# --- the volume


def test_turned_volume_is_the_turned_phantom() -> None:
    result = volume.turn(1.2)
    assert result.before.shape == result.after.shape == result.truth.shape
    assert 0 < 255 * result.error < 1.5
    assert result.nearest > 3 * result.error
    # It did turn, and about the right axes: the slice before is nothing like the slice after, nor are other turns.
    assert 255 * np.abs(result.before - result.after).max() > 100
    middle = result.middle
    for wrong in (volume.rotation(*volume.ANGLES).T, volume.rotation(*volume.ANGLES[::-1])):
        size: tuple[int, int, int] = result.before.shape[2:]  # type: ignore[assignment]
        other = volume.phantom(volume.voxel_centres(size) @ wrong.T.astype(np.float32), size[0] / 2)
        assert 255 * np.sqrt(((other - result.after)[0, 0, middle] ** 2).mean()) > 10


def test_rotation_turns_x_first() -> None:
    np.testing.assert_allclose(volume.rotation(90, 0, 0) @ [0, 1, 0], [0, 0, 1], atol=1e-15)
    np.testing.assert_allclose(volume.rotation(90, 0, 90) @ [0, 1, 0], [0, 0, 1], atol=1e-15)
    np.testing.assert_allclose(volume.rotation(0, 0, 90) @ [1, 0, 0], [0, 1, 0], atol=1e-15)
    turned = volume.rotation(*volume.ANGLES)
    np.testing.assert_allclose(turned @ turned.T, np.eye(3), atol=1e-15)


# --- homographies


def test_homography_from_four_points_maps_them_and_back() -> None:
    source = homography.corners(30, 40)
    target = np.array([[3, 2], [50, 8], [44, 60], [-5, 41]], float)
    matrix = homography.from_points(source, target)
    np.testing.assert_allclose(homography.apply(matrix, source), target, atol=1e-9)
    np.testing.assert_allclose(homography.apply(homography.inverse(matrix), target), source, atol=1e-9)


def test_homography_behind_the_horizon_is_far_outside() -> None:
    matrix = np.array([[1, 0, 0], [0, 1, 0], [0, -1, 2.0]])
    grid = homography.sampling_grid(matrix, (5, 3), (5, 3))
    assert grid.dtype == np.float32
    assert (grid[0, 2:] == homography.FAR_OUTSIDE).all()
    assert (np.abs(grid[0, 0]) < 1).all()


def test_magnification_of_a_stretch_is_its_smaller_side() -> None:
    np.testing.assert_allclose(homography.magnification(np.diag([3.0, 0.5, 1.0]), (2, 2)), 0.5)


# --- photographs from outside


def red_and_transparent() -> Image.Image:
    picture = Image.new("RGBA", (120, 100), (255, 0, 0, 255))
    picture.paste((0, 0, 0, 0), (60, 0, 120, 100))
    return picture


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16", "I", "F"])
def test_every_mode_is_read(mode: str, tmp_path: Path) -> None:
    ramp = np.tile(np.linspace(0, 1, 120), (100, 1))
    if mode == "F":
        picture = Image.fromarray(ramp.astype(np.float32) * 7 - 3)
    elif mode.startswith("I"):
        picture = Image.fromarray(np.rint(ramp * 65535).astype(np.uint16 if mode == "I;16" else np.int32))
    else:
        picture = Image.fromarray(np.rint(ramp * 255).astype(np.uint8)).convert(mode)
    path = tmp_path / "picture.tif"
    picture.save(path)
    photo = photograph.load(path, 1024, silent)
    assert photo.shape == (1, 3, 100, 120)
    assert photo.dtype == np.float32
    assert photo.flags.c_contiguous
    if mode != "1":
        np.testing.assert_allclose(photo[0, 1], ramp, atol=0.012)


def test_transparency_is_laid_over_white(tmp_path: Path) -> None:
    red_and_transparent().save(tmp_path / "clear.png")
    photo = photograph.load(tmp_path / "clear.png", 1024, silent)
    np.testing.assert_array_equal(photo[0, :, 0, 0], [1, 0, 0])
    np.testing.assert_array_equal(photo[0, :, 0, -1], [1, 1, 1])


def test_rotation_tag_is_honoured(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned: rotate by 90 degrees to the right
    shapes(100, 180).save(tmp_path / "turned.jpg", exif=exif)
    assert photograph.load(tmp_path / "turned.jpg", 1024, silent).shape == (1, 3, 180, 100)


def test_large_picture_is_reduced_and_says_so(tmp_path: Path) -> None:
    lines: list[str] = []
    shapes(1200, 2400).save(tmp_path / "large.jpg")
    assert photograph.load(tmp_path / "large.jpg", 1024, lines.append).shape == (1, 3, 512, 1024)
    assert "reduced from 2400 x 1200" in lines[0]


@pytest.mark.parametrize("size", [(1, 1), (500, 1), (3, 200)])
def test_tiny_and_thin_pictures_are_brought_to_a_size_that_shows_something(
    size: tuple[int, int], tmp_path: Path
) -> None:
    Image.new("L", size, 99).save(tmp_path / "thin.png")
    photo = photograph.load(tmp_path / "thin.png", 1024, silent)
    assert min(photo.shape[2:]) >= photograph.SMALLEST_SIDE
    assert max(photo.shape[2:]) <= 1024


def png_that_claims(width: int, height: int) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(b"\0" * 10)), (b"IEND", b"")]
    body = b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + body


def cut(picture: Image.Image, kind: str) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, format=kind)
    return buffer.getvalue()[: len(buffer.getvalue()) // 3]


BROKEN = {
    "empty.png": b"",
    "text.jpg": b"this is no picture\n" * 20,
    "cut.png": cut(shapes(), "PNG"),
    "cut.jpg": cut(shapes(), "JPEG"),
    "cut.tif": cut(shapes(), "TIFF"),
    "cut.webp": cut(shapes(), "WEBP"),
    "bomb.png": png_that_claims(60_000, 60_000),
    "bomb_edge.png": png_that_claims(14_000, 14_000),
    "program.eps": b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\nshowpage\n",
}


@pytest.mark.parametrize("name", list(BROKEN))
def test_broken_file_is_refused_by_name(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(BROKEN[name])
    with pytest.raises(FileFormatError, match=name.replace(".", r"\.")):
        demo.run(tmp_path / name, tmp_path / "out.png", silent)
    assert not (tmp_path / "out.png").exists()


def test_bytes_changed_at_random_never_give_another_error(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    for kind in ("PNG", "JPEG", "GIF", "TIFF", "BMP", "WEBP"):
        buffer = io.BytesIO()
        shapes(20, 24).save(buffer, format=kind)
        for _ in range(25):
            data = bytearray(buffer.getvalue())
            for place in random.integers(0, len(data), 6):
                data[place] = random.integers(0, 256)
            path = tmp_path / f"broken.{kind.lower()}"
            path.write_bytes(data)
            try:
                photo = photograph.load(path, 256, silent)
            except FileFormatError as error:
                named = path.name in str(error)
            else:
                named = bool(np.isfinite(photo).all())
            assert named


# --- places and arguments


def test_missing_photograph(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match=r"nowhere\.png does not exist"):
        demo.run(tmp_path / "nowhere.png", tmp_path / "out.png", silent)
    with pytest.raises(ArgumentError, match="is no file"):
        demo.run(tmp_path, tmp_path / "out.png", silent)


@pytest.mark.parametrize("output", ["no_such_folder/out.png", "out.txt", "out", "folder.png", "in.png"])
def test_output_that_cannot_be_written_is_found_out_first(output: str, small: Path, tmp_path: Path) -> None:
    (tmp_path / "folder.png").mkdir()
    photo = tmp_path / "in.png"
    photo.write_bytes(small.read_bytes())
    lines: list[str] = []
    with pytest.raises(GridwaveError, match="output must"):
        demo.run(photo, tmp_path / output, lines.append)
    assert lines == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.png", "in.png"]


def test_long_side_below_its_least(tmp_path: Path) -> None:
    with pytest.raises(ArgumentError, match="long_side must be at least 128"):
        demo.run(None, tmp_path / "out.png", silent, long_side=64)
