"""A GitHub that runs on loopback: for the demo, the tests and the benchmarks.

It imitates what a crawler can get wrong: ETags that depend on the credential, fixed quota windows, lists whose
elements lack fields, links by numeric id, cursors, renames, and every special answer that is documented.
"""
