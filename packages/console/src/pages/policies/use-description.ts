import type { DescribePolicyResponse } from '@custos/sdk';
import { useEffect, useState } from 'react';
import { useApi } from '../../api/use-api.ts';
import { type Draft, toSupposed } from './draft.ts';

export type PolicyDescription = DescribePolicyResponse['description'];

const SETTLE_MS = 300;

/** What somebody types, once they pause. */
export function useSettled<Value>(value: Value, afterMs = SETTLE_MS): Value {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    if (Object.is(value, settled)) return;
    const timer = setTimeout(() => setSettled(value), afterMs);
    return () => clearTimeout(timer);
  }, [value, settled, afterMs]);
  return settled;
}

export interface Described {
  readonly description: PolicyDescription | undefined;
  /** Whether that is about the draft as it is now, not as it was a moment ago. */
  readonly isCurrent: boolean;
  /** The last draft without errors: what is simulated. */
  readonly sound: Draft | undefined;
  readonly error: Error | null;
}

/** The draft in words, with its mistakes, as the service reads it. */
export function useDescription(draft: Draft, policyId: string | undefined): Described {
  const settled = useSettled(draft);
  const query = useApi('describePolicy', { draft: toSupposed(settled, policyId) }, { keepsPrevious: true });
  const isCurrent = settled === draft && query.data !== undefined && !query.isPlaceholderData;
  const isSound = isCurrent && query.data.description.errors.length === 0;
  const [sound, setSound] = useState<Draft>();
  if (isSound && sound !== draft) setSound(draft);
  return { description: query.data?.description, isCurrent, sound, error: query.error };
}
