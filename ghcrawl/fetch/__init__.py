"""How each platform is asked: its HTTP manners, and nothing of what its answers mean."""
