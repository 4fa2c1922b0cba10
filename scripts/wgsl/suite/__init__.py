"""The cases: a module for each file of them, and what they share (`maps`, `written`, `inputs`)."""
