import type { Mark } from '../risk.ts';
import { riskOf } from '../sentence.ts';
import { listOf, say, strong, type TextPart } from '../text.ts';
import { amount, type Unit } from '../values.ts';

// What the clauses of one transaction are together.

/** Each once. */
export const distinctMarks = (marks: readonly Mark[]): readonly Mark[] => [
  ...new Map(marks.map((mark) => [`${mark.risk} ${mark.text}`, mark])).values(),
];

interface Agreed {
  readonly marks: readonly Mark[];
  readonly consequence?: string;
}

/** What is agreed to with the worst of them. */
export function worstConsequence(clauses: readonly Agreed[]): string | undefined {
  const found = clauses.flatMap(({ consequence, marks }) =>
    consequence === undefined ? [] : [{ consequence, risk: riskOf({ marks }) }],
  );
  for (const risk of ['UNREADABLE', 'DANGER', 'LOOK_CLOSELY'] as const) {
    const first = found.find((one) => one.risk === risk);
    if (first !== undefined) return first.consequence;
  }
  return undefined;
}

/** How much of an asset a clause moves. */
export interface Moved {
  /** Tells assets apart. */
  readonly asset: string;
  readonly amount: bigint;
  /** Undefined where nobody here knows the decimals. */
  readonly unit: Unit | undefined;
  readonly name: TextPart;
}

/** More assets than these are told by the steps alone. */
const ASSETS_SHOWN = 8;

/** `; in all 12 ETH and 5 USDC`, for a sentence that leaves steps out. */
export function sumWords(moved: readonly Moved[]): readonly TextPart[] {
  const sums = new Map<string, Moved>();
  for (const one of moved) {
    sums.set(one.asset, { ...one, amount: one.amount + (sums.get(one.asset)?.amount ?? 0n) });
  }
  if (sums.size === 0) return [];
  const parts = [...sums.values()].map(({ amount: sum, unit, name }) =>
    unit === undefined ? say`${strong(String(sum))} of the smallest unit of ${name}` : [amount(sum, unit)],
  );
  return say`; in all ${listOf(parts, ASSETS_SHOWN)}`;
}
