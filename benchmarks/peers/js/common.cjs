// The Node side of handler.py and of NodeAdapter: counter, stamps, JSON lines.
const fs = require("node:fs");
const readline = require("node:readline");

const PAD = "x".repeat(72);
const payload = (seq) => ({ seq, pad: PAD });
const now = () => Number(process.hrtime.bigint()); // CLOCK_MONOTONIC, as in Python

class Recorder {
  constructor() {
    this.mode = process.env.PEER_MODE || "noop";
    this.dir = process.env.PEER_DIR || ".";
    this.sleepMs = Number(process.env.PEER_SLEEP || "30") * 1000;
    this.n = 0;
  }
  start() {
    this.stamp = fs.openSync(`${this.dir}/stamp.${process.pid}`, "a");
    const count = fs.openSync(`${this.dir}/count.${process.pid}`, "w");
    setInterval(() => fs.writeSync(count, String(this.n), 0), 100);
  }
  ready() {
    fs.writeFileSync(`${this.dir}/ready.${process.pid}`, `${now()}\n`);
  }
  async run(seq) {
    this.n += 1;
    if (this.mode === "noop") return;
    fs.writeSync(this.stamp, `${seq} ${now()}\n`);
    if (this.mode === "sleep") await new Promise((r) => setTimeout(r, this.sleepMs));
  }
}

async function serve(ops) {
  const rl = readline.createInterface({ input: process.stdin });
  for await (const line of rl) {
    const msg = JSON.parse(line);
    let out;
    try {
      out = (await ops[msg.op](msg)) || {};
    } catch (e) {
      out = { error: String(e.stack || e) };
    }
    process.stdout.write(JSON.stringify(out) + "\n");
  }
  process.exit(0);
}

async function timedBulk(first, n, chunk, insert) {
  const t = now();
  for (let lo = first; lo < first + n; lo += chunk) {
    const seqs = [];
    for (let i = lo; i < Math.min(lo + chunk, first + n); i += 1) seqs.push(i);
    await insert(seqs);
  }
  return { ns: now() - t };
}

async function timedOne(insert) {
  const t0 = now();
  await insert();
  return { t0, t1: now() };
}

const root = process.env.PEERS_NODE_MODULES;
const load = (name) => require(require.resolve(name, { paths: [root, `${root}/..`] }));

module.exports = { Recorder, serve, payload, timedBulk, timedOne, load };
