"""The parser: recursive descent over tokens, each file a group of rules on top of the one before.

`cursor` -> `names` -> `types` -> `literals` -> `ordering` -> `special_functions` ->
`json_functions` -> `functions` -> `expressions` -> `relations` -> `match_recognize` ->
`queries` -> `columns` -> `create` -> `alter` -> `changes` -> `utility` -> `statements`.
A rule that needs one from a later file finds it by name in the finished class (see the declarations in `cursor`).
"""
