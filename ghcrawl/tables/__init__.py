"""Documents as typed tables: a projection by declared schema, and targets that take the rows."""
