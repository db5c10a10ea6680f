"""The members of expressions of the Table API, by what they work on, and the syntax nodes behind them."""
