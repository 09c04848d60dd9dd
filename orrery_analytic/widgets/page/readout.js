// What a view says in words.

// Why nothing can be shown, or an empty text; `pairs` are names and numbers of the machines.
function lacking(used, pairs, network) {
  for (const [name, values] of pairs) {
    const missing = used.filter(symbol => numberOf(values, symbol) === undefined);
    if (missing.length) return `Cannot be shown: ${name} has no numbers for ${missing.join(', ')}, which ${network} needs here.`;
  }
  return '';
}

// HTML: what the library takes and why, what it costs on each machine, and what would be faster.
function sentence(data, state, [numbers, beside], machines) {
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
