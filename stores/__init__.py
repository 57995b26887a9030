"""Store adapters: documents and deadletters, on whatever keeps them."""
