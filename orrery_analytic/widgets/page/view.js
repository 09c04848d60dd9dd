// A live view: controls, words and figure around one state. Formulas come as a script made from SymPy; no kernel is
// asked. It is the same in a notebook (`render`) and on a page that is a mere file (`mountPage`).

// Put the view into `el`. `keep(state)` is told of every change; returns a function that takes a state from outside.
// `parts` are tables and formulas by collective and place; what is not there is asked of a kernel, or is another page.
function mount(el, data, given, begin, keep) {
  const compiled = new Map(), initial = structuredClone(begin), { pages } = data;
  const collectives = data.collectives.filter(name => !pages || name in pages);
  let parts = given, state = structuredClone(begin), shown, asked = 0, anew = true, framed = '';
  const tables = () => parts[state.collective], formulas = () => parts[placeOf(state)];
  const functions = () => {
    const { source } = formulas();
    if (!compiled.has(source)) compiled.set(source, new Function(`${data.runtime}\n${source}`)());
    return compiled.get(source);
  };
  // Names and numbers of the machines: those of the first are moved, the second is as its file has it.
  const pairs = () => {
    const found = name => data.machines.find(m => m.name === name), [first, second] = machinesOf(state);
    return [[first, movedValues(found(state.machine), state.values)], ...(second ? [[second, found(second).values]] : [])];
  };
  const why = () => {
    if (tables() && formulas()) return lacking(formulas().used[state.network], pairs(), state.network);
    if (pages) return `This page holds no formulas for ${placeOf(state)}.`;
    return `Python is asked for the formulas of ${placeOf(state)} (without a kernel this view holds `
      + `${Object.keys(parts).filter(k => k.includes(' ')).join(', ')}).`;
  };

  const readout = make('p', { class: 'orrery-live-readout', role: 'status', 'aria-live': 'polite' });
  const paint = () => {
    asked = 0;
    const told = why();
    figure.svg.style.opacity = told ? 0.25 : 1;
    shown = undefined;
    if (told) readout.textContent = told;
    else {
      const own = { ...tables(), ...formulas(), ...data }, machines = machinesOf(state);
      const frame = [placeOf(state), ...machines].join();
      if (frame !== framed) figure.use(own, machines);
      framed = frame;
      const all = pairs().map(([, values]) => compute(own, functions(), state, values));
      const { knobs } = data.machines.find(m => m.name === state.machine);
      shown = { state, data: own, machines, all, knobs };
      figure.update(all, state, anew);
      anew = false;
      readout.innerHTML = sentence(own, state, all, machines);
    }
    figure.svg.setAttribute('aria-label', readout.textContent);
    el.dataset.drawn = Number(el.dataset.drawn ?? 0) + 1;
  };
  // Several events before the next frame are one picture.
  const ask = () => { asked ||= requestAnimationFrame(paint); };
  const change = (part, fresh = false) => {
    state = { ...state, ...part };
    anew ||= fresh;
    el.classList.toggle('orrery-live-large', state.large);
    ask();
    keep(state);
  };
  // What is shown, after all that waits to be drawn: a file must not be older than the controls.
  const now = () => {
    if (asked) {
      cancelAnimationFrame(asked);
      paint();
    }
    return shown;
  };
  const fit = () => { if (tables()) state.algorithms ??= tables().curves.filter(c => c.usual).map(c => c.name); };
  const apply = other => {
    state = taken(other, state, data, collectives, parts);
    fit();
    panel.show(state);
    change({}, true);
  };
  const go = name => {
    if (pages && pages[name]) {
      const { collective, algorithms, ...others } = state;
      location.href = `${pages[name]}${toHash(others)}`;
    } else apply({ ...state, collective: name, algorithms: null, axis: name === 'barrier' ? 'P' : state.axis });
  };

  const panel = controls(data, collectives, { state: () => state, tables, formulas, change, apply, go, begin: () => initial });
  const figure = new Figure(data, panel.point);
  fit();
  panel.settle();
  el.classList.add('orrery-live');
  el.classList.toggle('orrery-live-large', state.large);
  const view = make('div', { class: 'orrery-live-view' }, readout, figure.svg, ...saves(now, figure.svg));
  el.append(panel.el, view);
  paint();
  new ResizeObserver(() => { if (view.clientWidth && figure.resize(view.clientWidth)) ask(); }).observe(view);
  // More parts have come.
  apply.more = more => {
    parts = more;
    apply(state);
  };
  return apply;
}

// On a page of its own the state is in the address, so that a view can be sent to someone.
function mountPage(el, data, parts, begin) {
  const apply = mount(el, data, parts, begin, state => {
    clearTimeout(el.waiting);
    el.waiting = setTimeout(() => history.replaceState(null, '', toHash(state)), 200);
  });
  const read = () => {
    const found = fromHash(location.hash);
    if (found) apply({ ...begin, ...found });
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
