"""What a plan knows about its grid, as plain numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from gridwave.modes import SamplingMode
    from gridwave.typing import Array

LINE: Final = 64
"""Bytes of a cache line."""

_HOT_SPOTS: Final = 8


@dataclass(frozen=True)
class HotSpot:
    """A pixel that many points read.

    Attributes
    ----------
    y, x : int
        Its row and column.
    z : int
        Its plane, in a volume.
    taps : int
        How many taps of all grids land on it, for each channel: a bilinear point has four in all, eight in a volume.
    """

    y: int
    x: int
    taps: int
    z: int = 0


@dataclass(frozen=True)
class MachineRates:
    """What one core does in a second, for estimates; the defaults are those of a server core of 2024.

    Attributes
    ----------
    bytes : float
        Bytes read and written, together, when copying from one array to another (``gridwave bench`` measures it).
    operations : float
        Multiplications and additions of the interpolation with channels last, when pixels fill vectors of 16 floats.
    planar_operations : float
        The same with channels first, where neighbours have to be shuffled into place.
    random_bytes : float
        Bytes read from here and there.
    transform_seconds, table_seconds, planar_table_seconds : float
        Time for a point's coordinates, and for what it reads: with channels last, with channels first.
    cache_bytes : float
        A core's own cache: what is read again from inside it costs nothing here.
    """

    bytes: float = 25e9
    operations: float = 64e9
    planar_operations: float = 16e9
    random_bytes: float = 15e9
    transform_seconds: float = 0.5e-9
    table_seconds: float = 1e-9
    planar_table_seconds: float = 2.5e-9
    cache_bytes: float = 2 << 20


@dataclass(frozen=True)
class Estimate:
    """About how long one call takes on one core.

    Attributes
    ----------
    variant : str
        ``"dynamic NCHW"``, ``"dynamic NHWC"``, ``"plan NCHW"`` or ``"plan NHWC"``.
    bytes_moved : int
        Bytes that come from or go to memory outside a core's own cache.
    seconds : float
        Bytes, operations and points, each at its rate, added up: meant to put the variants in order, not to predict.
    """

    variant: str
    bytes_moved: int
    seconds: float


@dataclass(frozen=True)
class GridReport:
    """Where a planned grid points, and what a call of the plan moves.

    Positions are those of the grid before padding; pixels are counted as padding has them. Bytes and operations are for
    ``batch`` images of ``channels`` channels.

    Attributes
    ----------
    points : int
        Points of all grids; ``interior + partly_outside + outside``.
    interior, partly_outside, outside : int
        Points with all, some or none of their taps inside the image.
    with_nan, with_infinity : int
        Points with a coordinate that is not finite; they count as outside.
    taps : int
        Pixels read, for each channel.
    jumps : int
        Points that read more than 2 pixels away from the point before: few in a smooth grid, most in a random one.
    cells : int
        Different unit squares between pixel centres that hold a point.
    pixels : int
        Different pixels of an image that are read.
    image_pixels : int
        H times W, of a volume times D.
    contended : int
        Taps beyond the first on their pixel: in a backward pass, additions that meet an earlier one.
    hot_spots : tuple of HotSpot
        The pixels that are read most, at most 8.
    channels, batch : int
        What is reckoned with.
    grid_bytes, table_bytes, out_bytes : int
        The grid as it was given; what a plan reads of its tables instead; the result.
    x_bytes_planar, x_bytes_interleaved : int
        Cache lines of ``x`` that are touched, in bytes, with channels first and with channels last.
    operations : int
        Multiplications and additions of the interpolation.
    estimates : tuple of Estimate
        The variants, the fastest first.
    """

    points: int
    interior: int
    partly_outside: int
    outside: int
    with_nan: int
    with_infinity: int
    taps: int
    jumps: int
    cells: int
    pixels: int
    image_pixels: int
    contended: int
    hot_spots: tuple[HotSpot, ...]
    channels: int
    batch: int
    grid_bytes: int
    table_bytes: int
    out_bytes: int
    x_bytes_planar: int
    x_bytes_interleaved: int
    operations: int
    estimates: tuple[Estimate, ...] = ()

    def __str__(self) -> str:
        def share(count: int, of: int) -> str:
            return f"{count:>12,}  {count / of:7.2%}" if of else f"{count:>12,}"

        lines = [
            f"points               {self.points:>12,}",
            f"  interior           {share(self.interior, self.points)}",
            f"  partly outside     {share(self.partly_outside, self.points)}",
            f"  outside            {share(self.outside, self.points)}",
            f"  with NaN           {share(self.with_nan, self.points)}",
            f"  with infinity      {share(self.with_infinity, self.points)}",
            f"  jumps              {share(self.jumps, self.points)}",
            f"cells with points    {self.cells:>12,}",
            f"pixels read          {share(self.pixels, self.image_pixels)}",
            f"taps                 {self.taps:>12,}",
            f"  on a pixel again   {share(self.contended, self.taps)}",
            f"bytes, {self.batch} x {self.channels} channels",
            f"  grid               {self.grid_bytes:>12,}",
            f"  table              {self.table_bytes:>12,}",
            f"  x, channels first  {self.x_bytes_planar:>12,}",
            f"  x, channels last   {self.x_bytes_interleaved:>12,}",
            f"  result             {self.out_bytes:>12,}",
            f"operations           {self.operations:>12,}",
        ]
        if self.hot_spots:
            flat = not any(spot.z for spot in self.hot_spots)
            lines.append(
                "pixels read most (row, column: taps)" if flat else "voxels read most (plane, row, column: taps)"
            )
            lines += [f"  {'' if flat else f'{s.z}, '}{s.y}, {s.x}: {s.taps:,}" for s in self.hot_spots]
        lines.append("estimates, one core")
        lines += [f"  {e.variant:<19}{e.seconds * 1e3:>12.3f} ms  {e.bytes_moved:>14,} bytes" for e in self.estimates]
        return "\n".join(lines)


def report_of(
    counts: list[int],
    grid: Array,
    size: tuple[int, ...],
    mode: SamplingMode,
    channels_last: bool,
    item: int,
    channels: int,
    batch: int,
    rates: MachineRates,
) -> GridReport:
    """Return core's counts as a report on images of ``channels`` channels of ``item`` bytes."""
    (
        points, interior, partly_outside, outside, with_nan, with_infinity, taps, jumps, cells, pixels, contended,
        *planar,
    ) = counts  # fmt: skip
    hot = planar[4:]
    spots = [_hot_spot(hot[2 * i], hot[2 * i + 1], size) for i in range(_HOT_SPOTS) if hot[2 * i + 1]]
    images = batch / grid.shape[0] if grid.shape[0] else 0.0
    pixel = channels * item
    lines = planar[item.bit_length() - 1] * LINE
    coordinates = len(size) * max(4, grid.itemsize)
    tables = mode == "bilinear" and len(size) == 2
    sorted_entry = 48 if grid.itemsize == 8 else 32
    report = GridReport(
        points=points,
        interior=interior,
        partly_outside=partly_outside,
        outside=outside,
        with_nan=with_nan,
        with_infinity=with_infinity,
        taps=taps,
        jumps=jumps,
        cells=cells,
        pixels=pixels,
        image_pixels=math.prod(size),
        contended=contended,
        hot_spots=tuple(spots),
        channels=channels,
        batch=batch,
        grid_bytes=grid.nbytes,
        table_bytes=points * (sorted_entry if tables and channels_last else coordinates),
        out_bytes=round(points * images) * pixel,
        x_bytes_planar=lines * channels * batch,
        # Pixels narrower than a line share it as those of a plane do.
        x_bytes_interleaved=(pixels * pixel if pixel >= LINE else min(lines * channels, pixels * LINE)) * batch,
        operations=round(taps * images) * channels * 2,
    )
    return replace(report, estimates=_estimates(report, mode, item, sorted_entry if tables else 0, coordinates, rates))


