"""Shared by platforms of people and posts: request URIs, and the plan behind each."""
