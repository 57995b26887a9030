"""The ground floor: frozen values, pure functions over them, and the few things that all rooms do with asyncio."""
