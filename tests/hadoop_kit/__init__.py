"""A real HDFS and a real YARN for tests: each a context manager, on loopback, in a temporary folder.

`hadoop_kit.hdfs.Hdfs` and `hadoop_kit.yarn.Yarn`; tests/conftest.py has both as the fixtures `hdfs` and `yarn`.
"""
