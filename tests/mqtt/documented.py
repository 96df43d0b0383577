"""What Home Assistant documents of MQTT discovery, field by field, with the page of each list.

Only what can stand in a device discovery payload: names are those of the pages, with the short forms
that /integrations/mqtt/#discovery-payload lists for the root, the device and the platform.
"""

from __future__ import annotations

PAGES = "https://www.home-assistant.io/integrations/"

# mqtt/#device-discovery-payload
ROOT_REQUIRED = {"dev", "o", "cmps"}
ROOT = ROOT_REQUIRED | {
    "availability",
    "availability_mode",
    "availability_template",
    "availability_topic",
    "payload_available",
    "payload_not_available",
    "command_topic",
    "state_topic",
    "qos",
    "encoding",
}
# mqtt/#device, with the short forms; one of `ids` and `cns` is required
DEVICE = {"ids", "cns", "name", "mf", "mdl", "mdl_id", "hw", "sw", "sn", "sa", "cu", "via_device"}
# mqtt/#origin
ORIGIN_REQUIRED = {"name"}
ORIGIN = ORIGIN_REQUIRED | {"sw", "url"}
# in each page, "availability", "keys"
AVAILABILITY_REQUIRED = {"topic"}
AVAILABILITY = AVAILABILITY_REQUIRED | {"payload_available", "payload_not_available", "value_template"}

COMPONENT_REQUIRED = {"p", "unique_id"}
_EVERY = COMPONENT_REQUIRED | {
    "availability",
    "availability_mode",
    "availability_template",
    "availability_topic",
    "default_entity_id",
    "enabled_by_default",
    "encoding",
    "entity_category",
    "entity_picture",
    "icon",
    "json_attributes_template",
    "json_attributes_topic",
    "name",
    "payload_available",
    "payload_not_available",
    "qos",
}
PLATFORMS = {
    # notify.mqtt
    "notify": _EVERY | {"command_template", "command_topic", "retain"},
    # number.mqtt
    "number": _EVERY
    | {"command_template", "command_topic", "device_class", "max", "min", "mode", "optimistic"}
    | {"payload_reset", "retain", "state_topic", "step", "unit_of_measurement", "value_template"},
    # select.mqtt
    "select": _EVERY
    | {"command_template", "command_topic", "optimistic", "options", "retain", "state_topic"}
    | {"value_template"},
    # button.mqtt
    "button": _EVERY | {"command_template", "command_topic", "device_class", "payload_press", "retain"},
    # sensor.mqtt
    "sensor": _EVERY
    | {"device_class", "expire_after", "force_update", "last_reset_value_template", "options"}
    | {"state_class", "state_topic", "suggested_display_precision", "unit_of_measurement"}
    | {"value_template"},
    # binary_sensor.mqtt
    "binary_sensor": _EVERY
    | {"device_class", "expire_after", "force_update", "off_delay", "payload_off", "payload_on"}
    | {"state_topic", "value_template"},
}
REQUIRED = {
    "notify": {"command_topic"},
    "number": {"command_topic"},
    "select": {"command_topic", "options"},
    "button": set(),
    "sensor": {"state_topic"},
    "binary_sensor": {"state_topic"},
}
# developers.home-assistant.io/docs/core/entity
ENTITY_CATEGORIES = {"config", "diagnostic"}
# sensor/#device-class, binary_sensor/#device-class: those of this project, with their units
DEVICE_CLASSES = {
    ("sensor", "temperature"): {"°C", "°F", "K"},
    ("sensor", "duration"): {"d", "h", "min", "s", "ms", "µs"},
    ("binary_sensor", "running"): {None},
}
STATE_CLASSES = {"measurement", "measurement_angle", "total", "total_increasing"}
IDENTIFIER = r"[a-zA-Z0-9_-]+"
ENTITY_ID = r"[a-z_]+\.[a-z0-9_]+"
