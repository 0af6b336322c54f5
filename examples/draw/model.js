// A Fly Bloom Filter in plain JavaScript: the same winners, counts and novelty as flybloom has for whole-number rows.
"use strict";

const WORD = 2 ** 32;

// The upper 32 bits of a product of two 32-bit numbers, which no double holds whole.
function highWord(a, b) {
  const a0 = a & 0xffff, a1 = a >>> 16, b0 = b & 0xffff, b1 = b >>> 16;
  const middle = a1 * b0 + ((a0 * b0) >>> 16), other = a0 * b1 + (middle & 0xffff);
  return (a1 * b1 + Math.floor(middle / 65536) + Math.floor(other / 65536)) >>> 0;
}

// Philox4x32-10: four random words that belong to a counter and a key, and to nothing else.
function philox(counter, key) {
  let [c0, c1, c2, c3] = counter, [k0, k1] = key;
  for (let round = 0; round < 10; round++) {
    const high0 = highWord(0xd2511f53, c0), low0 = Math.imul(0xd2511f53, c0) >>> 0;
    const high1 = highWord(0xcd9e8d57, c2), low1 = Math.imul(0xcd9e8d57, c2) >>> 0;
    [c0, c1, c2, c3] = [(high1 ^ c1 ^ k0) >>> 0, low1, (high0 ^ c3 ^ k1) >>> 0, low0];
    k0 = (k0 + 0x9e3779b9) >>> 0;
    k1 = (k1 + 0xbb67ae85) >>> 0;
  }
  return [c0, c1, c2, c3];
}

// The features that each component sums, and their signs: a function of the seed, so no file holds them.
function drawConnections({ seed, version, nFeatures: d, nComponents: m, nConnections: s }) {
  const key = [Number(BigInt(seed) & 0xffffffffn), Number(BigInt(seed) >> 32n)];
  const features = new Uint16Array(m * s), signs = new Int8Array(m * s);
  const order = Uint16Array.from({ length: d }, (_, i) => i), partners = new Uint16Array(s);
  for (let j = 0; j < m; j++) {
    let used = 0, words = [];
    for (let k = 0; k < s; k++) {
      const left = d - k, smallest = (WORD - left) % left;
      let product;
      do { // an unbiased choice among those that are left
        if (used % 4 === 0) words = philox([used / 4, j, 0, version], key);
        product = words[used++ % 4] * left; // at most 38 bits, so exact
      } while (product % WORD < smallest);
      const partner = partners[k] = k + Math.floor(product / WORD);
      features[j * s + k] = order[partner];
      [order[partner], order[k]] = [order[k], order[partner]];
    }
    for (let k = s - 1; k >= 0; k--) [order[k], order[partners[k]]] = [order[partners[k]], order[k]];
    for (let k = 0; k < s; k++) {
      if (k % 128 === 0) words = philox([k / 128, j, 1, version], key);
      signs[j * s + k] = (words[(k >> 5) % 4] >>> (k % 32)) & 1 ? -1 : 1;
    }
  }
  return { features, signs };
}

function roundHalfEven(value) {
  const rounded = Math.round(value);
  return rounded - value === 0.5 && rounded % 2 !== 0 ? rounded - 1 : rounded;
}

class FlyBloom {
  constructor(exported) {
    Object.assign(this, exported.sizes);
    this.decay = exported.decay;
    this.connections = drawConnections(exported.sizes);
    const bytes = Uint8Array.from(atob(exported.counts), letter => letter.charCodeAt(0));
    this.classes = exported.classes.map((label, i) => ({
      label,
      rows: exported.rows[i],
      counts: Int32Array.from(bytes.subarray(i * this.nComponents, (i + 1) * this.nComponents)),
    }));
    this.exported = this.classes.map(({ label, rows, counts }) => ({ label, rows, counts: counts.slice() }));
  }

  // The components with the largest sums, the largest first; where sums tie, the smaller index.
  winners(row) {
    const { features, signs } = this.connections, s = this.nConnections;
    const sums = new Int32Array(this.nComponents);
    for (let j = 0, at = 0; j < this.nComponents; j++) {
      let sum = 0;
      for (let k = 0; k < s; k++, at++) sum += signs[at] * row[features[at]];
      sums[j] = sum;
    }
    const order = Array.from(sums.keys()).sort((a, b) => sums[b] - sums[a] || a - b);
    return order.slice(0, this.nWinners);
  }

  // The weight of a component that won so often, (1 - decay)^n: a multiple of 2^-30 that falls more slowly from e^-16 on, as
  // flybloom/core/readout/filters.py has it, so that classes still differ where powers have vanished.
  weight(count) {
    const exponent = count === 0 ? 0 : -count * Math.log(1 - this.decay);
    const slow = 120 - roundHalfEven(Math.log(Math.min(Math.max(exponent, 16), 4096) / 16) / Math.LN2 * 15);
    return (exponent < 16 ? roundHalfEven(Math.exp(-exponent) * 2 ** 30) : slow) / 2 ** 30;
  }

  // How novel a row with these winners is to each class: the mean weight of its winners.
  novelty(winners) {
    return this.classes.map(({ counts }) => winners.reduce((sum, j) => sum + this.weight(counts[j]), 0) / winners.length);
  }

  // What speaks for a class: its familiarity, divided among the features that lifted the sums of the winners.
  familiarityOf(row, winners, index) {
    const { features, signs } = this.connections, s = this.nConnections;
    const shares = new Float64Array(this.nFeatures);
    for (const j of winners) {
      const part = (1 - this.weight(this.classes[index].counts[j])) / winners.length;
      let lift = 0;
      for (let k = j * s; k < (j + 1) * s; k++) lift += Math.max(signs[k] * row[features[k]], 0);
      for (let k = j * s; k < (j + 1) * s; k++) {
        shares[features[k]] += part * (lift > 0 ? Math.max(signs[k] * row[features[k]], 0) / lift : 1 / s);
      }
    }
    return shares;
  }

  learn(winners, label) {
    let found = this.classes.find(entry => entry.label === label);
    if (!found) this.classes.push(found = { label, rows: 0, counts: new Int32Array(this.nComponents) });
    for (const j of winners) found.counts[j]++;
    found.rows++;
  }

  forget(winners, label) {
    const found = this.classes.find(entry => entry.label === label);
    if (!found || winners.some(j => found.counts[j] === 0)) throw new Error(`${label} never learned this row`);
    for (const j of winners) found.counts[j]--;
    if (--found.rows === 0) this.classes.splice(this.classes.indexOf(found), 1);
  }

  // How many counts differ from those that were exported; 0 after everything taught was forgotten.
  changedCounts() {
    let changed = 0;
    const before = new Map(this.exported.map(entry => [entry.label, entry.counts]));
    for (const { label, counts } of this.classes) {
      const then = before.get(label);
      for (let j = 0; j < counts.length; j++) changed += counts[j] !== (then ? then[j] : 0);
    }
    return changed;
  }
}
