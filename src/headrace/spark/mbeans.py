"""MBeans in the JVM of the driver whose values Python sets, built from the JDK's own classes through Py4J.

An MBean is a RequiredModelMBean without methods: the descriptors of its attributes contain the values. To change a value,
replace the descriptor of its attribute. Unchanged values cost no call into the JVM.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark import SparkContext

from headrace.errors import ConfigurationError

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
