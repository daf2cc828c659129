"""The objects of the API, as the OpenAPI document describes them."""

from .generated.models import *
