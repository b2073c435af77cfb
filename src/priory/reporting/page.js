// The form of a report: a row is set by controls, and every axis shows what its column adds.
// The data come from `priory.reporting`; all of what they say is written as text, never as markup.
"use strict";

/** Bring a form to life; `tellRow` is given the row, in the order of the columns, when it changes. */
priory.startForm = (page, form, tellRow = () => {}) => {
  const model = priory.prepare(page.model);
  const SVG = "http://www.w3.org/2000/svg";
  const FARTHEST = 8, MOST_TICKS = 60, MOST_CLASSES = 10, MOST_WORDS = 24, LETTER = 6.6;
  const ALL = -1;
  const state = { row: page.columns.map(() => null), target: page.target, against: page.against };

  const drawn = (name, attributes, ...children) => {
    const made = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  };
  const made = (name, attributes, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const signed = (x, digits = 2) =>
    x === 0 || Math.abs(x) < 0.5 * 10 ** -digits ? "0"
      : (x < 0 ? "−" : "+") + (Number.isFinite(x) ? Math.abs(x).toFixed(digits) : "∞");
  const sumOf = (arrays) =>
    arrays.reduce((a, b) => a.map((x, k) => x + b[k]), model.prior.map(() => 0));

  /** Log-odds of the target against another class, or against the mean of all others. */
  function odds(scores) {
    const { target, against } = state, own = scores[target];
    if (against !== ALL) {
      const apart = own - scores[against];
      return Number.isNaN(apart) ? 0 : apart;
    }
    const others = scores.filter((x, k) => k !== target && Number.isFinite(x));
    if (!Number.isFinite(own)) return others.length ? own : 0;
    return others.length ? own - others.reduce((a, b) => a + b, 0) / others.length : Infinity;
  }

  // Axes

  const SEPARABLE = new Set(
    ["gaussian", "student-t", "bernoulli", "binomial", "multinomial", "complement", "poisson"]
  );

  /** What a column adds by itself: all factors that are of it alone, or its part of a block. */
  function addedBy(place, value) {
    const row = page.columns.map((_, j) => (j === place ? value : null));
    return sumOf(model.factors
      .filter(({ columns, family }) =>
        columns.includes(place) && (columns.length === 1 || SEPARABLE.has(family)))
      .map((factor) => priory.contribution(
        model, factor.columns.length === 1 ? factor : { ...factor, bias: undefined }, row)));
  }

  const together = model.factors
    .filter(({ columns, family }) => columns.length > 1 && !SEPARABLE.has(family));

  const axes = [];
  for (const element of form.querySelectorAll(".column[data-column]")) {
    const place = Number(element.dataset.column);
    axes.push({ element, place, column: page.columns[place], strip: element.querySelector(".strip") });
  }
  for (const element of form.querySelectorAll("[data-pair]")) {
    const factor = together[Number(element.dataset.pair)];
    axes.push({ element, factor, strip: element.querySelector(".strip") });
  }

  /** The values of an axis that are marked, with their names. */
  function marksOf({ column }) {
    if (!column || column.kind === "text") return [];
    if (column.kind === "labels") {
      const step = Math.ceil(column.values.length / MOST_TICKS);
      return column.values
        .map((value, i) => [nameOf(column, i), value])
        .filter((_, i) => i % step === 0);
    }
    if (column.kind === "listed" && column.values.length <= 12) {
      return column.values.map((value) => [String(value), value]);
    }
    const low = column.low ?? column.values[0], high = column.high ?? column.values.at(-1);
    if (column.kind === "listed") {
      const step = Math.ceil(column.values.length / 12);
      return column.values.filter((_, i) => i % step === 0).map((value) => [String(value), value]);
    }
    return roundNumbers(low, high, 8, column.step).map((x) => [dated(column, x), x]);
  }

  const NAMES = new Map([[true, "True"], [false, "False"]]); // as everywhere else on the page
  const nameOf = (column, i) => {
    const value = column.names ? column.names[i] : column.values[i];
    return NAMES.get(value) ?? String(value);
  };
  const dated = (column, x) =>
    column.kind === "date" ? new Date(x * 1000).toISOString().slice(0, 10) : String(Number(x.toPrecision(6)));

  function roundNumbers(low, high, most, least = 0) {
    if (!(high > low)) return [low];
    const power = 10 ** Math.floor(Math.log10((high - low) / most));
    const step = [1, 2, 5, 10, 20].map((s) => s * power).find((s) => (high - low) / s <= most && s >= least) ?? least;
    const found = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i++) found.push(i * step);
    return found;
  }

  /** Where the curve or the cells of an axis reach. */
  function reachOf(axis, marks) {
    const at = marks.map(([, , x]) => x);
    const { column, factor } = axis;
    if (factor) at.push(...cellsOf(factor));
    if (column && "low" in column) {
      for (let i = 0; i <= 60; i++) {
        at.push(odds(addedBy(axis.place, column.low + ((column.high - column.low) * i) / 60)));
      }
    }
    if (column) at.push(odds(addedBy(axis.place, null)));
    const finite = at.map((x) => Math.min(Math.max(x, -FARTHEST), FARTHEST));
    return finite.length ? [Math.min(...finite), Math.max(...finite)] : [0, 0];
  }

  /** The log-odds of all cells of columns that are counted together, where they are a table. */
  function cellsOf(factor) {
    const p = factor.parameters;
    const tables = factor.family === "correction" ? p.score
      : factor.family === "conditional" ? p.probability : null;
    if (!tables) return [];
    const flat = tables.map((table) => table.flat(Infinity));
    const log = factor.family === "correction" ? (x) => x : Math.log;
    const bias = (k) => (factor.bias ? factor.bias[k] : 0);
    return flat[0].map((_, i) => odds(flat.map((cells, k) => factor.weight * log(cells[i]) + bias(k))));
  }

  function layOut() {
    for (const axis of axes) {
      axis.marks = marksOf(axis).map(([name, value]) => [name, value, odds(addedBy(axis.place, value))]);
      axis.reach = reachOf(axis, axis.marks);
      if (axis.reach[1] - axis.reach[0] < 1e-9) axis.marks = []; // all values say the same
    }
    const low = Math.min(-0.2, ...axes.map(({ reach }) => reach[0]));
    const high = Math.max(0.2, ...axes.map(({ reach }) => reach[1]));
    state.at = (x) => {
      const share = (Math.min(Math.max(x, low), high) - low) / (high - low);
      return 6 + 88 * share;
    };
    for (const axis of axes) drawStrip(axis);
  }

  function drawStrip(axis) {
    const { strip, marks, reach } = axis, at = (x) => `${state.at(x)}%`;
    const wide = strip.clientWidth || 300, taken = [];
    const svg = drawn("svg", { "aria-hidden": "true" });
    svg.append(drawn("line", { class: "zero", x1: at(0), x2: at(0), y1: 0, y2: "100%" }));
    svg.append(drawn("line", { class: "axis", x1: at(reach[0]), x2: at(reach[1]), y1: 11, y2: 11 }));
    const ends = [...marks].sort((p, q) => p[2] - q[2]);
    const first = new Set([ends[0], ends.at(-1)]);
    for (const mark of [...marks].sort((p, q) => first.has(q) - first.has(p))) {
      const [name, , x] = mark, middle = (state.at(x) / 100) * wide;
      svg.append(drawn("line", { class: "tick", x1: at(x), x2: at(x), y1: 6, y2: 16 }));
      const text = name.length > 18 ? name.slice(0, 17) + "…" : name;
      const half = (text.length * LETTER) / 2 + 3;
      const centre = Math.min(Math.max(middle, half), wide - half);
      if (taken.some(([low, high]) => centre + half > low && centre - half < high)) continue;
      taken.push([centre - half, centre + half]);
      svg.append(drawn("text", { x: `${(centre / wide) * 100}%`, y: 30, "text-anchor": "middle" }, text));
    }
    axis.dot = drawn("circle", { class: "dot", cx: at(0), cy: 11, r: 5.5 });
    svg.append(axis.dot);
    strip.replaceChildren(svg);
  }

  // Answers

  const list = document.getElementById("priory-classes");
  const told = document.getElementById("priory-answer");

  function answer() {
    const p = priory.posterior(model, state.row);
    const order = p.map((_, k) => k);
    if (p.length > MOST_CLASSES) order.sort((j, k) => p[k] - p[j]);
    list.replaceChildren(...order.slice(0, MOST_CLASSES).map((k) => {
      const bar = drawn("svg", { class: "bar", "aria-hidden": "true" },
        drawn("rect", { class: "track", width: "100%", height: "100%", rx: 2 }),
        drawn("rect", { class: "fill", width: `${100 * p[k]}%`, height: "100%", rx: 2 }));
      return made("li", {}, made("span", { class: "name" }, page.classes[k]), bar,
        made("span", { class: "number" }, percent(p[k])));
    }));
    const best = p.indexOf(Math.max(...p));
    told.replaceChildren(made("strong", {}, page.classes[best]), ` — ${percent(p[best])}`);
    for (const axis of axes) {
      const added = axis.factor
        ? priory.contribution(model, axis.factor, state.row)
        : addedBy(axis.place, state.row[axis.place]);
      const x = odds(added);
      axis.dot.setAttribute("cx", `${state.at(x)}%`);
      axis.dot.classList.toggle("off", axis.column !== undefined && state.row[axis.place] === null);
      axis.element.querySelector(".adds").textContent = signed(x);
      if (axis.column && axis.column.kind === "text") showWords(axis);
    }
    const pairs = document.getElementById("priory-pairs");
    if (pairs) {
      const total = sumOf(together.map((factor) => priory.contribution(model, factor, state.row)));
      pairs.textContent = signed(odds(total));
    }
    tellRow(state.row, p);
  }

  const percent = (p) => {
    const digits = p > 0.9995 || p < 0.0005 ? 3 : 1;
    return `${(100 * p).toFixed(digits)}\u00a0%`;
  };

  /** List the words of a text that say most. */
  function showWords(axis) {
    const factor = model.factors.find(
      ({ family, columns }) => family === "words" && columns[0] === axis.place);
    const text = state.row[axis.place], words = [];
    if (factor && text !== null) {
      const p = factor.parameters;
      for (const [w, x] of priory.wordCounts(p, text)) {
        const weights = model.prior.map((_, k) => p.readout === "bernoulli"
          ? Math.log(p.present[k][w]) - Math.log(p.absent[k][w])
          : x * priory.wordWeight(p, w, k));
        words.push([p.words[w], factor.weight * odds(weights)]);
      }
    }
    words.sort((p, q) => Math.abs(q[1]) - Math.abs(p[1]));
    axis.strip.replaceChildren(made("ul", { class: "words" },
      ...words.slice(0, MOST_WORDS).map(([word, x]) =>
        made("li", { class: x > 0 ? "for" : "against" }, word, made("small", {}, ` ${signed(x)}`)))));
  }

  // Controls

  for (const { element, place, column } of axes) {
    if (!column) continue;
    const control = element.querySelector(`#column-${place}`);
    const slider = element.querySelector(".slider"), clear = element.querySelector(".clear");
    const listed = column.kind === "listed";
    if (column.kind === "labels") {
      control.append(made("option", { value: "" }, "– missing –"));
      column.values.forEach((_, i) =>
        control.append(made("option", { value: i }, nameOf(column, i))));
      if (!column.names) control.append(made("option", { value: "other" }, "– another value –"));
    }
    if (slider) {
      slider.min = listed ? 0 : column.low;
      slider.max = listed ? column.values.length - 1 : column.high;
      slider.step = listed ? 1 : column.step;
      slider.addEventListener("input", () => {
        const x = Number(slider.value);
        change(place, listed ? column.values[x] : Number(x.toPrecision(12)));
      });
    }
    control.addEventListener("input", () => change(place, read(column, control), control));
    if (clear) clear.addEventListener("click", () => change(place, null));
  }

  function read(column, { value }) {
    if (value === "") return null;
    if (column.kind === "text") return value.trim() === "" ? null : value;
    if (column.kind === "labels") return value === "other" ? priory.OTHER : column.values[Number(value)];
    const number = column.kind === "date" ? Date.parse(value) / 1000 : Number(value);
    return Number.isNaN(number) ? null : number;
  }

  function change(place, value, source) {
    state.row[place] = value;
    show(place, source);
    answer();
  }

  /** Set the controls of a column to its value, but for the one that the value came from. */
  function show(place, source) {
    const column = page.columns[place], value = state.row[place];
    const element = form.querySelector(`.column[data-column="${place}"]`);
    if (!element) return;
    const control = element.querySelector(`#column-${place}`), slider = element.querySelector(".slider");
    element.classList.toggle("missing", value === null);
    if (control !== source) {
      if (value === null) control.value = "";
      else if (value === priory.OTHER) control.value = "other";
      else if (column.kind === "labels") {
        const at = column.values.findIndex((known) => priory.key(known) === priory.key(value));
        control.value = at < 0 ? "other" : at;
      } else if (column.kind === "date") control.value = dated(column, value);
      else control.value = value;
    }
    if (slider) {
      const known = column.kind === "listed"
        ? column.values.findIndex((x) => x >= value) : value;
      slider.value = value === null ? (Number(slider.min) + Number(slider.max)) / 2
        : known < 0 ? slider.max : known;
      slider.setAttribute("aria-valuetext", value === null ? "missing" : String(value));
    }
  }

  function take(row) {
    state.row = row.map((value) => value);
    page.columns.forEach((_, place) => show(place));
    answer();
  }

  for (const button of form.querySelectorAll("button[data-row]")) {
    const name = button.dataset.row;
    button.addEventListener("click", () => take(
      name === "typical" ? page.columns.map(({ typical }) => typical ?? null)
        : name === "empty" ? page.columns.map(() => null)
        : page.examples[Number(name)]));
  }
  for (const part of ["target", "against"]) {
    const chooser = document.getElementById(`priory-${part}`);
    if (!chooser) continue;
    chooser.addEventListener("change", () => {
      const before = state[part];
      state[part] = Number(chooser.value);
      if (state.target === state.against) {
        // The two change places, so that they never are the same.
        const other = part === "target" ? "against" : "target";
        state[other] = before === ALL ? (state[part] + 1) % page.classes.length : before;
        document.getElementById(`priory-${other}`).value = state[other];
      }
      layOut();
      answer();
    });
  }

  let width = 0;
  new ResizeObserver(() => {
    if (form.clientWidth === width) return;
    width = form.clientWidth;
    layOut();
    answer();
  }).observe(form);
  for (const details of form.querySelectorAll("details")) {
    details.addEventListener("toggle", () => { layOut(); answer(); });
  }
  layOut();
  take(page.columns.map(({ typical }) => typical ?? null));
  document.documentElement.dataset.ready = "true";
  return { take };
};

(() => {
  const holder = document.getElementById("priory-data");
  const form = document.getElementById("priory-form");
  if (holder && form) priory.startForm(JSON.parse(holder.textContent), form);
})();
