"""
Mailboxes sorted, and messages passed on with a field that says what they are.

In: a mailbox, rules and a model. Out: messages moved or marked, and a memory of what
was decided, so that each is decided about once. Whatever is killed, and whenever, no
message is ever in no mailbox.
"""
