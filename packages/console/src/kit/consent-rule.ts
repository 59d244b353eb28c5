import { type ExactPiece, exactPieces } from '../api/exact-bytes.ts';
import { readingOf } from '../api/reading.ts';
import type { Description } from '../api/types.ts';

/** Something that is about to be asked for, as the service describes it at one moment. */
export interface Proposal {
  readonly type: string;
  /** The parameters, as they would be sent. */
  readonly text: string;
  readonly description: Description;
}

/** What a person agreed to, by what they had before the eyes then. */
export interface Agreement {
  /** The parameters that the tick was about. */
  readonly text?: string;
  readonly ticked?: string | undefined;
  readonly seen?: string | undefined;
}

/** What somebody who agrees has read: the same words for other parameters are another reading, and so are other words. */
export const readingOfProposal = ({ text, description }: Proposal): string => readingOf(text, description);

/** Everything that would be signed or done, whole. */
export const piecesOf = ({ type, text, description }: Proposal): readonly ExactPiece[] =>
  exactPieces(description, JSON.stringify({ type, parameters: JSON.parse(text) as unknown }));

/** Whether a tick was given for these parameters when they read differently. */
export const hasChanged = (proposal: Proposal, { text, ticked }: Agreement): boolean =>
  ticked !== undefined && text === proposal.text && ticked !== readingOfProposal(proposal);

/** Why it may not be sent yet, where somebody has to agree. */
export function whyNotYet(proposal: Proposal, { ticked, seen }: Agreement): string | undefined {
  const reading = readingOfProposal(proposal);
  if (proposal.description.risk === 'UNREADABLE') {
    if (piecesOf(proposal).length === 0) return 'The bytes of this request are not here, and nobody can read it.';
    if (seen !== reading) return 'Open the bytes first.';
  }
  return ticked === reading ? undefined : 'Tick the sentence first.';
}

/** What is routine may be sent at once, unless somebody agreed to it when it read differently. */
export const maySend = (proposal: Proposal, agreement: Agreement): boolean =>
  whyNotYet(proposal, agreement) === undefined ||
  (proposal.description.risk === 'ROUTINE' && !hasChanged(proposal, agreement));
