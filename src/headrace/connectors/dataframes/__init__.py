"""DataFrames of Spark as sources and sinks."""
