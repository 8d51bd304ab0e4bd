"""Tree search, its values, and what it believes."""
