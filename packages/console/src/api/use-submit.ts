import {
  type Activity,
  ActivityPendingError,
  CustosError,
  NetworkError,
  type OPERATIONS,
  type SignedRequest,
  type Stamper,
} from '@custos/sdk';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { useOrganization } from '../session/organization.ts';
import { clientBy, useClient } from './client.ts';
import { noteLoss } from './connection.ts';
import { type Problem, problemOf } from './problem.ts';
import { refresh } from './refresh-queries.ts';
import type { AnswerOf, ParametersOf } from './use-api.ts';

type Operations = typeof OPERATIONS;
/** Methods of the client that change something, votes too. */
export type SubmitMethod = {
  [Method in keyof Operations]: Operations[Method] extends { type: string } ? Method : never;
}[keyof Operations];

/** What became of a request. */
export type Outcome<Result> =
  | { readonly state: 'completed'; readonly result: Result; readonly activity: Activity }
  /** It is stored and waits: for approvals, for a further proof of this user, or it still runs. */
  | { readonly state: 'waits'; readonly needs: 'approvals' | 'proof' | 'time'; readonly activity: Activity }
  | { readonly state: 'refused'; readonly problem: Problem; readonly repeatable: boolean };

export interface Submit<Method extends SubmitMethod> {
  submit(
    parameters: ParametersOf<Method>,
    options?: { readonly stamper?: Stamper },
  ): Promise<Outcome<AnswerOf<Method>>>;
  /** Sends the same bytes again, which the service counts once. */
  repeat(): Promise<Outcome<AnswerOf<Method>>>;
  reset(): void;
  readonly outcome: Outcome<AnswerOf<Method>> | undefined;
  readonly isBusy: boolean;
}

const NEEDS: Readonly<Record<string, 'approvals' | 'proof'>> = {
  ACTIVITY_STATUS_CONSENSUS_NEEDED: 'approvals',
  ACTIVITY_STATUS_AUTHENTICATORS_NEEDED: 'proof',
};

/** One action of a page, and what became of it. */
export function useSubmit<Method extends SubmitMethod>(method: Method): Submit<Method> {
  type Answer = AnswerOf<Method>;
  const client = useClient();
  const { organizationId } = useOrganization();
  const queries = useQueryClient();
  const lost = useRef<SignedRequest | undefined>(undefined);
  // Not among the mutation's variables, which are kept for a while: a further credential is gone once it was used.
  const next = useRef<Work | undefined>(undefined);

  async function run(): Promise<Outcome<Answer>> {
    const work = next.current;
    next.current = undefined;
    if (work === undefined) throw new Error('there is nothing to send');
    try {
      const result = (await work.send()) as Answer & { activity: Activity };
      lost.current = undefined;
      return { state: 'completed', result, activity: result.activity };
    } catch (error) {
      if (error instanceof ActivityPendingError) {
        const { activity } = error;
        return { state: 'waits', needs: NEEDS[activity.status] ?? 'time', activity };
      }
      if (error instanceof NetworkError) noteLoss();
      lost.current = error instanceof CustosError && mayRepeat(error) ? error.request : undefined;
      const isUnknown = error instanceof CustosError && error.httpStatus === 401;
      if (isUnknown && work.isOfSession) throw error;
      const problem = isUnknown ? notAccepted(error) : problemOf(error);
      return { state: 'refused', problem, repeatable: lost.current !== undefined };
    } finally {
      refresh(queries);
    }
  }

  const mutation = useMutation({ mutationFn: run, gcTime: 0 });
  const refused = mutation.error === null ? undefined : refusal(mutation.error);
  const perform = async (work: Work): Promise<Outcome<Answer>> => {
    next.current = work;
    try {
      return await mutation.mutateAsync();
    } catch (error) {
      return refusal(error);
    }
  };
  return {
    submit: (parameters, { stamper } = {}) => {
      const by = stamper === undefined ? client : clientBy(stamper, organizationId);
      const send = () => (by[method] as (parameters: object) => Promise<unknown>)(parameters);
      return perform({ send, isOfSession: stamper === undefined });
    },
    repeat: () => perform({ send: () => client.repeat(lost.current), isOfSession: true }),
    reset: () => mutation.reset(),
    outcome: mutation.data ?? refused,
    isBusy: mutation.isPending,
  };
}

/** What is to be sent, and whether the session's key stamps it. */
interface Work {
  readonly send: () => Promise<unknown>;
  readonly isOfSession: boolean;
}

/** Another credential than the session's was refused: the session goes on. */
const notAccepted = (error: CustosError): Problem => ({
  ...problemOf(error),
  kind: 'denied',
  title: 'The service did not accept this passkey or key.',
});

const mayRepeat = (error: CustosError): boolean =>
  error instanceof NetworkError || error.httpStatus === 503 || error.httpStatus === 429 || error.httpStatus === 409;

const refusal = (error: unknown): Extract<Outcome<never>, { state: 'refused' }> => ({
  state: 'refused',
  problem: problemOf(error),
  repeatable: false,
});
