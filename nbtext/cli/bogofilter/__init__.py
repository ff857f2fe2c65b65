"""
`nbtext bogofilter`: the options, output and exit statuses that bogofilter's users have.

In: the command line and the input of bogofilter 1.2.5. Out: what it would print, by a
model of nbtext. docs/recipes/bogofilter.md says what differs.
"""
