// P(k | row) of a model that priory exported for a page, as `priory.reporting.page_model` writes it.
// A row is a list with a value for each column: a number, a label, a text; null where it is missing,
// and OTHER for a label that was never learned. Every function gives an array with a place for each class.
"use strict";

const priory = (() => {
  const OTHER = Symbol("never learned");

  // Preparing

  /** Unpack tables that were written by their distinct columns; the largest number is infinity. */
  function unpacked(value) {
    if (typeof value === "number" && Math.abs(value) === Number.MAX_VALUE) return value * 2;
    if (Array.isArray(value)) return value.map(unpacked);
    if (value === null || typeof value !== "object") return value;
    if ("distinct" in value) {
      const rows = unpacked(value.distinct);
      return rows.map((row) => value.at.map((place) => row[place]));
    }
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, unpacked(item)]));
  }

  const key = (label) => typeof label + ":" + String(label);
  const placesOf = (labels) => new Map(labels.map((label, place) => [key(label), place]));

  /** Prepare a model once; rows are scored by it many times. */
  function prepare(data) {
    const factors = data.factors.map((given) => {
      const parameters = unpacked(given.parameters);
      if (given.about !== "missing" && given.family in READY) READY[given.family](parameters);
      return { ...given, parameters };
    });
    return { ...data, factors, logPrior: data.prior.map(log) };
  }

  const READY = {
    categorical: (p) => { p.places = placesOf(p.values); },
    conditional: (p) => {
      p.parents = p["parent values"].map(placesOf);
      p.places = placesOf(p.values);
    },
    correction: (p) => { p.places = p.values.map(placesOf); },
    joint: (p) => { p.places = p.domains.map(placesOf); },
    aode: (p) => { for (const column of p.columns) column.places = placesOf(column.values); },
    words: (p) => {
      p.places = new Map(p.words.map((word, place) => [word, place]));
      p.stopped = new Set(p.splitting.stop_words || []);
    },
  };

  // Scoring

  /** What each factor adds to the score of each class. */
  function contributions(model, row) {
    return model.factors.map((factor) => contribution(model, factor, row));
  }

  function contribution(model, factor, row) {
    const classes = model.prior.map((_, k) => k);
    const logs = logFactor(factor, factor.columns.map((place) => row[place]), classes);
    const speaks = logs.some((x) => x !== 0);
    return logs.map(
      (x, k) => times(factor.weight, x) + (speaks && factor.bias ? factor.bias[k] : 0)
    );
  }

  function scores(model, row) {
    return contributions(model, row).reduce(
      (total, added) => total.map((x, k) => x + added[k]), model.logPrior
    );
  }

  /** P(k | row); a row that is impossible under every class has the prior. */
  function posterior(model, row) {
    const total = scores(model, row);
    const top = Math.max(...total);
    if (top === -Infinity) return model.prior.slice();
    const raised = total.map((x) => Math.exp(x - top));
    const sum = raised.reduce((a, b) => a + b, 0);
    return raised.map((x) => x / sum);
  }

  function logFactor(factor, values, classes) {
    const p = factor.parameters;
    if (factor.about === "missing") {
      return (values[0] === null ? p.missing : p.there).map(log);
    }
    if (factor.bins) {
      // A number is told by its bin; the outer ones reach outwards.
      values = values.map((x, j) =>
        x === null || factor.bins[j] === null ? x : bisect(factor.bins[j].slice(1, -1), x)
      );
    }
    return FAMILIES[factor.family](p, values, classes);
  }

  const log = (p) => (p > 0 ? Math.log(p) : -Infinity);
  const times = (weight, x) => (weight ? weight * x : 0);
  const sumOf = (numbers) => numbers.reduce((a, b) => a + b, 0);
  const placeOf = (places, value) => (value === null ? undefined : places.get(key(value)));

  /** How many of the sorted numbers are below x. */
  function bisect(numbers, x) {
    let low = 0, high = numbers.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (numbers[middle] < x) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function logSum(terms) {
    const top = Math.max(...terms);
    return top === -Infinity ? top : top + Math.log(sumOf(terms.map((x) => Math.exp(x - top))));
  }

  /** Add up a function of each column that is there. */
  function overColumns(values, classes, one) {
    return classes.map((k) =>
      values.reduce((total, x, j) => (x === null ? total : total + one(x, j, k)), 0)
    );
  }

  const FAMILIES = {
    categorical(p, [value], classes) {
      if (value === null) return classes.map(() => 0);
      const at = placeOf(p.places, value);
      if (at !== undefined) return classes.map((k) => log(p.probability[k][at]));
      return classes.map((k) => (p.unseen === "smooth" ? log(p["any other"][k]) : 0));
    },

    bernoulli: (p, values, classes) =>
      overColumns(values, classes, (x, j, k) => log((x > 0 ? p.present : p.absent)[k][j])),

    binomial: (p, values, classes) =>
      overColumns(values, classes, (x, j, k) =>
        Number.isInteger(x) && x >= 0 && x <= p.trials
          ? times(x, log(p.success[k][j])) + times(p.trials - x, log(p.failure[k][j]))
          : -Infinity),

    multinomial: (p, values, classes) =>
      overColumns(values, classes, (x, j, k) => times(x, log(p.probability[k][j]))),

    complement: (p, values, classes) =>
      overColumns(values, classes, (x, j, k) => times(x, p.weight[k][j])),

    gaussian: (p, values, classes) =>
      overColumns(values, classes, (x, j, k) => {
        const v = p.variance[k][j], away = x - p.mean[k][j];
        return -0.5 * (Math.log(2 * Math.PI * v) + (away * away) / v);
      }),

    "multivariate-gaussian"(p, values, classes) {
      // By Cholesky's root of the covariance of the columns that are there.
      const there = values.map((_, j) => j).filter((j) => values[j] !== null);
      return classes.map((k) => {
        const root = [], z = [];
        there.forEach((row, i) => {
          root.push([]);
          for (let j = 0; j <= i; j++) {
            let rest = p.covariance[k][row][there[j]];
            for (let m = 0; m < j; m++) rest -= root[i][m] * root[j][m];
            root[i].push(i === j ? Math.sqrt(rest) : rest / root[j][j]);
          }
          let away = values[row] - p.mean[k][row];
          for (let m = 0; m < i; m++) away -= root[i][m] * z[m];
          z.push(away / root[i][i]);
        });
        const logDet = 2 * sumOf(there.map((_, i) => Math.log(root[i][i])));
        return -0.5 * (sumOf(z.map((x) => x * x)) + logDet + there.length * Math.log(2 * Math.PI));
      });
    },

    "student-t": (p, values, classes) =>
      overColumns(values, classes, (x, j, k) => {
        const dof = p["degrees of freedom"][k][j];
        const away = transformed(p.transform, x) - p.location[k][j];
        const z = (away * away) / (dof * p["squared scale"][k][j]);
        return p["log norm"][k][j] - ((dof + 1) / 2) * Math.log1p(z);
      }),

    histogram: (p, [x], classes) =>
      classes.map((k) => (x === null ? 0 : log(p.probability[k][bisect(p.cuts, x)]))),

    "kernel-density"(p, [x], classes) {
      if (x === null || !p.centres.length) return classes.map(() => 0);
      const densities = classes.map((c) => {
        const h = p.bandwidth[c];
        const terms = p.centres.map(
          (centre, i) => log(p.share[c][i]) - (x - centre) ** 2 / (2 * h * h)
        );
        return logSum(terms) - 0.5 * Math.log(2 * Math.PI * h * h);
      });
      return classes.map((k) => {
        const lent = logSum(classes.map((c) => log(p.pool[c]) + densities[c]));
        return logSum([log(p.own[k]) + densities[k], log(1 - p.own[k]) + lent]);
      });
    },

    poisson: (p, values, classes) =>
      overColumns(values, classes, (x, j, k) =>
        Number.isInteger(x) && x >= 0
          ? times(x, log(p.rate[k][j])) - p.rate[k][j]
          : -Infinity),

    joint(p, values, classes) {
      // Values that are missing or were never seen are summed out.
      const known = values.map((value, j) => placeOf(p.places[j], value) !== undefined);
      if (!known.some((x) => x)) return classes.map(() => 0);
      const sizes = p.domains.map((domain) => domain.length);
      const product = (numbers) => numbers.reduce((a, b) => a * b, 1);
      const summed = product(sizes.filter((_, j) => !known[j]));
      const agrees = p.combinations.map((combination) =>
        combination.every((value, j) => !known[j] || key(value) === key(values[j]))
      );
      const counts = classes.map((c) => sumOf(p.count[c].filter((_, i) => agrees[i])));
      const totals = classes.map((c) => sumOf(p.count[c]));
      const { prior, alpha, m, p: towards } = p.smoothing;
      const combinations = product(sizes);
      let a, all;
      if (prior === "Laplace") {
        [a, all] = [alpha * summed, alpha * combinations];
      } else if (towards === "marginal") {
        [a, all] = [(m * (sumOf(counts) + summed)) / (sumOf(totals) + combinations), m];
      } else {
        [a, all] = [(m * summed) / combinations, m];
      }
      return classes.map((k) => log((counts[k] + a) / (totals[k] + all)));
    },

    conditional(p, values, classes) {
      const at = placeOf(p.places, values[values.length - 1]);
      if (at === undefined) return classes.map(() => 0);
      return classes.map((k) => {
        const table = p.parents.reduce((table, places, j) => {
          const parent = placeOf(places, values[j]);
          return table[parent === undefined ? table.length - 1 : parent];
        }, p.probability[k]);
        return log(table[at]);
      });
    },

    correction(p, values, classes) {
      const cells = values.map((value, j) => placeOf(p.places[j], value));
      if (cells.some((cell) => cell === undefined)) return classes.map(() => 0);
      return classes.map((k) => cells.reduce((table, cell) => table[cell], p.score[k]));
    },

    aode(p, values, classes) {
      const places = p.columns.map((column, j) => placeOf(column.places, values[j]));
      const number = new Map(p.columns.map((column, j) => [column.column, j]));
      const parents = p.columns
        .map((_, j) => j)
        .filter((j) => places[j] !== undefined && p.columns[j].count[places[j]] >= p.least - 1e-9);
      return classes.map((k) => {
        const alone = p.columns.map((column, j) =>
          places[j] === undefined ? 0 : log(column.probability[k][places[j]])
        );
        if (!parents.length) return sumOf(alone);
        const terms = parents.map((i) => {
          let score = alone[i];
          for (const pair of p.pairs) {
            const at = places[number.get(pair.column)];
            if (number.get(pair.parent) === i && at !== undefined) {
              score += log(pair.probability[k][places[i]][at]);
            }
          }
          return score;
        });
        return logSum(terms) - Math.log(parents.length);
      });
    },

    words(p, [text], classes) {
      if (text === null) return classes.map(() => 0);
      const counts = wordCounts(p, text);
      if (p.readout === "bernoulli") {
        return classes.map((k) =>
          sumOf(p.words.map((_, w) => log((counts.has(w) ? p.present : p.absent)[k][w])))
        );
      }
      return classes.map((k) => {
        let total = 0;
        for (const [w, x] of counts) total += times(x, wordWeight(p, w, k));
        return total;
      });
    },
  };

  const wordWeight = (p, w, k) => (p.probability ? log(p.probability[k][w]) : p.weight[k][w]);

  function transformed(transform, x) {
    if (transform === null) return x;
    if (transform.kind === "log") {
      return Math.log1p(Math.max(x - transform.least, 0) / transform.scale);
    }
    const { points, quantiles } = transform, last = points.length - 1;
    if (x <= points[0]) return quantiles[0];
    if (x >= points[last]) return quantiles[last];
    const i = bisect(points, x) - 1;
    const slope = (quantiles[i + 1] - quantiles[i]) / (points[i + 1] - points[i]);
    return quantiles[i] + slope * (x - points[i]);
  }

  // Texts, split as priory.text.Analyzer does

  const BLANK = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
  const TWO = /[\p{L}\p{N}_]{2,}/gu;
  const BLANKS = new RegExp(`[${BLANK}]+`, "u");
  const SOME_BLANKS = new RegExp(`[${BLANK}]{2,}`, "gu");

  function split(splitting, text, stopped = new Set()) {
    if (splitting.lowercase) text = text.toLowerCase();
    const [least, most] = splitting.ngram_range;
    if (splitting.unit === "char") {
      return ngrams(Array.from(text.replace(SOME_BLANKS, " ")), least, most, "");
    }
    if (splitting.unit === "char_wb") {
      return text.split(BLANKS).filter((word) => word).flatMap((word) => within(word, least, most));
    }
    if (splitting.unit === "sklearn") {
      return ngrams((text.match(TWO) || []).filter((word) => !stopped.has(word)), least, most, " ");
    }
    return unicodeNgrams(unicodeWords(splitting, text), least, most, stopped);
  }

  // Words as word_kinds.h has them: 8·(first code point) + kind of each stretch of characters
  function kindOf(splitting, character) {
    return splitting.kinds[bisect(splitting.kinds, 8 * character.codePointAt(0) + 8) - 1] & 7;
  }

  const [WORD, MARK, FORMAT, ALONE, SYMBOL] = [1, 2, 3, 4, 5];

  // [word, whether nothing parts it from the one before]
  function unicodeWords(splitting, text) {
    const found = [];
    let last = 0, repeats = 0, symbol = "";
    for (const character of text) {
      const kind = kindOf(splitting, character), word = found[found.length - 1];
      if (kind === WORD && last === WORD) word[0] += character;
      else if (kind === WORD) found.push([character, false]);
      else if (kind === ALONE) found.push([character, last === ALONE]);
      else if (kind === MARK && (last === WORD || last === ALONE)) {
        word[0] += character;
        continue;
      } else if (kind === FORMAT && last === WORD) continue;
      else if (kind === SYMBOL && splitting.symbols) {
        repeats = last === SYMBOL && symbol === character ? repeats + 1 : 1;
        symbol = character;
        if (repeats === 1) found.push([character, false]);
        else if (repeats <= 3) word[0] += character;
      }
      last = kind;
    }
    return found;
  }

  function unicodeNgrams(words, least, most, stopped) {
    const kept = words.map(([word, glued], i) => [word, glued && !stopped.has(words[i - 1][0])]);
    const some = kept.filter(([word]) => !stopped.has(word)), found = [];
    some.forEach(([, glued], i) => {
      let gram = "";
      for (let n = 1; n <= Math.max(most, glued ? 2 : 1) && n <= i + 1; n++) {
        const between = n === 1 || some[i + 2 - n][1] ? "" : " ";
        gram = some[i + 1 - n][0] + between + gram;
        if (n >= least && !(n === 2 && glued && stopped.has(gram))) found.push(gram);
      }
    });
    return found;
  }

  function ngrams(units, least, most, between) {
    const found = [];
    for (let n = least; n <= most; n++) {
      for (let i = 0; i + n <= units.length; i++) found.push(units.slice(i, i + n).join(between));
    }
    return found;
  }

  function within(word, least, most) {
    const padded = Array.from(` ${word} `), found = [];
    for (let n = least; n <= most; n++) {
      found.push(...(padded.length > n ? ngrams(padded, n, n, "") : [padded.join("")]));
      if (padded.length <= n) break; // a short word counts once
    }
    return found;
  }

  /** How much each word that the model knows counts in a text. */
  function wordCounts(p, text) {
    const counts = new Map();
    for (const word of split(p.splitting, text, p.stopped)) {
      const w = p.places.get(word);
      if (w !== undefined) counts.set(w, (counts.get(w) || 0) + 1);
    }
    if (p.term === "log") {
      for (const [w, n] of counts) counts.set(w, Math.log1p(n));
      const norm = Math.sqrt(sumOf([...counts.values()].map((x) => x * x)));
      for (const [w, x] of counts) counts.set(w, x / norm);
    }
    return counts;
  }

  return { OTHER, prepare, contributions, contribution, posterior, scores, split, wordCounts, wordWeight, key };
})();
