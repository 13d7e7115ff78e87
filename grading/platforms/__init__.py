"""Exchange of submissions and grades with learning platforms: Moodle and Canvas."""
