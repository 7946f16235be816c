"""The process that holds models: runs jobs and answers interactive requests."""
