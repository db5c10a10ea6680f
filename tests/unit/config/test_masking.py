"""Secrets in keys and in texts are masked, and what is no secret stays readable."""

from __future__ import annotations

import time

import pytest

from headrace.config.masking import HIDDEN, is_secret, masked_text


@pytest.mark.parametrize(
    "key",
    [
        *("private_key", "private-key", "snowflake.privateKey", "ssl.key.passphrase", "connection-string"),
        *("connectionString", "connection_string", "AccountKey", "fs.azure.account.key.x", "s3.access_key", "API_KEY"),
        *("db.password", "properties.sasl.jaas.config", "security.basic.auth.credentials", "rest.http-headers"),
    ],
)
def test_keys_of_secrets(key):
    assert is_secret(key)


@pytest.mark.parametrize(
    "key",
    [
        "parallelism.default",
        "rest.port",
        "execution.checkpointing.dir",
        "key.fields",
        "pipeline.name",
        "connection.timeout",
    ],
)
def test_keys_of_no_secrets(key):
    assert not is_secret(key)


@pytest.mark.parametrize(
    "text",
    [
        "password=hunter2",
        "could not connect: {'user': 'me', 'password': 'hunter2'}",
        'connect(host="h", password="hunter2 and more")',
        "passphrase: hunter2",
        "private_key=hunter2,",
        "connection-string: hunter2",
        "Server=db;Uid=me;Pwd=hunter2;",
        "postgresql://me:hunter2@host:5432/db",
        "redis://:hunter2@host/0",
        "mongodb://me:p@hunter2@host/db",
        "no route to me:hunter2@host.example",
        "amqp(me:hunter2@[::1])",
        "psql --password hunter2 -h host",
        "GET /x?user=me&token=hunter2&page=2",
        "Authorization: Bearer hunter2",
        "sasl.jaas.config=org.x.PlainLoginModule required username='me' password='hunter2';",
    ],
)
def test_secrets_in_texts(text):
    shown = masked_text(text)
    assert "hunter2" not in shown and HIDDEN in shown


@pytest.mark.parametrize(
    "text",
    [
        "ValueError: invalid literal for int() with base 10: 'x'",
        '  File "/app/job.py", line 12, in <module>',
        "12:30:05 leading as http://127.0.0.1:8081",
        "see http://127.0.0.1:8081/jobs?x=1",
        "mail to somebody@host.example",
    ],
)
def test_what_is_no_secret_stays(text):
    assert masked_text(text) == text


@pytest.mark.timeout(60)
def test_long_texts_take_linear_time():
    started = time.monotonic()
    for text in ("password" * 20_000, "a:" * 80_000, "-" * 160_000, "x://" * 40_000, "p" * 160_000, "token=" * 20_000):
        masked_text(text)
    assert time.monotonic() - started < 20
