"""What models attend to (`attention`), what they cost (`cost`), and figures of both (`plots`)."""
