"""From events to notifications on the broker.

`rules` maps an event to its notifications. `payloads` fills their fields, `encoder`
writes them as JSON, `envelope` wraps them as oslo.messaging does, and `messages` does
all of it for a batch of events. `relay` publishes the events of the store. `encoder`
imports the versioned objects when it writes the first payload. `generate` writes the
files of `samples` and the generated parts of the reference.

Notifications of another kind of object take a row of `rules.subjects.SUBJECTS`,
payload classes in `watcherlite.objects`, a `payloads.base.PayloadBuilder` that
`messages` lists, and samples.
"""
