"""Compute shaders in WGSL: cases with what they must compute, an independent machine that runs them (wgpu on a Vulkan
driver in software), and random shaders that are held against it."""
