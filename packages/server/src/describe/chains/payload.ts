import { CALLS_MAX } from '../../chains/ethereum/batch.ts';
import { hashAuthorizationJson } from '../../chains/ethereum/eip7702.ts';
import type { HashFunction, PayloadEncoding } from '../../chains/payload.ts';
import { signingInput } from '../../chains/payload.ts';
import { toHex } from '../../lib/encoding.ts';
import { ApiError } from '../../lib/errors.ts';
import { type Mark, worst } from '../risk.ts';
import { riskOf, type Sentence, type SentenceContext, type SignedBytes, unreadable } from '../sentence.ts';
import { count, counted, say, strong, type TextPart, written } from '../text.ts';
import { byteCount } from '../values.ts';
import { distinctMarks } from './clauses.ts';
import { delegationClause } from './evm.ts';
import { cutHex } from './evm-clause.ts';
import { senderOf, signerOf, signerPart } from './parties.ts';
import type { CallBudget } from './signed-batch.ts';
import { typedDataSentence } from './typed-data.ts';

export interface PayloadTerms {
  readonly signWith: string;
  readonly encoding: PayloadEncoding;
  readonly hashFunction: HashFunction;
}

/** What all payloads of a request may hold together. */
const newBudget = (): CallBudget => ({ left: CALLS_MAX });

/** A raw payload: bytes that the service gives no meaning, unless their encoding does. */
export function payloadSentence(
  context: SentenceContext,
  payload: string,
  terms: PayloadTerms,
  budget: CallBudget = newBudget(),
): Sentence {
  const signer = signerPart(context, terms.signWith);
  const bytes = bytesOf(context, payload, terms);
  return {
    ...meaningOf(context, signer, payload, terms, budget),
    sender: senderOf(context, terms.signWith),
    ...(bytes !== undefined && { bytes }),
  };
}

