#!/bin/sh
# Install the Debian packages named, as far as nothing else has to go for them.
missing=
for package in "$@"; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2> /dev/null)
  [ "$state" = installed ] || missing="$missing $package"
done
if [ -z "$missing" ]; then
  exit 0
fi
if [ "$(id -u)" != 0 ]; then
  echo "not installed, and their tests will be skipped; as root:"
  echo "  apt-get install --no-install-recommends$missing"
  exit 0
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
for package in $missing; do # one by one: Postfix, say, must not put out another server
  apt-get install -q -y --no-install-recommends --no-remove "$package" ||
    echo "$package cannot be installed here; its tests will be skipped"
done
