import { ApiError } from '../../lib/errors.ts';

/** The transaction did nothing and may simply run again. */
export class Retry extends Error {}

/** The server did not answer in time, and may still be at work. */
export class Unanswered extends Error {
  constructor() {
    super('the database did not answer in time');
  }
}

const codeOf = (error: Error): string => ('code' in error ? String(error.code) : '');

/** What the driver or this program made of an error of PostgreSQL, in the words of the API where it is for a caller. */
export function translate(error: unknown): unknown {
  if (error instanceof ApiError || error instanceof Retry || !(error instanceof Error)) return error;
  const code = codeOf(error);
  // Serialization failure and deadlock.
  if (code === '40001' || code === '40P01') return new Retry(error.message, { cause: error });
  return isUnavailable(error) ? unavailable('the database is not available', error) : error;
}

/** The index that a new row would have broken. */
export const brokenIndex = (error: unknown): string | undefined =>
  error instanceof Error && codeOf(error) === '23505' && 'constraint' in error ? String(error.constraint) : undefined;

export const unavailable = (message: string, cause?: Error): ApiError =>
  new ApiError('UNAVAILABLE', message, { retryAfterSeconds: 1, ...(cause && { cause }) });

/** Whether the same may work later: nothing about the statement, the password or the name of the database is wrong. */
export function isUnavailable(error: Error): boolean {
  const code = codeOf(error);
  // A newer process added a column to what this connection has prepared; a new connection prepares it anew.
  if (code === '0A000' && error.message.includes('cached plan')) return true;
  // Class 08 connection, 53 resources, 57P0x shutdown and start-up, 25006 read-only standby, 57014 and 25P03 time-outs;
  // 25P02 is the echo of one on the statements that travelled behind it.
  if (/^(08|53|57P0|25006|57014|25P0[234]|55P03|58)/.test(code)) return true;
  if (/^(ECONN|ENOTFOUND|EPIPE|ETIMEDOUT|EHOST|ENET|EAI_)/.test(code)) return true;
  if (error instanceof AggregateError || error instanceof Unanswered) return true;
  return /Connection terminated|timeout exceeded when trying to connect|timeout expired|not queryable|Query read timeout|Cannot use a pool/i.test(
    error.message,
  );
}

/**
 * Whether the connection must not be used again: it is broken, or leads to a server that stops, starts, takes no more
 * writes or does not answer in time, while a new connection may lead to the one that took over.
 */
export const condemns = (error: Error): boolean => isUnavailable(error) && !['55P03', '25P02'].includes(codeOf(error));

export const isTimeout = (error: Error): boolean =>
  codeOf(error) === '57014' ||
  error instanceof Unanswered ||
  /timeout exceeded when trying to connect|Query read timeout/.test(error.message);

/** Whether a failure, in the words of the API, comes from a lack of time. */
export const isTooLate = (error: unknown): boolean =>
  error instanceof ApiError && error.cause instanceof Error && isTimeout(error.cause);
