"""A real PostgreSQL server for these tests: the one of the tests of exported SQL."""

import adbc_driver_postgresql.dbapi as adbc
from tests.export.engines import server

PASSWORD = "sw0rd-f1sh"


def address(user="tests", password=PASSWORD):
    """Write the address of the server; it asks for no password, and is given one."""
    port, _ = server()
    return f"postgresql://{user}:{password}@127.0.0.1:{port}/tests"


def write(table, name):
    """Make a table of the server."""
    with adbc.connect(address()) as connection:
        with connection.cursor() as cursor:
            cursor.adbc_ingest(name, table, mode="replace")
        connection.commit()


def run(*statements):
    """Run some SQL on the server."""
    with adbc.connect(address()) as connection:
        with connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
        connection.commit()
