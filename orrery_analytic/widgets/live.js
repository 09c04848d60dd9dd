// The controls of a live view, and what it says. Formulas come as a script made from SymPy; no kernel is asked.
// It is the same in a notebook (`render`) and on a page that is a mere file (`mount`).

// A native range over the places of a list, with the value in words beside it.
function slider(label, values, value, words, meaning, moved) {
  const input = make('input', { type: 'range', min: 0, step: 1, 'aria-label': meaning }), out = make('output');
  const row = make('label', { class: 'orrery-live-row', title: meaning }, make('span', {}, label), input, out);
  const self = { row, input, values };
  self.set = (chosen, list = self.values) => {
    self.values = list.includes(chosen) ? list : [...list, chosen].sort((a, b) => a - b);
    input.max = self.values.length - 1;
    input.value = self.values.indexOf(chosen);
    self.say();
  };
  self.say = () => {
    out.textContent = words(self.values[input.value]);
    input.setAttribute('aria-valuetext', out.textContent);
  };
  input.addEventListener('input', () => { self.say(); moved(self.values[input.value]); });
  self.set(value, values);
  return self;
}

function choice(label, options, value, moved) {
  const select = make('select', { 'aria-label': label }, ...options.map(([text, v]) => make('option', { value: v }, text)));
  select.value = value;
  select.disabled = options.length < 2;
  select.addEventListener('change', () => moved(select.value));
  return { row: make('label', { class: 'orrery-live-row' }, make('span', {}, label), select), select };
}

