// Where the controls are. A state may come from an address or from a kernel: what is unknown in it is passed over.

const BOTH = ['Hockney', 'LogGP'];

const placeOf = state => (state.buffers === 'device' && state.collective !== 'barrier'
  ? `${state.collective} device ${state.transport}` : `${state.collective} host`);

const machinesOf = ({ machine, beside }) => (beside ? [machine === beside ? `${machine}, moved` : machine, beside] : [machine]);

// The state after `given` came over `state`; `collectives` are those that can be shown, `parts` what is at hand.
function taken(given, state, data, collectives, parts) {
  const next = { ...state }, labels = data.machines.map(m => m.name);
  const take = (name, allowed) => { if (allowed.includes(given[name])) next[name] = given[name]; };
  take('machine', labels);
  take('beside', ['', ...labels]);
  take('collective', collectives);
  take('buffers', data.buffers);
  take('transport', data.transports.map(([name]) => name));
  take('network', BOTH);
  take('axis', ['n', 'P']);
  take('P', data.ranks);
  take('n', data.sizes);
  for (const name of ['share', 'large']) take(name, [true, false]);
  if (next.collective === 'barrier') next.axis = 'P';
  const curves = parts[next.collective]?.curves.map(c => c.name);
  if (given.algorithms === null || next.collective !== state.collective) next.algorithms = null;
  if (Array.isArray(given.algorithms) && curves) next.algorithms = given.algorithms.filter(name => curves.includes(name));
  if (given.values && typeof given.values === 'object') {
    next.values = Object.fromEntries(Object.entries(given.values).filter(([, v]) => Number.isFinite(v) && v > 0));
  }
  return next;
}

// The part of an address that holds a state, and back; null where it holds none.
const toHash = state => `#${encodeURIComponent(JSON.stringify(state))}`;
function fromHash(hash) {
  try {
    return hash.length > 1 ? JSON.parse(decodeURIComponent(hash.slice(1))) : null;
  } catch {
    return null;
  }
}
