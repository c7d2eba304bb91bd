"""Picture files in and out, and warping them: what ``gridwave warp`` does, as functions."""

from gridwave.pictures.warp import warp_file as warp_file

__all__ = ["warp_file"]
