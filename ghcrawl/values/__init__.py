"""The ground floor: frozen values, and pure functions over them. Nothing here does I/O."""
