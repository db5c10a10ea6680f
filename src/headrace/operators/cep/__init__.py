"""Complex event processing: the NFA (compiler, decisions, matcher, shared buffer) and the operator that runs it.

    graph.cep_pattern.PatternData --compiler--> Nfa (states, edges) --decisions--> the moves of a state for an event
    matcher: one event or one move of time against the live branches of one key
    operator: feeds events in order, key by key, and emits matches

Everything except the operators is pure: no state backend, no output, no clock.
"""
