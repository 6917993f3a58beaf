"""Profile types on openstacksdk, with the properties and operations of Senlin."""
