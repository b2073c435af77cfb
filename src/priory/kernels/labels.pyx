# Written in a following change.
