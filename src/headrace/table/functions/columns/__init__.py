"""Column forms of functions, over pyarrow arrays (scalars for constants, but never for all arguments).

They equal the row forms for every value.
"""
