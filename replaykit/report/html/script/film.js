// The film strip and its scrubber: the run at a glance.

function film_of(run, moments, choose) {
  const strip = el("div", { class: "film", role: "group", "aria-label": "Film strip" });
  const scrubber = el("input", {
    type: "range",
    class: "scrubber",
    min: "0",
    max: String(Math.max(0, moments.length - 1)),
    step: "1",
    value: "0",
    "aria-label": "Step",
    on: { input: (event) => choose(Number(event.target.value)) },
  });
  moments.forEach((moment, at) => strip.append(frame_of(run, moment, () => choose(at))));
  const ticks = el("div", { class: "ticks", "aria-hidden": "true" }, ticks_of(moments));
  return {
    node: el("div", { class: "film-box" }, strip, el("div", { class: "scrub" }, ticks, scrubber)),
    show(at) {
      scrubber.value = String(at);
      scrubber.setAttribute("aria-valuetext", moment_words(moments[at]));
      for (const old of strip.querySelectorAll('[aria-current="step"]')) old.removeAttribute("aria-current");
      const frame = strip.children[at];
      if (!frame) return;
      frame.setAttribute("aria-current", "step");
      const middle = frame.offsetLeft - (strip.clientWidth - frame.clientWidth) / 2;
      strip.scrollTo({ left: Math.max(0, middle) });
    },
  };
}

function frame_of(run, moment, action) {
  const look = run.looks && run.looks[moment.frame];
  const has = look && look.screenshot && (run.screenshots || {})[look.screenshot]?.[0];
  return button(
    [
      has ? lazy_screenshot(run, look.screenshot) : el("i", { class: "blank", "aria-hidden": "true" }, blank_words(run, moment)),
      el(
        "span",
        {},
        moment.step ? moment.key : title_of(moment.key),
        moment.t !== undefined && el("small", {}, seconds(moment.t)),
      ),
    ],
    action,
    {
      class: `frame${moment.broken.length ? " bad" : ""}${moment.step?.error ? " failed" : ""}`,
      title: moment_words(moment),
      tabindex: "-1",
    },
  );
}

// The text in place of a missing screenshot.
function blank_words(run, moment) {
  if (moment.key === "end") return ending_of(run);
  return moment.step ? title_of(moment.step.tag) : "";
}

function ticks_of(moments) {
  const last = Math.max(1, moments.length - 1);
  return moments.flatMap((moment, at) =>
    moment.broken.length ? [el("i", { class: "bad", css: { "--at": String(at / last) } })] : [],
  );
}

function moment_words(moment) {
  if (!moment.step) return title_of(moment.key);
  const broken = moment.broken.map((one) => one.id).join(", ");
  return `Step ${moment.key}: ${moment.step.line}${broken ? `. Violates ${broken}` : ""}`;
}
