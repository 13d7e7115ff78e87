"""Where classes hand in and get their grades: Moodle and Canvas."""
