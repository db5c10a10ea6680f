"""Column forms of functions, over pyarrow arrays (scalars for constants). They equal the row forms for every value."""
