import { toTimestamp } from './clock.ts';

export const times = ({
  createdAtMs,
  updatedAtMs,
}: {
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}) => ({
  createdAt: toTimestamp(createdAtMs),
  updatedAt: toTimestamp(updatedAtMs),
});
