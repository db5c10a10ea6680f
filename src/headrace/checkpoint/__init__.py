"""Checkpoints: the protocol that makes state durable and output exactly once. Never runs tasks.

From the inside out; a module imports only modules of its own row and of the rows above it:

| what | modules |
| --- | --- |
| plain data | `model`, `names`, `errors`, `record_format`, `signatures` |
| decisions: pure functions over what was seen | `derive`, `resolve`, `gc`, `coordinator` |
| the protocol, as a sequence of instructions | `instructions`, `steps`, `recovery`, `workflow` |
| the driver of a job's checkpoints, as instructions too | `ports`, `manifests`, `outcomes`, `driver_steps` |
| what users keep, restore and delete | `in_use`, `savepoints`, `disposal` |
| the edge: storage, sinks, what performs instructions | `file_store`, `remote_store`, `job_committer`, `driver`, ... |

The crash model (tests/protocol) runs all of it on simulated storage and sinks, and stops between any two instructions.
"""
