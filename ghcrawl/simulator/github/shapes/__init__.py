"""The JSON that GitHub makes of things, in the forms that it has for singles and for elements of lists.

Pure: everything comes from the entity and the site. Keys, and which of them a list lacks, are those of the official
schemas and of recorded answers.
"""
