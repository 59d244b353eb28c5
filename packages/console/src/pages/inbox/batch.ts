import type { Approval } from '../../api/approvals.ts';
import { readingOf } from '../../api/reading.ts';
import type { Description } from '../../api/types.ts';
import type { VoteFindings } from '../../api/vote.ts';
import { formatUnits } from '../../lib/amounts.ts';
import { readAmount } from '../request/moved.ts';
import { whyNotApprove, withRequestCheck } from '../request/reading.ts';
import { isOpen } from '../request/words.ts';

export interface BatchItem {
  readonly approval: Approval;
  readonly description: Description;
}

export const itemOf = (approval: Approval): BatchItem => ({ approval, description: approval.description });

/** A batch takes only routine requests of one type and wallet. */
const groupOf = ({ approval, description }: BatchItem): string =>
  `${approval.activity.type} ${description.sender?.walletId ?? description.sender?.address ?? ''}`;

/** Why a request cannot be decided together with those that are chosen; undefined where it can. */
export function whyNotTogether(item: BatchItem, chosen: readonly BatchItem[]): string | undefined {
  const { approval, description } = item;
  if (!approval.progress.waitsForMe) return 'it does not wait for you';
  if (approval.progress.authentication !== undefined) return 'it needs a further proof';
  if (description.risk !== 'ROUTINE') return 'only routine requests go together';
  const [first] = chosen;
  if (first !== undefined && groupOf(first) !== groupOf(item)) {
    return 'only requests of one type and wallet go together';
  }
  return undefined;
}

/** Of what was chosen only what still goes together: requests change while they are ticked. */
export function stillTogether(items: readonly BatchItem[]): readonly BatchItem[] {
  const kept: BatchItem[] = [];
  for (const item of items) if (whyNotTogether(item, kept) === undefined) kept.push(item);
  return kept;
}

/**
 * Why a request is not decided although it was chosen: it is no longer what the person read, or what was found about its
 * votes forbids it. Undefined where nothing changed.
 */
export function whyChanged(
  { approval, description }: BatchItem,
  now: BatchItem,
  findings: VoteFindings | undefined,
): string | undefined {
  const { activity, progress } = now.approval;
  if (!isOpen(activity.status)) return 'it was decided meanwhile';
  if (!progress.waitsForMe) return 'it no longer waits for you';
  if (progress.authentication !== undefined) return 'it needs a further proof';
  if (progress.isLapsed !== approval.progress.isLapsed) return 'its approvals lapsed meanwhile';
  if (briefReading(now) !== briefReading({ approval, description })) {
    return 'it reads differently than when you chose it';
  }
  if (now.description.risk !== 'ROUTINE') return 'only routine requests go together';
  if (findings === undefined) return undefined;
  const why = whyNotApprove(findings);
  if (why !== undefined) return lowered(why);
  const checked = withRequestCheck(now.description, findings);
  return checked.risk === 'ROUTINE' ? undefined : (checked.marks.at(-1)?.text ?? 'it is no longer routine');
}

/** Lists come without the bytes. */
const briefReading = ({ approval, description: { bytes: _, ...brief } }: BatchItem): string =>
  readingOf(approval.activity.fingerprint, brief);

const lowered = (text: string): string => `${text.charAt(0).toLowerCase()}${text.slice(1).replace(/\.$/, '')}`;

/** Amounts as they are written in fields, added by unit and exactly. What is no plain amount is left out and counted. */
export function sumAmounts(texts: readonly string[]): {
  readonly sums: readonly string[];
  readonly isPartial: boolean;
} {
  const byUnit = new Map<string, { units: bigint; decimals: number }>();
  let isPartial = false;
  for (const text of texts) {
    const amount = readAmount(text);
    if (amount === undefined) {
      isPartial = true;
      continue;
    }
    const known = byUnit.get(amount.unit) ?? { units: 0n, decimals: 0 };
    const decimals = Math.max(known.decimals, amount.decimals);
    const scaled = (one: { readonly units: bigint; readonly decimals: number }): bigint =>
      one.units * 10n ** BigInt(decimals - one.decimals);
    byUnit.set(amount.unit, { units: scaled(known) + scaled(amount), decimals });
  }
  return {
    sums: [...byUnit].map(([unit, { units, decimals }]) => `${formatUnits(units, decimals)}\u00a0${unit}`),
    isPartial,
  };
}
