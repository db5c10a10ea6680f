"""The JMX reporter in a real JVM: MBeans are read back over a JMX connection, as JConsole reads them."""

import socket
import time
from pathlib import Path

import psutil
import pyspark
import pytest
from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway
from py4j.protocol import Py4JJavaError
from pyspark import SparkContext
from pyspark.errors.exceptions.captured import install_exception_handler

from headrace.common import WatermarkStrategy
from headrace.common.errors import ConfigurationError, JobExecutionError
from headrace.connectors.generated.datagen import DataGenerator
from headrace.metrics.local import LocalDistribution
from headrace.metrics.reporters.settings import read_reporters
from headrace.metrics.scope import JOB, OPERATOR, Sample, Scope
from headrace.metrics.values import Count, GaugeValue, Rate, Spread

pytestmark = pytest.mark.spark
OPERATORS = "org.apache.flink.taskmanager.job.task.operator"


@pytest.fixture(scope="module")
def jvm(spark):
    """A JVM as Spark's driver has one, in which no Spark runs.

    It knows the classes of Spark: in a process that has used Spark's SQL, py4j looks for them at every exception of Java.
    """
    install_exception_handler()
    jars = Path(pyspark.__file__).parent / "jars"
    (jar,) = jars.glob("py4j-*.jar")
    port = launch_gateway(jarpath=str(jar), classpath=f"{jars}/*", die_on_exit=True)
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port))
    yield gateway
    gateway.shutdown()


@pytest.fixture
def opened(jvm, monkeypatch):
    """Opens reporters of a configuration; at the end they are closed."""
    monkeypatch.setattr(SparkContext, "_gateway", jvm)
    reporters = []

    def open_one(**keys):
        wanted = {"factory.class": "org.apache.flink.metrics.jmx.JMXReporterFactory", **keys}
        plan = read_reporters({f"metrics.reporter.beans.{key}": value for key, value in wanted.items()})[0]
        plan.reporter.open(plan.settings)
        reporters.append(plan.reporter)
        return plan

    yield open_one
    for reporter in reporters:
        reporter.close()


class BeanReader:
    """Reads MBeans over a JMX connection of its own, as JConsole does."""

    def __init__(self, gateway, port):
        self.gateway = gateway
        self.java, self.management = self.gateway.jvm.java, self.gateway.jvm.javax.management
        url = self.management.remote.JMXServiceURL(f"service:jmx:rmi:///jndi/rmi://127.0.0.1:{port}/jmxrmi")
        self.connection = self.management.remote.JMXConnectorFactory.connect(url).getMBeanServerConnection()
        self.find = self.java.lang.Class.forName

    def array(self, kind, items):
        made = self.gateway.new_array(kind, len(items))
        for index, item in enumerate(items):
            made[index] = item
        return made

    def call(self, name, types, *arguments):
        """The class of the connection is not public: only the method of its interface can be called."""
        parameters = self.array(self.java.lang.Class, [self.find(one) for one in types])
        method = self.find("javax.management.MBeanServerConnection").getMethod(name, parameters)
        return method.invoke(self.connection, self.array(self.java.lang.Object, arguments))

    def read(self, pattern):
        """All MBeans of a pattern: {name: {attribute: value}}."""
        bean = "javax.management.ObjectName"
        found = {}
        for name in self.call(
            "queryNames", [bean, "javax.management.QueryExp"], self.management.ObjectName(pattern), None
        ):
            attributes = [one.getName() for one in self.call("getMBeanInfo", [bean], name).getAttributes()]
            found[name.toString()] = {
                one: self.call("getAttribute", [bean, "java.lang.String"], name, one) for one in attributes
            }
        return found


def samples(number):
    scope = Scope(OPERATOR, {"host": "h", "job_name": "my job", "operator_name": 'map: "all"', "subtask_index": "0"})
    spread = LocalDistribution()
    for value in range(number):
        spread.update(value)
    return [
        Sample(Scope(JOB, {"host": "h"}), ("numRestarts",), GaugeValue(number)),
        Sample(scope, ("orders", ("country", "de"), "late"), Count(number)),
        Sample(scope, ("clicks",), Rate(number, number / 2)),
        Sample(scope, ("size",), Spread(spread.sketch())),
        Sample(scope, ("mood",), GaugeValue("good" if number > 100 else 0.5)),
    ]


