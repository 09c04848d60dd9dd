// What SymPy's printer calls by name: the functions of P of this package, as they stand in Python, in double precision.
// Whole numbers are exact up to 2^53. Sums run in the order of the Python code, so that both round alike.

const halves = (x, i) => Math.floor(x / 2 ** i);
const bit_at = (x, i) => halves(x, i) % 2 === 1;
const bit_length = x => {
  const upper = Math.floor(x / 2 ** 32);
  return upper > 0 ? 64 - Math.clz32(upper) : 32 - Math.clz32(x);
};
const set_bits = P => Array.from({ length: bit_length(P) }, (_, i) => i).filter(i => bit_at(P, i));
const sum = (numbers, start = 0) => numbers.reduce((a, b) => a + b, start);
const upto = (count, f) => Array.from({ length: Math.max(0, count) }, (_, i) => f(i));
const whole = x => x >= 1 && Number.isInteger(x);

function log2_floor(x) { return whole(x) ? bit_length(x) - 1 : NaN; }
function log2_ceil(x) { return whole(x) ? bit_length(x - 1) : NaN; }
function log_floor(x, base) {
  if (!whole(x)) return NaN;
  let level = 0;
  for (let power = base; power <= x; power *= base) level += 1;
  return level;
}
function popcount(x) { return set_bits(x).length; }
function trailing_zeros(P) { return set_bits(P)[0]; }
function node_count(P, width) { return Math.ceil(P / width); }
function max_popcount(x) {
  if (!whole(x)) return NaN;
  const m = x - 1;
  let best = popcount(m);
  for (let i = 0; i < bit_length(m) - 1; i++) {
    if (bit_at(m, i)) best = Math.max(best, popcount(halves(m, i + 1)) + i); // clear bit i, set all below it
  }
  return best;
}
function popcount_sum(x, bits) {
  let total = 0;
  for (let j = 0; j < bits; j++) {
    const half = 2 ** j, rest = x % (2 * half) - half;
    total += Math.floor(x / (2 * half)) * half + Math.max(0, rest);
  }
  return total;
}
function settling_rounds(P, at_power) {
  const folded = P - 2 ** log2_floor(P);
  return folded ? Math.min(folded, 2) : at_power * Math.min(P - 2, 1);
}
function idle(x, r, a, b) {
  let total = 0;
  for (let i = a; i < b; i++) total += Math.max(0, x - 2 ** i * r);
  return total;
}
function bits_idle(P, x, y, first) {
  const last = bit_length(P - 1) - 1;
  const with_bit = i => halves(P, i + 1) * 2 ** i + Math.max(0, P % 2 ** (i + 1) - 2 ** i);
  let total = 0;
  for (let i = first; i < last; i++) total += Math.max(0, x - Math.min(with_bit(i), with_bit(i + 1)) * y);
  return total;
}

function knomial_path(P, radix, A, d) {
  let longest = 0, messages = 0, distances = 0; // of the path to the node whose subtree is looked at
  const end = (a, b) => { longest = Math.max(longest, a * A + b * d); };
  while (P > 1) {
    let level = 0, stride = 1;
    while (stride * radix < P) { level += 1; stride *= radix; }
    const last = Math.floor((P - 1) / stride), below = level * (radix - 1);
    end(messages + 1, distances + last + below - 1);
    if (level) end(messages + level, distances + last + below - level);
    else end(messages + 1, distances + last - 1);
    if (last > 1) end(messages + level + 1, distances + last - 1 + below - level - 1);
    messages += 1;
    distances += last - 1;
    P -= last * stride;
  }
  return longest;
}

