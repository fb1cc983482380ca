#!/bin/sh
# Write the summary as one comment of the pull request: the one of an earlier run is written anew.
set -eu
marker='<!-- replaykit -->'
longest=60000
skip() {
    echo "::notice title=replaykit::no comment: $1"
    exit 0
}

# pull_request_target holds a token that may write, and runs for code of strangers: never there.
[ "${GITHUB_EVENT_NAME:-}" = pull_request ] || skip "the event is ${GITHUB_EVENT_NAME:-unknown}, not pull_request"
[ -f "$FOLDER/summary.md" ] || skip "there is no summary"
number=$(python -c 'import json, os; print(int(json.load(open(os.environ["GITHUB_EVENT_PATH"]))["number"]))')

MARKER=$marker LONGEST=$longest python - "$FOLDER" <<'PYTHON'
import json, os, pathlib, sys
folder = pathlib.Path(sys.argv[1])
summary = (folder / "summary.md").read_text("utf-8")
room = int(os.environ["LONGEST"]) - len(os.environ["MARKER"]) - 80
lines, size = [], 0
for line in summary.splitlines():  # whole lines: a cut must not end inside of an escape
    size += len(line) + 1
    if size > room:
        lines += ["", "The rest is in the summary of the job."]
        break
    lines.append(line)
body = "\n".join([os.environ["MARKER"], *lines])
(folder / "comment.json").write_text(json.dumps({"body": body}), "utf-8")
PYTHON

comments="repos/$GITHUB_REPOSITORY/issues/$number/comments"
mine=$(gh api --paginate "$comments" \
    --jq ".[] | select(.user.type == \"Bot\" and (.body | startswith(\"$marker\"))) | .id") || skip "comments cannot be read"
mine=$(printf '%s\n' "$mine" | head -n 1)
if [ -n "$mine" ]; then
    set -- --method PATCH "repos/$GITHUB_REPOSITORY/issues/comments/$mine"
else
    set -- --method POST "$comments"
fi
gh api "$@" --input "$FOLDER/comment.json" >/dev/null || skip "the token may not write (pull-requests: write)"
