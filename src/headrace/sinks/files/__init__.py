"""The file sink: part files in buckets; in progress, then pending, then finished with the checkpoint."""
