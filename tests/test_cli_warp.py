"""gridwave warp: directions, units and formats against sums worked out here; broken, huge, wrong files; no halves."""

from __future__ import annotations

import io
import struct
import zlib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("gridwave._core", exc_type=ImportError)

from gridwave import like
from gridwave.cli import main
from gridwave.cli.app import ExitCode
from gridwave.pictures import files, warp

Capture = pytest.CaptureFixture[str]
Array = np.ndarray[Any, np.dtype[Any]]
RNG = np.random.default_rng(8)


def run(*arguments: Any) -> int:
    return main(["warp", *map(str, arguments)])


def noise(dtype: Any, *shape: int) -> Array:
    if np.dtype(dtype).kind == "f":
        return RNG.standard_normal(shape).astype(dtype)
    return RNG.integers(0, np.iinfo(dtype).max, shape, dtype=dtype, endpoint=True)


def opened(path: Path) -> Array:
    with Image.open(path) as picture:
        return np.asarray(picture)


KINDS = {
    "grey.png": noise(np.uint8, 20, 30), "grey16.png": noise(np.uint16, 20, 30), "rgb.png": noise(np.uint8, 20, 30, 3),
    "rgba.png": noise(np.uint8, 20, 30, 4), "la.png": noise(np.uint8, 20, 30, 2), "grey.tif": noise(np.uint8, 20, 30),
    "grey16.tif": noise(np.uint16, 20, 30), "rgb.tiff": noise(np.uint8, 20, 30, 3),
    "rgba.tif": noise(np.uint8, 20, 30, 4),
}  # fmt: skip
ARRAYS = {
    "u1.npy": noise(np.uint8, 20, 30, 3), "u2.npy": noise(np.uint16, 20, 30, 3), "i1.npy": noise(np.int8, 20, 30),
    "f2.npy": noise(np.float16, 20, 30, 7), "f4.npy": noise(np.float32, 20, 30), "f8.npy": noise(np.float64, 20, 30, 1),
    "big.npy": noise(np.float32, 20, 30).astype(">f4"),
}  # fmt: skip


def save(folder: Path, name: str, pixels: Array) -> Path:
    path = folder / name
    if path.suffix == ".npy":
        np.save(path, pixels)
    else:
        Image.fromarray(pixels).save(path)
    return path


# ------------------------------------------------------------------------------------------- formats and directions


@pytest.mark.parametrize("name", list(KINDS | ARRAYS))
def test_a_shift_by_whole_pixels_moves_every_kind(name: str, tmp_path: Path, capsys: Capture) -> None:
    """Output (x, y) reads input (x + 3, y - 2): the picture moves 3 to the left and 2 down, zeros come in."""
    pixels = (KINDS | ARRAYS)[name]
    source, target = save(tmp_path, name, pixels), tmp_path / f"out{Path(name).suffix}"
    assert run(source, target, "--affine", "1,0,3,0,1,-2") == ExitCode.CLEAN
    got = np.load(target) if target.suffix == ".npy" else opened(target)
    want = np.zeros_like(pixels, dtype=pixels.dtype.newbyteorder("="))
    want[2:, :-3] = pixels[:-2, 3:]
    assert got.dtype == want.dtype
    want = want[..., 0] if want.ndim == 3 and want.shape[2] == 1 else want
    np.testing.assert_allclose(got.astype(float), want.astype(float), atol=1e-9 if want.dtype.kind == "f" else 0)
    assert capsys.readouterr().out.startswith(f"wrote {target}: 30 x 20 pixels, ")


def test_jpeg_in_and_out(tmp_path: Path) -> None:
    smooth = np.add.outer(np.arange(40), np.arange(60)).astype(np.uint8)
    for pixels in (smooth, np.stack([smooth, smooth + 20, 200 - smooth], -1)):
        Image.fromarray(pixels).save(tmp_path / "in.jpg", quality=98)
        assert run(tmp_path / "in.jpg", tmp_path / "out.jpeg", "--affine", "-1,0,59,0,1,0") == ExitCode.CLEAN
        assert np.abs(opened(tmp_path / "out.jpeg").astype(int) - pixels[:, ::-1]).max() < 12


