import { setTimeout as sleep } from 'node:timers/promises';

const EVERY_MS = 50;
const PATIENCE_MS = 45_000;

/** Asks until the answer will do, as clients of a service that tells no events must. */
export async function poll<T>(ask: () => Promise<T>, willDo: (answer: T) => boolean): Promise<T> {
  const endMs = Date.now() + PATIENCE_MS;
  for (;;) {
    const answer = await ask();
    if (willDo(answer)) return answer;
    if (Date.now() > endMs) throw new Error(`asked in vain; the last answer was ${print(answer)}`);
    await sleep(EVERY_MS);
  }
}

const print = (answer: unknown): string =>
  JSON.stringify(answer, (_key, value) => (typeof value === 'bigint' ? String(value) : value));
