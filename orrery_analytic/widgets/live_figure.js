// The figure of a live view: the numbers along an axis, and one SVG of curves, choice and terms.

const NS = 'http://www.w3.org/2000/svg';
const WIDEST = 860, NARROWEST = 540, X0 = 74, RIGHT = 186; // of the drawing, whose units are pixels on a laptop
const UPPER = { top: 58, bottom: 352 }, LOWER = { top: 398, bottom: 500 }, H = 548;
const ROUND = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8];
const GREY = '#8C8C8C', SECOND = [5, 2.2];

const make = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
};
const draw = (name, attributes = {}, text = '') => {
  const made = document.createElementNS(NS, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text) made.textContent = text;
  return made;
};

// Numbers as people read them, like `units.readable` and `plots.size_text`.
const PREFIXES = {
  s: [[1e-12, 'p'], [1e-9, 'n'], [1e-6, 'u'], [1e-3, 'm'], [1, '']],
  B: [[1, ''], [1e3, 'k'], [1e6, 'M'], [1e9, 'G'], [1e12, 'T'], [1e15, 'P']],
};
PREFIXES['B/s'] = PREFIXES['flop/s'] = PREFIXES.B;
PREFIXES['s/B'] = [[1e-15, 'f'], ...PREFIXES.s];
function readable(value, unit) {
  if (!value || !Number.isFinite(value)) return `${value} ${unit}`;
  const rounded = Number(value.toPrecision(3)), rows = PREFIXES[unit];
  const [scale, prefix] = rows.findLast(row => Math.abs(rounded) >= row[0] * (1 - 1e-9)) ?? rows[0];
  return `${Number((rounded / scale).toPrecision(6))} ${prefix}${unit}`;
}
function sizeText(nbytes) {
  const [power, prefix] = [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'KiB'], [1, 'B']]
    .find(row => nbytes >= row[0]) ?? [1, 'B'];
  const value = nbytes / power;
  return `${Number(value.toPrecision(value >= 999.5 ? 4 : 3))} ${prefix}`;
}
// Round numbers two decades around a value, and the value itself; from zero, 1e-9 to 1e-3.
function offered(value) {
  const [low, high] = value ? [value / 100, value * 100] : [1e-9, 1e-3], numbers = [value];
  for (let p = Math.floor(Math.log10(low)); p <= Math.ceil(Math.log10(high)); p++) {
    for (const mantissa of ROUND) {
      const x = Number(`${mantissa}e${p}`);
      if (low <= x && x <= high && Math.abs(x - value) > 0.02 * value) numbers.push(x);
    }
  }
  return numbers.sort((a, b) => a - b);
}
const stretchAt = (row, place) => row.findLast(stretch => stretch[0] <= place);

// A symbol's number on a machine: of a size band that it has not, that of its largest sizes, without an upper limit.
const numberOf = (values, name) => values[name] ?? (/_\d+$/.test(name)
  ? (name.startsWith('s_') ? Infinity : values[name.replace(/_\d+$/, '')]) : undefined);

// The numbers of a view: those of the curves, of the library's choice, and of its terms, along x.
function compute(data, formulas, state, values) {
  const over_n = state.axis === 'n', functions = formulas[state.network], names = data.networks[state.network];
  const x = over_n ? data.sizes : data.rank_grid.includes(state.P)
    ? data.rank_grid : [...data.rank_grid, state.P].sort((a, b) => a - b);
  const numbers = data.arguments.map(name => numberOf(values, name));
  const at = x.map(v => (over_n ? data.ranks.indexOf(state.P) : data.ranks.indexOf(v)));
  const place = over_n ? x.map((_, i) => i) : x.map(() => data.sizes.indexOf(state.n));
  const price = (plan, i) => {
    const f = plan < 0 ? null : functions[plan];
    return f ? f(over_n ? state.P : x[i], over_n ? x[i] : state.n, ...numbers) : null;
  };
  const total = terms => (terms ? terms.reduce((a, b) => a + b, 0) : NaN);
  const seconds = {};
  for (const curve of data.curves) {
    if (!state.algorithms.includes(curve.name)) continue;
    seconds[curve.name] = x.map((_, i) => total(price(stretchAt(curve.table[at[i]], place[i])[1], i)));
  }
  const taken = x.map((_, i) => stretchAt(data.choice[at[i]], place[i]));
  const priced = taken.map((stretch, i) => price(stretch[1], i));
  const terms = {};
  priced.forEach((row, i) => row?.forEach((value, k) => {
    (terms[names[taken[i][1]][k]] ??= new Array(x.length).fill(0))[i] = value;
  }));
  return { x, seconds, choice: priced.map(total), plans: taken.map(t => t[1]), told: taken.map(t => t[2]), terms,
    here: x.indexOf(over_n ? state.n : state.P) };
}

