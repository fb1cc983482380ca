// Keys, for the screen that is shown.

const HELP = [
  ["j k", "next, previous step or run"],
  [
    "n p",
    SIDES
      ? "next, previous difference"
      : BETWEEN
        ? "next, previous violation or regression"
        : "next, previous violation",
  ],
  ["/", "search"],
  ["b", "before or after the action"],
  ["v", "screenshot or page"],
  ["[ ]", "previous, next run"],
  ["u", SIDES ? "both runs" : BETWEEN ? "all changes or runs" : "all runs"],
  ["Enter", "open the run"],
  ["t", "light or dark"],
  ["?", "this help"],
];

function help_dialog() {
  const node = el(
    "dialog",
    { class: "help", "aria-label": "Keys", on: { click: (event) => event.target === node && node.close() } },
    el("h2", {}, "Keys"),
    el(
      "dl",
      {},
      HELP.map(([keys, words]) => [
        el(
          "dt",
          {},
          keys.split(" ").map((key) => el("kbd", {}, key)),
        ),
        el("dd", {}, words),
      ]),
    ),
    el("form", { method: "dialog" }, el("button", {}, "Close")),
  );
  return node;
}

function next_theme() {
  const root = document.documentElement;
  const dark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
  keep_theme(root.dataset.theme);
}

const THEME = "replaykit.theme";

// A browser may keep nothing for a file, and throw: then each report begins as the system is.
function keep_theme(theme) {
  try {
    localStorage.setItem(THEME, theme);
  } catch {
    return;
  }
}

function wear_theme() {
  try {
    const theme = localStorage.getItem(THEME);
    if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  } catch {
    return;
  }
}

function listen_to_keys(screen, help) {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return;
    const field = event.target.closest("input, select, textarea");
    if (field && event.key === "Escape") {
      field.blur();
      return;
    }
    if (field && field.type !== "range" && field.type !== "checkbox") return;
    if (field && field.type === "range" && event.key.startsWith("Arrow")) return;
    const scrolls = event.target.closest(".panel-box, .canvas") && event.key.startsWith("Arrow");
    const command = { t: next_theme, "?": () => help.showModal(), ...screen()?.keys }[event.key];
    if (!command || scrolls) return;
    event.preventDefault();
    command();
  });
}
