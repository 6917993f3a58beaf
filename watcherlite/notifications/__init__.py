"""From events to notifications on the broker.

`rules` says which notifications an event gives rise to. `payloads` has what all
documents share; `plan_payloads` and `audit_payloads` fill them in and `serializer`
writes them, `envelope` wraps them as oslo.messaging does, `messages` does all of it
for a batch, and `relay` publishes what the store holds. None of these imports the
versioned objects: `schema` has what they say, as a table. `generate` writes that
table, and with `samples` and `reference` what the documentation shows.

To tell of another kind of thing takes a row of `rules.SUBJECTS`, the classes of its
payloads in `watcherlite.objects`, a `payloads.Filler` in a module of its own, which
`messages` has in its list, and samples.
"""
