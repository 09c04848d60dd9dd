// The figure of a view: one SVG of curves and choice, and below it the terms of the choice, a panel for each machine.

const WIDEST = 860, NARROWEST = 540, X0 = 74, RIGHT = 186; // of the drawing, whose units are pixels on a laptop
const UPPER = { top: 58, bottom: 352 }, FOOT = 48;
// Panels of terms: one is a little higher than each of two.
const PANELS = { 1: [{ top: 398, bottom: 500 }], 2: [{ top: 398, bottom: 490 }, { top: 506, bottom: 598 }] };
let pictures = 0; // ids of hatches are those of the whole document

class Figure {
  constructor(data, moved) {
    this.id = `orrery${pictures++}`;
    this.terms = data.terms.map(t => t.name);
    this.svg = draw('svg', { class: 'orrery-live-figure', role: 'img', xmlns: NS,
      'font-family': 'system-ui, "Segoe UI", Roboto, "DejaVu Sans", sans-serif', 'font-size': 12, fill: '#222' });
    const defs = draw('defs'), clip = draw('clipPath', { id: `${this.id}-in` });
    this.inside = draw('rect', { x: X0, y: UPPER.top, height: UPPER.bottom - UPPER.top });
    this.paper = draw('rect', { fill: 'white' });
    clip.append(this.inside);
    defs.append(clip, ...data.terms.map(t => pattern(`${this.id}-${t.name}`, t.color, t.hatch)),
      pattern(`${this.id}-none`, '#F2F2F2', 'xxx'));
    const inside = draw('g', { 'clip-path': `url(#${this.id}-in)` });
    this.switches = draw('path', { stroke: '#555', 'stroke-width': 0.9, 'stroke-dasharray': '2 3', fill: 'none' });
    const band = (stroke, opacity) => draw('path', { stroke, 'stroke-opacity': opacity, 'stroke-width': 10, fill: 'none',
      'stroke-linecap': 'round', 'stroke-linejoin': 'round' });
    this.bands = [band('#B8B8B8', 0.7), band('#DCDCDC', 0.8)];
    this.lines = draw('g');
    inside.append(this.switches, ...this.bands.toReversed(), this.lines);
    [this.axes, this.above, this.areas, this.legend] = [0, 0, 0, 0].map(() => draw('g'));
    this.curves = new Map();
    this.cursor = draw('path', { stroke: 'black', 'stroke-width': 1.2, fill: 'none' });
    this.dots = ['white', 'black'].map(fill => draw('circle', { r: 4.5, stroke: 'black', 'stroke-width': 1.2, fill }));
    this.svg.append(defs, this.paper, this.axes, this.areas, inside, this.above, this.cursor, ...this.dots.toReversed(), this.legend);
    [this.W, this.machines] = [WIDEST, ['']];
    this.frame();
    this.listen(moved);
  }

  // Take the curves of a collective, for one machine or for two: the first solid and open, the second dashed and full.
  use(data, machines) {
    [this.data, this.machines] = [data, machines];
    this.curves = new Map();
    const parts = { back: [], front: [] };
    for (const c of data.curves) {
      const width = 0.95 * c.width;
      const pair = (dashes, fill) => ({
        line: draw('path', { stroke: c.color, 'stroke-width': width, fill: 'none', 'stroke-dasharray': dashed(dashes, width) }),
        marks: draw('path', { stroke: c.color, 'stroke-width': crossed(c.marker) && fill !== 'white' ? 2.6 : 1.4, fill: crossed(c.marker) ? 'none' : fill }),
      });
      const own = pair(machines.length > 1 ? [] : c.dashes, 'white'), other = pair(SECOND, c.color);
      parts.front.push(own.line, own.marks);
      parts.back.push(other.line, other.marks);
      this.curves.set(c.name, { ...c, pairs: [own, other] });
    }
    this.lines.replaceChildren(...parts.back, ...parts.front);
    this.frame();
  }

  // Where there is less room the axes are shorter, not the letters smaller; return whether that changed anything.
  resize(room) {
    const width = Math.round(Math.max(NARROWEST, Math.min(room, WIDEST)));
    if (width === this.W) return false;
    this.W = width;
    this.frame();
    return true;
  }

