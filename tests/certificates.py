"""Certificates for single tests."""

import datetime
import pathlib

import fixtures
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from watcherlite.clock import UTC


class Certificate(fixtures.Fixture):
    """A self-signed certificate and its key.

    :ivar path: the file of the certificate, in PEM form
    :ivar key: the file of its key
    :ivar both: a file with both

    :param name: the host name
    """

    def __init__(self, name: str) -> None:
        super().__init__()
        self._name = name

    def _setUp(self) -> None:
        home = pathlib.Path(self.useFixture(fixtures.TempDir()).path)
        self.path, self.key = home / 'certificate.pem', home / 'key.pem'
        self.both = home / 'both.pem'
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, self._name)])
        now = datetime.datetime.now(UTC)
        made = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(subject)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - datetime.timedelta(days=1))
            .not_valid_after(now + datetime.timedelta(days=1))
            .add_extension(
                x509.SubjectAlternativeName([x509.DNSName(self._name)]), critical=False
            )
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
            .sign(key, hashes.SHA256())
        )
        self.path.write_bytes(made.public_bytes(serialization.Encoding.PEM))
        self.key.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        self.both.write_bytes(self.path.read_bytes() + self.key.read_bytes())
