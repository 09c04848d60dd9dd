// The numbers of a view: of machines and their sliders, of the curves, of the library's choice and of its terms.

const ROUND = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8];
const MIDDLE = { s: 1e-6, 's/B': 1e-10 }; // of a slider that begins at zero

// Round numbers two decades around a value, and the value itself, like `parameters._offered`.
function offered(value, unit) {
  const middle = value || MIDDLE[unit], far = 100 * (1 + 1e-9), [low, high] = [middle / far, middle * far], numbers = [value];
  for (let p = Math.floor(Math.log10(low)); p <= Math.ceil(Math.log10(high)); p++) {
    for (const mantissa of ROUND) {
      const x = Number(`${mantissa}e${p}`);
      if (low <= x && x <= high && Math.abs(x - value) > 0.02 * value) numbers.push(x);
    }
  }
  return numbers.sort((a, b) => a - b);
}

// A machine's numbers by symbol, some of them moved; those that were moved are in the unit of the machine file.
function movedValues(machine, moved) {
  const found = { ...machine.values };
  for (const knob of machine.knobs) {
    const value = moved[knob.symbol];
    if (value === undefined) continue;
    found[knob.symbol] = knob.inverse ? 1 / value : value;
    const plain = knob.symbol.replace(/_\d+$/, '');
    if (plain === knob.symbol) continue;
    const next = `${plain}_${Number(knob.symbol.match(/\d+$/)[0]) + 1}`;
    // The last size band is also that of the largest sizes.
    if (!machine.knobs.some(k => k !== knob && k.symbol === next)) found[plain] = found[knob.symbol];
  }
  return found;
}

// A symbol's number on a machine: of a size band that it has not, that of its largest sizes, without an upper limit.
const numberOf = (values, name) => values[name] ?? (/_\d+$/.test(name)
  ? (name.startsWith('s_') ? Infinity : values[name.replace(/_\d+$/, '')]) : undefined);

const stretchAt = (row, place) => row.findLast(stretch => stretch[0] <= place);

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
