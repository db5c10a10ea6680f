"""The place of `pyflink.util`, whose modules work on Java objects."""
