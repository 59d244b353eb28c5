export interface BackOff {
  readonly firstMs: number;
  readonly mostMs: number;
}

/** Each delay is up to this part shorter, so that processes do not come back together. */
const JITTER = 0.25;

/** How long to wait after so many failures in a row: twice as long each time. */
export const backOffMs = ({ firstMs, mostMs }: BackOff, failures: number): number =>
  Math.min(firstMs * 2 ** (failures - 1), mostMs) * (1 - JITTER * Math.random());
