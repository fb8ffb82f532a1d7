"""Work that is spread over the machines of a Ray cluster."""
