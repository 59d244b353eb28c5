import { cpuSeconds, machineCpuSeconds } from '../child.ts';

/** What a window costs: processor time of a process per piece, and cores that neither it nor its helpers used. */
export interface Cost {
  readonly cpuUs: number;
  readonly otherCores: number;
}

export function watch(pid: number, ...helpers: readonly number[]): (pieces: number) => Cost {
  const read = () => ({
    own: cpuSeconds(pid),
    helpers: helpers.reduce((sum, helper) => sum + cpuSeconds(helper), 0),
    machine: machineCpuSeconds(),
    at: performance.now(),
  });
  const before = read();
  return (pieces) => {
    const after = read();
    const cpu = after.own - before.own;
    const others = after.machine - before.machine - cpu - (after.helpers - before.helpers);
    return { cpuUs: (cpu * 1e6) / pieces, otherCores: Math.max(0, (others * 1000) / (after.at - before.at)) };
  };
}