const MARKERS = {
  o: 'a 3 3 0 1 0 6 0 a 3 3 0 1 0 -6 0', s: 'm0 -2.7 h5.4 v5.4 h-5.4 z', '^': 'm0 2.7 l3 -6 l3 6 z',
  v: 'm0 -2.7 l3 6 l3 -6 z', D: 'l3 -3.3 l3 3.3 l-3 3.3 z', P: 'h6 m-3 -3 v6', X: 'm0.5 -2.6 l5 5.2 m0 -5.2 l-5 5.2',
};
const marker = (kind, x, y) => `M${(x - 3).toFixed(1)} ${y.toFixed(1)} ${MARKERS[kind]}`;
// Hatches, as Matplotlib names them, on a tile that repeats.
const HATCHES = {
  '/': 'M-1 1 l2 -2 M0 8 l8 -8 M7 9 l2 -2', '\\': 'M-1 7 l2 2 M0 0 l8 8 M7 -1 l2 2', '-': 'M0 4 h8', '|': 'M4 0 v8',
  'x': 'M0 0 l8 8 M0 8 l8 -8', '+': 'M4 0 v8 M0 4 h8', '.': 'M2 2 h1.3 M6 6 h1.3', 'o': 'M2 4 a2 2 0 1 0 4 0 a2 2 0 1 0 -4 0',
  '*': 'M4 1 v6 M1 4 h6 M2 2 l4 4 M2 6 l4 -4',
};
function pattern(id, color, hatch) {
  const size = 8 / Math.max(1, (hatch.length + 1) / 2);
  const made = draw('pattern', { id, width: 8, height: 8, patternUnits: 'userSpaceOnUse',
    patternTransform: `scale(${size / 8 + 0.25})` });
  made.append(draw('rect', { width: 8, height: 8, fill: color }));
  if (hatch) made.append(draw('path', { d: HATCHES[hatch[0]], stroke: '#333', 'stroke-width': 0.9, fill: 'none' }));
  return made;
}
let pictures = 0; // ids of hatches are those of the whole document

class Figure {
  constructor(data, moved) {
    this.id = `orrery${pictures++}`;
    this.svg = draw('svg', { viewBox: `0 0 ${WIDEST} ${H}`, class: 'orrery-live-figure', role: 'img', xmlns: NS,
      'font-family': 'system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif', 'font-size': 12, fill: '#222' });
    const defs = draw('defs'), clip = draw('clipPath', { id: `${this.id}-in` });
    this.inside = draw('rect', { x: X0, y: UPPER.top, height: UPPER.bottom - UPPER.top });
    this.paper = draw('rect', { height: H, fill: 'white' });
    clip.append(this.inside);
    defs.append(clip, ...data.terms.map(t => pattern(`${this.id}-${t.name}`, t.color, t.hatch)),
      pattern(`${this.id}-none`, '#F2F2F2', 'xxx'));
    this.svg.append(defs, this.paper);
    this.axes = draw('g');
    const inside = draw('g', { 'clip-path': `url(#${this.id}-in)` });
    this.switches = draw('path', { stroke: '#555', 'stroke-width': 0.9, 'stroke-dasharray': '2 3', fill: 'none' });
    const band = (stroke, opacity) => draw('path', { stroke, 'stroke-opacity': opacity, 'stroke-width': 10, fill: 'none',
      'stroke-linecap': 'round', 'stroke-linejoin': 'round' });
    this.second = band('#DCDCDC', 0.8);
    this.choice = band('#B8B8B8', 0.7);
    this.lines = draw('g');
    inside.append(this.switches, this.second, this.choice, this.lines);
    this.curves = new Map();
    this.above = draw('g');
    this.areas = draw('g');
    this.legend = draw('g');
    this.cursor = draw('path', { stroke: 'black', 'stroke-width': 1.2, fill: 'none' });
    this.dot = draw('circle', { r: 4.5, stroke: 'black', 'stroke-width': 1.2, fill: 'white' });
    this.dotBeside = draw('circle', { r: 4.5, stroke: 'black', 'stroke-width': 1.2, fill: 'black' });
    this.svg.append(this.axes, this.areas, inside, this.above, this.cursor, this.dotBeside, this.dot, this.legend);
    this.resize(WIDEST);
    this.listen(moved);
  }

