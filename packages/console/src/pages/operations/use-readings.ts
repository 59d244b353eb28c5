import { useEffect, useState } from 'react';
import { useApi } from '../../api/use-api.ts';
import { type Point, pointOf, type Reading } from './rates.ts';

const EVERY_MS = 5_000;
/** An hour. */
const KEPT = 720;

interface Readings {
  readonly last: Reading | undefined;
  readonly points: readonly Point[];
}

/** What the service tells every five seconds, kept since the page was opened. */
export function useReadings() {
  const query = useApi('getOperations', {}, { everyMs: EVERY_MS });
  const [kept, setKept] = useState<Readings>({ last: undefined, points: [] });
  const { data } = query;
  useEffect(() => {
    if (data === undefined) return;
    setKept(({ last, points }) =>
      last?.now === data.now ? { last, points } : { last: data, points: [...points, pointOf(last, data)].slice(-KEPT) },
    );
  }, [data]);
  return { query, points: kept.points };
}
