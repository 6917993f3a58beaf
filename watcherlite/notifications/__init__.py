"""From events to notifications on the broker.

`rules` says which notifications an event gives rise to. `payloads`, for plans and
actions, `audit_payloads` and `serializer` write their documents, `envelope` wraps
them as oslo.messaging does, `messages` does all of it for a batch, and `relay`
publishes what the store holds. None of these imports the versioned objects:
`schema` has what they say, as a table. `generate` writes that table, and with
`samples` and `reference` what the documentation shows.
"""
