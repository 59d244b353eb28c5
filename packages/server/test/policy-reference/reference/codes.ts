// The codes of protocol/policies 6, and the two ways in which the reference reports them.

export type StaticCode =
  | 'E_SYNTAX'
  | 'E_UNKNOWN_KEYWORD'
  | 'E_UNKNOWN_FIELD'
  | 'E_UNKNOWN_FUNCTION'
  | 'E_ARITY'
  | 'E_TYPE'
  | 'E_NOT_BOOL'
  | 'E_INT_RANGE'
  | 'E_TIMESTAMP'
  | 'E_CRON'
  | 'E_DURATION'
  | 'E_TIMEZONE'
  | 'E_LIMIT';

export type RuntimeCode =
  | 'R_MISSING_FIELD'
  | 'R_MISSING_KEY'
  | 'R_INDEX'
  | 'R_TYPE'
  | 'R_INT_RANGE'
  | 'R_HEX'
  | 'R_LIMIT';

/** One reason to refuse an expression. The column counts code points from 1. */
export interface StaticError {
  readonly code: StaticCode;
  readonly column: number;
  readonly detail: string;
  /** Codes that the protocol allows just as well for this fault. */
  readonly alternatives?: readonly StaticCode[];
}

/** Ends lexing or parsing: nothing sensible follows it. The checker only collects errors and never throws this. */
export class SyntaxRefusal extends Error {
  readonly refusal: StaticError;

  constructor(code: StaticCode, column: number, detail: string) {
    super(`${code} at ${column}: ${detail}`);
    this.refusal = { code, column, detail };
  }
}

/** Ends the evaluation of one expression. */
export class RuntimeFailure extends Error {
  readonly code: RuntimeCode;
  /**
   * True when the request has no such keyword or activity parameter at all, which the MFA rule tells apart
   * (protocol/policies 9.2).
   */
  readonly isForeign: boolean;

  constructor(code: RuntimeCode, detail: string, isForeign = false) {
    super(`${code}: ${detail}`);
    this.code = code;
    this.isForeign = isForeign;
  }
}
