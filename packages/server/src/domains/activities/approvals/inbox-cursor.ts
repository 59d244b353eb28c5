import type { OpenPlace } from '../../../core/store/open-activities.ts';
import { type ApiError, invalidField } from '../../../lib/errors.ts';
import { isUuid } from '../../../lib/ids.ts';

/** Where a page of the inbox ends or begins, and which rounds had lapsed when its first page was read. */
export interface InboxCursor extends OpenPlace {
  readonly lapsedUntilMs: number;
}

export const printInboxCursor = ({ lapsedUntilMs, roundStartedAtMs, id }: InboxCursor): string =>
  `${lapsedUntilMs}.${roundStartedAtMs}.${id}`;

export function parseInboxCursor(name: 'before' | 'after', text: string): InboxCursor {
  const [lapsedUntil = '', roundStarted = '', id = '', ...more] = text.split('.');
  if (more.length > 0 || !isTime(lapsedUntil) || !isTime(roundStarted) || !isUuid(id)) {
    throw noCursor(name);
  }
  return { lapsedUntilMs: Number(lapsedUntil), roundStartedAtMs: Number(roundStarted), id };
}

/** What does not read as a cursor, and what is none of this organization's. */
export const noCursor = (name: 'before' | 'after'): ApiError =>
  invalidField(`paginationOptions.${name}`, 'must be a cursor of this list, as pageInfo has it');

const isTime = (text: string): boolean => /^[0-9]{1,15}$/.test(text);
