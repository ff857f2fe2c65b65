"""
What the attributes of a record say: its categories and its numbers.

The counts of a model and a record's terms in the views of attributes go in; out comes
for each class the log likelihood of what they are. Attributes are independent of one
another and of the text, given the class, so that all of it adds up.
`nbtext.scoring.mixed` adds it to what the text says.
"""
