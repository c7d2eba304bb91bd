"""Each framework's own calls: its names, its defaults and its numbers, without the framework."""

from gridwave.like import ascend as ascend
from gridwave.like import onnx as onnx
from gridwave.like import onnxruntime as onnxruntime
from gridwave.like import torch as torch
