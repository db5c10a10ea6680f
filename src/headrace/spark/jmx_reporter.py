"""The JMX reporter: an MBean for each metric in the JVM of the driver, with Flink's names.

JConsole, VisualVM and agents in the JVM can read them. With a `port`, an RMI connector also serves them to JMX clients of
this machine, on 127.0.0.1. The values are those of the last interval.

An MBean is a RequiredModelMBean without methods: the descriptors of its attributes contain the values. To change a value,
replace the descriptor of its attribute. Unchanged values cost no call into the JVM.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from pyspark import SparkContext

from headrace.errors import ConfigurationError, JobExecutionError
from headrace.metrics.reporters.base import MetricReporter, Reported, ReporterSettings
from headrace.metrics.values import Count, GaugeValue, Rate, parts_of

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


_DOMAIN = "org.apache.flink."
_REMOVED = re.compile(r'[<>"]')
_REPLACED = re.compile(r"[,=;:?'*\n]")
_HISTOGRAM = {
    "count": "Count",
    "mean": "Mean",
    "stddev": "StdDev",
    "max": "Max",
    "min": "Min",
    "median": "Median",
    "p75": "75thPercentile",
    "p95": "95thPercentile",
    "p98": "98thPercentile",
    "p99": "99thPercentile",
    "p999": "999thPercentile",
}


class JMXReporter(MetricReporter):
    """Key: port (a number, or a range such as 8789-8799 for the first free one; without it, nothing is served).

    >>> issubclass(JMXReporter, MetricReporter)
    True
    """

    port: int | None = None
    """Where MBeans are served; None if no port is set."""
    _server: JMXServer | None = None

    def open(self, settings: ReporterSettings) -> None:
        gateway = driver_gateway()
        self._beans = MBeans(gateway)
        if settings.text("port", ""):
            self._server = JMXServer(gateway, self._beans.server, settings.ports("port"))
            self.port = self._server.port

    def report(self, metrics: list[Reported]) -> None:
        self._beans.show({_object_name(metric): _attributes(metric) for metric in metrics})

    def close(self) -> None:
        self._beans.show({})
        server, self._server = self._server, None
        if server is not None:
            server.stop()


def _object_name(metric: Reported) -> str:
    """Return Flink's name of the MBean: the name without variables as domain, the variables as keys.

    >>> _object_name(Reported((), ("taskmanager", "job"), ("late",), {"host": "h", "job_name": "a: b"}, Count(1)))
    'org.apache.flink.taskmanager.job.late:host=h,job_name=a-_b'
    """
    keys = ",".join(f"{_allowed(name)}={_allowed(value)}" for name, value in metric.variables.items())
    return f"{_DOMAIN}{_allowed(metric.logical_name('.'))}:{keys or 'of=all'}"


def _allowed(text: str) -> str:
    return _REPLACED.sub("-", _REMOVED.sub("", text)).replace(" ", "_")


def _attributes(metric: Reported) -> dict[str, Number | str]:
    value: Any = metric.value
    if isinstance(value, GaugeValue):
        return {"Value": value.value}
    if isinstance(value, Count):
        return {"Count": value.number}
    if isinstance(value, Rate):
        return {"Count": value.number, "Rate": float(value.rate)}
    return {_HISTOGRAM[part]: number for part, number in parts_of(value).items()}


Number = int | float
_NEVER_STALE = 0
_OF_GAUGES = "Value"
_BEAN = "javax.management.modelmbean.RequiredModelMBean"
_SERVER = "javax.management.MBeanServer"


def driver_gateway() -> Any:
    """Return the gateway to the JVM of this process. Raise if there is none."""
    if SparkContext._gateway is None:
        raise ConfigurationError(
            "The JMX reporter needs the JVM of the driver, and this process has none",
            remedy="run the job on Spark (headrace.executor: spark), or use another reporter",
        )
    return SparkContext._gateway


def java_array(gateway: Any, kind: Any, items: list[Any]) -> Any:
    """Return a Java array of a class with these items."""
    made = gateway.new_array(kind, len(items))
    for index, item in enumerate(items):
        made[index] = item
    return made


@dataclass
class _Shown:
    """An attribute of an MBean, and its current value."""

    info: Any
    descriptor: Any
    value: Number | str


class MBeans:
    """The MBeans of one reporter."""

    def __init__(self, gateway: Any) -> None:
        self._gateway, java, management = gateway, gateway.jvm.java, gateway.jvm.javax.management
        # Each lookup of a name in the JVM is a round trip, so look up once.
        model = management.modelmbean
        self._object, self._class, self._find = java.lang.Object, java.lang.Class, java.lang.Class.forName
        self._name, self._descriptor, self._info = (
            management.ObjectName,
            model.DescriptorSupport,
            model.ModelMBeanInfoSupport,
        )
        self._bean, self._attribute = model.RequiredModelMBean, model.ModelMBeanAttributeInfo
        self._nothing = [
            java_array(gateway, getattr(model, f"ModelMBean{kind}Info"), [])
            for kind in ("Constructor", "Operation", "Notification")
        ]
        self.server = java.lang.management.ManagementFactory.getPlatformMBeanServer()
        self._register = self._method("registerMBean", "java.lang.Object", "javax.management.ObjectName")
        self._unregister = self._method("unregisterMBean", "javax.management.ObjectName")
        self._is_registered = self._method("isRegistered", "javax.management.ObjectName")
        self._shown: dict[str, dict[str, _Shown]] = {}

    def show(self, wanted: Mapping[str, Mapping[str, Number | str]]) -> None:
        """Create, update and remove MBeans so that exactly these exist, by name, with these attributes."""
        for name in self._shown.keys() - wanted.keys():
            self._remove(name)
            del self._shown[name]
        for name, values in wanted.items():
            known = self._shown.get(name)
            if known is None or known.keys() != values.keys():
                self._shown[name] = self._made(name, values)
                continue
            for attribute, value in values.items():
                shown = known[attribute]
                if shown.value != value:
                    shown.value = value
                    shown.descriptor.setField("value", value)
                    shown.info.setDescriptor(shown.descriptor)

    def _made(self, name: str, values: Mapping[str, Number | str]) -> dict[str, _Shown]:
        shown = {}
        for attribute, value in values.items():
            descriptor = self._descriptor()
            fields = {
                "name": attribute,
                "descriptorType": "attribute",
                "currencyTimeLimit": _NEVER_STALE,
                "value": value,
            }
            for key, field in fields.items():
                descriptor.setField(key, field)
            kind = "java.lang.Object" if attribute == _OF_GAUGES else "java.lang.Number"
            info = self._attribute(attribute, kind, attribute, True, False, False, descriptor)
            shown[attribute] = _Shown(info, descriptor, value)
        infos = java_array(self._gateway, self._attribute, [one.info for one in shown.values()])
        bean = self._bean(self._info(_BEAN, "a metric", infos, *self._nothing))
        self._remove(name)  # an earlier job with the same variables may have registered it
        self._call(self._register, bean, self._name(name))
        return shown

    def _remove(self, name: str) -> None:
        if self._call(self._is_registered, self._name(name)):
            self._call(self._unregister, self._name(name))

    def _method(self, name: str, *types: str) -> Any:
        """Return a method of the server. Py4J cannot call it by name, because the server's class is not public."""
        return self._find(_SERVER).getMethod(
            name, java_array(self._gateway, self._class, [self._find(one) for one in types])
        )

    def _call(self, method: Any, *arguments: Any) -> Any:
        return method.invoke(self.server, java_array(self._gateway, self._object, list(arguments)))
