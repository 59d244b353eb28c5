import type { Activity, CustosClient } from '@custos/sdk';
import { useEffect, useRef, useState } from 'react';
import { useClient } from '../../../api/client.ts';
import type { Simulation } from '../../../api/simulation.ts';
import { type Prospect, prospectOf } from '../../../kit/policy-preview.tsx';
import { type Draft, toSupposed } from '../draft.ts';
import type { Tried } from './changes.ts';
import { type Asked, askedIn } from './past.ts';

export interface Replay {
  readonly state: 'idle' | 'runs' | 'done';
  readonly tried: readonly Tried[];
  /** Those that cannot be tried, such as about a wallet that is gone. */
  readonly skipped: number;
  readonly total: number;
  /** The draft that was tried. */
  readonly draft: Draft | undefined;
  readonly error: unknown;
}

const IDLE: Replay = { state: 'idle', tried: [], skipped: 0, total: 0, draft: undefined, error: undefined };

/** Requests of the past, one after the other: the service decides each twice. */
export function useReplay(policyId: string | undefined) {
  const client = useClient();
  const [replay, setReplay] = useState<Replay>(IDLE);
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);

  const stop = (): void => {
    running.current?.abort();
    setReplay((now) => ({ ...now, state: now.tried.length > 0 ? 'done' : 'idle' }));
  };
  const start = async (activities: readonly Activity[], draft: Draft): Promise<void> => {
    running.current?.abort();
    const abort = new AbortController();
    running.current = abort;
    let now: Replay = { ...IDLE, state: 'runs', total: activities.length, draft };
    setReplay(now);
    for (const activity of activities) {
      const asked = askedIn(activity);
      const answer = asked && (await tryAsked(client, asked, draft, policyId, abort.signal));
      if (abort.signal.aborted) return;
      now =
        answer === undefined
          ? { ...now, skipped: now.skipped + 1 }
          : { ...now, tried: [...now.tried, { activityId: activity.id, ...answer }] };
      setReplay(now);
    }
    setReplay({ ...now, state: 'done' });
  };
  return { replay, start, stop };
}

async function tryAsked(
  client: CustosClient,
  { wish, submitterUserId }: Asked,
  draft: Draft,
  policyId: string | undefined,
  signal: AbortSignal,
): Promise<Pick<Tried, 'before' | 'after'> | undefined> {
  const parameters = { request: wish, ...(submitterUserId !== undefined && { submitterUserId }) };
  try {
    const before = await client.simulateActivity(parameters, { signal });
    const draftPolicies = [toSupposed(draft, policyId)];
    const after = await client.simulateActivity({ ...parameters, draftPolicies }, { signal });
    return { before: prospect(before), after: prospect(after) };
  } catch {
    // What it was about may be gone; the others still say something.
    return undefined;
  }
}

const prospect = ({ simulation }: { readonly simulation: Simulation }): Prospect => prospectOf(simulation);
