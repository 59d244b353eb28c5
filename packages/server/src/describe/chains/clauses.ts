import type { Mark } from '../risk.ts';
import { riskOf } from '../sentence.ts';

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