function meaningOf(
  context: SentenceContext,
  signer: TextPart,
  payload: string,
  terms: PayloadTerms,
  budget: CallBudget,
): Sentence {
  try {
    switch (terms.encoding) {
      case 'PAYLOAD_ENCODING_EIP712':
        return typedDataSentence(context, terms.signWith, payload, budget);
      case 'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION':
        return authorization(context, signer, payload);
      case 'PAYLOAD_ENCODING_TEXT_UTF8':
        return text(signer, payload, terms.hashFunction);
      case 'PAYLOAD_ENCODING_HEXADECIMAL':
        return hex(signer, payload);
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return unreadable(
      say`Sign a payload with ${signer} that cannot be read.`,
      `cannot be read: ${error.message}`,
      'This payload cannot be read, and signing it will be refused.',
    );
  }
}

function authorization(context: SentenceContext, signer: TextPart, payload: string): Sentence {
  const { address, chainId, nonce } = hashAuthorizationJson(payload);
  const { alone, marks, consequence } = delegationClause(context, signer, chainId, address);
  return {
    kind: 'Sign an authorization',
    parts: alone,
    marks,
    ...(consequence !== undefined && { consequence }),
    fields: [
      { label: 'Code of', value: [{ text: address, address }], kind: 'ADDRESS' },
      { label: 'Chain', value: [{ text: chainId === 0n ? 'every chain' : `eip155:${chainId}` }], kind: 'TEXT' },
      { label: 'Nonce', value: [{ text: count(nonce) }], kind: 'TEXT' },
    ],
  };
}

/** ERC-191: the prefix that keeps a message from being a transaction. The length of the message follows it. */
const PREFIX = `${String.fromCharCode(0x19)}Ethereum Signed Message:\n`;

/** The message behind the prefix; undefined for a text that has none, or one with another length. */
function messageOf(payload: string): string | undefined {
  if (!payload.startsWith(PREFIX)) return undefined;
  const rest = payload.slice(PREFIX.length);
  // A message may begin with digits too, so every end of the number is tried.
  const digits = /^[0-9]{0,8}/.exec(rest)?.[0] ?? '';
  for (let end = 1; end <= digits.length; end += 1) {
    if (Number(rest.slice(0, end)) === Buffer.byteLength(rest.slice(end))) return rest.slice(end);
  }
  return undefined;
}

const TEXT_SHOWN = 240;

function text(signer: TextPart, payload: string, hash: HashFunction): Sentence {
  const message = hash === 'HASH_FUNCTION_KECCAK256' ? messageOf(payload) : undefined;
  const isPrefixed = message !== undefined;
  const shown = message ?? payload;
  const quoted: TextPart = { ...written(shown, TEXT_SHOWN), strong: true };
  return {
    kind: 'Sign a message',
    parts: isPrefixed
      ? say`Sign the message "${quoted}" with ${signer}, as a message of Ethereum.`
      : say`Sign the text "${quoted}" with ${signer}, without a prefix.`,
    marks: [
      { risk: 'LOOK_CLOSELY', text: isPrefixed ? 'a message: it may log somebody in' : 'a text without a prefix' },
    ],
    consequence: 'Whoever gets this signature can show it as the word of this key. I have read the whole text.',
    fields: [
      { label: 'Text', value: [written(shown, 8_000)], kind: 'TEXT', note: counted(Buffer.byteLength(shown), 'byte') },
      { label: 'Hash', value: [{ text: hash }], kind: 'CODE' },
    ],
  };
}

function hex(signer: TextPart, payload: string): Sentence {
  const digits = payload.replace(/^0x/i, '');
  return {
    ...unreadable(
      say`Sign ${strong(counted(byteCount(digits), 'byte'))} with ${signer} that can be any transaction or message.`,
      'bytes that nobody here can read',
      'These bytes can be a transaction that takes everything this key holds. I want them signed.',
    ),
    fields: [{ label: 'Payload', value: [{ text: cutHex(`0x${digits.toLowerCase()}`) }], kind: 'BYTES' }],
  };
}

const ALGORITHMS: Readonly<Record<HashFunction, string>> = {
  HASH_FUNCTION_KECCAK256: 'keccak-256',
  HASH_FUNCTION_SHA256: 'sha-256',
  HASH_FUNCTION_NO_OP: 'none',
  HASH_FUNCTION_NOT_APPLICABLE: 'none',
};

function bytesOf(context: SentenceContext, payload: string, terms: PayloadTerms): SignedBytes | undefined {
  const { encoding, hashFunction } = terms;
  const curve = signerOf(context, terms.signWith)?.curve ?? fallbackCurve(hashFunction);
  try {
    const digest = toHex(signingInput(payload, encoding, hashFunction, curve));
    const isTyped = encoding === 'PAYLOAD_ENCODING_EIP712' || encoding === 'PAYLOAD_ENCODING_EIP7702_AUTHORIZATION';
    const unsigned =
      encoding === 'PAYLOAD_ENCODING_HEXADECIMAL'
        ? payload.replace(/^0x/i, '').toLowerCase()
        : Buffer.from(payload, 'utf8').toString('hex');
    return {
      algorithm: isTyped ? 'keccak-256' : ALGORITHMS[hashFunction],
      digest: `0x${digest}`,
      unsigned: `0x${unsigned}`,
    };
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

const fallbackCurve = (hash: HashFunction): string =>
  hash === 'HASH_FUNCTION_NOT_APPLICABLE' ? 'CURVE_ED25519' : 'CURVE_SECP256K1';

/** A description has no more, and what payloads allow may stand in their fields alone. */
const FIELDS_SHOWN = 300;
const TOO_MANY: Mark = { risk: 'UNREADABLE', text: 'more fields than fit here' };

/** Several payloads with one key. */
export function payloadsSentence(context: SentenceContext, payloads: readonly string[], terms: PayloadTerms): Sentence {
  const budget = newBudget();
  const all = payloads.map((payload) => payloadSentence(context, payload, terms, budget));
  const [only] = all;
  if (only !== undefined && all.length === 1) return only;
  const fields = all.flatMap(({ fields: found = [] }, index) =>
    found.map((field) => ({ ...field, label: `${index + 1}. ${field.label}` })),
  );
  const risk = worst(...all.map(riskOf));
  const first = all.find((one) => riskOf(one) === risk);
  const signer = signerPart(context, terms.signWith);
  return {
    parts:
      risk === 'UNREADABLE'
        ? say`Sign ${strong(counted(payloads.length, 'payload'))} with ${signer} that can be any transactions or messages.`
        : say`Sign ${strong(counted(payloads.length, 'payload'))} with ${signer}, each of them listed below.`,
    marks: distinctMarks([...all.flatMap(({ marks }) => marks), ...(fields.length > FIELDS_SHOWN ? [TOO_MANY] : [])]),
    ...(first?.consequence !== undefined && { consequence: first.consequence }),
    steps: all.map((one) => ({ sentence: one.parts, risk: riskOf(one) })),
    fields,
    sender: senderOf(context, terms.signWith),
  };
}
