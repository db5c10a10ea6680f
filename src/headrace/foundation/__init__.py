"""Basics that every package may use: file systems, private folders, optional packages, fault points."""
