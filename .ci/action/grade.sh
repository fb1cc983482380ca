#!/bin/sh
# Grade BUNDLES once, into a folder with all reports; finish.sh gives the exit code of grading to the job.
set -eu
newline='
'
folder="${RUNNER_TEMP:-/tmp}/replaykit-report"
mkdir -p "$folder"
# What an earlier step left must not pass for what this one graded.
rm -f "$folder"/*
echo "folder=$folder" >>"$GITHUB_OUTPUT"
echo "report=$folder/report.json" >>"$GITHUB_OUTPUT"

set -- -o "$folder/report.json" -o "$folder/report.html" -o "$folder/junit.xml" -o "$folder/summary.md"
[ -z "${TASK:-}" ] || set -- "$@" "--task=$TASK"
[ -z "${FAIL_ON:-}" ] || set -- "$@" "--fail-on=$FAIL_ON"
# One a line: names may hold spaces, and nothing in them is a pattern.
set -f
IFS=$newline
for metric in ${FAIL_UNDER:-}; do set -- "$@" "--fail-under=$metric"; done
set -- "$@" --
for bundle in ${BUNDLES:?name bundles, one a line}; do set -- "$@" "$bundle"; done
unset IFS

code=0
replaykit grade --summary-only "$@" || code=$?
echo "code=$code" >>"$GITHUB_OUTPUT"

if [ -n "${BASELINE:-}" ] && [ -f "$folder/report.json" ]; then
    # As an indented block: in it, recorded text is nothing but text.
    if replaykit diff --format text "$BASELINE" "$folder/report.json" >"$folder/diff.txt"; then
        { printf '\n### Compared with the baseline\n\n'; sed 's/^/    /' "$folder/diff.txt"; } >>"$folder/summary.md"
    else
        echo "::warning title=replaykit::the baseline could not be compared"
    fi
fi
[ ! -f "$folder/summary.md" ] || cat "$folder/summary.md" >>"$GITHUB_STEP_SUMMARY"