// Along the set bits of P, lowest first: `joined(through, i, hops)` is when the last ranks are through bit i.
const along_bits = (P, first, joined) => {
  const bits = set_bits(P);
  let through = first(bits[0]);
  for (let at = 1; at < bits.length; at++) through = joined(through, bits[at], bits[at] - bits[at - 1]);
  return through;
};
function doubling_path_hockney(P, x, y) {
  const group = i => i * x + (2 ** i - 1) * y;
  return along_bits(P, group, (through, i, hops) =>
    Math.max(group(i), through) + x + 2 ** i * y + hops * (x + P % 2 ** i * y));
}
function doubling_path_loggp(P, n, L, o, g, G) {
  const wire = blocks => (blocks * n - 1) * G, distance = blocks => Math.max(o, g + wire(blocks));
  const behind = Math.max(0, g - L - 2 * o), taken = Math.max(0, g - o);
  const group = i => {
    const done = sum(upto(i, j => L + 2 * o + wire(2 ** j))) + Math.max(0, i - 1) * behind;
    const send = i ? done + behind : done;
    return { done, receive: i ? done + taken : done, fresh: send, send };
  };
  return along_bits(P, group, (last, i, hops) => {
    const h = P % 2 ** i, full = group(i), one_way = L + 2 * o + wire(h), apart = distance(h);
    const [begin_long, begin] = [last.fresh, last.send].map(port =>
      Math.max(port + one_way, full.receive + o + wire(h), full.send + distance(2 ** i)));
    const upper = Math.max(full.send + L + 2 * o + wire(2 ** i), Math.max(last.done, last.receive) + o + wire(2 ** i));
    const pace = Math.max(one_way, apart);
    let passed = begin_long + (hops - 1) * pace + one_way;
    if (hops > 1) passed = Math.max(passed, begin + (hops - 2) * pace + one_way);
    const back = Math.max(last.send + one_way, full.receive + o + wire(h));
    const done = Math.max(upper, passed, back);
    const send = Math.max(begin_long + hops * apart, begin + (hops - 1) * apart, last.send + apart, upper, passed);
    return { done, receive: Math.max(done, passed + taken, upper + taken), fresh: passed, send };
  }).done;
}
function bcast_path(P, x, y) {
  const group = i => 2 * i * x + 2 * (2 ** i - 1) * y;
  return along_bits(P, group, (through, i, hops) => {
    const h = P % 2 ** i;
    return Math.max(group(i), through) + 2 * x + (2 ** i + h) * y + hops * (x + h * y);
  });
}
function bcast_path_loggp(P, x, wide, there, y) {
  const group = i => 2 * i * wide + 2 * (2 ** i - 1) * y, bits = set_bits(P);
  if (bits.length === 1) return P > 1 ? group(bits[0]) - wide + x : 0;
  return along_bits(P, group, (through, i, hops) => {
    const full = 2 ** i, h = P % full;
    return Math.max(
      group(i) + 2 * there + (hops - 1) * wide + x + (full + (1 + hops) * h) * y,
      group(i) + there + x + (full + h) * y,
      through + 3 * x + (hops - 1) * wide + (2 + hops) * h * y,
      through + x + there + (full + h) * y,
    );
  });
}
const taken_in = (P, i) => i * P - 2 ** i + 1;
function block_path(P, x, y, z) {
  const group = i => i * x + taken_in(P, i) * (y + z);
  return along_bits(P, group, (through, i, hops) => {
    const others = P - P % 2 ** i;
    return Math.max(group(i), through) + (1 + hops) * (x + others * y) + others * z;
  });
}
function block_path_loggp(P, x, wide, two, there, y, z, behind) {
  const waited = gaps => sum(upto(gaps, k => Math.max(0, behind - (P - 2 ** k) * z)));
  const group = (i, gaps) => i * x + taken_in(P, i) * (y + z) + waited(gaps), bits = set_bits(P);
  if (bits.length === 1) return group(bits[0], Math.max(0, bits[0] - 1));
  return along_bits(P, i => group(i, i), (through, i, hops) => {
    const others = P - P % 2 ** i;
    const passed = (hops - 1) * wide + (1 + hops) * others * y + others * z;
    return Math.max(group(i, i) + there + x, through + two) + passed;
  });
}

const charges = (b, L, o, g, G, gamma) => {
  const wire = m => (m * b - 1) * G, reduction = m => m * b * gamma, one_way = m => L + 2 * o + wire(m);
  const distance = m => Math.max(o, g + wire(m));
  const waited = m => Math.max(one_way(m) + reduction(m), distance(m));
  const there = m => Math.max(o + wire(m) + reduction(m), distance(m));
  return { reduction, one_way, distance, waited, there };
};
const kept = P => upto(log2_floor(P), i => 2 ** i + Math.min(2 ** i, P - 2 ** log2_floor(P)));
function halving_path(P, ...rest) {
  const net = charges(...rest), widths = kept(P), R = P - 2 ** widths.length;
  const fold = net.one_way(P) + net.reduction(P);
  const late = sum(widths.map((w, i) => (2 ** i >= R ? net.there(w) : net.waited(w)))) + net.one_way(1);
  const others = sum(upto(widths.length - 1, i => net.waited(2 ** (i + 1)))) + net.one_way(1) + net.reduction(1);
  return fold + Math.max(late, others);
}
function butterfly_path(P, ...rest) {
  const net = charges(...rest), widths = kept(P), rounds = widths.length;
  const fold = net.one_way(P) + net.reduction(P) + net.one_way(1);
  if (P - 2 ** rounds > 1) return fold + sum(widths.map(net.waited)) + net.distance(1);
  const late = sum(widths.map(net.there));
  const first = net.there(Math.floor((P + 1) / 2)) + sum(upto(rounds - 1, i => net.waited(2 ** i)));
  const last = sum(upto(rounds - 1, i => net.waited(2 ** (i + 1)))) + net.there(1);
  return fold + Math.max(late, first, last);
}
