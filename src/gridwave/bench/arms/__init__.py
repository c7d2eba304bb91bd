"""The arms of the comparison: this library, and every peer that is installed, one file each."""

from __future__ import annotations

from gridwave.bench.arms.arm import Arm as Arm
from gridwave.bench.arms.ours import Gridwave as Gridwave


def peers() -> tuple[Arm, ...]:
    """Return every peer, installed or not; ask :meth:`Arm.available`."""
    from gridwave.bench.arms.onnxruntime import OnnxRuntime
    from gridwave.bench.arms.opencv import OpenCV
    from gridwave.bench.arms.opencv_images import OpenCVFixedMaps, OpenCVImages
    from gridwave.bench.arms.openvino import OpenVINO
    from gridwave.bench.arms.scipy import SciPy
    from gridwave.bench.arms.torch import TorchChannelsLast, TorchNCHW

    grids = TorchNCHW(), TorchChannelsLast(), OnnxRuntime(), OpenVINO(), OpenCV()
    return *grids, OpenCVImages(), OpenCVFixedMaps(), SciPy()
