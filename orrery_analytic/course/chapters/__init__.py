"""The chapters of the course, a module each: its exercises, with answers made by the package."""
