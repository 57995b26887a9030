"""What platforms of people and their posts share: request URIs, and the plan that one asks for."""