def test_the_matrix_goes_from_output_to_input_and_the_inverse_back(tmp_path: Path) -> None:
    pixels = noise(np.float64, 12, 16)
    source = save(tmp_path, "in.npy", pixels)
    # A quarter turn about the corner: the output pixel (x, y) reads (y, 11 - x).
    assert run(source, tmp_path / "a.npy", "--affine", "0,1,0,-1,0,11", "--size", "12x16") == ExitCode.CLEAN
    turned = np.load(tmp_path / "a.npy")
    np.testing.assert_allclose(turned, np.rot90(pixels, -1), atol=1e-12)
    # The same by the map from input to output: input (u, v) goes to (11 - v, u).
    forward = ("--affine", "0,-1,11,1,0,0", "--inverse", "--size", "12x16")
    assert run(source, tmp_path / "b.npy", *forward) == ExitCode.CLEAN
    np.testing.assert_allclose(np.load(tmp_path / "b.npy"), turned, atol=1e-12)
    nine = "0,2,0,-2,0,22,0,0,2"
    assert run(source, tmp_path / "c.npy", "--perspective", nine, "--size", "12x16") == ExitCode.CLEAN
    np.testing.assert_allclose(np.load(tmp_path / "c.npy"), turned, atol=1e-12)


def test_a_perspective_reads_where_its_division_says(tmp_path: Path) -> None:
    ramp = np.arange(50.0)[None].repeat(40, axis=0)  # the value is x
    m = np.array([1.1, 0.05, 2, 0.02, 0.9, 1, 0.004, 0.003, 1])
    source = save(tmp_path, "in.npy", ramp)
    assert (
        run(source, tmp_path / "out.npy", "--perspective", " ".join(map(str, m)), "--size", "20x10") == ExitCode.CLEAN
    )
    y, x = np.mgrid[:10, :20]
    want = (m[0] * x + m[1] * y + m[2]) / (m[6] * x + m[7] * y + m[8])
    np.testing.assert_allclose(np.load(tmp_path / "out.npy"), want, atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_a_flow_is_in_pixels_x_then_y(dtype: Any, tmp_path: Path) -> None:
    pixels = noise(np.float64, 15, 11)
    flow = np.zeros((6, 7, 2), dtype)
    flow[..., 0], flow[..., 1] = 1.5, 4
    source, field = save(tmp_path, "in.npy", pixels), save(tmp_path, "flow.npy", flow)
    assert run(source, tmp_path / "out.npy", "--flow", field, "--size", "7x6") == ExitCode.CLEAN
    want = (pixels[4:10, 1:8] + pixels[4:10, 2:9]) / 2
    np.testing.assert_allclose(np.load(tmp_path / "out.npy"), want, atol=1e-12)


@pytest.mark.parametrize("mode", ["bilinear", "nearest", "bicubic"])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_modes_and_paddings_reach_the_sampler(mode: str, padding: str, tmp_path: Path) -> None:
    """Against grid_sample itself, in a picture of several bands."""
    import gridwave as gw

    pixels = noise(np.uint8, 9, 10, 3)
    source = save(tmp_path, "in.png", pixels)
    matrix = np.array([[0.013, 0.001, -3.2003137], [-0.002, 0.011, -1.7002171]])
    text = ",".join(map(str, matrix.ravel()))
    options = ("--affine", text, "--size", "1500x1400", "--mode", mode, "--padding", padding)
    assert run(source, tmp_path / "out.png", *options) == ExitCode.CLEAN
    y, x = np.mgrid[:1400, :1500].astype(float)
    at = np.stack([row[0] * x + row[1] * y + row[2] for row in matrix], -1)
    grid = (2 * at + 1) / [10, 9] - 1
    want = gw.grid_sample(pixels[None], grid[None], mode, padding, layout="NHWC")[0]  # type: ignore[arg-type]
    np.testing.assert_array_equal(opened(tmp_path / "out.png"), want)


@pytest.mark.parametrize("width", [2, 7, 30, 101, 640])
def test_nearest_takes_the_even_pixel_at_every_half(width: int, tmp_path: Path) -> None:
    """Half a pixel further: (x + 0.5) to even, in pixels, whatever the width; mirrored at the outer edges."""
    row = np.arange(width, dtype=np.float64)
    source = save(tmp_path, "in.npy", row[None])
    for shift in (0.5, -0.5, width + 0.5, -2.5 * width):
        place = row + shift
        mirrored = np.minimum(np.mod(place + 0.5, 2 * width), 2 * width - np.mod(place + 0.5, 2 * width)) - 0.5
        for padding, index in (
            ("border", np.rint(place)),
            ("reflection", np.rint(mirrored)),
            ("zeros", np.rint(place)),
        ):
            options = ("--affine", f"1,0,{shift},0,1,0", "--mode", "nearest", "--padding", padding)
            assert run(source, tmp_path / "out.npy", *options) == ExitCode.CLEAN
            want = row[np.clip(index, 0, width - 1).astype(int)]
            if padding == "zeros":
                want = np.where((index >= 0) & (index < width), want, 0)
            np.testing.assert_array_equal(np.load(tmp_path / "out.npy")[0], want)


PEERS = {"opencv": like.opencv, "opencv4": like.opencv4}
BORDERS = {"zeros": "BORDER_CONSTANT", "border": "BORDER_REPLICATE", "reflection": "BORDER_REFLECT"}


@pytest.mark.parametrize("padding", list(BORDERS))
@pytest.mark.parametrize("flag", ["INTER_NEAREST", "INTER_LINEAR", "INTER_CUBIC", "INTER_AREA", "INTER_LANCZOS4"])
@pytest.mark.parametrize("peer", list(PEERS))
def test_like_is_that_opencv(peer: str, flag: str, padding: str, tmp_path: Path) -> None:
    """And OpenCV itself, where it is of that version."""
    calls: list[Any] = [PEERS[peer]]
    if find_spec("cv2"):
        import cv2

        if cv2.__version__.startswith({"opencv": "5", "opencv4": "4"}[peer]):
            calls.append(cv2)
    affine, nine = [0.9, 0.21, 1.3, -0.17, 1.1, 2.4], [0.9, 0.2, 1.0, -0.1, 1.1, 2.0, 0.002, -0.001, 1.0]
    flow = RNG.uniform(-3, 3, (20, 70, 2)).astype(np.float32)
    y, x = np.indices((20, 70), np.float32)
    for pixels in (noise(np.uint8, 20, 30, 3), noise(np.uint8, 20, 30)):
        source, field, target = save(tmp_path, "in.png", pixels), save(tmp_path, "f.npy", flow), tmp_path / "out.png"
        for cv in calls:
            code, border = getattr(cv, flag), getattr(cv, BORDERS[padding])
            how, size = {"borderMode": border}, (70, 20)
            for options, want in (
                (["--affine"], cv.warpAffine(pixels, np.reshape(affine, (2, 3)), size, None, code | 16, **how)),
                (["--inverse", "--affine"], cv.warpAffine(pixels, np.reshape(affine, (2, 3)), size, None, code, **how)),
                (
                    ["--perspective"],
                    cv.warpPerspective(pixels, np.reshape(nine, (3, 3)), size, None, code | 16, **how),
                ),
                (["--flow"], cv.remap(pixels, x + flow[..., 0], y + flow[..., 1], code, None, **how)),
            ):
                if peer == "opencv" and flag == "INTER_CUBIC" and "--perspective" in options and len(calls) > 1:
                    continue  # the last bits of its coordinates are not known
                value = {"--flow": field, "--perspective": ",".join(map(str, nine))}.get(
                    options[-1], ",".join(map(str, affine))
                )
                assert run(source, target, *options, value, "--size", "70x20", "--padding", padding,
                           "--like", f"{peer}:{flag}") == ExitCode.CLEAN  # fmt: skip
                np.testing.assert_array_equal(opened(target), want)


def test_like_refuses_what_opencv_refuses(tmp_path: Path, capsys: Capture) -> None:
    for pixels, flag, message in (
        (noise(np.uint8, 5, 6, 5), "INTER_CUBIC", "at most 4 channels"),
        (noise(np.float16, 5, 6), "INTER_LINEAR", "image must have dtype"),
        (noise(np.uint8, 1, 32767), "INTER_LINEAR", "16-bit coordinates"),
    ):
        source, target = save(tmp_path, "in.npy", pixels), tmp_path / "out.npy"
        options = ("--affine", "1,0,0,0,1,0", "--size", "4x4", "--like", f"opencv4:{flag}")
        assert run(source, target, *options) != ExitCode.CLEAN
        assert message in capsys.readouterr().err
        assert not target.exists()


def test_rotation_tags_palettes_bits_and_profiles(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    Image.fromarray(noise(np.uint8, 10, 18, 3)).save(tmp_path / "turned.jpg", exif=exif, icc_profile=b"profile" * 40)
    assert files.read(tmp_path / "turned.jpg").pixels.shape == (18, 10, 3)
    assert run(tmp_path / "turned.jpg", tmp_path / "out.png", "--affine", "1,0,0,0,1,0") == ExitCode.CLEAN
    with Image.open(tmp_path / "out.png") as picture:
        assert picture.size == (10, 18)
        assert picture.info["icc_profile"] == b"profile" * 40
    palette = Image.fromarray(noise(np.uint8, 8, 9, 3)).quantize(16)
    palette.save(tmp_path / "palette.png")
    np.testing.assert_array_equal(files.read(tmp_path / "palette.png").pixels, np.asarray(palette.convert("RGB")))
    palette.save(tmp_path / "clear.png", transparency=3)
    assert files.read(tmp_path / "clear.png").pixels.shape == (8, 9, 4)
    Image.fromarray(noise(np.uint8, 8, 9) > 127).save(tmp_path / "bits.png")
    assert set(np.unique(files.read(tmp_path / "bits.png").pixels)) == {0, 255}


# ------------------------------------------------------------------------------------------------------ hostile files


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width: int, height: int, depth: int, colour: int, rows: bytes) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


def encoded(pixels: Array, kind: str, **options: Any) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, format=kind, **options)
    return buffer.getvalue()


