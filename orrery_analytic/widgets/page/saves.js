// What a view saves: its figure, its numbers, the formula of what runs, and the code that opens it again.

function save(name, type, text) {
  const link = make('a', { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const svgText = svg => new XMLSerializer().serializeToString(svg);

// The picture as PNG, twice as fine as on a laptop.
function saveAsPng(name, svg) {
  const { width, height } = svg.viewBox.baseVal, image = new Image(), canvas = make('canvas');
  [canvas.width, canvas.height] = [2 * width, 2 * height];
  const copy = fill(svg.cloneNode(true), { width: canvas.width, height: canvas.height });
  image.onload = () => {
    canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob(blob => save(name, 'image/png', blob));
  };
  image.setAttribute('src', `data:image/svg+xml,${encodeURIComponent(svgText(copy))}`);
}

function csv({ state, machines, all }) {
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

function latex({ state, data, all: [numbers] }) {
  const i = numbers.plans[numbers.here], plan = data.plans[i].text, formula = data.latex[state.network][i];
  if (!formula) return `% ${plan} has no formula yet\n`;
  return `% ${state.collective}, ${plan}, ${placeOf(state)}, ${state.network}; seconds, n in bytes\n\\[ ${formula} \\]\n`;
}

function python({ state, knobs }) {
  const text = JSON.stringify, moved = knobs.filter(knob => knob.symbol in state.values);
  const banded = moved.filter(knob => /_\d+$/.test(knob.symbol)), plain = moved.filter(knob => !banded.includes(knob));
  const given = plain.map(knob => `${knob.label.replaceAll(' ', '_')}=${state.values[knob.symbol]}`).join(', ');
  const first = given ? `oa.load_machine(${text(state.machine)}).replace(${given})` : text(state.machine);
  const options = ['buffers', 'transport', 'network', 'axis', 'P', 'n'].map(name => `${name}=${text(state[name])}`);
  const note = banded.map(knob => `\n# and ${knob.label} = ${readable(state.values[knob.symbol], knob.unit)}`).join('');
  return `oa.explore_live(${state.beside ? `(${first}, ${text(state.beside)})` : first}, "${state.collective}", `
    + `${options.join(', ')}, algorithms=${text(state.algorithms)})${note}\n`;
}

// The buttons, and where text of them is read. `now()` returns what is shown, after all that waits to be drawn.
function saves(now, svg) {
  const code = make('pre', { class: 'orrery-live-code', tabindex: 0, hidden: '' });
  const show = text => { code.textContent = text; code.hidden = false; };
  const made = (label, title, ending, use) => button(label, title, () => {
    const view = now();
    if (view) use(view, `${view.state.collective}.${ending}`);
    else show('nothing is shown that could be saved');
  });
  const row = make('div', { class: 'orrery-live-buttons' }, make('b', {}, 'save'),
    made('SVG', 'The figure, for a page', 'svg', (_, name) => save(name, 'image/svg+xml', svgText(svg))),
    made('PNG', 'The figure, for slides', 'png', (_, name) => saveAsPng(name, svg)),
    made('CSV', 'The numbers of all curves and terms', 'csv', (view, name) => save(name, 'text/csv', csv(view))),
    made('LaTeX', 'The formula of what runs at the point', 'tex', (view, name) => { show(latex(view)); save(name, 'text/x-tex', latex(view)); }),
    made('code', 'One line of Python that opens this view', 'py', view => show(python(view))));
  return [row, code];
}
