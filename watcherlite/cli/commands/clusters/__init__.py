"""The commands of clusters, nodes, profiles, policies and receivers."""