  // Take the curves of a collective, for one machine or for two: the first solid and open, the second dashed and full.
  use(data, machines) {
    this.data = data;
    this.machines = machines;
    this.curves = new Map();
    this.explained = undefined;
    const parts = { back: [], front: [] };
    for (const c of data.curves) {
      const width = 0.95 * c.width, look = { stroke: c.color, 'stroke-width': width, fill: 'none' };
      const crossed = 'PX'.includes(c.marker);
      const pair = (dashes, fill) => ({
        line: draw('path', { ...look, 'stroke-dasharray': dashes.map(d => d * width).join(' ') || 'none' }),
        marks: draw('path', { stroke: c.color, 'stroke-width': crossed && fill !== 'white' ? 2.6 : 1.4, fill: crossed ? 'none' : fill }),
      });
      const own = pair(machines[1] ? [] : c.dashes, 'white'), other = pair(SECOND, c.color);
      parts.front.push(own.line, own.marks);
      parts.back.push(other.line, other.marks);
      this.curves.set(c.name, { ...c, ...own, other });
    }
    this.lines.replaceChildren(...parts.back, ...parts.front);
  }

  // Where there is less room the axes are shorter, not the letters smaller; return whether that changed anything.
  resize(room) {
    const width = Math.round(Math.max(NARROWEST, Math.min(room, WIDEST)));
    if (width === this.W) return false;
    this.W = width;
    this.X1 = width - RIGHT;
    this.svg.setAttribute('viewBox', `0 0 ${width} ${H}`);
    this.paper.setAttribute('width', width);
    this.inside.setAttribute('width', this.X1 - X0);
    this.key = this.explained = this.explainedTerms = undefined;
    return true;
  }

  listen(moved) {
    const take = event => {
      if (!this.numbers || event.buttons !== 1) return;
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
      if (at.x >= X0 - 4 && at.x <= this.X1 + 4 && at.y >= UPPER.top && at.y <= LOWER.bottom) moved(this.toX(at.x));
    };
    this.svg.addEventListener('pointerdown', take);
    this.svg.addEventListener('pointermove', take);
  }

  xOf(v) { return X0 + (this.X1 - X0) * (Math.log2(v) - this.range[0]) / (this.range[1] - this.range[0]); }
  toX(pixel) { return 2 ** (this.range[0] + (pixel - X0) / (this.X1 - X0) * (this.range[1] - this.range[0])); }
  yOf(v) {
    const [low, high] = this.limits;
    return UPPER.bottom - (UPPER.bottom - UPPER.top) * (Math.log10(v) - low) / (high - low);
  }

