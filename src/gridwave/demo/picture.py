"""The one picture of all the steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from gridwave.demo.flow import Warped, restored_error
from gridwave.demo.registration import Registration
from gridwave.demo.scene import Rectified, rectified_error
from gridwave.demo.volume import Turned

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Picture = NDArray[np.float32]

DPI = 100
PANEL_AREA = 300 * 352
MARGIN, GAP, HEADING, TITLE, BELOW, HEADER, FOOTER, COLOUR_BAR = 36, 22, 34, 26, 20, 64, 44, 62
COLUMNS, ROWS = 5, 4
LARGEST_DIFFERENCE = 32
"""Where the colours of the difference maps end, in levels of 255."""

_TEXT, _FAINT = "#1f2933", "#7b8794"
_BLUE, _ORANGE = "#1f6fb2", "#d9662b"


@dataclass(frozen=True, slots=True)
class _Sheet:
    """Places panels by row and column; all lengths in pixels of the finished picture."""

    figure: Figure
    panel_width: float
    panel_height: float
    width: float
    height: float

    def top(self, row: int) -> float:
        return HEADER + row * (HEADING + TITLE + self.panel_height + BELOW)

    def text(self, x: float, y: float, words: str, size: float, **style: Any) -> None:
        style = {
            "color": _TEXT,
            "va": "baseline",
            "ha": "left",
            "parse_math": False,
            "fontsize": size * 72 / DPI,
        } | style
        self.figure.text(x / self.width, 1 - y / self.height, words, style)

    def heading(self, row: int, words: str, result: str) -> None:
        self.text(MARGIN, self.top(row) + 20, words, 17, fontweight="bold")
        self.text(self.right, self.top(row) + 20, result, 14, ha="right", color=_BLUE)

    @property
    def right(self) -> float:
        return MARGIN + COLUMNS * self.panel_width + (COLUMNS - 1) * GAP

    def left(self, column: int) -> float:
        return MARGIN + column * (self.panel_width + GAP)

    def axes(self, x: float, y: float, width: float, height: float) -> Axes:
        box = (x / self.width, 1 - (y + height) / self.height, width / self.width, height / self.height)
        return self.figure.add_axes(box)

    def panel(self, row: int, column: int, title: str, columns: int = 1) -> Axes:
        y = self.top(row) + HEADING + TITLE
        self.text(self.left(column), y - 8, title, 13.5)
        return self.axes(self.left(column), y, columns * self.panel_width + (columns - 1) * GAP, self.panel_height)

    def image(self, row: int, column: int, title: str, pixels: Picture, columns: int = 1, **style: Any) -> Axes:
        axes = self.panel(row, column, title, columns)
        axes.imshow(pixels, **style)
        axes.set_axis_off()
        return axes

    def difference(self, row: int, title: str, difference: Picture) -> Axes:
        """Draw a map of differences in levels of 255, in the last column, with its scale beside it."""
        axes = self.panel(row, COLUMNS - 1, title)
        drawn = axes.imshow(difference * 255, vmin=0, vmax=LARGEST_DIFFERENCE, cmap="magma")
        axes.set_axis_off()
        bar = self.axes(self.right + 10, self.top(row) + HEADING + TITLE, 12, self.panel_height)
        self.figure.colorbar(drawn, cax=bar, extend="max", extendfrac=0.03, ticks=range(0, LARGEST_DIFFERENCE + 1, 8))
        bar.tick_params(labelsize=11 * 72 / DPI, colors=_TEXT, length=2)
        bar.spines["outline"].set_visible(False)
        return axes


def draw(
    name: str, photo: Picture, rectified: Rectified, warped: Warped, registration: Registration, turned: Turned
) -> NDArray[np.uint8]:
    """Draw the steps on one sheet.

    Parameters
    ----------
    name : str
        What the photograph is called.
    photo : array, (1, 3, H, W), float32
        The photograph.
    rectified, warped, registration, turned
        What the four steps gave.

    Returns
    -------
    array, (height, width, 3), uint8
    """
    import matplotlib

    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # the reader's own matplotlibrc must not change the picture
        return _draw(name, photo, rectified, warped, registration, turned)


def _draw(
    name: str, photo: Picture, rectified: Rectified, warped: Warped, registration: Registration, turned: Turned
) -> NDArray[np.uint8]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    aspect = float(np.clip(photo.shape[3] / photo.shape[2], 0.7, 2.0))
    panel_width, panel_height = round((PANEL_AREA * aspect) ** 0.5), round((PANEL_AREA / aspect) ** 0.5)
    width = MARGIN + COLUMNS * panel_width + (COLUMNS - 1) * GAP + COLOUR_BAR
    height = HEADER + ROWS * (HEADING + TITLE + panel_height + BELOW) + FOOTER
    figure = Figure(figsize=(width / DPI, height / DPI), dpi=DPI, facecolor="white")
    canvas = FigureCanvasAgg(figure)
    sheet = _Sheet(figure, panel_width, panel_height, width, height)

    sheet.text(MARGIN, 40, "gridwave", 26, fontweight="bold", color=_BLUE)
    sheet.text(MARGIN + 148, 40, "grid_sample, forward and backward, on a photograph and a volume", 17)
    sheet.text(sheet.right, 40, _printable(name), 13, ha="right", color=_FAINT)
    _draw_rectified(sheet, photo, rectified)
    _draw_warped(sheet, photo, warped)
    _draw_registration(sheet, registration)
    _draw_turned(sheet, turned)
    note = (
        "Sampled by gridwave.grid_sample; the descent's gradients come from grid_sample_backward and "
        "affine_grid_backward. Differences: root mean square over the colours, in levels of 255."
    )
    sheet.text(MARGIN, height - 18, note, 12.5, color=_FAINT)
    canvas.draw()
    return np.asarray(canvas.buffer_rgba())[..., :3].copy()


def _draw_rectified(sheet: _Sheet, photo: Picture, result: Rectified) -> None:
    sharp, everywhere = rectified_error(result)
    where = f"{sharp:.1f} where the camera has the pixels, " if np.isfinite(sharp) else ""
    sheet.heading(0, "1  A perspective view, rectified", f"difference {where}{everywhere:.1f} everywhere")
    sheet.image(0, 0, "the photograph", _channels_last(photo))
    axes = sheet.image(0, 1, "laid on the ground and seen by a camera", _channels_last(result.view), 2)
    ring = np.append(result.corners, result.corners[:1], axis=0)
    axes.plot(ring[:, 0], ring[:, 1], color="white", linewidth=1.0, alpha=0.8)
    axes.plot(ring[:, 0], ring[:, 1], "o", color=_ORANGE, markersize=6, markeredgecolor="white", markeredgewidth=1.2)
    sheet.image(0, 3, "bird's-eye view, recovered", _channels_last(result.birdseye))
    axes = sheet.difference(0, "recovered minus photograph", result.difference)
    if 0.08 < result.sharp.mean() < 1:
        axes.contour(result.sharp.astype(float), levels=[0.5], colors="white", linewidths=1.0, linestyles="dashed")
        y, x = np.argwhere(result.sharp).mean(axis=0)
        axes.text(x, y, "camera has\nthe pixels", color="white", fontsize=8, ha="center", va="center")


def _draw_warped(sheet: _Sheet, photo: Picture, result: Warped) -> None:
    height, width = photo.shape[2:]
    largest = float(np.hypot(*result.flow[0]).max())
    outcome = f"flow up to {largest:.0f} px; difference after undoing it {255 * restored_error(result):.1f}"
    sheet.heading(1, "2  A warp by a flow field, and back", outcome)
    axes = sheet.image(1, 0, "flow: where each pixel reads from", _channels_last(0.35 * photo + 0.65))
    step = max(1, round((height * width) ** 0.5 / 15))
    y, x = np.mgrid[step // 2 : height : step, step // 2 : width : step]
    u, v = result.flow[0][:, y, x]
    axes.quiver(
        x, y, u, v, np.hypot(u, v), cmap="viridis", angles="xy", scale_units="xy", scale=1.0, width=0.0045, headwidth=4
    )
    axes.set(xlim=(-0.5, width - 0.5), ylim=(height - 0.5, -0.5))

    axes = sheet.image(1, 1, "a square grid, drawn through the flow", _channels_last(0.35 * result.picture + 0.65))
    lines = max(2, round((height * width) ** 0.5 / 14))
    for along, size in enumerate((width, height)):
        place = np.arange(size) if along == 0 else np.arange(size)[:, np.newaxis]
        axes.contour(place + result.flow[0, along], levels=np.arange(0, size, lines), colors=_BLUE, linewidths=0.9)
    sheet.image(1, 2, "the photograph, warped", _channels_last(result.picture))
    sheet.image(1, 3, "warped back by the inverse flow", _channels_last(result.restored))
    sheet.difference(1, "restored minus photograph", result.difference)


def _draw_registration(sheet: _Sheet, result: Registration) -> None:
    first, last = result.steps[0].corner_error, result.corner_error
    found = "" if last < 1 else "not registered: "
    sheet.heading(
        2, "3  Two pictures, registered by descent", f"{found}corners {first:.1f} px off before, {last:.3f} px after"
    )
    sheet.image(2, 0, "before: reference red, moving cyan", _overlay(result.reference, result.moving))
    sheet.image(2, 1, "after: grey where they agree", _overlay(result.reference, result.aligned))
    _draw_curve(sheet.panel(2, 2, "the descent, from coarse to fine (height x width)", columns=2), sheet, result)
    sheet.difference(2, "aligned minus reference", np.abs(result.aligned - result.reference)[0, 0])


def _draw_curve(axes: Axes, sheet: _Sheet, result: Registration) -> None:
    loss = [step.loss for step in result.steps]
    error = [max(step.corner_error, 1e-4) for step in result.steps]
    side, below = 58 / sheet.width, 38 / sheet.height  # room for the labels
    box = axes.get_position()
    axes.set_position((box.x0 + side, box.y0 + below, box.width - 2 * side, box.height - below))
    other = axes.twinx()
    axes.semilogy(loss, color=_BLUE, linewidth=1.8)
    other.semilogy(error, color=_ORANGE, linewidth=1.8)
    axes.set_xlim(0, max(1, len(loss) - 1))
    axes.set_xlabel("step", fontsize=9, color=_TEXT)
    axes.set_ylabel("loss: mean squared difference", fontsize=9, color=_BLUE)
    other.set_ylabel("corner error, pixels", fontsize=9, color=_ORANGE)
    for one, colour in ((axes, _BLUE), (other, _ORANGE)):
        one.tick_params(labelsize=8.5, color=_FAINT)
        one.tick_params(axis="y", labelcolor=colour)
        one.tick_params(which="minor", length=0, labelleft=False, labelright=False)
        for edge in one.spines.values():
            edge.set_color("#cbd2d9")
    axes.grid(axis="y", color="#e4e7eb", linewidth=0.8)
    sizes = [(step.height, step.width) for step in result.steps]
    starts = [0] + [i for i in range(1, len(sizes)) if sizes[i] != sizes[i - 1]]
    for start, end in zip(starts, [*starts[1:], len(sizes) - 1], strict=True):
        if start:
            axes.axvline(start, color="#cbd2d9", linewidth=0.9, linestyle=(0, (4, 3)))
        label = f"{sizes[start][0]} x\n{sizes[start][1]}"
        axes.text((start + end) / 2, 0.98, label, transform=axes.get_xaxis_transform(), va="top", ha="center",
                  fontsize=8, color=_FAINT)  # fmt: skip


def _draw_turned(sheet: _Sheet, result: Turned) -> None:
    d, h, w = result.before.shape[2:]
    sheet.heading(
        3, f"4  A volume, turned in space ({d} x {h} x {w} voxels)",
        f"error {255 * result.error:.1f} of 255; by the nearest voxel {255 * result.nearest:.1f}",
    )  # fmt: skip
    style: dict[str, Any] = {"cmap": "gray", "vmin": 0.0, "vmax": 0.85}
    before, after, truth = (volume[0, 0, result.middle] for volume in (result.before, result.after, result.truth))
    sheet.image(3, 0, "a phantom: its middle slice", before, **style)
    axes = sheet.image(3, 1, "turned by grid_sample: the same slice", after, **style)
    axes.axhline(h // 2, color=_ORANGE, linewidth=1.0, linestyle=(0, (5, 4)))
    axes.set(xlim=(-0.5, w - 0.5), ylim=(h - 0.5, -0.5))
    _draw_profile(sheet.panel(3, 2, "along the dashed line", columns=2), sheet, after[h // 2], truth[h // 2])
    sheet.difference(3, "turned minus the phantom at these places", np.abs(after - truth))


def _draw_profile(axes: Axes, sheet: _Sheet, sampled: Picture, truth: Picture) -> None:
    side, below = 58 / sheet.width, 38 / sheet.height  # room for the labels
    box = axes.get_position()
    axes.set_position((box.x0 + side, box.y0 + below, box.width - side, box.height - below))
    axes.plot(255 * truth, color=_BLUE, linewidth=3.2, alpha=0.45, label="the phantom, computed")
    axes.plot(255 * sampled, color=_ORANGE, linewidth=1.3, label="sampled")
    axes.set_xlim(0, len(truth) - 1)
    axes.set_ylim(-8, 244)
    axes.set_xlabel("voxel", fontsize=9, color=_TEXT)
    axes.set_ylabel("grey, of 255", fontsize=9, color=_TEXT)
    axes.tick_params(labelsize=8.5, color=_FAINT)
    for edge in axes.spines.values():
        edge.set_color("#cbd2d9")
    axes.grid(axis="y", color="#e4e7eb", linewidth=0.8)
    axes.legend(fontsize=8.5, frameon=False, loc="upper center", ncols=2, bbox_to_anchor=(0.5, 1.02))


def _channels_last(picture: Picture) -> Picture:
    return np.asarray(np.clip(picture[0].transpose(1, 2, 0), 0.0, 1.0))


def _overlay(reference: Picture, other: Picture) -> Picture:
    """Put the reference in red and the other in cyan: equal greys stay grey."""
    return _channels_last(np.concatenate([reference, other, other], axis=1))


def _printable(name: str) -> str:
    """Return a file's name as the picture's font can write it."""
    plain = "".join(c if c.isascii() and c.isprintable() else "?" for c in name)
    return plain if len(plain) <= 60 else plain[:57] + "..."
