#!/bin/sh
# Install the release that VERSION names, the newest if it is empty.
set -eu
case "${VERSION:-}" in
*[!0-9A-Za-z.]*)
    echo "::error title=replaykit::version: expected a version such as 1.2.0"
    exit 2
    ;;
esac
python -m pip install --disable-pip-version-check -q "replaykit-web${VERSION:+==$VERSION}"