def array_file(array: Array) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def npy_that_claims(shape: str, dtype: str = "|u1") -> bytes:
    header = f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (117 - len(header)) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + b"\0" * 64


RGB, GREY = noise(np.uint8, 40, 50, 3), noise(np.uint8, 40, 50)
PAGES = [Image.fromarray(GREY), Image.fromarray(GREY)]
BROKEN: dict[str, tuple[bytes, str]] = {
    "empty.png": (b"", "cannot identify"),
    "text.jpg": (b"this is no picture\n" * 20, "cannot identify"),
    "cut.png": (encoded(RGB, "PNG")[:2000], "truncated"),
    "cut.jpg": (encoded(RGB, "JPEG")[:900], "truncated"),
    "cut.tif": (encoded(RGB, "TIFF")[:2000], "image must be"),
    "bomb.png": (png(60_000, 60_000, 8, 2, b"\0" * 10), "image must"),
    "bomb_edge.png": (png(14_000, 14_000, 8, 2, b"\0" * 10), "178956970 pixels"),
    "deep.png": (png(1, 1, 16, 2, b"\0" * 7), "16-bit colours"),
    "four.tif": (encoded(noise(np.float32, 9, 9), "TIFF"), "is F"),
    "print.jpg": (b"", "is CMYK"),
    "program.png": (b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\nshowpage\n", "cannot identify"),
    "empty.npy": (b"", "NumPy can read"),
    "text.npy": (b"hello" * 30, "NumPy can read"),
    "cut.npy": (array_file(RGB)[:1000], "must be whole"),
    "huge.npy": (npy_that_claims("(1000000, 1000000, 3)"), "must be whole"),
    "endless.npy": (npy_that_claims("(9223372036854775807, 9223372036854775807)"), "must be whole"),
    "negative.npy": (npy_that_claims("(-1, 4)"), "must be whole"),
    "zeros.npy": (npy_that_claims("(0, 9223372036854775807, 9223372036854775807)"), "NumPy can read"),
    "beyond.npy": (npy_that_claims("(0, 99999999999999999999999)"), "NumPy can read"),
    "evil.npy": (npy_that_claims("__import__('os').abort()"), "NumPy can read"),
    "object.npy": (npy_that_claims("(2, 2)", "|O"), "has object"),
    "long.npy": (array_file(np.zeros((4, 4), np.int64)), "has int64"),
    "complex.npy": (array_file(np.zeros((4, 4), np.complex64)), "has complex64"),
    "line.npy": (array_file(np.zeros(4)), r"\(H, W\) or \(H, W, C\)"),
    "nothing.npy": (array_file(np.zeros((0, 4))), "none of them 0"),
    "four.npy": (array_file(np.zeros((1, 2, 3, 4))), r"\(H, W\) or \(H, W, C\)"),
}


@pytest.mark.parametrize("name", list(BROKEN))
def test_broken_files_are_refused_by_name(name: str, tmp_path: Path, capsys: Capture) -> None:
    data, message = BROKEN[name]
    path = tmp_path / name
    if name == "print.jpg":
        Image.new("CMYK", (8, 8)).save(path)
    else:
        path.write_bytes(data)
    assert run(path, tmp_path / "out.npy", "--affine", "1,0,0,0,1,0") == ExitCode.COULD_NOT_RUN
    error = capsys.readouterr().err
    assert name in error
    assert error.count("\n") == 1
    with pytest.raises(files.FileFormatError, match=message):
        files.read(path)
    assert not (tmp_path / "out.npy").exists()


def test_pages_are_refused(tmp_path: Path, capsys: Capture) -> None:
    PAGES[0].save(tmp_path / "book.tif", save_all=True, append_images=PAGES[1:])
    assert run(tmp_path / "book.tif", tmp_path / "out.tif", "--affine", "1,0,0,0,1,0") == ExitCode.COULD_NOT_RUN
    assert "2 pages" in capsys.readouterr().err


def test_a_telephones_jpeg_is_its_first_picture(tmp_path: Path) -> None:
    first, preview = Image.fromarray(RGB), Image.fromarray(RGB[::2, ::2].copy())
    first.save(tmp_path / "photo.jpg", format="MPO", save_all=True, append_images=[preview])
    with Image.open(tmp_path / "photo.jpg") as picture:
        assert (picture.format, picture.n_frames) == ("MPO", 2)
    assert run(tmp_path / "photo.jpg", tmp_path / "out.jpg", "--affine", "1,0,0,0,1,0") == ExitCode.CLEAN
    with Image.open(tmp_path / "out.jpg") as picture:
        assert (picture.format, picture.size) == ("JPEG", (50, 40))


def test_an_archive_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "some.npz", a=GREY)
    (tmp_path / "some.npz").rename(tmp_path / "some.npy")
    with pytest.raises(files.FileFormatError, match="NumPy can read"):
        files.read(tmp_path / "some.npy")


