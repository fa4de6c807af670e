"""What files were, kept outside the project so that everything a session did can be undone."""
