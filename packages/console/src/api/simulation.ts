import type { SimulateActivityResponse } from '@custos/sdk';
import { useEffect, useState } from 'react';
import { useApi } from './use-api.ts';

/** Something that is not yet submitted. */
export interface Wish {
  readonly type: string;
  readonly parameters: Record<string, unknown>;
}

export type Simulation = SimulateActivityResponse['simulation'];

/** Typing pauses for so long before the service is asked. */
const SETTLE_MS = 350;
const NOTHING: Wish = { type: '', parameters: {} };

/** A wish that has not changed for a moment, so that not every key asks the service. */
export function useSettledWish(wish: Wish | undefined): Wish | undefined {
  const text = wish === undefined ? '' : JSON.stringify(wish);
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    if (text === settled) return;
    const timer = setTimeout(() => setSettled(text), text === '' ? 0 : SETTLE_MS);
    return () => clearTimeout(timer);
  }, [text, settled]);
  return settled === '' || settled !== text ? undefined : (JSON.parse(settled) as Wish);
}

export interface Forecast {
  readonly simulation: Simulation | undefined;
  readonly isChecking: boolean;
  readonly error: Error | null;
}

/** What the rules would make of it, submitted by this user now. Nothing is done. */
export function useSimulation(wish: Wish | undefined): Forecast {
  const settled = useSettledWish(wish);
  const query = useApi('simulateActivity', { request: settled ?? NOTHING }, { enabled: settled !== undefined });
  return {
    simulation: settled === undefined ? undefined : query.data?.simulation,
    isChecking: wish !== undefined && (settled === undefined || query.isPending),
    error: settled === undefined ? null : query.error,
  };
}
