"""gridwave: grid_sample and its gradients, right, fast, and as each framework does it."""

from __future__ import annotations

from gridwave.errors import GridwaveError as GridwaveError
from gridwave.sampling import affine_grid as affine_grid
from gridwave.sampling import affine_grid_backward as affine_grid_backward
from gridwave.sampling import grid_sample as grid_sample
from gridwave.sampling import grid_sample_backward as grid_sample_backward
from gridwave.sampling import grid_sample_double_backward as grid_sample_double_backward
from gridwave.sampling import plan_grid_sample as plan_grid_sample
from gridwave.sampling import remap as remap
from gridwave.sampling import warp_affine as warp_affine
from gridwave.sampling import warp_perspective as warp_perspective
from gridwave.threads import get_num_threads as get_num_threads
from gridwave.threads import set_num_threads as set_num_threads
from gridwave.threads import show_config as show_config
from gridwave.threads import threads as threads

__version__ = "0.1.0"

__all__ = [
    "GridwaveError",
    "affine_grid",
    "affine_grid_backward",
    "get_num_threads",
    "grid_sample",
    "grid_sample_backward",
    "grid_sample_double_backward",
    "plan_grid_sample",
    "remap",
    "set_num_threads",
    "show_config",
    "threads",
    "warp_affine",
    "warp_perspective",
]
