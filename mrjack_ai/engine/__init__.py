"""The compiled engine: state layout, rules, and the entry points Python calls."""
