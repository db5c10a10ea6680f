"""Serve the MBeans of the driver's JVM to JMX clients of this machine, with an RMI connector on 127.0.0.1."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from headrace.errors import JobExecutionError
from headrace.spark.mbeans import java_array

_HOST = "127.0.0.1"


class JMXServer:
    """Listens on the first free port until it is stopped."""

    def __init__(self, gateway: Any, beans: Any, ports: Iterable[int]) -> None:
        """Start to serve `beans`, which is the MBeanServer."""
        self._jvm = gateway.jvm
        # The address that clients connect to: the name of the machine may resolve to one where nothing listens.
        self._jvm.java.lang.System.setProperty("java.rmi.server.hostname", _HOST)
        sockets = _local_sockets(gateway)
        failure: Exception | None = None
        for port in ports:
            try:
                self._registry = self._jvm.java.rmi.registry.LocateRegistry.createRegistry(port, None, sockets)
            except Exception as error:  # another process uses the port
                failure = error
                continue
            self.port = port
            self._connector = self._connected(beans, port, sockets)
            return
        raise JobExecutionError("No port for JMX is free", seen=", ".join(map(str, ports))) from failure

    def stop(self) -> None:
        self._connector.stop()
        self._jvm.java.rmi.server.UnicastRemoteObject.unexportObject(self._registry, True)

    def _connected(self, beans: Any, port: int, sockets: Any) -> Any:
        remote = self._jvm.javax.management.remote
        url = remote.JMXServiceURL(f"service:jmx:rmi://{_HOST}:{port}/jndi/rmi://{_HOST}:{port}/jmxrmi")
        settings = self._jvm.java.util.HashMap()
        settings.put("jmx.remote.rmi.server.socket.factory", sockets)
        connector = remote.JMXConnectorServerFactory.newJMXConnectorServer(url, settings, beans)
        connector.start()
        return connector


@lru_cache(maxsize=1)
def _local_sockets(gateway: Any) -> Any:
    """Return an RMIServerSocketFactory: the constructor of ServerSocket with the address filled in.

    There is one per JVM, so that clients that are still connected to an earlier server find a later one on the same port.
    """
    java = gateway.jvm.java
    number, find, invoke = java.lang.Integer.TYPE, java.lang.Class.forName, java.lang.invoke
    parameters = java_array(gateway, java.lang.Class, [number, number, find("java.net.InetAddress")])
    signature = invoke.MethodType.methodType(java.lang.Void.TYPE, parameters)
    made = invoke.MethodHandles.publicLookup().findConstructor(find("java.net.ServerSocket"), signature)
    filled = java_array(gateway, java.lang.Object, [50, java.net.InetAddress.getByName(_HOST)])
    local = invoke.MethodHandles.insertArguments(made, 1, filled)
    return invoke.MethodHandleProxies.asInterfaceInstance(find("java.rmi.server.RMIServerSocketFactory"), local)