  // Make room for the panels that there are now; what stands in the room is drawn anew.
  frame() {
    this.panels = PANELS[this.machines.length];
    this.bottom = this.panels.at(-1).bottom;
    this.X1 = this.W - RIGHT;
    const height = this.bottom + FOOT;
    fill(this.svg, { viewBox: `0 0 ${this.W} ${height}` });
    fill(this.paper, { width: this.W, height });
    fill(this.inside, { width: this.X1 - X0 });
    this.key = this.explained = this.explainedTerms = undefined;
  }

  listen(moved) {
    const take = event => {
      if (!this.range || event.buttons !== 1) return;
      const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
      if (at.x >= X0 - 4 && at.x <= this.X1 + 4 && at.y >= UPPER.top && at.y <= this.bottom) moved(this.toX(at.x));
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

  // Draw the numbers of one machine or of two. `anew` forgets the vertical limits; else they widen where a curve leaves
  // them, and stay otherwise.
  update(all, state, anew) {
    const [{ x, here }] = all;
    this.range = [Math.log2(x[0]), Math.log2(x.at(-1))];
    this.limit(all.flatMap(each => [...Object.values(each.seconds), each.choice]).flat(), anew);
    this.xs = x.map(v => this.xOf(v));
    this.drawCurves(all, state);
    this.drawChoice(all[0]);
    const top = state.share ? 1 : this.topOf(Math.max(...all.map(each => each.choice[here] || 0)));
    this.drawTerms(all, state, top);
    const key = [state.axis, ...this.range, ...this.limits, state.share, top].join();
    if (key !== this.key) this.drawAxes(state, top);
    this.key = key;
    this.caption.textContent = this.captionOf(state);
    const at = this.xs[here], upright = [UPPER, ...this.panels].map(box => `M${at} ${box.top} V${box.bottom}`);
    this.cursor.setAttribute('d', upright.join(' '));
    this.dots.forEach((dot, i) => {
      const cost = all[i]?.choice[here];
      dot.setAttribute('visibility', cost > 0 ? 'visible' : 'hidden');
      if (cost > 0) fill(dot, { cx: at, cy: this.yOf(cost) });
    });
  }

  limit(seconds, anew) {
    let low = Infinity, high = 0;
    for (const v of seconds) if (v > 0 && v < Infinity) [low, high] = [Math.min(low, v), Math.max(high, v)];
    const need = high ? [Math.floor(2 * Math.log10(low) - 0.1) / 2, Math.ceil(2 * Math.log10(high) + 0.1) / 2] : [-6, -3];
    if (anew || !this.limits || need[0] < this.limits[0] || need[1] > this.limits[1]) this.limits = need;
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

  drawCurves(all, state) {
    const step = state.axis === 'n' ? 36 : 3, seen = [];
    let i = 0;
    for (const [name, curve] of this.curves) {
      const first = (state.axis === 'n' ? 5 * i : i) % step;
      curve.pairs.forEach(({ line, marks }, k) => {
        const y = all[k]?.seconds[name] ?? [];
        line.setAttribute('d', this.path(y));
        const marked = y.map((v, j) => {
          const alone = !(y[j - 1] > 0 || y[j + 1] > 0); // no line leads there: an algorithm for powers of two
          return v > 0 && (alone || j % step === first) ? marker(curve.marker, this.xs[j], this.yOf(v)) : '';
        });
        marks.setAttribute('d', marked.join(''));
      });
      if (all[0].seconds[name]?.some(v => v > 0)) seen.push(curve);
      i += 1;
    }
    this.bands.forEach((band, k) => band.setAttribute('d', all[k] ? this.path(all[k].choice) : ''));
    const gaps = all[0].choice.some(v => !Number.isFinite(v)), explained = seen.map(c => c.name).join() + gaps;
    if (explained === this.explained) return;
    this.explained = explained;
    this.legend.querySelector('.curves')?.remove();
    this.legend.append(curvesLegend(seen, this.machines, gaps, this.X1 + 12, UPPER.top + 4, RIGHT - 12));
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

  drawTerms(all, state, top) {
    const names = this.terms.filter(name => all.some(each => each.terms[name]?.some(v => v > 0)));
    this.areas.replaceChildren(...all.flatMap((each, i) => this.stacked(each, names, this.panels[i], state.share, top)));
    if (names.join() === this.explainedTerms) return;
    this.explainedTerms = names.join();
    this.legend.querySelector('.terms')?.remove();
    this.legend.append(termsLegend(names, this.id, this.X1 + 12, this.panels[0].top + 2));
  }

  // The areas of one panel, one on the other; where the choice has no formula it is hatched.
  stacked({ x, terms, choice }, names, box, share, top) {
    const height = box.bottom - box.top, parts = [], y = v => (box.bottom - height * Math.min(v / top, 1)).toFixed(1);
    const edge = values => values.map((v, i) => `${this.xs[i].toFixed(1)} ${y(v)}`);
    let below = x.map(() => 0);
    for (const name of names.filter(name => terms[name])) {
      const over = below.map((b, i) => (choice[i] > 0 ? b + terms[name][i] / (share ? choice[i] : 1) : b));
      const d = `M${edge(over).join('L')}L${edge(below).reverse().join('L')}Z`;
      parts.push(draw('path', { d, fill: `url(#${this.id}-${name})`, stroke: '#444', 'stroke-width': 0.5 }));
      below = over;
    }
    for (const s of this.stretches(choice.map(v => (Number.isFinite(v) ? '' : 'none')))) {
      if (s.label) parts.push(draw('rect', { x: s.from, y: box.top, width: s.to - s.from, height, fill: `url(#${this.id}-none)` }));
    }
    return parts;
  }

  topOf(seconds) {
    if (!(seconds > 0)) return this.top ??= 1;
    if (!this.top || 1.5 * seconds > this.top || 1.5 * seconds < this.top / 3) {
      const power = 10 ** Math.floor(Math.log10(1.65 * seconds));
      this.top = power * (ROUND.find(m => m * power >= 1.65 * seconds) ?? 10);
    }
    return this.top;
  }

  drawAxes(state, top) {
    const parts = [], grid = [], boxes = [UPPER, ...this.panels];
    const text = (x, y, anchor, said) => parts.push(draw('text', { x, y, 'text-anchor': anchor }, said));
    const [from, to] = this.range, narrow = this.X1 - X0 < 450, every = state.axis === 'n' ? (narrow ? 6 : 4) : narrow ? 2 : 1;
    for (let k = Math.ceil(from / every) * every; k <= to; k += every) {
      const x = this.xOf(2 ** k);
      grid.push(...boxes.map(box => `M${x} ${box.top} V${box.bottom}`));
      text(x, this.bottom + 17, 'middle', state.axis === 'n' ? sizeText(2 ** k) : `${2 ** k}`);
    }
    const across = (y, said) => { grid.push(`M${X0} ${y} H${this.X1}`); text(X0 - 7, y + 4, 'end', said); };
    for (let k = Math.ceil(this.limits[0]); k <= this.limits[1]; k++) across(this.yOf(10 ** k), readable(Number(`1e${k}`), 's'));
    for (const box of this.panels) {
      for (const part of [0, 0.5, 1]) {
        across(box.bottom - part * (box.bottom - box.top), state.share ? `${100 * part} %` : part ? readable(part * top, 's') : '0 s');
      }
    }
    const two = this.machines.length > 1;
    const names = ['time of the call', ...(two ? this.machines : [state.share ? 'share' : 'terms'])];
    boxes.forEach((box, i) => {
      const size = i && names[i].length > 14 ? { textLength: box.bottom - box.top, lengthAdjust: 'spacingAndGlyphs' } : {};
      const middle = (box.top + box.bottom) / 2;
      parts.push(draw('rect', { x: X0, y: box.top, width: this.X1 - X0, height: box.bottom - box.top, fill: 'none', stroke: '#555', 'stroke-width': 0.8 }),
        draw('text', { transform: `translate(13 ${middle}) rotate(-90)`, 'text-anchor': 'middle', ...size }, names[i]));
    });
    this.caption = draw('text', { x: (X0 + this.X1) / 2, y: this.bottom + FOOT - 10, 'text-anchor': 'middle', 'xml:space': 'preserve' });
    this.axes.replaceChildren(draw('path', { d: grid.join(''), stroke: '#E2E2E2', 'stroke-width': 0.8 }), ...parts, this.caption);
  }
}
