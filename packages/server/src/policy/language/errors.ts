import { nearestName } from './nearest-name.ts';

/** Why a text is not an expression of its field (protocol/policies 6.1). */
export type StaticErrorCode =
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

/** Why an expression has no value for a request (protocol/policies 6.2). */
export type RuntimeErrorCode =
  | 'R_MISSING_FIELD'
  | 'R_MISSING_KEY'
  | 'R_INDEX'
  | 'R_TYPE'
  | 'R_INT_RANGE'
  | 'R_HEX'
  | 'R_LIMIT';

/** A part of a source text: UTF-16 offsets, end excluded. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A refused text. Line and column count from one, columns in code points. */
export interface StaticError extends Span {
  readonly code: StaticErrorCode;
  readonly message: string;
  readonly line: number;
  readonly column: number;
  /** The name that was probably meant, to stand in place of the span. */
  readonly suggestion?: string;
}

/** What was missing: a whole keyword, a parameter the activity does not expose, or a field inside a struct. */
export type Missing = 'keyword' | 'parameter' | 'field';

export interface RuntimeError extends Span {
  readonly code: RuntimeErrorCode;
  readonly message: string;
  /** Only with R_MISSING_FIELD. */
  readonly missing?: Missing;
}

/** Thrown by lexer, parser and checker, and caught where they are called; it never leaves this folder. */
export class StaticFailure extends Error {
  override readonly name = 'StaticFailure';
  readonly code: StaticErrorCode;
  readonly span: Span;
  /** Names that would have been right here. */
  readonly candidates: readonly string[];

  constructor(code: StaticErrorCode, span: Span, message: string, candidates: readonly string[] = []) {
    super(message);
    this.code = code;
    this.span = span;
    this.candidates = candidates;
  }
}

/**
 * Thrown by the evaluator and caught where it is called; it never leaves this folder. Not an Error: a policy that fails
 * on most requests is normal, and recording a stack for each would cost more than the evaluation.
 */
export class RuntimeFailure {
  readonly code: RuntimeErrorCode;
  readonly span: Span;
  readonly message: string;
  readonly missing: Missing | undefined;

  constructor(code: RuntimeErrorCode, span: Span, message: string, missing?: Missing) {
    this.code = code;
    this.span = span;
    this.message = message;
    this.missing = missing;
  }
}

export const toRuntimeError = ({ code, message, span, missing }: RuntimeFailure): RuntimeError => ({
  code,
  message,
  start: span.start,
  end: span.end,
  ...(missing !== undefined && { missing }),
});

const MESSAGE_MAX = 600;

/** Adds line and column, which people look for, to the offsets of a failure. */
export function toStaticError({ code, message, span, candidates }: StaticFailure, text: string): StaticError {
  const suggestion = nearestName(text.slice(span.start, span.end), candidates);
  const before = text.slice(0, span.start).split('\n');
  const lineText = before.at(-1) ?? '';
  return {
    code,
    // A name in a text may be as long as the text.
    message: message.length > MESSAGE_MAX ? `${message.slice(0, MESSAGE_MAX)}…` : message,
    start: span.start,
    end: span.end,
    line: before.length,
    column: [...lineText].length + 1,
    ...(suggestion !== undefined && { suggestion }),
  };
}

/** `E_TYPE at column 12`, or with the line where the text has several. */
export function locate(error: StaticError, text: string): string {
  const line = text.includes('\n') ? `line ${error.line}, ` : '';
  return `${error.code} at ${line}column ${error.column}`;
}
