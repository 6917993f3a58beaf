"""The connection to the API: endpoint, credentials, client and event stream."""