  // `anew` forgets the vertical limits; else they widen where a curve leaves them, and stay otherwise.
  update(numbers, state, anew, beside) {
    const { x } = this.numbers = numbers;
    const all = [numbers, ...(beside ? [beside] : [])].flatMap(each => [...Object.values(each.seconds), each.choice]).flat().filter(v => v > 0 && Number.isFinite(v));
    this.range = [Math.log2(x[0]), Math.log2(x.at(-1))];
    const low = all.reduce((a, b) => Math.min(a, b), Infinity), high = all.reduce((a, b) => Math.max(a, b), 0);
    const need = all.length ? [Math.floor(2 * Math.log10(low) - 0.1) / 2, Math.ceil(2 * Math.log10(high) + 0.1) / 2] : [-6, -3];
    if (anew || !this.limits || need[0] < this.limits[0] || need[1] > this.limits[1]) this.limits = need;
    const key = [state.axis, ...this.range, ...this.limits, state.share, this.machines].join();
    this.xs = x.map(v => this.xOf(v));
    this.drawCurves(numbers, state, beside);
    this.drawChoice(numbers);
    const top = this.drawTerms(numbers, state);
    if (key + top !== this.key) this.drawAxes(state, top);
    this.key = key + top;
    this.caption.textContent = this.captionOf(state);
    const here = this.xs[numbers.here], cost = numbers.choice[numbers.here];
    this.cursor.setAttribute('d', `M${here} ${UPPER.top} V${UPPER.bottom} M${here} ${LOWER.top} V${LOWER.bottom}`);
    for (const [dot, at] of [[this.dot, cost], [this.dotBeside, beside?.choice[numbers.here]]]) {
      dot.setAttribute('visibility', at > 0 ? 'visible' : 'hidden');
      if (at > 0) { dot.setAttribute('cx', here); dot.setAttribute('cy', this.yOf(at)); }
    }
  }

  captionOf(state) {
    if (state.axis === 'P') return state.collective === 'barrier' ? 'ranks P' : `ranks P   (held: n = ${sizeText(state.n)})`;
    const kind = this.data.blocks ? 'of one block' : state.collective === 'reduce_scatter' ? 'of all ranks together' : 'of the vector';
    return `n, bytes ${kind}   (held: P = ${state.P})`;
  }

  path(y) {
    let d = '', pen = false;
    for (let i = 0; i < y.length; i++) {
      const on = y[i] > 0 && Number.isFinite(y[i]);
      if (on) d += `${pen ? 'L' : 'M'}${this.xs[i].toFixed(1)} ${this.yOf(y[i]).toFixed(1)}`;
      pen = on;
    }
    return d;
  }

  drawCurves({ seconds, choice }, state, beside) {
    const step = state.axis === 'n' ? 36 : 3;
    let i = 0;
    for (const [name, curve] of this.curves) {
      const first = (state.axis === 'n' ? 5 * i : i) % step;
      const put = (y, { line, marks }) => {
        line.setAttribute('d', this.path(y));
        let places = '';
        for (let k = 0; k < y.length; k++) {
          const alone = !(y[k - 1] > 0 || y[k + 1] > 0); // no line leads there: an algorithm for powers of two
          if (y[k] > 0 && (alone || k % step === first)) places += marker(curve.marker, this.xs[k], this.yOf(y[k]));
        }
        marks.setAttribute('d', places);
      };
      const y = seconds[name] ?? [];
      put(y, curve);
      put(beside?.seconds[name] ?? [], curve.other);
      curve.seen = y.some(v => v > 0);
      i += 1;
    }
    this.choice.setAttribute('d', this.path(choice));
    this.second.setAttribute('d', beside ? this.path(beside.choice) : '');
    this.explain(choice.some(v => !Number.isFinite(v)));
  }

  stretches(labels) {
    const starts = labels.map((_, i) => i).filter(i => !i || labels[i] !== labels[i - 1]);
    return starts.map((from, k) => ({ from: this.xs[from], to: this.xs[starts[k + 1] ?? labels.length - 1], label: labels[from] }));
  }

