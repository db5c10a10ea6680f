"""Complex event processing: the NFA (compiler, decisions, matcher, shared buffer) and the operator that runs it.

    graph.cep_pattern.PatternData --compiler--> Nfa (states, edges) --decisions--> what an event means for a state
    matcher: one event or one move of time against the live branches of one key
    operator: which events, in which order, for which key; what becomes of matches

Everything but `operator` and `contexts` is pure: no state backend, no output, no clock.
"""
