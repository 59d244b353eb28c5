/** How much care a request asks of those who decide, from the least to the most. */
export const RISKS = ['ROUTINE', 'LOOK_CLOSELY', 'DANGER', 'UNREADABLE'] as const;
export type Risk = (typeof RISKS)[number];

/** Why something is not routine, in a few words. */
export interface Mark {
  readonly risk: Risk;
  readonly text: string;
}

/** Of several elements the worst counts. */
export const worst = (...risks: readonly Risk[]): Risk =>
  RISKS[Math.max(0, ...risks.map((risk) => RISKS.indexOf(risk)))] as Risk;
