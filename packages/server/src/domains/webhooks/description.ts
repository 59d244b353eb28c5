import type { Risk } from '../../describe/risk.ts';
import { cut } from '../../describe/text.ts';

/** What an activity does, in words. */
export interface ActivityWords {
  readonly text: string;
  readonly risk: Risk;
  /** What somebody who approves it agrees to. */
  readonly consequence?: string;
}

/** The sentence of a large request is longer than any message that it would stand in. */
const TEXT_MAX = 1000;

/** As an event has it; empty where there are no words. */
export const toEventDescription = (words: ActivityWords | undefined): string =>
  words === undefined
    ? ''
    : JSON.stringify({
        text: cut(words.text, TEXT_MAX),
        risk: words.risk,
        ...(words.consequence !== undefined && { consequence: cut(words.consequence, TEXT_MAX) }),
      });

/** The body as it is sent: the description is the last field, and the bytes before it are those that others get. */
export const withDescription = (body: string, description: string | null): string =>
  description ? `${body.slice(0, -1)},"description":${description}}` : body;
