"""What a task is: rows, template, in-context examples, splits by seed."""
