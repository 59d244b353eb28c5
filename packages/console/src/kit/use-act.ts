import { type DescribeActivityResponse, OPERATIONS, type Stamper } from '@custos/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useClient } from '../api/client.ts';
import type { ExactPiece } from '../api/exact-bytes.ts';
import { problemOf } from '../api/problem.ts';
import { useSettledWish } from '../api/simulation.ts';
import type { Description } from '../api/types.ts';
import { type AnswerOf, type ParametersOf, useShownKey } from '../api/use-api.ts';
import { type Outcome, type Submit, type SubmitMethod, useSubmit } from '../api/use-submit.ts';
import { useSession } from '../session/session.ts';
import {
  type Agreement,
  hasChanged,
  maySend,
  type Proposal,
  piecesOf,
  readingOfProposal,
  whyNotYet,
} from './consent-rule.ts';

/** What a person has to agree to before a request of their own is sent. */
export interface Consent {
  /** What is asked about: something that is not routine. Undefined while nothing is. */
  readonly description: Description | undefined;
  /** Whether a click asked for it. */
  readonly isAsked: boolean;
  readonly isTicked: boolean;
  readonly hasSeenBytes: boolean;
  /** Whether it was ticked, and reads differently now. */
  readonly hasChanged: boolean;
  /** What nobody can read, whole. */
  readonly pieces: readonly ExactPiece[];
  /** Why the act is off until the person has agreed. */
  readonly off: string | undefined;
  tick(isTicked: boolean): void;
  seeBytes(): void;
  /** Sends what was asked about, once it is agreed to. */
  act(): void;
  cancel(): void;
}

export interface Act<Method extends SubmitMethod> extends Omit<Submit<Method>, 'submit'> {
  /** Sends what is routine at once. Anything else waits for consent, and without it the promise never settles. */
  submit(
    parameters: ParametersOf<Method>,
    options?: { readonly stamper?: Stamper },
  ): Promise<Outcome<AnswerOf<Method>>>;
  /** Whether this may be sent now; if not, the person is asked. For what is only complete later than it is agreed to. */
  grants(parameters: ParametersOf<Method>): Promise<boolean>;
  /** Sends without asking, after `grants`. */
  readonly send: Submit<Method>['submit'];
  readonly consent: Consent;
}

export interface ActOptions {
  /** What the form says now: consent to anything else is void. */
  readonly current?: object | undefined;
  /** Ask before the click: for dialogs that only confirm. */
  readonly isEager?: boolean;
}

/** A description is read again after so long; what happens meanwhile makes it old at once. */
const FRESH_MS = 30_000;

/** One action of a page under the rule of a decision: friction follows danger. */
export function useAct<Method extends SubmitMethod>(
  method: Method,
  { current, isEager = false }: ActOptions = {},
): Act<Method> {
  type Answer = Outcome<AnswerOf<Method>>;
  const raw = useSubmit(method);
  const client = useClient();
  const queries = useQueryClient();
  const shown = useShownKey(undefined);
  const isSignedIn = useSession() !== undefined;
  const [asked, setAsked] = useState<Proposal>();
  const [agreement, setAgreement] = useState<Agreement>({});
  const [isReading, setIsReading] = useState(false);
  const [unread, setUnread] = useState<Answer>();
  const waiting = useRef<{ readonly parameters: ParametersOf<Method>; readonly go: () => void }>(undefined);
  const agreed = useRef(agreement);
  agreed.current = agreement;

  const { type } = OPERATIONS[method] as { readonly type: string };
  const descriptionOf = (parameters: object) => ({
    queryKey: ['api', shown, 'describeActivity', { request: { type, parameters } }],
    queryFn: async ({ signal }: { signal: AbortSignal }) =>
      (await client.describeActivity({ request: { type, parameters } }, { signal })) as DescribeActivityResponse,
    staleTime: FRESH_MS,
  });
  const text = current === undefined ? undefined : JSON.stringify(current);
  const settled = useSettledWish(current === undefined ? undefined : { type, parameters: { ...current } });
  const isAsked = asked !== undefined && (text === undefined || asked.text === text);
  const followed = isAsked ? (JSON.parse(asked.text) as object) : isEager ? settled?.parameters : undefined;
  // While a person reads it, it is kept up to date: a tick stands for what is true when it is given.
  const live = useQuery({
    ...descriptionOf(followed ?? {}),
    enabled: followed !== undefined && isSignedIn,
  });
  const read = followed === undefined ? undefined : (live.data?.description as Description | undefined);
  const about = aboutOf();

  function aboutOf(): Proposal | undefined {
    if (isAsked) return { ...asked, description: read ?? asked.description };
    if (read === undefined || text === undefined) return undefined;
    const proposal = { type, text, description: read };
    return maySend(proposal, {}) && !hasChanged(proposal, agreement) ? undefined : proposal;
  }
  const forget = (): void => {
    waiting.current = undefined;
    setAsked(undefined);
    setAgreement({});
  };
  /** Reads it anew, whatever was read before: between the tick and the click the world goes on. */
  async function grants(parameters: ParametersOf<Method>): Promise<boolean> {
    setUnread(undefined);
    setIsReading(true);
    try {
      const asking = descriptionOf(parameters);
      await queries.cancelQueries({ queryKey: asking.queryKey, exact: true });
      const description = (await queries.fetchQuery({ ...asking, staleTime: 0 })).description as Description;
      const proposal = { type, text: JSON.stringify(parameters), description };
      if (maySend(proposal, agreed.current)) return true;
      setAsked(proposal);
    } catch (error) {
      setUnread({ state: 'refused', problem: problemOf(error), repeatable: false });
    } finally {
      setIsReading(false);
    }
    return false;
  }
  const send: Act<Method>['send'] = async (parameters, options) => {
    const outcome = await raw.submit(parameters, options);
    if (outcome.state !== 'refused') forget();
    return outcome;
  };
  async function act(): Promise<void> {
    const wish = waiting.current;
    if (wish === undefined || isReading || !(await grants(wish.parameters)) || waiting.current !== wish) return;
    forget();
    wish.go();
  }
  const reading = about && readingOfProposal(about);
  const isTicked = reading !== undefined && agreement.ticked === reading;
  return {
    ...raw,
    send,
    grants,
    async submit(parameters, options) {
      if (await grants(parameters)) return await send(parameters, options);
      return await new Promise((resolve) => {
        waiting.current = { parameters, go: () => void send(parameters, options).then(resolve) };
      });
    },
    reset() {
      setUnread(undefined);
      raw.reset();
    },
    outcome: unread ?? raw.outcome,
    isBusy: raw.isBusy || isReading,
    consent: {
      description: about?.description,
      isAsked,
      isTicked,
      hasSeenBytes: reading !== undefined && agreement.seen === reading,
      hasChanged: about !== undefined && hasChanged(about, agreement),
      pieces: about?.description.risk === 'UNREADABLE' ? piecesOf(about) : [],
      off:
        about !== undefined
          ? whyNotYet(about, agreement)
          : isEager && current !== undefined && read === undefined && live.error === null
            ? 'Being read.'
            : undefined,
      tick: (isOn) =>
        setAgreement(({ seen }) => ({ seen, ...(isOn && about && { text: about.text, ticked: reading }) })),
      seeBytes: () => setAgreement((before) => ({ ...before, seen: reading })),
      act: () => void act(),
      cancel: forget,
    },
  };
}
