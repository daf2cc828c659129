"""A typed client for the Strongroom token vault."""

from .client import Strongroom
from .errors import StrongroomError

__all__ = ("Strongroom", "StrongroomError")