  // Above the axes: the strip of what runs, and the name of each stretch of what is chosen, where it begins.
  drawChoice({ plans, told, choice }) {
    const parts = [];
    for (const s of this.stretches(plans.map((p, i) => (Number.isFinite(choice[i]) ? this.data.plans[p].algorithm : '')))) {
      parts.push(draw('path', { d: `M${s.from} ${UPPER.top - 5} H${s.to}`, 'stroke-width': 6,
        stroke: this.curves.get(s.label)?.color ?? GREY, 'stroke-dasharray': s.label ? 'none' : '2.4 2.4' }));
    }
    const words = told.map((t, i) => {
      const { name } = this.data.told[t], { algorithm } = this.data.plans[plans[i]];
      return name === algorithm ? name : `${name} → ${algorithm}`;
    });
    const named = this.stretches(words), placed = [];
    for (const s of named.toReversed()) {
      const width = 5.7 * s.label.length + 4, left = Math.max(Math.min(s.from + 3, this.W - width), X0);
      const row = 1 + Math.max(-1, ...placed.filter(p => Math.min(p.left, p.pole) < left + width).map(p => p.row));
      placed.push({ left, pole: s.from, row });
      const base = UPPER.top - 12 - 12 * row, fits = row < 4;
      if (fits) parts.push(draw('text', { x: left, y: base, 'font-size': 10.5 }, s.label));
      parts.push(draw('path', { d: `M${s.from} ${UPPER.top} V${fits ? base - 7 : UPPER.top - 9}`, stroke: '#555', 'stroke-width': 0.8 }));
    }
    this.switches.setAttribute('d', named.slice(1).map(s => `M${s.from} ${UPPER.top} V${UPPER.bottom}`).join(''));
    this.above.replaceChildren(...parts);
  }

  drawTerms({ x, terms, choice, here }, state) {
    const height = LOWER.bottom - LOWER.top, top = state.share ? 1 : this.topOf(choice[here]);
    const names = this.data.terms.map(t => t.name).filter(name => terms[name]?.some(v => v > 0));
    let below = x.map(() => 0);
    const parts = [];
    for (const name of names) {
      const over = below.map((b, i) => (choice[i] > 0 ? b + terms[name][i] / (state.share ? choice[i] : 1) : b));
      const y = v => (LOWER.bottom - height * Math.min(v / top, 1)).toFixed(1);
      const edge = over.map((v, i) => `${this.xs[i].toFixed(1)} ${y(v)}`);
      const back = below.map((v, i) => `${this.xs[i].toFixed(1)} ${y(v)}`).reverse();
      parts.push(draw('path', { d: `M${edge.join('L')}L${back.join('L')}Z`, fill: `url(#${this.id}-${name})`, stroke: '#444', 'stroke-width': 0.5 }));
      below = over;
    }
    for (const s of this.stretches(choice.map(v => (Number.isFinite(v) ? '' : 'none')))) {
      if (s.label) parts.push(draw('rect', { x: s.from, y: LOWER.top, width: s.to - s.from, height, fill: `url(#${this.id}-none)` }));
    }
    this.areas.replaceChildren(...parts);
    this.explainTerms(names);
    return top;
  }

  topOf(seconds) {
    if (!(seconds > 0)) return this.top ??= 1;
    if (!this.top || 1.5 * seconds > this.top || 1.5 * seconds < this.top / 3) {
      const power = 10 ** Math.floor(Math.log10(1.65 * seconds));
      this.top = power * (ROUND.find(m => m * power >= 1.65 * seconds) ?? 10);
    }
    return this.top;
  }

