"""The spine that every application stands on: stages, config, command line, runs.

`cli.main` is what `python -m applications.<task>` calls; `application.Application` is
what a task fills in; `stages` are the same stages for Python callers. There are no task
names inside: a task overrides a method, it never adds a flag here.

Modules import TensorFlow only where they compute (`training`, `stages`, ...): config,
presets and `--help` answer without it.
"""