def _hot_spot(pixel: int, taps: int, size: tuple[int, ...]) -> HotSpot:
    row, x = divmod(pixel, size[-1])
    z, y = divmod(row, size[-2])
    return HotSpot(y, x, taps, z)


def _estimates(
    r: GridReport, mode: SamplingMode, item: int, sorted_entry: int, coordinates: int, rates: MachineRates
) -> tuple[Estimate, ...]:
    """Return the variants in order of their time; ``sorted_entry``: bytes of a point in a plan's table, 0 without one.

    Channels first, a grid that jumps has its image packed into blocks of channels: read and written once more. Channels
    last, its points read their lines again and again, as far as the image does not stay in the core's cache; in a plan
    each line is read once, but the result is written here and there.
    """
    wild = r.jumps / r.points if r.points else 0.0
    image = r.image_pixels * r.channels * item * r.batch
    missed = max(0.0, 1 - rates.cache_bytes / max(1, image))
    taps = r.operations / (2 * max(1, r.channels))
    again = max(0.0, wild * taps * max(LINE, r.channels * item) * missed - r.x_bytes_interleaved)
    straight = r.x_bytes_interleaved + r.out_bytes
    sorts = sorted_entry > 0 and r.channels * item >= LINE
    first = r.x_bytes_planar * (1 + (2 * wild if r.channels > 2 else 0)) + r.out_bytes
    # Separable, bicubic takes half of what its taps would.
    first_time = r.operations / (rates.planar_operations * (2 if mode == "bicubic" else 1))
    first_time += r.points * rates.planar_table_seconds
    last_time = r.operations / (rates.operations * min(1.0, max(1, r.channels) / 16))
    table_time, transform = r.points * rates.table_seconds, r.points * rates.transform_seconds

    def estimate(variant: str, moved: float, again: float, seconds: float) -> Estimate:
        return Estimate(variant, round(moved + again), moved / rates.bytes + again / rates.random_bytes + seconds)

    planned = r.points * coordinates
    variants = [
        estimate("dynamic NCHW", first + r.grid_bytes, 0, first_time + transform),
        estimate("dynamic NHWC", straight + r.grid_bytes, again, last_time + table_time + transform),
        estimate("plan NCHW", first + planned, 0, first_time),
        estimate("plan NHWC", straight + r.points * sorted_entry, 0.2 * wild * r.out_bytes, last_time)
        if sorts
        else estimate("plan NHWC", straight + planned, again, last_time + table_time),
    ]
    return tuple(sorted(variants, key=lambda e: e.seconds))
