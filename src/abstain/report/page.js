"use strict";
// Shows the stops of the slider: every number was measured by the library; here they are multiplied and laid out.
(() => {
  const data = JSON.parse(document.getElementById("slider-data").textContent);
  const at = (id) => document.getElementById(id);
  const range = at("s-range"), which = at("s-score"), points = at("s-certified");
  const charts = document.querySelectorAll("svg[data-axes]");
  const digits = (x, n) => (x === 0 ? "0" : String(Number(x.toPrecision(n))));
  const percent = (x) => {
    const cents = 100 * x;
    if (Number.isNaN(x)) return "–";
    if (cents === 0 || cents === 100) return `${cents}\u00a0%`;
    return `${cents < 0.01 ? "< 0.01" : cents < 0.995 ? digits(cents, 2) : (Math.floor(10 * cents + 0.5) / 10).toFixed(1)}\u00a0%`;
  };
  const count = (x) => String(Math.round(x)).replace(/\B(?=(\d{3})+$)/g, ",");
  const whole = (x) => (x > 0 && x < 1 ? "< 1" : count(x));
  const share = data.binary ? percent : (x) => digits(x, 4);
  const text = (id, value, small) => {
    at(id).textContent = value;
    if (small) { const more = document.createElement("small"); more.textContent = small; at(id).append(more); }
  };
  const score = () => data.scores[Number(which.value)];
  const costs = () => [Number(at("s-error").value), Number(at("s-review").value)];
  const priced = () => at("s-error").value !== "" && at("s-review").value !== "";
  const cost = (one, stop) => 1000 * (costs()[0] * stop[3] + costs()[1] * (one.total - stop[2])) / one.total;
  const coverage = (one, k) => one.stops[k][2] / one.total;
  let place = 0;

  function fill() {
    const one = score(), certified = Object.entries(one.certified);
    points.replaceChildren(new Option(certified.length ? "none: by eye" : "none is certified", ""));
    for (const [k, each] of certified) points.append(new Option(`${each.label}: coverage ${percent(coverage(one, k))}`, k));
    at("s-marks").replaceChildren(...certified.map(([k]) => new Option("", String(coverage(one, k)))));
    for (const each of document.querySelectorAll("[data-score]")) each.classList.toggle("on", each.dataset.score === one.name);
  }

  // The stop whose coverage is nearest to a place on the slider.
  function nearest(x) {
    const stops = score().stops.map((_, k) => Math.abs(coverage(score(), k) - x));
    return stops.indexOf(Math.min(...stops));
  }

  // A certified point attracts the pointer from two steps on; the keyboard moves by single steps and is not attracted.
  function snapped(k, reach) {
    const near = Object.keys(score().certified).map(Number).filter((p) => Math.abs(p - k) <= reach);
    near.sort((a, b) => Math.abs(a - k) - Math.abs(b - k));
    return near.length ? near[0] : k;
  }

  function show(k) {
    place = k;
    const one = score(), [threshold, n, weight, loss, low, high] = one.stops[k], kept = one.certified[k];
    const risk = weight ? loss / weight : NaN, answered = weight / one.total;
    range.value = String(answered);
    text("o-coverage", percent(answered), `${count(n)} of ${count(one.n)} rows`);
    const ends = low === null ? "no interval: rows are not independent" : `${one.exact ? "" : "≈ "}${share(low)} to ${share(high)}`;
    text("o-risk", share(risk), ends);
    text("o-errors", data.binary ? whole(1000 * loss / one.total) : digits(1000 * loss / one.total, 4));
    text("o-reviews", whole(1000 * (one.total - weight) / one.total));
    text("o-cost", priced() ? digits(cost(one, [threshold, n, weight, loss]), 5) : "");
    at("o-cost").parentElement.hidden = !priced();
    at("o-threshold").textContent = `${one.title} ≥ ${one.readable[k]}`;
    at("o-guarantee").textContent = (kept ? kept.status : one.status).replaceAll(" %", "\u00a0%");
    at("o-guarantee").classList.toggle("certified", Boolean(kept));
    points.value = kept ? String(k) : "";
    range.setAttribute("aria-valuetext", `threshold ${one.readable[k]}, coverage ${percent(answered)}, error rate ${share(risk)}${kept ? ", certified" : ""}`);
    at("o-exact").textContent = threshold;
    const made = policy(one, k);
    at("o-policy").textContent = made ?? data.refused;
    at("s-save").textContent = `Save policy (${kept ? `limit ${kept.limit}` : "not certified"})`;
    at("s-save").classList.toggle("by-eye", !kept);
    at("s-save").hidden = made === null;
    at("s-cheapest").disabled = !priced();
    for (const chart of charts) {
      const [a, b, left, right, least, most, bottom, top] = chart.dataset.axes.split(",").map(Number);
      const x = left + (answered - a) / (b - a) * (right - left);
      const y = bottom + (Math.min(Math.max(risk, least), most) - least) / (most - least) * (top - bottom);
      const here = chart.querySelector(".here"), line = chart.querySelector(".follow");
      for (const [each, name, value] of [[here, "cx", x], [here, "cy", y], [line, "x1", x], [line, "x2", x], [line, "y1", y]]) each.setAttribute(name, value.toFixed(1));
      here.classList.toggle("certified", Boolean(kept));
    }
  }

  // A number as Python writes it: the digest of a policy is taken over that text.
  function written(x) {
    if (Number.isInteger(x)) return `${x}.0`;
    return Math.abs(x) < 1e-4 ? x.toExponential().replace(/e([+-])(\d)$/, "e$10$2") : String(x);
  }

  function policy(one, k) {
    if (one.policy === null) return null;
    const [threshold, n, weight] = one.stops[k], kept = one.certified[k];
    const fields = {
      "@T@": threshold === "inf" || threshold === "-inf" ? `"${threshold}"` : threshold, "@K@": String(n),
      "@C@": written(weight / one.total), "@O@": kept ? kept.objective : `{"by_eye": ${threshold}}`,
      "@G@": kept ? kept.guarantee : "null",
      "@N@": kept ? kept.note : data.by_eye,
    };
    const content = one.policy.replace(/"(@[TKCOGN]@)"/g, (_, mark) => fields[mark]);
    return `{"format": "abstain.policy/2", ${content.slice(1, -1)}, "digest": "${sha256(content)}"}\n`;
  }

  // SHA-256 of ASCII text; the browser's own is not there for files opened from a disk.
  function sha256(message) {
    const primes = [], k = [], h = [];
    for (let n = 2; primes.length < 64; n++) if (primes.every((p) => n % p)) primes.push(n);
    const part = (x) => Math.floor((x - Math.floor(x)) * 2 ** 32) | 0;
    primes.forEach((p, i) => { k[i] = part(Math.cbrt(p)); if (i < 8) h[i] = part(Math.sqrt(p)); });
    const bytes = [...message].map((c) => c.charCodeAt(0)), length = bytes.length;
    bytes.push(128);
    while (bytes.length % 64 !== 56) bytes.push(0);
    for (let i = 7; i >= 0; i--) bytes.push(Math.floor(length * 8 / 256 ** i) % 256);
    const turn = (x, n) => (x >>> n) | (x << (32 - n)), w = new Int32Array(64);
    for (let start = 0; start < bytes.length; start += 64) {
      for (let i = 0; i < 64; i++) {
        if (i < 16) w[i] = (bytes[start + 4 * i] << 24) | (bytes[start + 4 * i + 1] << 16) | (bytes[start + 4 * i + 2] << 8) | bytes[start + 4 * i + 3];
        else w[i] = (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ (w[i - 2] >>> 10)) + w[i - 7] + (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ (w[i - 15] >>> 3)) + w[i - 16];
      }
      let [a, b, c, d, e, f, g, last] = h;
      for (let i = 0; i < 64; i++) {
        const one = (last + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + k[i] + w[i]) | 0;
        const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        [a, b, c, d, e, f, g, last] = [(one + two) | 0, a, b, c, (d + one) | 0, e, f, g];
      }
      [a, b, c, d, e, f, g, last].forEach((x, i) => { h[i] = (h[i] + x) | 0; });
    }
    return h.map((x) => (x >>> 0).toString(16).padStart(8, "0")).join("");
  }

  let dragged = false;
  range.addEventListener("pointerdown", () => { dragged = true; });
  range.addEventListener("pointerup", () => { dragged = false; });
  range.addEventListener("input", () => {
    const k = nearest(Number(range.value)), reach = Math.max(1, Math.round(score().stops.length / 100));
    show(dragged ? snapped(k, reach) : k);
  });
  range.addEventListener("keydown", (event) => {
    const last = score().stops.length - 1;
    const to = {
      ArrowRight: place + 1, ArrowUp: place + 1, ArrowLeft: place - 1, ArrowDown: place - 1,
      PageUp: place + 20, PageDown: place - 20, Home: 0, End: last,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    show(Math.min(Math.max(to, 0), last));
  });
  which.addEventListener("change", () => { fill(); show(score().start); });
  points.addEventListener("change", () => { show(points.value === "" ? place : Number(points.value)); });
  for (const id of ["s-error", "s-review"]) at(id).addEventListener("input", () => show(place));
  at("s-cheapest").addEventListener("click", () => {
    const all = score().stops.map((stop) => cost(score(), stop));
    show(all.indexOf(Math.min(...all)));
  });
  at("s-save").addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([policy(score(), place)], { type: "application/json" }));
    link.download = "policy.json";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  at("controls").addEventListener("submit", (event) => event.preventDefault());

  for (const each of document.querySelectorAll(".needs-script")) each.hidden = false;
  fill();
  show(score().start);
  for (const each of document.querySelectorAll(".here, .follow")) each.removeAttribute("visibility");
})();
