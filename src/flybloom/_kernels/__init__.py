"""Compiled loops: arrays in, arrays out.

Each file stands alone (numba's cache only notices a change of the file it compiled), and none
is compiled before it is called.
"""
