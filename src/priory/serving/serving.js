// The served page. Views are markup that the server makes of the report's components; a form is
// computed here by scoring.js, and worked out by the server when it rests.
"use strict";

(() => {
  const $ = (id) => document.getElementById(id);
  const notice = $("notice"), title = $("title"), chooser = $("model");
  let view = $("view"), showing = 0;
  const REST = 250; // milliseconds without a change, after which the server is asked
  const SLOW = 400; // milliseconds after which whoever waits is told why
  const state = { token: sessionStorage.getItem("token"), schema: null, asked: null, history: [] };
  const SVG = "http://www.w3.org/2000/svg";

  const made = (name, attributes = {}, ...children) => {
    const element = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    element.append(...children);
    return element;
  };
  const drawn = (name, attributes) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };
  const ANOTHER = "– another value –";
  const named = (value) => (typeof value === "boolean" ? (value ? "True" : "False") : String(value));
  const percent = (p) => `${(100 * p).toFixed(1)}\u00a0%`;

  function tell(text, wrong = false) {
    notice.textContent = text;
    notice.classList.toggle("wrong", wrong);
  }

  async function ask(path, body, method = body === undefined ? "GET" : "POST", kind = "application/json") {
    const headers = {};
    if (state.token) headers.Authorization = `Bearer ${state.token}`;
    if (body !== undefined) headers["Content-Type"] = kind;
    const sent = body === undefined || kind !== "application/json" ? body : JSON.stringify(body);
    const answer = await fetch(path, { method, headers, body: sent }).catch(() => {
      throw new Error("The server does not answer: is it still running?");
    });
    if (answer.status === 401 || answer.status === 403) $("key").hidden = false;
    if (!answer.ok) {
      const told = await answer.json().catch(() => ({}));
      throw new Error(told.error ? told.error.message : `The server answered ${answer.status}.`);
    }
    return answer;
  }
  const asJson = async (...given) => (await ask(...given)).json();

  /** Put markup of the server's own components into an element; scripts in it would not run. */
  const put = (element, html) => {
    const template = document.createElement("template");
    template.innerHTML = html;
    element.replaceChildren(template.content);
  };

  /** Begin a view, with its title, in a place of its own: what was there is gone, not moved. */
  const begun = (text) => {
    title.textContent = text;
    const fresh = made("div", { id: "view", "aria-busy": "true" });
    view.replaceWith(fresh);
    view = fresh;
    document.body.append(document.querySelector("body > footer"));
  };

  // Views: each is of the model that was chosen when it was opened, and says nothing once another
  // view or model was. `turn` begins it, and stops it where that is so already.

  const at = (model) => `/page/${encodeURIComponent(model)}`;
  const by = (model) => `/v1/models/${encodeURIComponent(model)}`;
  const CHANGED = "The model has changed since this form was made: choose Ask again to compute with the new one.";

  const views = {
    async overview(turn, model) {
      const found = await asJson(`${at(model)}/overview`);
      turn(found.title);
      put(view, found.html);
    },

    async ask(turn, model, isShown) {
      const found = await asJson(`${at(model)}/ask`);
      turn(`Ask about ${state.schema.target ?? "a row"}`);
      put(view, found.html);
      const worked = made("div", { id: "explained", "aria-busy": "true" });
      view.append(worked);
      const form = $("priory-form");
      if (!form || !found.data) {
        worked.remove();
        return;
      }
      const { columns } = found.data, names = JSON.stringify(columns.map(({ name, kind }) => [name, kind]));
      const before = asked(model);
      let waiting = null, last = 0;
      const work = async (row) => {
        const mine = ++last, isLast = () => mine === last && isShown();
        if (!isLast()) return;
        worked.setAttribute("aria-busy", "true");
        try {
          const answer = await asJson(`${at(model)}/explain`, { row });
          if (!isLast()) return;
          put(worked, answer.html);
          worked.dataset.answered = JSON.stringify(Object.values(answer.probabilities));
          tell(answer.version === found.version ? "" : CHANGED, answer.version !== found.version);
        } catch (error) {
          if (!isLast()) return;
          worked.replaceChildren(); // what is there is of another row
          tell(error.message, true);
        }
        worked.setAttribute("aria-busy", "false");
      };
      const started = priory.startForm(found.data, form, (values, p) => {
        if (!isShown()) return;
        const row = asRow(columns, values);
        state.asked = { model, names, values: [...values], row };
        worked.dataset.computed = JSON.stringify(p);
        clearTimeout(waiting);
        waiting = setTimeout(work, REST, row);
      });
      if (before && before.names === names) started.take(before.values);
    },

    async quality(turn, model) {
      const found = await asJson(`${at(model)}/quality`);
      turn("Quality");
      put(view, found.html);
      if (found.curves.length) view.append(thresholds(found.curves));
    },
  };

  // Drift of what was asked lately: counts of the server, compared when this is opened

  views.drift = async (turn, model, isShown) => {
    const found = made("div", { id: "drifted" });
    const again = made("button", { type: "button", id: "again" }, "Look again");
    const look = async () => {
      const answer = await asJson(`${at(model)}/drift`);
      put(found, answer.html);
      found.dataset.answered = JSON.stringify(answer.drift);
    };
    again.addEventListener("click", async () => {
      try {
        await look();
        if (isShown()) tell("");
      } catch (error) {
        if (isShown()) tell(error.message, true);
      }
    });
    await look();
    turn("Drift");
    view.replaceChildren(made("section", {}, found, made("div", { class: "row" }, again)));
  };

  // Learning: a row of the form with its class, and what was done, to be undone

  /** What was last asked of a model under Ask, if it is the one that was asked last. */
  const asked = (model) => (state.asked && state.asked.model === model ? state.asked : null);

  views.learn = async (turn, model, isShown) => {
    turn("Learn");
    const told = (row) => Object.entries(row).map(([name, value]) => `${name} = ${named(value)}`);
    const row = asked(model)?.row ?? {};
    const facts = made("ul", { class: "facts", "aria-label": "The row" },
      ...told(row).map((fact) => made("li", {}, fact)));
    const label = made("select", { id: "label" },
      ...state.schema.classes.map((name, i) => made("option", { value: i }, named(name))));
    const history = made("ul", { class: "history", "aria-label": "What was changed" });
    let busy = false;
    const change = async (verb, row, of) => {
      if (busy) return false; // a second click is no second row
      busy = true;
      try {
        const found = await asJson(`${by(model)}/${verb}`, { rows: [row], labels: [of] });
        if (isShown()) {
          await load(model);
          tell(`${verb === "learn" ? "Learned" : "Forgotten"}; the model has ${found.rows.toLocaleString("en")} rows now.`);
        }
        return true;
      } catch (error) {
        if (isShown()) tell(error.message, true);
        return false;
      } finally {
        busy = false;
      }
    };
    const list = () => history.replaceChildren(...state.history.filter((done) => done.model === model).map((done) => {
      const undo = made("button", { type: "button" }, "Undo");
      const what = `${done.verb === "learn" ? "learned" : "forgotten"}: ${named(done.of)} – ${told(done.row).join(", ")}`;
      undo.setAttribute("aria-label", `Undo: ${what}`);
      undo.addEventListener("click", async () => {
        if (!(await change(done.verb === "learn" ? "forget" : "learn", done.row, done.of))) return;
        state.history.splice(state.history.indexOf(done), 1);
        list();
        (history.querySelector("button") ?? $("learn"))?.focus();
      });
      return made("li", {}, made("span", {}, what), undo);
    }));
    const button = (verb, text) => {
      const found = made("button", { type: "button", id: verb }, text);
      found.addEventListener("click", async () => {
        const other = Object.keys(row).find((name) => row[name] === ANOTHER);
        if (other) return tell(`${other} has a value that the form does not name: choose one, or leave it missing.`, true);
        const of = state.schema.classes[Number(label.value)];
        if (await change(verb, row, of)) state.history.unshift({ model, verb, row, of });
        list();
      });
      return found;
    };
    view.replaceChildren(made("section", {},
      made("p", {}, "Teach the model what the row that you set under Ask really is, or take such a row away. " +
        "It is in the model’s file before this page says so."),
      facts.children.length ? facts : made("p", { class: "soft" }, "No row is set: choose one under Ask."),
      made("div", { class: "row" }, made("label", { for: "label" }, "It is really"), label,
        button("learn", "Learn this row"), button("forget", "Forget such a row")),
      made("h2", {}, "Changed from this page"), history));
    list();
  };

  // Try a file: read, trained on and compared, in memory

  views.try = async (turn, model, isShown) => {
    turn("Try a file");
    const file = made("input", { type: "file", id: "file", accept: ".csv,text/csv" });
    const target = made("select", { id: "target" });
    const train = made("button", { type: "button", id: "train" }, "Read and train");
    const predict = made("button", { type: "button", id: "predict" }, "Predict with the served model");
    const bar = made("progress", { "aria-label": "Progress", max: 1 }), found = made("div", { id: "tried" });
    const links = made("div", { class: "row" });
    let chosen = null;
    bar.hidden = true;

    /** Offer the columns of a file as targets: the one that is chosen, else that of the model. */
    const offer = (names) => {
      const wanted = [target.value, state.schema.target].find((name) => name && names.includes(name));
      target.replaceChildren(made("option", { value: "" }, "– only read it –"),
        ...names.map((name) => made("option", { value: name }, name)));
      target.value = wanted ?? "";
    };
    /** Take a file; its first line names the columns, until the server has read it. */
    async function take(given) {
      const head = fieldsOf(await given.slice(0, 65536).text());
      if (!isShown()) return;
      chosen = given;
      found.replaceChildren();
      links.replaceChildren();
      target.value = "";
      offer(head);
      tell(`${given.name}: ${given.size.toLocaleString("en")} bytes.`);
    }
    const download = (blob, name, text) => {
      const link = made("a", { href: URL.createObjectURL(blob), download: name }, text);
      links.append(link);
      return link;
    };
    const predicted = async (trial) => {
      const query = trial ? `?trial=${encodeURIComponent(trial)}` : "";
      const answer = await ask(`${at(model)}/predict-file${query}`, chosen, "POST", "text/csv");
      const content = await answer.blob();
      if (!isShown()) return;
      download(content, "predictions.csv", "predictions.csv").click();
      tell("The predictions are downloaded.");
    };
    let busy = false;
    const guarded = (work) => async () => {
      if (busy) return;
      if (!chosen) return tell("Choose a file first.", true);
      busy = true;
      const mine = view;
      mine.setAttribute("aria-busy", "true");
      try { await work(); } catch (error) { if (isShown()) tell(error.message, true); }
      bar.hidden = true;
      busy = false;
      mine.setAttribute("aria-busy", "false");
    };
    predict.addEventListener("click", guarded(() => predicted("")));
    train.addEventListener("click", guarded(async () => {
      links.replaceChildren();
      const { trial } = await asJson(`${at(model)}/try?target=${encodeURIComponent(target.value)}`, chosen, "POST", "text/csv");
      bar.hidden = false;
      for (;;) {
        const told = await asJson(`${at(model)}/try/${trial}`);
        if (!isShown()) return;
        if (told.progress === null) bar.removeAttribute("value");
        else bar.value = told.progress;
        put(found, told.html);
        if (told.columns.length) offer(told.columns);
        if (told.stage === "failed") throw new Error(told.error);
        if (told.stage === "done") break;
        tell(`${told.stage} …`);
        await new Promise((done) => setTimeout(done, 200));
      }
      tell("Done; nothing is kept but in memory.");
      if (!target.value) return;
      const again = made("button", { type: "button", id: "predict-new" }, "Predict this file with the new model");
      again.addEventListener("click", guarded(() => predicted(trial)));
      const keep = made("button", { type: "button", id: "save" }, "Save the new model");
      keep.addEventListener("click", guarded(async () => {
        const answer = await ask(`${at(model)}/try/${trial}/model`);
        download(await answer.blob(), "model.priory", "model.priory").click();
      }));
      links.append(again, keep);
    }));
    const box = made("div", { class: "drop" },
      made("label", { for: "file" }, "A CSV file: choose it, or drop it here"), file,
      made("label", { for: "target" }, "The column of the classes"), target,
      made("div", { class: "row" }, train, predict));
    box.addEventListener("dragover", (event) => { event.preventDefault(); box.classList.add("over"); });
    box.addEventListener("dragleave", () => box.classList.remove("over"));
    box.addEventListener("drop", (event) => {
      event.preventDefault();
      box.classList.remove("over");
      if (event.dataTransfer.files.length) take(event.dataTransfer.files[0]);
    });
    file.addEventListener("change", () => { if (file.files.length) take(file.files[0]); });
    view.replaceChildren(made("section", {},
      made("p", {}, "See how a file is read, what a model of it is worth beside this one, and what is predicted of it. " +
        "It is sent to this server alone, and kept in its memory until the next few."),
      box, bar, links, found));
  };

  /** The fields of the first line of a CSV file. */
  function fieldsOf(text) {
    const marks = [",", ";", "\t", "|"];
    const head = text.match(/^(?:"(?:[^"]|"")*"|[^"\r\n])*/)[0], bare = head.replace(/"(?:[^"]|"")*"/g, "");
    const mark = marks.reduce((a, b) => (bare.split(b).length > bare.split(a).length ? b : a));
    const fields = [""];
    let quoted = false;
    for (const character of head) {
      if (character === '"') quoted = !quoted;
      if (character === mark && !quoted) fields.push("");
      else fields[fields.length - 1] += character;
    }
    return fields.map((field) => field.trim().replace(/^"([^]*)"$/, (_, inside) => inside.replaceAll('""', '"')));
  }

  /** The row of a form as the API takes it: by name, without what is missing. */
  function asRow(columns, values) {
    const row = {};
    columns.forEach(({ name, kind, names }, j) => {
      const value = values[j];
      if (value === null) return;
      if (value === priory.OTHER) row[name] = ANOTHER;
      else if (names) row[name] = names[value];
      else if (kind === "date") row[name] = new Date(value * 1000).toISOString().slice(0, 23).replace("T", " ").replace(/( 00:00:00)?\.000$/, "");
      else row[name] = value;
    });
    return row;
  }

  // Quality: a threshold by hand, or by what errors cost

  function thresholds(curves) {
    const which = made("select", { id: "which" });
    curves.forEach((curve, i) => which.append(made("option", { value: i }, curve.class)));
    which.value = curves.length === 2 ? 1 : 0;
    const slider = made("input", { type: "range", id: "threshold", min: 0, step: 1 });
    const cost = made("input", { type: "range", id: "cost", min: -50, max: 50, step: 1, value: 0 });
    const picture = made("div"), told = made("div", { role: "status" });
    const costs = () => 10 ** (Number(cost.value) / 25);

    function pick(curve) {
      const ratio = costs();
      const spent = curve.true.map((hit, i) =>
        ratio * (1 - hit) * curve.positive + curve.false[i] * curve.negative);
      slider.value = curve.true.length - 1 - spent.indexOf(Math.min(...spent));
    }
    function show() {
      const curve = curves[Number(which.value)], last = curve.true.length - 1;
      const i = last - Number(slider.value), ratio = costs();
      const hit = curve.true[i], alarm = curve.false[i];
      const rows = (x) => x.toLocaleString("en", { maximumFractionDigits: 0 });
      const missed = (1 - hit) * curve.positive, wrong = alarm * curve.negative;
      const svg = drawn("svg", { viewBox: "-34 -8 250 246", role: "img",
        "aria-label": `ROC curve of ${curve.class}: ${percent(hit)} found at ${percent(alarm)} false alarms` });
      svg.append(drawn("rect", { class: "frame", width: 200, height: 200 }),
        drawn("line", { class: "diagonal", x1: 0, y1: 200, x2: 200, y2: 0 }),
        drawn("polyline", { class: "roc", points: curve.true.map((y, j) => `${200 * curve.false[j]},${200 - 200 * y}`).join(" ") }),
        drawn("circle", { class: "at", cx: 200 * alarm, cy: 200 - 200 * hit, r: 6 }));
      for (const [x, y, text, anchor] of [[0, 216, "0", "middle"], [200, 216, "1", "middle"], [-6, 204, "0", "end"],
        [-6, 6, "1", "end"], [100, 232, "share of the others called so", "middle"]]) {
        const label = drawn("text", { x, y, "text-anchor": anchor });
        label.textContent = text;
        svg.append(label);
      }
      const side = drawn("text", { transform: "translate(-20 100) rotate(-90)", "text-anchor": "middle" });
      side.textContent = "share found";
      svg.append(side);
      picture.replaceChildren(svg);
      slider.setAttribute("aria-valuetext", `probability ${curve.thresholds[i].toFixed(3)}`);
      cost.setAttribute("aria-valuetext", `${ratio.toPrecision(2)} times`);
      told.replaceChildren(
        made("p", {}, `A row is called ${curve.class} from a probability of `, made("strong", {}, curve.thresholds[i].toFixed(3)), " on."),
        made("p", {}, `${percent(hit)} of ${rows(curve.positive)} are found and ${rows(missed)} missed; ` +
          `${percent(alarm)} of ${rows(curve.negative)} others are called so too: ${rows(wrong)} false alarms.`),
        made("p", {}, `If a miss costs ${ratio.toPrecision(2)} and a false alarm 1, that is ${rows(ratio * missed + wrong)} in all.`));
    }
    which.addEventListener("change", () => { begin(); });
    slider.addEventListener("input", show);
    cost.addEventListener("input", () => { pick(curves[Number(which.value)]); show(); });
    function begin() {
      const curve = curves[Number(which.value)];
      slider.max = curve.true.length - 1;
      pick(curve);
      show();
    }
    begin();
    return made("section", { id: "thresholds", "aria-labelledby": "thresholds-title" },
      made("h2", { id: "thresholds-title" }, "A threshold, and what errors cost"),
      made("div", { class: "threshold" }, picture,
        made("div", {}, made("label", { for: "which" }, "The class"), which,
          made("label", { for: "threshold" }, "Threshold"), slider,
          made("label", { for: "cost" }, "What a miss costs, in false alarms (chooses the best threshold)"), cost, told)));
  }

  // Moving about

  /** Open the view of the address, of the model that is chosen; `anew` where that is another. */
  async function show(anew = false) {
    const name = views[location.hash.slice(1)] ? location.hash.slice(1) : "overview";
    for (const link of document.querySelectorAll("nav a")) {
      if (link.hash === `#${name}`) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    tell("");
    view.setAttribute("aria-busy", "true");
    const mine = ++showing, model = chooser.value, slow = setTimeout(() => tell("The server works it out …"), SLOW);
    const isShown = () => mine === showing;
    try {
      if (anew || !state.schema) await load(model, isShown);
      await views[name]((text) => {
        if (!isShown()) throw new Error("Another view was opened meanwhile.");
        begun(text);
      }, model, isShown);
      if (isShown()) document.title = `${title.textContent} – priory`;
    } catch (error) {
      if (isShown()) {
        begun(document.querySelector("nav a[aria-current]").textContent); // what was there is of another
        tell(error.message, true);
        reveal();
      }
    }
    clearTimeout(slow);
    if (!isShown()) return;
    if (!notice.classList.contains("wrong")) tell("");
    view.setAttribute("aria-busy", "false");
    document.documentElement.dataset.view = name;
  }

  async function load(model, isShown = () => true) {
    const found = await asJson(`${by(model)}/schema`);
    if (!isShown()) return;
    state.schema = found;
    const { rows, state: how, learns, tries, drifts } = found;
    $("about").textContent = `${model}: ${rows.toLocaleString("en")} rows, ${how}`;
    const shown = { "#learn": learns, "#try": tries, "#drift": drifts };
    for (const link of document.querySelectorAll("nav a")) link.parentElement.hidden = shown[link.hash] === false;
    reveal();
  }

  /** Show the page once it is known what stands where, so that nothing moves while it loads. */
  const reveal = () => { document.documentElement.dataset.known = ""; };

  async function begin() {
    const before = chooser.value;
    try {
      const found = await asJson("/v1/models");
      chooser.replaceChildren(...found.models.map(({ name }) => made("option", { value: name }, name)));
      chooser.value = found.models.some(({ name }) => name === before) ? before : found.first;
      chooser.parentElement.hidden = found.models.length < 2;
      await show(true);
    } catch (error) {
      tell(error.message, true);
      view.setAttribute("aria-busy", "false");
      reveal();
    }
  }

  $("key").addEventListener("submit", (event) => {
    event.preventDefault();
    state.token = $("token").value.trim();
    sessionStorage.setItem("token", state.token);
    $("token").value = "";
    $("key").hidden = true;
    begin();
  });
  chooser.addEventListener("change", () => show(true));
  for (const link of document.querySelectorAll("nav a")) {
    link.addEventListener("click", () => { if (link.hash === location.hash) show(true); }); // once more
  }
  window.addEventListener("hashchange", async () => {
    if (location.hash === "#main") return;
    await show();
    $("main").focus({ preventScroll: true });
    window.scrollTo(0, 0);
  });
  begin();
})();
