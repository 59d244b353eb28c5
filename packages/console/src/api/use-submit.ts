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
import { type Problem, problemOf } from './problem.ts';
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

  async function run(work: () => Promise<unknown>): Promise<Outcome<Answer>> {
    try {
      const result = (await work()) as Answer & { activity: Activity };
      lost.current = undefined;
      return { state: 'completed', result, activity: result.activity };
    } catch (error) {
      if (error instanceof ActivityPendingError) {
        const { activity } = error;
        return { state: 'waits', needs: NEEDS[activity.status] ?? 'time', activity };
      }
      lost.current = error instanceof CustosError && mayRepeat(error) ? error.request : undefined;
      if (error instanceof CustosError && error.httpStatus === 401) throw error;
      return { state: 'refused', problem: problemOf(error), repeatable: lost.current !== undefined };
    } finally {
      void queries.invalidateQueries({ queryKey: ['api'] });
    }
  }

  const mutation = useMutation({
    mutationFn: (work: () => Promise<unknown>): Promise<Outcome<Answer>> => run(work),
  });
  const refused = mutation.error === null ? undefined : refusal(mutation.error);
  const perform = async (work: () => Promise<unknown>): Promise<Outcome<Answer>> => {
    try {
      return await mutation.mutateAsync(work);
    } catch (error) {
      return refusal(error);
    }
  };
  return {
    submit: (parameters, { stamper } = {}) => {
      const by = stamper === undefined ? client : clientBy(stamper, organizationId);
      return perform(() => (by[method] as (parameters: object) => Promise<unknown>)(parameters));
    },
    repeat: () => perform(() => client.repeat(lost.current)),
    reset: () => mutation.reset(),
    outcome: mutation.data ?? refused,
    isBusy: mutation.isPending,
  };
}

const mayRepeat = (error: CustosError): boolean =>
  error instanceof NetworkError || error.httpStatus === 503 || error.httpStatus === 429 || error.httpStatus === 409;

const refusal = (error: unknown): Extract<Outcome<never>, { state: 'refused' }> => ({
  state: 'refused',
  problem: problemOf(error),
  repeatable: false,
});
