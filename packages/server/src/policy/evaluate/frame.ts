import { RuntimeFailure, type Span } from '../language/errors.ts';

/** The state of one evaluation. Made anew for each, so that nothing of a request survives it. */
export interface Frame {
  /** The keywords of the field, as facts. */
  readonly roots: object;
  /** Values of lambda variables, innermost last. */
  readonly slots: unknown[];
  /** Steps that are left. */
  fuel: number;
}

export type Run = (frame: Frame) => unknown;

export function spend(frame: Frame, steps: number, span: Span): void {
  frame.fuel -= steps;
  if (frame.fuel < 0) throw new RuntimeFailure('R_LIMIT', span, 'the evaluation takes too many steps');
}

export const TEXT_PER_STEP = 64;

/** Looking at long texts costs steps too, or a few of them could hold the server for long. */
export function spendText(frame: Frame, length: number, span: Span): void {
  if (length >= TEXT_PER_STEP) spend(frame, Math.floor(length / TEXT_PER_STEP), span);
}
