"""JDBC's URLs of MySQL and MariaDB: what the driver is given, what is refused, what is said to be without use."""

from __future__ import annotations

import warnings

import pytest

from headrace.common.errors import ConfigurationError
from headrace.compatibility import ignored_settings
from headrace.connectors.jdbc.database import Address
from headrace.connectors.jdbc.mysql import connection_arguments
from headrace.datastream.connectors.jdbc import JdbcConnectionOptions


def built(url, driver=None):
    builder = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(url)
    return (builder.with_driver_name(driver) if driver else builder).build()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("jdbc:mysql://db/shop", {"host": "db", "port": 3306, "database": "shop", "user": None, "password": b""}),
        ("jdbc:mariadb://db:3307/shop", {"host": "db", "port": 3307}),
        ("jdbc:mysql://[::1]:3307/shop", {"host": "::1", "port": 3307}),
        ("jdbc:mysql://db/", {"database": None}),
        ("jdbc:mysql://ann:p%40ss@db/shop", {"user": "ann", "password": b"p@ss"}),
        ("jdbc:mysql://db/shop?user=ann&password=p%26w", {"user": "ann", "password": b"p&w"}),
        ("jdbc:mysql://db/shop?connectTimeout=1500&socketTimeout=60000", {"connect_timeout": 2, "read_timeout": 60}),
        ("jdbc:mariadb://localhost/shop?localSocket=/run/my.sock", {"unix_socket": "/run/my.sock"}),
        ("jdbc:mysql://db/shop?useSSL=false", {"ssl_disabled": True}),
        ("jdbc:mysql://db/shop?sslMode=VERIFY_IDENTITY", {"ssl_verify_cert": True, "ssl_verify_identity": True}),
        (
            "jdbc:mariadb://db/shop?sslMode=verify-ca&serverSslCert=/ca.pem",
            {"ssl_verify_cert": True, "ssl_ca": "/ca.pem"},
        ),
    ],
)
def test_what_the_driver_is_given(url, expected):
    given = connection_arguments(Address(url))
    assert {key: given.get(key) for key in expected} == expected


def test_what_the_program_says_counts_more_than_the_url():
    given = connection_arguments(Address("jdbc:mysql://a:b@db/shop", "ann", "wörd"))
    assert (given["user"], given["password"]) == ("ann", "wörd".encode())


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("jdbc:mysql://a,b/shop", "one server"),
        ("jdbc:mysql:///shop", "one server"),
        ("jdbc:mysql:shop", "one server"),
        ("jdbc:mysql://db:port/shop", "one server"),
        ("jdbc:mysql://db/shop?sslMode=SOMETIMES", "encryption"),
        ("jdbc:mysql://db/shop?connectTimeout=soon", "milliseconds"),
        ("jdbc:oracle:thin:@db:1521/shop", "no database that headrace can write to"),
    ],
)
def test_what_is_refused(url, words):
    with pytest.raises(ConfigurationError, match=words):
        built(url)


def test_a_driver_of_another_database():
    with pytest.raises(ConfigurationError, match="does not fit"):
        built("jdbc:mysql://db/shop", "org.postgresql.Driver")


def test_parameters_for_javas_driver_are_named_once(monkeypatch):
    monkeypatch.setattr(ignored_settings, "_warned", set())
    url = "jdbc:mysql://db/shop?useSSL=false&serverTimezone=UTC&rewriteBatchedStatements=true"
    with pytest.warns(ignored_settings.WithoutEffectWarning) as caught:
        built(url)
        built(url)
    assert [str(w.message).split(" ")[0] for w in caught] == ["serverTimezone", "rewriteBatchedStatements"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        built("jdbc:mysql://db/shop?useSSL=false&user=ann")


def test_no_secret_is_shown():
    address = Address("jdbc:mysql://ann:secret@db/shop?password=secret", "ann", "secret")
    assert address.shown == "jdbc:mysql://ann:***@db/shop"
