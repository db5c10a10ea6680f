"""What every room may use and that uses no other room: file systems, private folders, optional packages, fault points."""
