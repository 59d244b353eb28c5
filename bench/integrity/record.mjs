// Loaded into the built service before it starts: keeps what marks it computes and verifies for requests, and at its end does
// them again, to see what they take.
import { subscribe } from 'node:diagnostics_channel';
import { writeFileSync } from 'node:fs';
import { Integrity } from '../../packages/server/dist/storage/integrity/integrity.js';

const CALLS_MAX = 2000;
const TIMED_US = 500_000;

/** By path. */
const seen = new Map();
let current;

subscribe('http.server.request.start', ({ request: { url } }) => {
  current = seen.get(url) ?? { requests: 0, marked: 0, verified: 0, calls: [] };
  current.requests += 1;
  seen.set(url, current);
});

for (const [method, count] of [
  ['marked', 'marked'],
  ['verify', 'verified'],
]) {
  const own = Integrity.prototype[method];
  Integrity.prototype[method] = function (...values) {
    if (current !== undefined) {
      current[count] += 1;
      if (current.calls.length < CALLS_MAX) current.calls.push(() => own.apply(this, values));
    }
    return own.apply(this, values);
  };
}

/** Processor time, which others on the machine do not change. */
function microsecondsOf(calls) {
  if (calls.length === 0) return 0;
  for (const call of calls) call();
  const before = process.cpuUsage();
  for (let rounds = 1; ; rounds += 1) {
    for (const call of calls) call();
    const { user, system } = process.cpuUsage(before);
    if (user + system >= TIMED_US) return (user + system) / (rounds * calls.length);
  }
}

process.on('exit', () => {
  const found = [...seen].map(([path, { requests, marked, verified, calls }]) => [
    path,
    {
      marked: marked / requests,
      verified: verified / requests,
      us: (microsecondsOf(calls) * (marked + verified)) / requests,
    },
  ]);
  writeFileSync(process.env.BENCH_MARKS, JSON.stringify(Object.fromEntries(found)));
});
