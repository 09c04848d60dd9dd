// How curves and areas look: markers, hatches, and the legend of each.

const GREY = '#8C8C8C', SECOND = [5, 2.2];
const MARKERS = {
  o: 'a 3 3 0 1 0 6 0 a 3 3 0 1 0 -6 0', s: 'm0 -2.7 h5.4 v5.4 h-5.4 z', '^': 'm0 2.7 l3 -6 l3 6 z',
  v: 'm0 -2.7 l3 6 l3 -6 z', D: 'l3 -3.3 l3 3.3 l-3 3.3 z', P: 'h6 m-3 -3 v6', X: 'm0.5 -2.6 l5 5.2 m0 -5.2 l-5 5.2',
};
const marker = (kind, x, y) => `M${(x - 3).toFixed(1)} ${y.toFixed(1)} ${MARKERS[kind]}`;
const crossed = kind => 'PX'.includes(kind); // without an inside
const dashed = (dashes, width) => dashes.map(d => d * width).join(' ') || 'none';
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

// The legend of the curves that are seen, for one machine or for two; `room` is its width.
function curvesLegend(seen, machines, gaps, left, top, room) {
  const group = draw('g', { class: 'curves' }), step = seen.length > 15 ? 15 : 18, two = machines.length > 1;
  const rows = [{ name: 'Open MPI\'s choice', band: true }, ...(two ? seen.map(c => ({ ...c, dashes: [] })) : seen)];
  const head = { color: '#333', width: 1.6, marker: 'o' };
  if (two) rows.unshift({ ...head, name: machines[0], dashes: [] }, { ...head, name: machines[1], dashes: SECOND, full: true });
  if (gaps) rows.push({ name: 'no formula', color: GREY, dashes: [1, 1], width: 4 });
  rows.forEach((c, i) => {
    const y = top + step * i, line = `M${left} ${y} H${left + 28}`;
    if (c.band) group.append(draw('path', { d: line, stroke: '#B8B8B8', 'stroke-opacity': 0.7, 'stroke-width': 9, 'stroke-linecap': 'round' }));
    else group.append(draw('path', { d: line, stroke: c.color, 'stroke-width': c.width, 'stroke-dasharray': dashed(c.dashes, c.width) }));
    if (c.marker) group.append(draw('path', { d: marker(c.marker, left + 14, y), stroke: c.color, 'stroke-width': 1.4, fill: crossed(c.marker) ? 'none' : c.full ? c.color : 'white' }));
    const size = c.name.length > 25 ? { textLength: room - 40, lengthAdjust: 'spacingAndGlyphs' } : {};
    group.append(draw('text', { x: left + 35, y: y + 4, 'font-size': c.name.length > 22 ? 10 : 11, ...size }, c.name));
  });
  return group;
}

function termsLegend(names, id, left, top) {
  const group = draw('g', { class: 'terms' });
  names.toReversed().forEach((name, i) => {
    const y = top + 18 * i;
    group.append(draw('rect', { x: left, y: y - 6, width: 26, height: 12, fill: `url(#${id}-${name})`, stroke: '#444', 'stroke-width': 0.5 }),
      draw('text', { x: left + 35, y: y + 4, 'font-size': 11 }, name.replaceAll('_', ' ')));
  });
  return group;
}
