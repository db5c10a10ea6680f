"""MBeans whose values Python sets, in the JVM of the driver; made of the JDK's own classes, through py4j.

An MBean is a RequiredModelMBean. Each of its attributes is read from a holder by an operation `get(<attribute>)`: the JDK
calls the method before the parenthesis, and tells such operations apart by their whole names. To show another value is
one call into the JVM, and values that have not changed cost none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from pyspark import SparkContext

from headrace.common.errors import ConfigurationError, JobExecutionError

__all__ = ["Attribute", "MBeans"]

_SERVED = "headrace.jmx.port"
"""A property of the JVM: its management agent can be started once."""


class Attribute(NamedTuple):
    """A value and its Java type: long, double or java.lang.Object."""

    type: str
    value: int | float | str


class MBeans:
    """Those of one reporter."""

    def __init__(self) -> None:
        """Raises where the process has no JVM."""
        self._gateway: Any = SparkContext._gateway
        if self._gateway is None:
            raise ConfigurationError(
                "The JMX reporter shows metrics in the JVM of the driver, and this process has none",
                remedy="run the job on Spark (headrace.executor: spark), or use another reporter",
            )
        self._jvm: Any = self._gateway.jvm
        # Every name looked up in the JVM costs a round trip: once is enough.
        model, management = self._jvm.javax.management.modelmbean, self._jvm.javax.management
        atomic = self._jvm.java.util.concurrent.atomic
        self._long, self._reference = atomic.AtomicLong, atomic.AtomicReference
        self._descriptor, self._info, self._bean = (
            model.DescriptorSupport,
            model.ModelMBeanInfoSupport,
            model.RequiredModelMBean,
        )
        self._attribute, self._operation = model.ModelMBeanAttributeInfo, model.ModelMBeanOperationInfo
        self._name = management.ObjectName
        self._no_parameters = self._gateway.new_array(management.MBeanParameterInfo, 0)
        self._no_constructors = self._gateway.new_array(model.ModelMBeanConstructorInfo, 0)
        self._no_notifications = self._gateway.new_array(model.ModelMBeanNotificationInfo, 0)
        self._server = self._jvm.java.lang.management.ManagementFactory.getPlatformMBeanServer()
        self._shown: dict[str, dict[str, tuple[Any, Attribute]]] = {}

    def show(self, wanted: Mapping[str, Mapping[str, Attribute]]) -> None:
        """From now on there are these MBeans, by name, with these values."""
        for name in self._shown.keys() - wanted.keys():
            self._unregister(name)
            del self._shown[name]
        for name, attributes in wanted.items():
            known = self._shown.get(name)
            if known is None or known.keys() != attributes.keys():
                self._shown[name] = self._register(name, attributes)
                continue
            for key, attribute in attributes.items():
                holder, before = known[key]
                if attribute != before:
                    holder.set(attribute.value)
                    known[key] = holder, attribute

    def serve(self, ports: Iterable[int]) -> int:
        """Lets the JVM's management agent serve all MBeans on the first port that is free; gives that port."""
        system = self._jvm.java.lang.System
        if (running := system.getProperty(_SERVED)) is not None:
            return int(running)
        system.setProperty("java.rmi.server.hostname", "127.0.0.1")
        commands = self._name("com.sun.management:type=DiagnosticCommand")
        failure: Exception | None = None
        for port in ports:
            options = {"port": port, "rmi.port": port, "host": "127.0.0.1", "authenticate": "false", "ssl": "false"}
            given = self._array(
                self._jvm.java.lang.Object, [self._strings(f"jmxremote.{k}={v}" for k, v in options.items())]
            )
            try:
                self._server.invoke(commands, "jmxStart", given, self._strings(["[Ljava.lang.String;"]))
            except Exception as error:
                failure = error
                continue
            system.setProperty(_SERVED, str(port))
            return port
        raise JobExecutionError("No port is free for JMX", seen=", ".join(map(str, ports))) from failure

    def _register(self, name: str, attributes: Mapping[str, Attribute]) -> dict[str, tuple[Any, Attribute]]:
        holders: dict[str, tuple[Any, Attribute]] = {}
        infos: list[Any] = []
        getters: list[Any] = []
        for key, attribute in attributes.items():
            holder = (self._long if attribute.type == "long" else self._reference)(attribute.value)
            holders[key] = holder, attribute
            getter = f"get({key})"
            described = self._described(name=key, descriptorType="attribute", getMethod=getter)
            infos.append(self._attribute(key, attribute.type, key, True, False, False, described))
            described = self._described(
                name=getter, descriptorType="operation", targetObject=holder, targetType="ObjectReference"
            )
            getters.append(self._operation(getter, key, self._no_parameters, attribute.type, 0, described))
        info = self._info(
            *("javax.management.modelmbean.RequiredModelMBean", "a metric", self._array(self._attribute, infos)),
            *(self._no_constructors, self._array(self._operation, getters), self._no_notifications),
        )
        self._unregister(name)  # an earlier job's, with the same variables
        self._server.registerMBean(self._bean(info), self._name(name))
        return holders

    def _unregister(self, name: str) -> None:
        object_name = self._name(name)
        if self._server.isRegistered(object_name):
            self._server.unregisterMBean(object_name)

    def _described(self, **fields: Any) -> Any:
        made = self._descriptor()
        for name, value in fields.items():
            made.setField(name, value)
        return made

    def _strings(self, texts: Iterable[str]) -> Any:
        return self._array(self._jvm.java.lang.String, list(texts))

    def _array(self, kind: Any, items: list[Any]) -> Any:
        made = self._gateway.new_array(kind, len(items))
        for index, item in enumerate(items):
            made[index] = item
        return made
