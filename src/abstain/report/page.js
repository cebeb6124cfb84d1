"use strict";
// Shows the stops of the slider: every number was measured by the library; here they are multiplied and laid out.
(() => {
  const data = JSON.parse(document.getElementById("slider-data").textContent);
  const at = (id) => document.getElementById(id);
  const form = at("slider"), range = at("s-range"), which = at("s-score"), points = at("s-promised");
  const percent = (x) => `${digits(100 * x, 3)} %`;
  const digits = (x, n) => (x === 0 ? "0" : String(Number(x.toPrecision(n))));
  const whole = (x) => (x > 0 && x < 1 ? "fewer than 1" : String(Math.round(x)));
  const text = (id, value, small) => {
    at(id).textContent = value;
    if (small) { const more = document.createElement("small"); more.textContent = small; at(id).append(more); }
  };
  const score = () => data.scores[Number(which.value)];
  const costs = () => [Number(at("s-error").value), Number(at("s-review").value)];
  const priced = () => at("s-error").value !== "" && at("s-review").value !== "";
  const cost = (one, stop) => 1000 * (costs()[0] * stop[3] + costs()[1] * (one.total - stop[2])) / one.total;

  function fill() {
    const one = score();
    range.max = String(one.stops.length - 1);
    points.replaceChildren();
    const none = new Option(Object.keys(one.promised).length ? "none: by eye" : "none is promised", "");
    points.append(none);
    at("s-marks").replaceChildren(...Object.keys(one.promised).map((k) => new Option(k, k)));
    for (const [k, each] of Object.entries(one.promised)) {
      points.append(new Option(`risk at most ${percent(each.risk)}: coverage ${percent(one.stops[k][2] / one.total)}`, k));
    }
    for (const each of document.querySelectorAll("[data-score]")) each.classList.toggle("on", each.dataset.score === one.name);
  }

  // A promised point draws the slider from two steps on; the keyboard moves by single steps and is not drawn.
  function snapped(k, reach) {
    const near = Object.keys(score().promised).map(Number).filter((p) => Math.abs(p - k) <= reach);
    near.sort((a, b) => Math.abs(a - k) - Math.abs(b - k));
    return near.length ? near[0] : k;
  }

  function show() {
    const one = score(), k = Number(range.value), stop = one.stops[k], kept = one.promised[k];
    const [threshold, n, weight, loss, low, high] = stop, risk = weight ? loss / weight : NaN;
    const share = data.binary ? percent : (x) => digits(x, 4);
    text("o-threshold", `≥ ${one.readable[k]}`);
    text("o-coverage", percent(weight / one.total), `${n} of ${one.n} rows`);
    const ends = low === null ? "no interval: rows are not independent" : `[${share(low)}, ${share(high)}], ${one.exact ? "exact" : "approximate"}, ${percent(data.level)}`;
    text("o-risk", share(risk), ends);
    text("o-errors", data.binary ? whole(1000 * loss / one.total) : digits(1000 * loss / one.total, 4));
    text("o-people", whole(1000 * (one.total - weight) / one.total));
    text("o-cost", priced() ? digits(cost(one, stop), 5) : "–", priced() ? "" : "give both costs");
    at("o-promise").textContent = (kept ? kept.said : one.said).replaceAll(" %", "\u00a0%");
    at("o-promise").classList.toggle("kept", Boolean(kept));
    points.value = kept ? String(k) : "";
    range.setAttribute("aria-valuetext", `threshold ${one.readable[k]}, coverage ${percent(weight / one.total)}, risk ${share(risk)}${kept ? ", promised" : ""}`);
    at("o-short").textContent = one.readable[k];
    at("o-exact").textContent = threshold;
    const made = policy(one, k);
    at("o-policy").textContent = made ?? (data.of === "Group" ? "the policy holds the thresholds of all groups: abstain threshold --groups -o FILE" : data.refused || "no policy can be made of this score here");
    at("s-save").textContent = `Save this threshold as a policy${kept ? "" : ": chosen by eye, no promise"}`;
    at("s-save").disabled = made === null;
    at("s-save").parentElement.hidden = made === null;
    at("s-cheapest").disabled = !priced();
    for (const line of document.querySelectorAll(".follow")) {
      const [a, b, left, right] = line.dataset.axis.split(",").map(Number);
      const x = String(left + (weight / one.total - a) / (b - a) * (right - left));
      line.setAttribute("x1", x);
      line.setAttribute("x2", x);
      line.classList.add("on");
    }
  }

  // A number as Python writes it: the digest of a policy is taken over that text.
  function written(x) {
    if (Number.isInteger(x)) return `${x}.0`;
    return Math.abs(x) < 1e-4 ? x.toExponential().replace(/e([+-])(\d)$/, "e$10$2") : String(x);
  }

  function policy(one, k) {
    if (one.policy === null) return null;
    const [threshold, n, weight] = one.stops[k], kept = one.promised[k];
    const fields = {
      "@T@": threshold === "inf" || threshold === "-inf" ? `"${threshold}"` : threshold, "@K@": String(n),
      "@C@": written(weight / one.total), "@O@": kept ? kept.objective : `{"by_eye": ${threshold}}`,
      "@G@": kept ? kept.guarantee : "null",
      "@N@": kept ? kept.note : '"chosen by eye, no promise"',
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
    const reach = Math.max(1, Math.round(score().stops.length / 100));
    if (dragged) range.value = String(snapped(Number(range.value), reach));
    show();
  });
  which.addEventListener("change", () => { fill(); begin(); });
  points.addEventListener("change", () => { if (points.value !== "") range.value = points.value; show(); });
  for (const id of ["s-error", "s-review"]) at(id).addEventListener("input", show);
  at("s-cheapest").addEventListener("click", () => {
    const all = score().stops.map((stop) => cost(score(), stop));
    range.value = String(all.indexOf(Math.min(...all)));
    show();
  });
  at("s-save").addEventListener("click", () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([policy(score(), Number(range.value))], { type: "application/json" }));
    link.download = "policy.json";
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
  form.addEventListener("submit", (event) => event.preventDefault());

  function begin() {
    range.value = String(score().start);
    show();
  }
  fill();
  begin();
  form.hidden = false;
})();
