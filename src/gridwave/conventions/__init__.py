"""What each framework computes, as frozen data: one file per framework."""

from gridwave.conventions import ascend as ascend
from gridwave.conventions import onnx as onnx
from gridwave.conventions import onnxruntime as onnxruntime
from gridwave.conventions import torch as torch
from gridwave.conventions.spec import GridSampleSpec as GridSampleSpec

GRID_SAMPLE = {module.GRID_SAMPLE.name: module.GRID_SAMPLE for module in (torch, onnx, onnxruntime, ascend)}
"""Every grid_sample convention by its own name; mode, padding and align_corners are each framework's defaults."""