  explain(gaps) {
    const seen = [...this.curves.values()].filter(c => c.seen);
    const key = seen.map(c => c.name).join() + gaps + this.machines.join();
    if (key === this.explained) return;
    this.explained = key;
    this.legend.querySelector('.curves')?.remove();
    const group = draw('g', { class: 'curves' }), left = this.X1 + 12, step = seen.length > 15 ? 15 : 18;
    const two = this.machines[1] !== undefined, own = two ? seen.map(c => ({ ...c, dashes: [] })) : seen;
    const head = { color: '#333', width: 2.2, marker: 'o' };
    const rows = [{ name: 'Open MPI\'s choice', band: true }, ...own];
    if (two) rows.unshift({ ...head, name: this.machines[0], dashes: [] }, { ...head, name: this.machines[1], dashes: SECOND, full: true });
    if (gaps) rows.push({ name: 'no formula', color: GREY, dashes: [1, 1], width: 4 });
    rows.forEach((c, i) => {
      const y = UPPER.top + 4 + step * i, line = `M${left} ${y} H${left + 28}`;
      if (c.band) group.append(draw('path', { d: line, stroke: '#B8B8B8', 'stroke-opacity': 0.7, 'stroke-width': 9, 'stroke-linecap': 'round' }));
      else group.append(draw('path', { d: line, stroke: c.color, 'stroke-width': c.width, 'stroke-dasharray': c.dashes.map(d => d * c.width).join(' ') || 'none' }));
      if (c.marker) group.append(draw('path', { d: marker(c.marker, left + 14, y), stroke: c.color, 'stroke-width': 1.4, fill: 'PX'.includes(c.marker) ? 'none' : c.full ? c.color : 'white' }));
      const size = c.name.length > 25 ? { textLength: RIGHT - 52, lengthAdjust: 'spacingAndGlyphs' } : {};
      group.append(draw('text', { x: left + 35, y: y + 4, 'font-size': c.name.length > 22 ? 10 : 11, ...size }, c.name));
    });
    this.legend.append(group);
  }

  explainTerms(names) {
    if (names.join() === this.explainedTerms) return;
    this.explainedTerms = names.join();
    this.legend.querySelector('.terms')?.remove();
    const group = draw('g', { class: 'terms' }), left = this.X1 + 12;
    names.toReversed().forEach((name, i) => {
      const y = LOWER.top + 2 + 18 * i;
      group.append(draw('rect', { x: left, y: y - 6, width: 26, height: 12, fill: `url(#${this.id}-${name})`, stroke: '#444', 'stroke-width': 0.5 }),
        draw('text', { x: left + 35, y: y + 4, 'font-size': 11 }, name.replaceAll('_', ' ')));
    });
    this.legend.append(group);
  }

  drawAxes(state, top) {
    const parts = [], grid = [], text = (x, y, anchor, said) => parts.push(draw('text', { x, y, 'text-anchor': anchor }, said));
    const [from, to] = this.range, narrow = this.X1 - X0 < 450, every = state.axis === 'n' ? (narrow ? 6 : 4) : narrow ? 2 : 1;
    for (let k = Math.ceil(from / every) * every; k <= to; k += every) {
      const x = this.xOf(2 ** k);
      grid.push(`M${x} ${UPPER.top} V${UPPER.bottom} M${x} ${LOWER.top} V${LOWER.bottom}`);
      text(x, LOWER.bottom + 17, 'middle', state.axis === 'n' ? sizeText(2 ** k) : `${2 ** k}`);
    }
    for (let k = Math.ceil(this.limits[0]); k <= this.limits[1]; k++) {
      const y = this.yOf(10 ** k);
      grid.push(`M${X0} ${y} H${this.X1}`);
      text(X0 - 7, y + 4, 'end', readable(Number(`1e${k}`), 's'));
    }
    for (const part of [0, 0.5, 1]) {
      const y = LOWER.bottom - part * (LOWER.bottom - LOWER.top);
      grid.push(`M${X0} ${y} H${this.X1}`);
      text(X0 - 7, y + 4, 'end', state.share ? `${100 * part} %` : part ? readable(part * top, 's') : '0 s');
    }
    const frame = [UPPER, LOWER].map(a => draw('rect', { x: X0, y: a.top, width: this.X1 - X0, height: a.bottom - a.top, fill: 'none', stroke: '#555', 'stroke-width': 0.8 }));
    const said = (box, label) => draw('text', { transform: `translate(13 ${(box.top + box.bottom) / 2}) rotate(-90)`, 'text-anchor': 'middle' }, label);
    this.caption = draw('text', { x: (X0 + this.X1) / 2, y: H - 10, 'text-anchor': 'middle', 'xml:space': 'preserve' });
    this.axes.replaceChildren(draw('path', { d: grid.join(''), stroke: '#E2E2E2', 'stroke-width': 0.8 }), ...frame, ...parts,
      said(UPPER, 'time of the call'), said(LOWER, (state.share ? 'share' : 'terms') + (this.machines[1] ? `, ${this.machines[0]}` : '')), this.caption);
  }
}
