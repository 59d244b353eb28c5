import { type DescribeActivityResponse, OPERATIONS, type Stamper } from '@custos/sdk';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useClient } from '../api/client.ts';
import { problemOf } from '../api/problem.ts';
import { useSettledWish } from '../api/simulation.ts';
import type { Description } from '../api/types.ts';
import { type AnswerOf, type ParametersOf, useShownKey } from '../api/use-api.ts';
import { type Outcome, type Submit, type SubmitMethod, useSubmit } from '../api/use-submit.ts';
import { useSession } from '../session/session.ts';

/** What a person has to agree to before a request of their own is sent. */
export interface Consent {
  /** What is asked about: something that is not routine. Undefined while nothing is. */
  readonly description: Description | undefined;
  /** Whether a click asked for it. */
  readonly isAsked: boolean;
  readonly isTicked: boolean;
  readonly hasSeenBytes: boolean;
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
  const [asked, setAsked] = useState<{ readonly text: string; readonly description: Description }>();
  const [tickedText, setTickedText] = useState<string>();
  const [seenText, setSeenText] = useState<string>();
  const [isReading, setIsReading] = useState(false);
  const [unread, setUnread] = useState<Answer>();
  const waiting = useRef<(() => void) | undefined>(undefined);

  const { type } = OPERATIONS[method] as { readonly type: string };
  const readingOf = (parameters: object) => ({
    queryKey: ['api', shown, 'describe_activity', { request: { type, parameters } }],
    queryFn: async ({ signal }: { signal: AbortSignal }) =>
      (await client.describeActivity({ request: { type, parameters } }, { signal })) as DescribeActivityResponse,
    staleTime: FRESH_MS,
  });
  const text = current === undefined ? undefined : JSON.stringify(current);
  const settled = useSettledWish(current === undefined ? undefined : { type, parameters: { ...current } });
  const eager = useQuery({
    ...readingOf(settled?.parameters ?? {}),
    enabled: isEager && settled !== undefined && isSignedIn,
  });
  const read = settled === undefined || !isEager ? undefined : eager.data?.description;

  const isCurrent = asked !== undefined && (text === undefined || asked.text === text);
  const about = isCurrent
    ? asked.description
    : read?.risk === 'ROUTINE'
      ? undefined
      : (read as Description | undefined);
  const aboutText = isCurrent ? asked.text : text;
  const isTicked = about !== undefined && tickedText !== undefined && tickedText === aboutText;
  const hasSeenBytes = about !== undefined && seenText !== undefined && seenText === aboutText;

  const forget = (): void => {
    waiting.current = undefined;
    setAsked(undefined);
    setTickedText(undefined);
    setSeenText(undefined);
  };
  async function grants(parameters: ParametersOf<Method>): Promise<boolean> {
    const wanted = JSON.stringify(parameters);
    setUnread(undefined);
    if (about !== undefined && aboutText === wanted && offOf(about, isTicked, hasSeenBytes) === undefined) return true;
    setIsReading(true);
    try {
      const description = (await queries.fetchQuery(readingOf(parameters))).description as Description;
      if (description.risk === 'ROUTINE') return true;
      setAsked({ text: wanted, description });
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
  return {
    ...raw,
    send,
    grants,
    async submit(parameters, options) {
      if (await grants(parameters)) return await send(parameters, options);
      return await new Promise((resolve) => {
        waiting.current = () => void send(parameters, options).then(resolve);
      });
    },
    reset() {
      setUnread(undefined);
      raw.reset();
    },
    outcome: unread ?? raw.outcome,
    isBusy: raw.isBusy || isReading,
    consent: {
      description: about,
      isAsked: isCurrent,
      isTicked,
      hasSeenBytes,
      off:
        about !== undefined
          ? offOf(about, isTicked, hasSeenBytes)
          : isEager && current !== undefined && read === undefined && eager.error === null
            ? 'Being read.'
            : undefined,
      tick: (next) => setTickedText(next ? aboutText : undefined),
      seeBytes: () => setSeenText(aboutText),
      act() {
        const go = waiting.current;
        forget();
        go?.();
      },
      cancel: forget,
    },
  };
}

function offOf({ risk }: Description, isTicked: boolean, hasSeenBytes: boolean): string | undefined {
  if (risk === 'UNREADABLE' && !hasSeenBytes) return 'Open the bytes first.';
  return isTicked ? undefined : 'Tick the sentence first.';
}
