"""The dashboard: web pages for operators, rendered from responses of the REST API.

Every page calls the API in the same process, as the user of the session. Policies,
validation and error texts are therefore those of the API.
"""
