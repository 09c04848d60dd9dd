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

function sentence(data, state, numbers, machines, beside) {
  const i = numbers.here, told = data.told[numbers.told[i]], plan = data.plans[numbers.plans[i]];
  let said = `P = ${state.P}${state.collective === 'barrier' ? '' : `, n = ${sizeText(state.n)}`}: Open MPI (${data.rules}) takes `
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
  said += `. It costs ${strong(readable(seconds, 's'))}${beside ? ` on ${escaped(machines[0])}` : ''}`;
  if (first[0]) said += `, ${Math.round(100 * first[1])} % of it ${first[0].replaceAll('_', ' ')}`;
  if (beside) {
    const other = beside.choice[i];
    said += `; ${strong(readable(other, 's'))} on ${escaped(machines[1])}${seconds ? `, ${(other / seconds).toFixed(2)} times as long` : ''}`;
  }
  if (!here.length) return `${said}.`;
  if (seconds <= best[1] * (1 + 1e-9)) return `${said}. No drawn algorithm is faster.`;
  return `${said}. Faster: ${strong(best[0])}, ${readable(best[1], 's')}; the choice takes ${(seconds / best[1]).toFixed(2)} times as long.`;
}

function save(name, type, text) {
  const link = make('a', { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
function table(state, machines, all) {
  const columns = [[state.axis === 'n' ? 'n (B)' : 'P', all[0].x]];
  all.forEach((one, i) => {
    const on = all.length > 1 ? ` on ${machines[i]}` : '';
    columns.push([`choice${on} (s)`, one.choice], ...Object.entries(one.terms).map(([name, y]) => [`choice${on}, ${name.replaceAll('_', ' ')} (s)`, y]),
      ...Object.entries(one.seconds).map(([name, y]) => [`${name}${on} (s)`, y]));
  });
  const cell = text => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const rows = all[0].x.map((_, i) => columns.map(([, y]) => (Number.isFinite(y[i]) ? y[i] : '')));
  return [columns.map(([name]) => cell(name)), ...rows].map(row => row.join()).join('\n') + '\n';
}
// The picture as PNG, twice as fine as on a laptop.
function saveAsPng(name, svg) {
  const { width, height } = svg.viewBox.baseVal, image = new Image(), canvas = make('canvas');
  [canvas.width, canvas.height] = [2 * width, 2 * height];
  const copy = svg.cloneNode(true);
  copy.setAttribute('width', canvas.width);
  copy.setAttribute('height', canvas.height);
  image.onload = () => {
    canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob(blob => save(name, 'image/png', blob));
  };
  image.setAttribute('src', `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(copy))}`);
}
const placeOf = state => (state.buffers === 'device' && state.collective !== 'barrier'
  ? `${state.collective} device ${state.transport}` : `${state.collective} host`);

// Put the view into `el`. `keep(state)` is told of every change; returns a function that takes a state from outside.
// `parts` are tables and formulas by collective and place; what is not there is asked of a kernel, or is another page.
function mount(el, data, given, begin, keep) {
  const compiled = new Map(), initial = structuredClone(begin), pages = data.pages;
  let parts = given, state = structuredClone(begin), shown, asked = 0, anew = true;
  const tables = () => parts[state.collective], formulas = () => parts[placeOf(state)];
  const functions = () => {
    const { source } = formulas();
    if (!compiled.has(source)) compiled.set(source, new Function(`${data.runtime}\n${source}`)());
    return compiled.get(source);
  };
  const machineOf = name => data.machines.find(m => m.name === name);
  const values = () => {
    const machine = machineOf(state.machine), found = { ...machine.values };
    for (const knob of machine.knobs) {
      const moved = state.values[knob.symbol];
      if (moved === undefined) continue;
      found[knob.symbol] = knob.inverse ? 1 / moved : moved;
      const plain = knob.symbol.replace(/_\d+$/, ''); // the last size band is also that of the largest sizes
      if (plain !== knob.symbol && !machine.knobs.some(k => k !== knob && k.symbol === `${plain}_${Number(knob.symbol.match(/\d+$/)[0]) + 1}`)) found[plain] = found[knob.symbol];
    }
    return found;
  };
  const machines = () => (state.beside ? [state.machine === state.beside ? `${state.machine}, moved` : state.machine, state.beside] : [state.machine]);

  const readout = make('p', { class: 'orrery-live-readout', role: 'status', 'aria-live': 'polite' });
  const figure = new Figure(data, at => {
    const row = state.axis === 'n' ? nRow : PRow;
    const near = row.values.reduce((a, b) => (Math.abs(Math.log(b / at)) < Math.abs(Math.log(a / at)) ? b : a));
    row.set(near);
    change({ [state.axis]: near });
  });
  const lacking = () => {
    const used = formulas().used[state.network];
    for (const [name, found] of [[state.machine, values()], ...(state.beside ? [[state.beside, machineOf(state.beside).values]] : [])]) {
      const missing = used.filter(symbol => numberOf(found, symbol) === undefined);
      if (missing.length) return `Cannot be shown: ${name} has no numbers for ${missing.join(', ')}, which ${state.network} needs here.`;
    }
    return '';
  };
  const paint = () => {
    asked = 0;
    const known = tables() && formulas();
    const told = known ? lacking() : pages ? `This page holds no formulas for ${placeOf(state)}.`
      : `Python is asked for the formulas of ${placeOf(state)} (without a kernel this view holds ${Object.keys(parts).filter(k => k.includes(' ')).join(', ')}).`;
    figure.svg.style.opacity = told ? 0.25 : 1;
    if (told) readout.textContent = told;
    else {
      const own = { ...tables(), ...formulas(), ...data, networks: formulas().networks };
      const key = [placeOf(state), ...machines()].join();
      if (figure.key2 !== key) figure.use(own, machines());
      figure.key2 = key;
      const numbers = compute(own, functions(), state, values());
      const beside = state.beside ? compute(own, functions(), state, machineOf(state.beside).values) : undefined;
      shown = { own, all: beside ? [numbers, beside] : [numbers] };
      figure.update(numbers, state, anew, beside);
      anew = false;
      readout.innerHTML = sentence(own, state, numbers, machines(), beside);
    }
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

  const barrier = () => state.collective === 'barrier';
  const named = data.machines.map(m => [m.name, m.name]);
  const machineRow = choice('machine', named, state.machine, name => {
    change({ machine: name, values: {} }, true);
    knobs();
  });
  const besideRow = choice('beside', [['nothing', ''], ...named], state.beside, name => change({ beside: name }, true));
  const toCollective = name => {
    if (pages && pages[name]) {
      const { collective, algorithms, ...others } = state;
      location.href = `${pages[name]}#${encodeURIComponent(JSON.stringify(others))}`;
    } else apply({ ...state, collective: name, algorithms: null, axis: name === 'barrier' ? 'P' : state.axis });
  };
  const collectives = data.collectives.filter(name => !pages || name in pages);
  const collectiveRow = choice('collective', collectives.map(name => [name, name]), state.collective, toCollective);
  const buffersRow = choice('buffers', data.buffers.map(name => [name, name]), state.buffers, buffers => { change({ buffers }, true); settle(); });
  const transportRow = choice('transport', data.transports.map(([name, told]) => [told, name]), state.transport, transport => { change({ transport }, true); settle(); });
  const networkRow = choice('network', ['Hockney', 'LogGP'].map(name => [name, name]), state.network, name => {
    change({ network: name }, true);
    knobs();
  });
  const axisRow = choice('over', [['message size n', 'n'], ['ranks P', 'P']], state.axis, axis => change({ axis }, true));
  const shareRow = choice('terms as', [['share', '1'], ['time', '']], state.share ? '1' : '', v => change({ share: v !== '' }));
  const largeRow = choice('letters', [['laptop', ''], ['projector', '1']], state.large ? '1' : '', v => { change({ large: v !== '' }); settle(); });
  const PRow = slider('P', data.ranks, state.P, String, 'P, ranks', P => change({ P }));
  const nRow = slider('n', data.size_stops, state.n, sizeText, 'n, message size', n => change({ n }));
  const box = make('div', { class: 'orrery-live-knobs' }), others = make('div', { class: 'orrery-live-knobs' });
  const knobs = () => {
    const used = new Set(formulas()?.used[state.network]), plain = new Set([...used].map(name => name.replace(/_\d+$/, '')));
    const rowOf = knob => slider(
      knob.label, offered(knob.value), state.values[knob.symbol] ?? knob.value, v => readable(v, knob.unit),
      `${knob.meaning}; ${readable(knob.value, knob.unit)} in the machine file`,
      v => {
        const { [knob.symbol]: _, ...others } = state.values;
        change({ values: v === knob.value ? others : { ...others, [knob.symbol]: v } });
      },
    ).row;
    const [here, elsewhere] = [[], []];
    for (const knob of machineOf(state.machine).knobs) (used.has(knob.symbol) || plain.has(knob.symbol) ? here : elsewhere).push(rowOf(knob));
    box.replaceChildren(...here);
    others.replaceChildren(...elsewhere);
  };
  const curves = make('div', { class: 'orrery-live-ticks' });
  const ticks = () => {
    const list = tables()?.curves ?? [];
    const boxes = list.map(curve => {
      const tick = make('input', { type: 'checkbox' });
      tick.checked = state.algorithms.includes(curve.name);
      tick.addEventListener('change', () => change({ algorithms: list.map(c => c.name).filter((_, i) => boxes[i].checked) }));
      return tick;
    });
    curves.replaceChildren(...list.map((c, i) => make('label', { title: c.name }, boxes[i], make('span', {}, c.name))));
  };
  const button = (text, title, clicked) => {
    const made = make('button', { type: 'button', title }, text);
    made.addEventListener('click', clicked);
    return made;
  };
  // Make what is there fit the state: ticks, sliders, what has no meaning now.
  const settle = () => {
    if (tables() && !state.algorithms) state.algorithms = tables().curves.filter(c => c.usual).map(c => c.name);
    state.algorithms ??= [];
    knobs();
    ticks();
    buffersRow.select.disabled = axisRow.select.disabled = nRow.input.disabled = barrier();
    transportRow.select.disabled = barrier() || state.buffers === 'host';
    el.classList.toggle('orrery-live-large', state.large);
  };

  // Take a state from outside; what is unknown in it is passed over.
  const apply = given => {
    const next = { ...state };
    const take = (name, allowed) => { if (allowed.includes(given[name])) next[name] = given[name]; };
    const labels = data.machines.map(m => m.name);
    take('machine', labels);
    take('beside', ['', ...labels]);
    take('collective', collectives);
    take('buffers', data.buffers);
    take('transport', data.transports.map(([name]) => name));
    take('network', ['Hockney', 'LogGP']);
    take('axis', next.collective === 'barrier' ? ['P'] : ['n', 'P']);
    take('P', data.ranks);
    take('n', data.sizes);
    for (const name of ['share', 'large']) take(name, [true, false]);
    const curvesOf = parts[next.collective]?.curves.map(c => c.name);
    if (given.algorithms === null || next.collective !== state.collective) next.algorithms = null;
    if (Array.isArray(given.algorithms) && curvesOf) next.algorithms = given.algorithms.filter(name => curvesOf.includes(name));
    if (given.values && typeof given.values === 'object') {
      next.values = Object.fromEntries(Object.entries(given.values).filter(([, v]) => Number.isFinite(v) && v > 0));
    }
    if (next.collective === 'barrier') next.axis = 'P';
    for (const [row, name] of [[machineRow, 'machine'], [besideRow, 'beside'], [collectiveRow, 'collective'], [buffersRow, 'buffers'],
      [transportRow, 'transport'], [networkRow, 'network'], [axisRow, 'axis']]) row.select.value = next[name];
    shareRow.select.value = next.share ? '1' : '';
    largeRow.select.value = next.large ? '1' : '';
    PRow.set(next.P);
    nRow.set(next.n);
    state = next;
    settle();
    change({}, true);
  };

  settle();
  nRow.row.classList.add('orrery-live-n');
  PRow.row.classList.add('orrery-live-P');
  const svgText = () => new XMLSerializer().serializeToString(figure.svg);
  const latex = () => {
    const { own, all: [numbers] } = shown, plan = numbers.plans[numbers.here];
    if (!own.latex[state.network][plan]) return `% ${own.plans[plan].text} has no formula yet\n`;
    return `% ${state.collective}, ${own.plans[plan].text}, ${placeOf(state)}, ${state.network}; seconds, n in bytes\n\\[ ${own.latex[state.network][plan]} \\]\n`;
  };
  const code = make('pre', { class: 'orrery-live-code', tabindex: 0, hidden: '' });
  const told = () => {
    const text = JSON.stringify;
    const moved = machineOf(state.machine).knobs.filter(knob => knob.symbol in state.values);
    const plain = moved.filter(knob => !/_\d+$/.test(knob.symbol)), banded = moved.filter(knob => !plain.includes(knob));
    const given = plain.map(knob => `${knob.label.replaceAll(' ', '_')}=${state.values[knob.symbol]}`).join(', ');
    const first = given ? `oa.load_machine(${text(state.machine)}).replace(${given})` : text(state.machine);
    const options = ['buffers', 'transport', 'network', 'axis', 'P', 'n'].map(name => `${name}=${JSON.stringify(state[name])}`);
    const note = banded.map(knob => `\n# and ${knob.label} = ${readable(state.values[knob.symbol], knob.unit)}`).join('');
    return `oa.explore_live(${state.beside ? `(${first}, ${text(state.beside)})` : first}, "${state.collective}", `
      + `${options.join(', ')}, algorithms=${JSON.stringify(state.algorithms)})${note}\n`;
  };
  const show = text => { code.textContent = text; code.hidden = false; };
  const saves = make('div', { class: 'orrery-live-buttons' }, make('b', {}, 'save'),
    button('SVG', 'The figure, for a page', () => save(`${state.collective}.svg`, 'image/svg+xml', svgText())),
    button('PNG', 'The figure, for slides', () => saveAsPng(`${state.collective}.png`, figure.svg)),
    button('CSV', 'The numbers of all curves and terms', () => save(`${state.collective}.csv`, 'text/csv', table(state, machines(), shown.all))),
    button('LaTeX', 'The formula of what runs at the point', () => { show(latex()); save(`${state.collective}.tex`, 'text/x-tex', latex()); }),
    button('code', 'One line of Python that opens this view', () => { show(told()); }));
  const controls = make('div', { class: 'orrery-live-controls' },
    machineRow.row, besideRow.row, collectiveRow.row, buffersRow.row, transportRow.row, networkRow.row,
    make('div', { class: 'orrery-live-row' }, make('span', {}, 'library'), make('span', { class: 'orrery-live-fixed' }, `Open MPI (${data.rules})`)),
    axisRow.row, PRow.row, nRow.row,
    make('div', { class: 'orrery-live-head' }, make('b', {}, 'numbers of the machine'),
      button('reset', 'Back to the values of the machine file', () => { change({ values: {} }); knobs(); })),
    box, make('details', {}, make('summary', {}, 'other numbers, in no formula here'), others),
    make('div', { class: 'orrery-live-head' }, make('b', {}, 'curves')), curves, shareRow.row, largeRow.row,
    make('div', { class: 'orrery-live-buttons' }, button('start again', 'Back to where this view began', () => apply({ ...initial }))));
  el.classList.add('orrery-live');
  const view = make('div', { class: 'orrery-live-view' }, readout, figure.svg, saves, code);
  el.append(controls, view);
  paint();
  new ResizeObserver(() => {
    if (view.clientWidth && figure.resize(view.clientWidth)) asked ||= requestAnimationFrame(paint);
  }).observe(view);
  // More parts have come.
  apply.more = more => {
    parts = more;
    settle();
    change({}, true);
  };
  return apply;
}

// On a page of its own the state is in the address, so that a view can be sent to someone.
function mountPage(el, data, parts, begin) {
  const apply = mount(el, data, parts, begin, state => {
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
    const apply = mount(el, model.get('data'), model.get('parts'), model.get('state'), state => {
      own = JSON.stringify(state);
      model.set('state', state);
      clearTimeout(el.waiting);
      el.waiting = setTimeout(() => model.save_changes(), 150); // the kernel may know later: nothing waits for it
    });
    const outside = () => { if (JSON.stringify(model.get('state')) !== own) apply(model.get('state')); };
    const more = () => apply.more(model.get('parts'));
    model.on('change:state', outside);
    model.on('change:parts', more);
    return () => { model.off('change:state', outside); model.off('change:parts', more); };
  },
};
