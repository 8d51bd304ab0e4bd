"""The `mrjack` command."""
