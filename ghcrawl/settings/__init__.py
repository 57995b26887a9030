"""Settings from files and the environment, and those that change while processes run."""
