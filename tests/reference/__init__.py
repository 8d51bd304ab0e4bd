"""A slow, literal reference engine for Mr. Jack."""
