import type { ConfiguredChains } from '../chains/settings.ts';
import type { Organization } from '../core/model.ts';
import type { Direction } from '../policy/index.ts';
import type { Names } from './names.ts';
import { type Mark, type Risk, worst } from './risk.ts';
import type { TextPart } from './text.ts';

/** What a sentence may know besides the parameters. It reads nothing and changes nothing. */
export interface SentenceContext {
  readonly names: Names;
  readonly chains: ConfiguredChains;
  readonly nowMs: number;
  /** The organization that is acted on. */
  readonly organization: Pick<Organization, 'id' | 'name' | 'rootThreshold' | 'rootUserIds'>;
  /** Who asked for it, where that is known. */
  readonly proposerId: string | undefined;
  /** Whether it has happened already: then its own payments are among those that are counted. */
  readonly isDone: boolean;
}

export const FIELD_KINDS = ['TEXT', 'ADDRESS', 'AMOUNT', 'ID', 'TIME', 'BYTES', 'CODE'] as const;

/** A line of the layer below the sentence. */
export interface Field {
  readonly label: string;
  readonly value: readonly TextPart[];
  readonly kind: (typeof FIELD_KINDS)[number];
  /** Who vouches for it. */
  readonly note?: string;
}

export interface Step {
  readonly sentence: readonly TextPart[];
  readonly risk: Risk;
}

/** Who gets something. */
export interface Recipient {
  readonly address: string;
  readonly name?: string;
  readonly paidCount: number;
  readonly paidSinceMs?: number;
  readonly lookAlike?: { readonly address: string; readonly name?: string };
  /** Its history was not read: neither whether it was paid, nor whether it looks like another. */
  readonly isUnread?: true;
}

export interface Sender {
  readonly address: string;
  readonly name?: string;
  readonly walletId?: string;
  readonly caip2?: string;
}

/** The exact bytes that are signed. */
export interface SignedBytes {
  readonly algorithm: string;
  readonly digest: string;
  readonly unsigned: string;
}

export interface Quorum {
  readonly threshold: number;
  readonly users: { readonly userId: string; readonly userName: string }[];
}

export interface PolicyText {
  readonly policyName: string;
  readonly effect: string;
  readonly condition: string;
  readonly consensus: string;
  readonly time: string;
  readonly notes: string;
}

export type { Direction };

/** What a request says, for people. */
export interface Sentence {
  /** The line above it, where the name of the operation does not do. */
  readonly kind?: string;
  readonly parts: readonly TextPart[];
  readonly marks: readonly Mark[];
  /** What somebody who approves it agrees to; only where it is not routine. */
  readonly consequence?: string;
  readonly steps?: readonly Step[];
  /** In place of those that are made of the parameters. */
  readonly fields?: readonly Field[];
  readonly sender?: Sender;
  readonly recipients?: readonly Recipient[];
  readonly bytes?: SignedBytes;
  readonly quorumChange?: { readonly before: Quorum; readonly after: Quorum };
  readonly policyChange?: {
    readonly direction: Direction;
    readonly before?: PolicyText;
    readonly after?: PolicyText;
  };
}

/** What an operation has to say about itself; words alone are routine. */
export type SentenceMaker<Parameters> = (
  parameters: Parameters,
  context: SentenceContext,
) => Sentence | readonly TextPart[];

export const routine = (parts: readonly TextPart[]): Sentence => ({ parts, marks: [] });

const marked =
  (risk: Risk) =>
  (parts: readonly TextPart[], mark: string, consequence: string): Sentence => ({
    parts,
    marks: [{ risk, text: mark }],
    consequence,
  });

/** Not routine, but usual: somebody should read it. `mark` says in a few words why. */
export const lookClosely = marked('LOOK_CLOSELY');
/** It can cost everything, or cannot be undone. */
export const danger = marked('DANGER');
export const unreadable = marked('UNREADABLE');

/** The worst of its marks. */
export const riskOf = ({ marks }: Pick<Sentence, 'marks'>): Risk => worst(...marks.map(({ risk }) => risk));

export const toSentence = (made: Sentence | readonly TextPart[]): Sentence => (isParts(made) ? routine(made) : made);

const isParts = (made: Sentence | readonly TextPart[]): made is readonly TextPart[] => Array.isArray(made);
