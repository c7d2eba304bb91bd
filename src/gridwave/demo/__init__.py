"""A demo on a real photograph: rectify a perspective view, warp by a flow, register two pictures; and turn a volume.

:func:`run` does it all through :func:`gridwave.grid_sample` and its gradients, and draws the steps on one picture.
"""

from gridwave.demo.steps import run as run

__all__ = ["run"]
