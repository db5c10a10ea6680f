"""Configuration: every key, how its value is parsed, who reads it.

| module | contents |
| --- | --- |
| `*_keys` | the options: key, type, default, older spellings |
| `*_settings` | the values that were read and checked, as plain data, and the function that reads them |
| `configuration`, `config_options`, `restart_strategy` | PyFlink's classes |
| `option_values` | parsing and formatting of values |
| `config_file` | where settings come from: file, environment variables, launcher |
| `known_keys` | the check that finds misspelt keys and values of the wrong type |

To add a key:

1. Define the option in the `*_keys` module of its topic: `headrace_keys` for keys below `headrace.`, else the module
   with Flink's keys of that topic. Files, `-D`, the type check and the spelling check know it from then on.
2. Read it in the `*_settings` module of the same topic, or where it is used: `value_of(configuration, OPTION)`.
3. Add a row to `docs/configuration.md`; a test fails if a key of headrace is missing there.

`headrace.service.settings` reads the keys of the job service, `headrace.metrics.reporters.settings` those of metric
reporters; `headrace.spark.settings` has the defaults for Spark.
"""
