"""What the JSON of the AT Protocol means. Pure: no I/O, no clock."""
