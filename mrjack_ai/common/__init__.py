"""Small tools without a game in them."""
