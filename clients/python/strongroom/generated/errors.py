"""The client raises its errors in strongroom/errors.py."""
