"""The slow twins: float64 NumPy, written from the specification, sharing no code with the compiled core."""

from gridwave.reference.affine_grid import affine_grid as affine_grid
from gridwave.reference.affine_grid import affine_grid_backward as affine_grid_backward
from gridwave.reference.grid_sample import grid_sample as grid_sample
from gridwave.reference.grid_sample import grid_sample_backward as grid_sample_backward
from gridwave.reference.grid_sample_double_backward import grid_sample_double_backward as grid_sample_double_backward
from gridwave.reference.pillow_transform import transform_pillow as transform_pillow
from gridwave.reference.projective_transform import projective_transform as projective_transform
from gridwave.reference.remap import remap as remap
