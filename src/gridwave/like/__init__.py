"""Each framework's own calls: its names, its defaults and its numbers, without the framework."""

from gridwave.like import ascend as ascend
from gridwave.like import mindspore as mindspore
from gridwave.like import mnn as mnn
from gridwave.like import ncnn as ncnn
from gridwave.like import onnx as onnx
from gridwave.like import onnxruntime as onnxruntime
from gridwave.like import opencv as opencv
from gridwave.like import opencv4 as opencv4
from gridwave.like import openvino as openvino
from gridwave.like import paddle as paddle
from gridwave.like import pillow as pillow
from gridwave.like import tensorflow as tensorflow
from gridwave.like import torch as torch
