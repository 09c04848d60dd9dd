// The controls of a view.

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

function button(text, title, clicked) {
  const made = make('button', { type: 'button', title }, text);
  made.addEventListener('click', clicked);
  return made;
}

// All controls of a view. It has: state(), tables() and formulas() of now (undefined where they are not at hand),
// change(part, fresh), apply(state), begin(), and go(collective). Returns their element, and functions:
// `show(state)` moves them all, `settle()` makes sliders and ticks fit what there is now, `point(at)` takes the value of
// the axis that is nearest.
function controls(data, collectives, view) {
  const state = view.state(), pairs = names => names.map(name => [name, name]), flag = on => (on ? '1' : '');
  const machines = pairs(data.machines.map(m => m.name));
  const settling = part => { view.change(part, true); settle(); };
  const rows = {
    machine: choice('machine', machines, state.machine, machine => settling({ machine, values: {} })),
    beside: choice('beside', [['nothing', ''], ...machines], state.beside, beside => view.change({ beside }, true)),
    collective: choice('collective', pairs(collectives), state.collective, view.go),
    buffers: choice('buffers', pairs(data.buffers), state.buffers, buffers => settling({ buffers })),
    transport: choice('transport', data.transports.map(([name, told]) => [told, name]), state.transport, transport => settling({ transport })),
    network: choice('network', pairs(BOTH), state.network, network => settling({ network })),
    axis: choice('over', [['message size n', 'n'], ['ranks P', 'P']], state.axis, axis => view.change({ axis }, true)),
    share: choice('terms as', [['share', '1'], ['time', '']], flag(state.share), v => view.change({ share: v !== '' })),
    large: choice('letters', [['laptop', ''], ['projector', '1']], flag(state.large), v => settling({ large: v !== '' })),
  };
  const moving = {
    P: slider('P', data.ranks, state.P, String, 'P, ranks', P => view.change({ P })),
    n: slider('n', data.size_stops, state.n, sizeText, 'n, message size', n => view.change({ n })),
  };
  for (const [name, { row }] of Object.entries(moving)) row.classList.add(`orrery-live-${name}`);
  const [here, elsewhere, ticks] = ['knobs', 'knobs', 'ticks'].map(kind => make('div', { class: `orrery-live-${kind}` }));

  const knobRow = knob => slider(
    knob.label, offered(knob.value, knob.unit), view.state().values[knob.symbol] ?? knob.value, v => readable(v, knob.unit),
    `${knob.meaning}; ${readable(knob.value, knob.unit)} in the machine file`,
    v => {
      const { [knob.symbol]: _, ...others } = view.state().values;
      view.change({ values: v === knob.value ? others : { ...others, [knob.symbol]: v } });
    },
  ).row;
  const setKnobs = () => {
    const { machine, network } = view.state(), used = new Set(view.formulas()?.used[network]);
    const wanted = new Set([...used, ...[...used].map(name => name.replace(/_\d+$/, ''))]);
    const { knobs } = data.machines.find(m => m.name === machine);
    here.replaceChildren(...knobs.filter(knob => wanted.has(knob.symbol)).map(knobRow));
    elsewhere.replaceChildren(...knobs.filter(knob => !wanted.has(knob.symbol)).map(knobRow));
  };
  const setTicks = () => {
    const names = (view.tables()?.curves ?? []).map(c => c.name);
    const boxes = names.map(name => {
      const tick = make('input', { type: 'checkbox' });
      tick.checked = view.state().algorithms.includes(name);
      tick.addEventListener('change', () => view.change({ algorithms: names.filter((_, i) => boxes[i].checked) }));
      return tick;
    });
    ticks.replaceChildren(...names.map((name, i) => make('label', { title: name }, boxes[i], make('span', {}, name))));
  };
  const el = make('div', { class: 'orrery-live-controls' });
  const settle = () => {
    const now = view.state(), barrier = now.collective === 'barrier';
    setKnobs();
    setTicks();
    rows.buffers.select.disabled = rows.axis.select.disabled = moving.n.input.disabled = barrier;
    rows.transport.select.disabled = barrier || now.buffers === 'host';
  };
  const show = now => {
    for (const [name, { select }] of Object.entries(rows)) select.value = typeof now[name] === 'boolean' ? flag(now[name]) : now[name];
    for (const [name, row] of Object.entries(moving)) row.set(now[name]);
    settle();
  };
  const point = at => {
    const { axis } = view.state(), row = moving[axis], far = v => Math.abs(Math.log(v / at));
    row.set(row.values.reduce((a, b) => (far(b) < far(a) ? b : a)));
    view.change({ [axis]: row.values[row.input.value] });
  };

  const head = (text, ...more) => make('div', { class: 'orrery-live-head' }, make('b', {}, text), ...more);
  const library = make('div', { class: 'orrery-live-row' }, make('span', {}, 'library'), make('span', { class: 'orrery-live-fixed' }, `Open MPI (${data.rules})`));
  el.append(...['machine', 'beside', 'collective', 'buffers', 'transport', 'network'].map(name => rows[name].row), library,
    rows.axis.row, moving.P.row, moving.n.row,
    head('numbers of the machine', button('reset', 'Back to the values of the machine file', () => settling({ values: {} }))),
    here, make('details', {}, make('summary', {}, 'other numbers, in no formula here'), elsewhere),
    head('curves'), ticks, rows.share.row, rows.large.row,
    make('div', { class: 'orrery-live-buttons' }, button('start again', 'Back to where this view began', () => view.apply(view.begin()))));
  return { el, show, settle, point };
}
