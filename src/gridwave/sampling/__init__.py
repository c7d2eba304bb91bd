"""The sampling operators: one file for each."""

from gridwave.sampling._plan_report import GridReport as GridReport
from gridwave.sampling._plan_report import MachineRates as MachineRates
from gridwave.sampling.affine_grid import affine_grid as affine_grid
from gridwave.sampling.affine_grid import affine_grid_backward as affine_grid_backward
from gridwave.sampling.double_backward import grid_sample_double_backward as grid_sample_double_backward
from gridwave.sampling.double_backward import sample_double_backward as sample_double_backward
from gridwave.sampling.grid_sample import grid_sample as grid_sample
from gridwave.sampling.grid_sample import grid_sample_backward as grid_sample_backward
from gridwave.sampling.grid_sample import sample as sample
from gridwave.sampling.grid_sample import sample_backward as sample_backward
from gridwave.sampling.pillow_transform import premultiply as premultiply
from gridwave.sampling.pillow_transform import transform_pillow as transform_pillow
from gridwave.sampling.plan import GridPlan as GridPlan
from gridwave.sampling.plan import plan_grid_sample as plan_grid_sample
from gridwave.sampling.projective_transform import projective_transform as projective_transform
from gridwave.sampling.remap import remap as remap
from gridwave.sampling.remap import remap_codes as remap_codes
from gridwave.sampling.remap import sample_map as sample_map
from gridwave.sampling.remap import sample_matrix as sample_matrix
from gridwave.sampling.remap import warp_affine as warp_affine
from gridwave.sampling.remap import warp_perspective as warp_perspective

__all__ = [
    "GridPlan",
    "GridReport",
    "MachineRates",
    "affine_grid",
    "affine_grid_backward",
    "grid_sample",
    "grid_sample_backward",
    "grid_sample_double_backward",
    "plan_grid_sample",
    "premultiply",
    "projective_transform",
    "remap",
    "remap_codes",
    "sample",
    "sample_backward",
    "sample_double_backward",
    "sample_map",
    "sample_matrix",
    "transform_pillow",
    "warp_affine",
    "warp_perspective",
]
