"""The payloads of the notifications as versioned objects.

These classes are what the documents are by definition: names, fields, versions,
and how a document becomes an older one. They cost half a second to import, so no
daemon imports them. What it needs of them is the table in
`notifications/schema.py`, which `python -m watcherlite.notifications.generate`
writes, together with the samples and the reference.
"""
