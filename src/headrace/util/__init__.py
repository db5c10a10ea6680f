"""The path of `pyflink.util`, whose modules work on Java objects."""
