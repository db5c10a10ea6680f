"""From user calls to an executable plan, as frozen data: transformations, stream graph, job graph, epoch plan.

Nothing here runs a user function or knows Spark. Callers: `headrace.datastream` builds transformations, `headrace.driver`
reads job graphs and epoch plans.
"""