def test_bytes_changed_at_random_never_give_another_error(tmp_path: Path) -> None:
    for kind, data in (
        ("png", encoded(RGB, "PNG")), ("jpg", encoded(RGB, "JPEG")), ("tif", encoded(RGB, "TIFF")),
        ("npy", array_file(GREY.astype(np.float32))),
    ):  # fmt: skip
        path = tmp_path / f"broken.{kind}"
        for _ in range(40):
            changed = bytearray(data)
            for place in RNG.integers(0, min(len(data), 400), 4):
                changed[place] = RNG.integers(0, 256)
            path.write_bytes(changed)
            code = run(path, tmp_path / "out.npy", "--affine", "1,0,0.5,0,1,0", "--size", "9x9")
            assert code in (ExitCode.CLEAN, ExitCode.COULD_NOT_RUN)


def flow_with(place: tuple[int, ...], value: float) -> Array:
    flow = np.zeros((4, 5, 2), np.float32)
    flow[place] = value
    return flow


FLOWS: dict[str, tuple[Array, str]] = {
    "nan": (flow_with((2, 3, 0), np.nan), "must be finite; .* 1 pixels that are not, the first at x 3, y 2"),
    "infinite": (flow_with((0, 1), np.inf), "must be finite"),
    "integers": (np.zeros((4, 5, 2), np.uint8), "must be of floats"),
    "long": (np.zeros((4, 5, 2), np.int64), "must have dtype"),
    "turned": (np.zeros((2, 4, 5), np.float32), "move its first axis to the end"),
    "volume": (np.zeros((4, 5, 3), np.float32), r"must have shape \(H, W, 2\)"),
    "flat": (np.zeros((4, 5), np.float32), r"must have shape \(H, W, 2\)"),
    "empty": (np.zeros((0, 5, 2), np.float32), r"must have shape \(H, W, 2\)"),
}


