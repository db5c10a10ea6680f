"""The keys that configure the job service under Flink's names: REST, the web UI and high availability.

Keys of headrace's own are in `headrace_keys`. `headrace.service.settings` reads both.
"""

from __future__ import annotations

from headrace.config.config_options import ConfigOptions

_key = ConfigOptions.key
REST_BIND_ADDRESS = _key("rest.bind-address").string_type().default_value("127.0.0.1")
REST_ADDRESS = _key("rest.address").string_type().no_default_value()
REST_PORT = _key("rest.port").int_type().default_value(8081)
REST_MAX_CONTENT_LENGTH = _key("rest.server.max-content-length").int_type().default_value(104_857_600)
WEB_REFRESH_INTERVAL = _key("web.refresh-interval").long_type().default_value(3000)
HA_TYPE = _key("high-availability.type").string_type().default_value("NONE").with_fallback_keys("high-availability")
HA_ZOOKEEPER_QUORUM = _key("high-availability.zookeeper.quorum").string_type().no_default_value()
HA_ZOOKEEPER_ROOT = _key("high-availability.zookeeper.path.root").string_type().default_value("/headrace")
HA_CLUSTER_ID = _key("high-availability.cluster-id").string_type().default_value("/default")
HA_OPTIONS = (HA_TYPE, HA_ZOOKEEPER_QUORUM, HA_ZOOKEEPER_ROOT, HA_CLUSTER_ID)
