"""Platforms: the contract each one keeps, and one file for each that says everything it is."""