@pytest.mark.parametrize("name", list(FLOWS))
def test_bad_flows_are_refused(name: str, tmp_path: Path, capsys: Capture) -> None:
    flow, message = FLOWS[name]
    source, field = save(tmp_path, "in.png", GREY), save(tmp_path, "flow.npy", flow)
    assert run(source, tmp_path / "out.png", "--flow", field) == ExitCode.COULD_NOT_RUN
    assert "flow" in capsys.readouterr().err
    with pytest.raises(files.FileFormatError, match=message):
        warp.read_flow(field)
    assert not (tmp_path / "out.png").exists()


def test_places_beyond_all_bounds_are_outside(tmp_path: Path) -> None:
    source = save(tmp_path, "in.png", np.full((5, 6), 200, np.uint8))
    flow = np.full((3, 4, 2), 1e38, np.float32)
    flow[0] = -1e30
    flow[1] = 0
    field = save(tmp_path, "flow.npy", flow)
    assert run(source, tmp_path / "a.png", "--flow", field) == ExitCode.CLEAN
    assert opened(tmp_path / "a.png")[:, 0].tolist() == [0, 200, 0]
    assert run(source, tmp_path / "b.png", "--flow", field, "--padding", "border") == ExitCode.CLEAN
    assert (opened(tmp_path / "b.png") == 200).all()
    horizon = "1,0,0,0,1,0,0,1,-2"  # the row y = 2 is on it
    assert run(source, tmp_path / "c.png", "--perspective", horizon) == ExitCode.CLEAN
    assert not opened(tmp_path / "c.png")[2].any()


