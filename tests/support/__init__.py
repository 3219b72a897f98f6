"""Building blocks for tests: real servers, fresh databases, waiting without hoping."""
