"""Set-up of the host: required tools, their installation and their state."""
