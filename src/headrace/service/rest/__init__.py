"""The routes of Flink's REST API: the parameters and the JSON of each path. Independent of any HTTP library."""
