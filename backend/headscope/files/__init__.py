"""Files from people: text, tables, JSON; each fault has its place and a remedy.

Tasks, prompts, gates and lists of heads are all read by this. Loads neither torch nor numpy.
"""
