"""Running jobs: the epoch loop and the executors. `task` runs in workers, `spark` is the only importer of pyspark."""
