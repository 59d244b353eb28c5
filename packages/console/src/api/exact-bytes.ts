import { fromHex, toHex } from '../lib/bytes.ts';
import { keccak256 } from '../lib/keccak.ts';
import type { Description } from './types.ts';

/** One piece of what a request asks to be signed or done, whole. */
export interface ExactPiece {
  readonly label: string;
  /** Hex with or without 0x, or the text of the request. */
  readonly text: string;
  readonly isHex: boolean;
}

const HEX = /^(?:0x)?(?:[0-9a-f]{2})+$/i;

/** The service cuts what is long, and says so with dots. */
const isWhole = (hex: string): boolean => !hex.endsWith('…');

/** Nothing is no bytes that anybody could look at. */
const isText = (found: unknown): found is string => typeof found === 'string' && found !== '';

const pieceOf = (label: string, text: string): ExactPiece => ({ label, text, isHex: HEX.test(text) });

/**
 * Everything that a decision covers, nothing cut: the payloads of the request's own bytes where they are known here, else
 * what the service says is signed, else the whole stored request. Empty where the bytes are not there at all.
 */
export function exactPieces(description: Description, body: string | undefined): readonly ExactPiece[] {
  const { payloads, payload, unsignedTransaction } = parametersIn(body);
  if (Array.isArray(payloads) && payloads.length > 0 && payloads.every(isText)) {
    return payloads.map((one, index) => pieceOf(`Payload ${index + 1} of ${payloads.length}`, one));
  }
  if (isText(payload)) return [pieceOf('Payload', payload)];
  if (isText(unsignedTransaction)) return [pieceOf('Unsigned transaction', unsignedTransaction)];
  const said = description.bytes?.unsigned;
  if (isText(said) && isWhole(said)) return [pieceOf('Bytes', said)];
  return body === undefined ? [] : [{ label: 'The whole request', text: body, isHex: false }];
}

function parametersIn(body: string | undefined): Record<string, unknown> {
  if (body === undefined) return {};
  try {
    const { parameters } = JSON.parse(body) as { readonly parameters?: unknown };
    return typeof parameters === 'object' && parameters !== null ? (parameters as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** More would keep the page waiting for a digest that nobody reads. */
const HASHED_MAX = 64 * 1024;

/** Whether this browser computes the same digest from the bytes on the page. It cannot for typed data. */
export function isDigestOf(
  { algorithm, digest }: NonNullable<Description['bytes']>,
  pieces: readonly ExactPiece[],
): boolean {
  const [only] = pieces;
  if (algorithm !== 'keccak-256' || only === undefined || pieces.length > 1) return false;
  const bytes = only.isHex && only.text.length <= HASHED_MAX ? fromHex(only.text) : undefined;
  return bytes !== undefined && toHex(keccak256(bytes)) === digest.replace(/^0x/i, '').toLowerCase();
}

/** How many bytes a piece has. */
export const sizeOf = ({ text, isHex }: ExactPiece): number =>
  isHex ? text.replace(/^0x/i, '').length / 2 : new TextEncoder().encode(text).length;
