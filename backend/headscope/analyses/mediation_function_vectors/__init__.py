"""Function vectors: heads whose mean output at the last token brings a task back into shuffled prompts."""