# -------------------------------------------------------------------------------------------------- usage and places


@pytest.mark.parametrize(
    "options",
    [
        [], ["--affine", "1,0,0,0,1,0", "--flow", "flow.npy"], ["--affine", "1,0,0,0,1"], ["--affine", "1,0,0,0,1,x"],
        ["--affine", "1,0,0,0,1,nan"], ["--affine", "1,0,0,0,1,inf"], ["--affine", ""], ["--affine"],
        ["--perspective", "1,0,0,0,1,0"], ["--affine", "1,0,0,2,0,0", "--inverse"],
        ["--perspective", "0,0,0,0,0,0,0,0,0", "--inverse"], ["--flow", "flow.npy", "--inverse"],
        ["--affine", "1,0,0,0,1,0", "--size", "10"], ["--affine", "1,0,0,0,1,0", "--size", "0x10"],
        ["--affine", "1,0,0,0,1,0", "--size", "-3x10"], ["--affine", "1,0,0,0,1,0", "--size", "99999x99999"],
        ["--affine", "1,0,0,0,1,0", "--size", "9" * 30 + "x1"], ["--affine", "1,0,0,0,1,0", "--mode", "linear"],
        ["--affine", "1,0,0,0,1,0", "--padding", "edge"], ["--flow", "missing.npy"], ["--nonsense"],
        ["--affine", "1,0,0,0,1,0", "--like", "opencv"], ["--affine", "1,0,0,0,1,0", "--like", "opencv3:INTER_LINEAR"],
        ["--affine", "1,0,0,0,1,0", "--like", "opencv:INTER_LINEAR_EXACT"], ["--like", "opencv:INTER_LINEAR"],
        ["--affine", "1,0,0,0,1,0", "--like", "opencv:INTER_LINEAR", "--mode", "nearest"],
    ],
    ids=" ".join,
)  # fmt: skip
def test_bad_usage(options: list[str], tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    save(tmp_path, "in.png", GREY)
    save(tmp_path, "flow.npy", np.zeros((4, 5, 2)))
    assert run("in.png", "out.png", *options) == ExitCode.USAGE
    assert capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["flow.npy", "in.png"]


def test_a_size_that_is_not_the_flows(tmp_path: Path, capsys: Capture) -> None:
    source, field = save(tmp_path, "in.png", GREY), save(tmp_path, "flow.npy", np.zeros((4, 5, 2)))
    assert run(source, tmp_path / "out.png", "--flow", field, "--size", "4x5") != ExitCode.CLEAN
    assert "size must be that of the flow, 5x4; got 4x5" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "pixels", "output"),
    [
        ("rgba.png", noise(np.uint8, 4, 4, 4), "out.jpg"), ("deep.npy", noise(np.uint16, 4, 4), "out.jpg"),
        ("deep.npy", noise(np.uint16, 4, 4, 3), "out.png"), ("float.npy", noise(np.float32, 4, 4), "out.png"),
        ("many.npy", noise(np.uint8, 4, 4, 5), "out.tif"), ("rgb.png", noise(np.uint8, 4, 4, 3), "out.bmp"),
        ("rgb.png", noise(np.uint8, 4, 4, 3), "out"), ("rgb.png", noise(np.uint8, 4, 4, 3), "rgb.png"),
        ("rgb.png", noise(np.uint8, 4, 4, 3), "folder.png"), ("rgb.png", noise(np.uint8, 4, 4, 3), "no/such.png"),
    ],
    ids=str,
)  # fmt: skip
def test_outputs_that_cannot_be(name: str, pixels: Array, output: str, tmp_path: Path, capsys: Capture) -> None:
    source = save(tmp_path, name, pixels)
    before = source.read_bytes()
    (tmp_path / "folder.png").mkdir()
    assert run(source, tmp_path / output, "--affine", "1,0,0,0,1,0") == ExitCode.USAGE
    assert "output must" in capsys.readouterr().err
    assert source.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([name, "folder.png"])


def test_a_missing_image(tmp_path: Path, capsys: Capture) -> None:
    assert run(tmp_path / "nowhere.png", tmp_path / "out.png", "--affine", "1,0,0,0,1,0") == ExitCode.USAGE
    assert "nowhere.png does not exist" in capsys.readouterr().err


def test_a_failure_while_writing_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, target = save(tmp_path, "in.png", GREY), save(tmp_path, "out.png", RGB)
    before = target.read_bytes()

    def fail(self: Image.Image, part: Any, **_: Any) -> None:
        Path(part).write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Image.Image, "save", fail)
    assert run(source, target, "--affine", "1,0,0,0,1,0") == ExitCode.USAGE
    assert target.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.png", "out.png"]
    monkeypatch.undo()
    assert run(source, target, "--affine", "1,0,0,0,1,0") == ExitCode.CLEAN
    np.testing.assert_array_equal(opened(target), GREY)


def test_help_says_which_way_and_in_what(capsys: Capture) -> None:
    assert main(["warp", "--help"]) == ExitCode.CLEAN
    text = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert "each output pixel reads the input where a matrix or a flow says" in text
    assert "from output pixels to input pixels" in text
    assert "(0, 0) at the centre of the first" in text
