// Elements of the page, and numbers as people read them, like `units.readable` and `plots.size_text`.

const NS = 'http://www.w3.org/2000/svg';

const fill = (made, attributes) => {
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
};
const make = (name, attributes = {}, ...children) => {
  const made = fill(document.createElement(name), attributes);
  made.append(...children);
  return made;
};
const draw = (name, attributes = {}, text = '') => {
  const made = fill(document.createElementNS(NS, name), attributes);
  if (text) made.textContent = text;
  return made;
};
const escaped = text => String(text).replace(/[&<>"]/g, c => `&#${c.charCodeAt(0)};`);
const strong = text => `<b>${escaped(text)}</b>`;

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
