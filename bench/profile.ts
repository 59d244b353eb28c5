import { readdirSync, readFileSync } from 'node:fs';

interface CpuProfile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly startTime: number;
  readonly endTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

/** The profiles in a folder, that of the main thread first. */
export function profilesIn(folder: string): string[] {
  const files = readdirSync(folder).filter((name) => name.endsWith('.cpuprofile'));
  if (files.length === 0) throw new Error('the service wrote no profile');
  // Their last number counts up with the threads.
  return files.sort((one, other) => Number(one.split('.').at(-2)) - Number(other.split('.').at(-2)));
}

/**
 * Functions by the time spent in themselves during the last seconds, as shares of the time that the thread was not
 * idle. It is time on the clock: on a busy machine a call that wakes another thread also shows the wait for a core.
 */
export function topFunctions(file: string, lastSeconds: number, count: number): string[][] {
  const profile = JSON.parse(readFileSync(file, 'utf8')) as CpuProfile;
  const names = new Map(
    profile.nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => {
      const place = url.replace(/^.*\/(node_modules|packages)\//, '').replace(/^file:\/\//, '');
      return [id, url === '' ? functionName : `${functionName || '(anonymous)'} ${place}:${lineNumber + 1}`];
    }),
  );
  const self = new Map<string, number>();
  const from = profile.endTime - lastSeconds * 1e6;
  let at = profile.startTime;
  profile.samples.forEach((id, index) => {
    at += profile.timeDeltas[index] ?? 0;
    if (at < from) return;
    const name = names.get(id) ?? '';
    self.set(name, (self.get(name) ?? 0) + (profile.timeDeltas[index] ?? 0));
  });
  const total = [...self].reduce((sum, [name, time]) => (name === '(idle)' ? sum : sum + time), 0);
  return [...self]
    .filter(([name]) => name !== '(idle)')
    .sort(([, a], [, b]) => b - a)
    .slice(0, count)
    .map(([name, time]) => [name, `${((time / total) * 100).toFixed(1)} %`]);
}
