"""What a plan knows about its grid, as plain numbers."""

from __future__ import annotations

from dataclasses import dataclass
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
    taps : int
        How many taps of all grids land on it, for each channel: of a bilinear point that is four in all.
    """

    y: int
    x: int
    taps: int


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
        H times W.
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
            lines.append("pixels read most (row, column: taps)")
            lines += [f"  {spot.y}, {spot.x}: {spot.taps:,}" for spot in self.hot_spots]
        return "\n".join(lines)


def report_of(
    counts: list[int],
    grid: Array,
    size: tuple[int, int],
    mode: SamplingMode,
    channels_last: bool,
    item: int,
    channels: int,
    batch: int,
) -> GridReport:
    """Return core's counts as a report on images of ``channels`` channels of ``item`` bytes."""
    (
        points, interior, partly_outside, outside, with_nan, with_infinity, taps, jumps, cells, pixels, contended,
        *planar,
    ) = counts  # fmt: skip
    hot = planar[4:]
    spots = [HotSpot(*divmod(hot[2 * i], size[1]), hot[2 * i + 1]) for i in range(_HOT_SPOTS) if hot[2 * i + 1]]
    images = batch / grid.shape[0] if grid.shape[0] else 0.0
    pixel = channels * item
    lines = planar[item.bit_length() - 1] * LINE
    coordinates = 2 * max(4, grid.itemsize)
    sorted_entry = 48 if grid.itemsize == 8 else 32
    return GridReport(
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
        image_pixels=size[0] * size[1],
        contended=contended,
        hot_spots=tuple(spots),
        channels=channels,
        batch=batch,
        grid_bytes=grid.nbytes,
        table_bytes=points * (sorted_entry if mode == "bilinear" and channels_last else coordinates),
        out_bytes=round(points * images) * pixel,
        x_bytes_planar=lines * channels * batch,
        # Pixels narrower than a line share it as those of a plane do.
        x_bytes_interleaved=(pixels * pixel if pixel >= LINE else min(lines * channels, pixels * LINE)) * batch,
        operations=round(taps * images) * channels * 2,
    )