const escaped = text => String(text).replace(/[&<>"]/g, c => `&#${c.charCodeAt(0)};`);
const strong = text => `<b>${escaped(text)}</b>`;

function sentence(data, state, numbers) {
  const i = numbers.here, told = data.told[numbers.told[i]], plan = data.plans[numbers.plans[i]];
  let said = `P = ${state.P}${data.collective === 'barrier' ? '' : `, n = ${sizeText(state.n)}`}: Open MPI (${data.rules}) takes `
    + `${strong(told.name)} because <span class="orrery-live-reason">${escaped(told.reason)}</span>`;
  if (plan.algorithm !== told.name) said += `, which hands over to ${strong(plan.algorithm)}`;
  else if (plan.text !== plan.algorithm) said += `, made of ${strong(plan.text.replace(/^.*?\((.*)\)$/, '$1'))}`;
  const seconds = numbers.choice[i];
  const here = Object.entries(numbers.seconds).map(([name, y]) => [name, y[i]]).filter(([, y]) => y > 0);
  const best = here.reduce((a, b) => (b[1] < a[1] ? b : a), ['', Infinity]);
  if (!Number.isFinite(seconds)) {
    said += '. It has no formula, so its cost is not shown.';
    return best[0] ? `${said} The fastest that is drawn: ${strong(best[0])}, ${readable(best[1], 's')}.` : said;
  }
  const shares = Object.entries(numbers.terms).map(([name, y]) => [name, y[i] / seconds]);
  const first = shares.reduce((a, b) => (b[1] > a[1] ? b : a), ['', 0]);
  said += `. It costs ${strong(readable(seconds, 's'))}`;
  if (first[0]) said += `, ${Math.round(100 * first[1])} % of it ${first[0].replaceAll('_', ' ')}`;
  if (!here.length) return `${said}.`;
  if (seconds <= best[1] * (1 + 1e-9)) return `${said}. No drawn algorithm is faster.`;
  return `${said}. Faster: ${strong(best[0])}, ${readable(best[1], 's')}; the choice takes ${(seconds / best[1]).toFixed(2)} times as long.`;
}

function save(name, type, text) {
  const link = make('a', { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
function table(state, { x, choice: seconds, seconds: curves }) {
  const names = Object.keys(curves), rows = x.map((v, i) => [v, seconds[i], ...names.map(name => curves[name][i])]);
  const head = [state.axis === 'n' ? 'n_bytes' : 'P', 'choice_s', ...names.map(name => `${name}_s`)];
  return [head, ...rows.map(row => row.map(v => (Number.isFinite(v) ? v : '')))].map(row => row.join()).join('\n') + '\n';
}

// Put the view into `el`. `keep(state)` is told of every change; returns a function that takes a state from outside.
function mount(el, data, source, begin, keep) {
  const formulas = new Function(source)();
  const initial = structuredClone(begin);
  let state = structuredClone(begin), numbers, asked = 0, anew = true;
  const machineOf = () => data.machines.find(m => m.name === state.machine);
  const values = () => {
    const found = { ...machineOf().values };
    for (const knob of machineOf().knobs) {
      const given = state.values[knob.symbol];
      if (given !== undefined) found[knob.symbol] = knob.inverse ? 1 / given : given;
    }
    return found;
  };

  const readout = make('p', { class: 'orrery-live-readout', role: 'status', 'aria-live': 'polite' });
  const figure = new Figure(data, at => {
    const row = state.axis === 'n' ? nRow : PRow;
    const near = row.values.reduce((a, b) => (Math.abs(Math.log(b / at)) < Math.abs(Math.log(a / at)) ? b : a));
    row.set(near);
    change({ [state.axis]: near });
  });
  const paint = () => {
    asked = 0;
    numbers = compute(data, formulas, state, values());
    figure.update(numbers, state, anew);
    anew = false;
    readout.innerHTML = sentence(data, state, numbers);
    figure.svg.setAttribute('aria-label', readout.textContent);
    el.dataset.drawn = Number(el.dataset.drawn ?? 0) + 1;
  };
  // Several events before the next frame are one picture.
  const change = (part, fresh = false) => {
    state = { ...state, ...part };
    anew ||= fresh;
    asked ||= requestAnimationFrame(paint);
    keep(state);
  };

  const machines = choice('machine', data.machines.map(m => [m.name, m.name]), state.machine, name => {
    change({ machine: name, values: {} }, true);
    knobs();
  });
  const networks = choice('network', Object.keys(formulas).map(name => [name, name]), state.network, name => {
    change({ network: name }, true);
    knobs();
  });
  const axes = data.collective === 'barrier' ? [['ranks P', 'P']] : [['message size n', 'n'], ['ranks P', 'P']];
  const axisRow = choice('over', axes, state.axis, axis => change({ axis }, true));
  const shareRow = choice('terms as', [['share', '1'], ['time', '']], state.share ? '1' : '', v => change({ share: v !== '' }));
  const PRow = slider('P', data.ranks, state.P, String, 'P, ranks', P => change({ P }));
  const nRow = slider('n', data.size_stops, state.n, sizeText, 'n, message size', n => change({ n }));
  const box = make('div', { class: 'orrery-live-knobs' });
  const used = () => new Set(data.used[state.network]);
  const knobs = () => {
    const rows = machineOf().knobs.filter(knob => used().has(knob.symbol)).map(knob => slider(
      knob.label, offered(knob.value), state.values[knob.symbol] ?? knob.value, v => readable(v, knob.unit),
      `${knob.meaning}; ${readable(knob.value, knob.unit)} in the machine file`,
      v => {
        const { [knob.symbol]: _, ...others } = state.values;
        change({ values: v === knob.value ? others : { ...others, [knob.symbol]: v } });
      },
    ).row);
    box.replaceChildren(...rows);
  };
  const ticks = data.curves.map(curve => {
    const tick = make('input', { type: 'checkbox' });
    tick.checked = state.algorithms.includes(curve.name);
    tick.addEventListener('change', () => {
      change({ algorithms: data.curves.map(c => c.name).filter((_, i) => ticks[i].checked) });
    });
    return tick;
  });
  const curves = make('div', { class: 'orrery-live-ticks' },
    ...data.curves.map((c, i) => make('label', { title: c.name }, ticks[i], make('span', {}, c.name))));
  const button = (text, title, clicked) => {
    const made = make('button', { type: 'button', title }, text);
    made.addEventListener('click', clicked);
    return made;
  };

  // Take a state from outside; what is unknown in it is passed over.
  const apply = given => {
    const known = name => (data.curves.some(c => c.name === name));
    const next = { ...state };
    if (data.machines.some(m => m.name === given.machine)) next.machine = given.machine;
    if (given.network in formulas) next.network = given.network;
    if (axes.some(([, v]) => v === given.axis)) next.axis = given.axis;
    if (data.ranks.includes(given.P)) next.P = given.P;
    if (data.sizes.includes(given.n)) next.n = given.n;
    if (typeof given.share === 'boolean') next.share = given.share;
    if (Array.isArray(given.algorithms)) next.algorithms = given.algorithms.filter(known);
    if (given.values && typeof given.values === 'object') {
      next.values = Object.fromEntries(Object.entries(given.values).filter(([, v]) => Number.isFinite(v) && v > 0));
    }
    machines.select.value = next.machine;
    networks.select.value = next.network;
    axisRow.select.value = next.axis;
    shareRow.select.value = next.share ? '1' : '';
    PRow.set(next.P);
    nRow.set(next.n);
    ticks.forEach((tick, i) => { tick.checked = next.algorithms.includes(data.curves[i].name); });
    state = next;
    knobs();
    change({}, true);
  };

  knobs();
  nRow.row.classList.add('orrery-live-n');
  PRow.row.classList.add('orrery-live-P');
  const sized = data.collective === 'barrier' ? [] : [nRow.row];
  const place = data.buffers === 'host' ? 'host buffers' : `device buffers${data.transport ? `, ${data.transport}` : ''}`;
  const controls = make('div', { class: 'orrery-live-controls' },
    make('div', { class: 'orrery-live-head' }, make('b', {}, data.collective), make('span', {}, place)),
    machines.row, networks.row, axisRow.row, PRow.row, ...sized,
    make('div', { class: 'orrery-live-head' }, make('b', {}, 'numbers of the machine'),
      button('reset', 'Back to where this view began', () => apply(initial))),
    box, make('div', { class: 'orrery-live-head' }, make('b', {}, 'curves')), curves, shareRow.row,
    make('div', { class: 'orrery-live-buttons' },
      button('save figure', 'This picture as SVG', () => save(`${data.collective}.svg`, 'image/svg+xml', new XMLSerializer().serializeToString(figure.svg))),
      button('save data', 'These curves as CSV, in seconds', () => save(`${data.collective}.csv`, 'text/csv', table(state, numbers)))));
  el.classList.add('orrery-live');
  const view = make('div', { class: 'orrery-live-view' }, readout, figure.svg);
  el.append(controls, view);
  paint();
  new ResizeObserver(() => {
    if (view.clientWidth && figure.resize(view.clientWidth)) asked ||= requestAnimationFrame(paint);
  }).observe(view);
  return apply;
}

// On a page of its own the state is in the address, so that a view can be sent to someone.
function mountPage(el, data, source, begin) {
  const apply = mount(el, data, source, begin, state => {
    clearTimeout(el.waiting);
    el.waiting = setTimeout(() => history.replaceState(null, '', `#${encodeURIComponent(JSON.stringify(state))}`), 200);
  });
  const read = () => {
    try {
      if (location.hash.length > 1) apply({ ...begin, ...JSON.parse(decodeURIComponent(location.hash.slice(1))) });
    } catch { /* an address that is no state of ours */ }
  };
  window.addEventListener('hashchange', read);
  read();
}

export default {
  render({ model, el }) {
    let own = '';
    const apply = mount(el, model.get('data'), model.get('source'), model.get('state'), state => {
      own = JSON.stringify(state);
      model.set('state', state);
      clearTimeout(el.waiting);
      el.waiting = setTimeout(() => model.save_changes(), 150); // the kernel may know later: nothing waits for it
    });
    const outside = () => { if (JSON.stringify(model.get('state')) !== own) apply(model.get('state')); };
    model.on('change:state', outside);
    return () => model.off('change:state', outside);
  },
};
