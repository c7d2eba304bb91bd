"""What each framework computes, as frozen data: one file per framework."""

from gridwave.conventions import ascend as ascend
from gridwave.conventions import mindspore as mindspore
from gridwave.conventions import mnn as mnn
from gridwave.conventions import ncnn as ncnn
from gridwave.conventions import onnx as onnx
from gridwave.conventions import onnxruntime as onnxruntime
from gridwave.conventions import openvino as openvino
from gridwave.conventions import paddle as paddle
from gridwave.conventions import torch as torch
from gridwave.conventions.spec import GridSampleSpec as GridSampleSpec

_FRAMEWORKS = (torch, onnx, onnxruntime, ascend, openvino, paddle, mindspore, ncnn, mnn)

GRID_SAMPLE = {module.GRID_SAMPLE.name: module.GRID_SAMPLE for module in _FRAMEWORKS}
"""Every grid_sample convention by its own name; mode, padding and align_corners are each framework's defaults."""
