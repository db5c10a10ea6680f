"""Formats of messages and files; the modules are those of `pyflink.datastream.formats`."""