def test_metrics_are_mbeans_with_flinks_names(jvm, opened, free_port):
    port = free_port()
    plan = opened(port=f"{port}-{port + 50}")
    assert plan.reporter.port in range(port, port + 51)
    beans = BeanReader(jvm, plan.reporter.port)
    plan.reporter.report(plan.metrics(samples(100)))
    names = "host=h,job_name=my_job,operator_name=map-_all,subtask_index=0"
    first = beans.read("org.apache.flink.*:*")
    size = first.pop(f"{OPERATORS}.size:{names}")
    assert first == {
        "org.apache.flink.jobmanager.job.numRestarts:host=h": {"Value": 100},
        f"{OPERATORS}.orders.country.late:{names},country=de": {"Count": 100},
        f"{OPERATORS}.clicks:{names}": {"Count": 100, "Rate": 50.0},
        f"{OPERATORS}.mood:{names}": {"Value": 0.5},
    }
    assert (size["Count"], size["Min"], size["Max"]) == (100, 0, 99)
    assert size["Mean"] == pytest.approx(49.5)
    assert size["Median"] == pytest.approx(49, rel=0.02)
    assert size["75thPercentile"] < size["95thPercentile"] < size["98thPercentile"] <= size["999thPercentile"] <= 99

    plan.reporter.report(plan.metrics(samples(500)[:2]) + plan.metrics(samples(500)[4:]))
    assert beans.read("org.apache.flink.*:*") == {
        "org.apache.flink.jobmanager.job.numRestarts:host=h": {"Value": 500},
        f"{OPERATORS}.orders.country.late:{names},country=de": {"Count": 500},
        f"{OPERATORS}.mood:{names}": {"Value": "good"},
    }


def test_a_second_reporter_takes_the_next_port_and_both_are_gone_in_the_end(jvm, opened, free_port):
    port = free_port()
    first = opened(port=str(port))
    second = opened(port=f"{port}-{port + 50}")
    assert first.reporter.port == port < second.reporter.port
    with pytest.raises(JobExecutionError, match="No port for JMX is free"):
        opened(port=str(port))
    first.reporter.report(first.metrics(samples(1)))
    second.reporter.report([])
    beans = BeanReader(jvm, second.reporter.port)
    assert len(beans.read("org.apache.flink.*:*")) == 5
    first.reporter.close()
    assert beans.read("org.apache.flink.*:*") == {}
    with pytest.raises(OSError):
        socket.create_connection(("127.0.0.1", port), 1).close()
    opened(port=str(port))


def test_it_listens_on_this_machine_only_and_says_what_is_wrong(opened, monkeypatch, free_port):
    port = opened(port=str(free_port())).reporter.port
    listening = {one.laddr.ip for one in psutil.net_connections() if one.status == "LISTEN" and one.laddr.port == port}
    assert listening in ({"127.0.0.1"}, {"::ffff:127.0.0.1"})
    with pytest.raises(ConfigurationError, match="a number, or a range"):
        opened(port="many")
    monkeypatch.setattr(SparkContext, "_gateway", None)
    with pytest.raises(ConfigurationError, match="has none"):
        opened()


def test_the_metrics_of_a_running_job_are_read_from_another_jvm(jvm, make_env, free_port):
    port = free_port()
    env = make_env(
        metrics__reporter__beans__factory__class="org.apache.flink.metrics.jmx.JMXReporterFactory",
        metrics__reporter__beans__port=port,
        metrics__reporter__beans__interval="200 ms",
    )
    numbers = env.from_source(
        DataGenerator(lambda n: n, records_per_second=500), WatermarkStrategy.no_watermarks(), "n"
    )
    numbers.map(lambda n: n + 1).name("plus one").uid("plus").print()
    job = env.execute_async("seen by JMX")
    try:
        pattern = f"{OPERATORS}.numRecordsIn:operator_name=plus_one,*"
        counts = counts_of(jvm, port, pattern, at_least=1)
        SparkContext._active_spark_context._jvm.java.lang.System.gc()  # what serves them is not given up
        assert sum(counts_of(jvm, port, pattern, at_least=sum(counts) + 1)) > sum(counts)
    finally:
        job.cancel().result()
    with pytest.raises(Py4JJavaError):
        BeanReader(jvm, port)


def counts_of(jvm, port, pattern, at_least):
    """The counts of the metrics of a pattern, as soon as both subtasks have one and their sum is high enough."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            counts = [bean["Count"] for bean in BeanReader(jvm, port).read(pattern).values()]
        except Py4JJavaError:  # the job has not begun to serve
            counts = []
        if len(counts) == 2 and sum(counts) >= at_least:
            return counts
        time.sleep(0.2)
    raise AssertionError(f"no metrics like {pattern} within a minute; the last look saw {counts}")
