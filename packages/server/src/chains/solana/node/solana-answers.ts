import { base58 } from '@scure/base';
import { asList, asMembers, illShaped, type Members } from '../../nodes/answers.ts';
import type {
  SolanaBlockhash,
  SolanaBroadcast,
  SolanaSignatureStatus,
  SolanaTokenBalance,
  SolanaTransactionDetails,
} from '../../nodes/node.ts';
import { NodeError } from '../../nodes/node-error.ts';
import { plainText, type RpcAnswer, type RpcRefusal } from '../../nodes/rpc-answer.ts';

const LOGS_MAX = 1000;

/** The value of an answer that also names its slot. */
export const contextValue = (result: unknown): unknown => asMembers(result, 'the answer').value;

/** Numbers of 64 bits are JSON numbers here; beyond 2^53 the parser keeps the leading digits only. */
export function asUnsigned(value: unknown, what: string): bigint {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < 0 || value > 2 ** 64) throw illShaped(what);
  return BigInt(value);
}

/** The base58 text of 32 bytes: a key, a blockhash. */
export function asKey(value: unknown, what: string): string {
  if (typeof value !== 'string' || bytesOf(value)?.length !== 32) throw illShaped(what);
  return value;
}

function bytesOf(text: string): Uint8Array | undefined {
  if (text.length > 128) return undefined;
  try {
    return base58.decode(text);
  } catch {
    return undefined;
  }
}

export function readBlockhash(result: unknown): SolanaBlockhash {
  const value = asMembers(contextValue(result), 'the blockhash');
  return {
    blockhash: asKey(value.blockhash, 'the blockhash'),
    lastValidBlockHeight: asUnsigned(value.lastValidBlockHeight, 'the last block height of the blockhash'),
  };
}

const CONFIRMATION_STATUSES = ['processed', 'confirmed', 'finalized'] as const;

export function readStatuses(result: unknown, count: number): readonly (SolanaSignatureStatus | undefined)[] {
  const values = asList(contextValue(result), 'the list of statuses');
  if (values.length !== count) throw illShaped('the list of statuses');
  return values.map((value) => {
    if (value === null) return undefined;
    const status = asMembers(value, 'a status');
    const { confirmations } = status;
    const confirmationStatus = CONFIRMATION_STATUSES.find((known) => known === status.confirmationStatus);
    if (confirmationStatus === undefined) throw illShaped('the confirmation of a status');
    return {
      slot: asUnsigned(status.slot, 'the slot of a status'),
      confirmations: confirmations === null ? undefined : Number(asUnsigned(confirmations, 'the confirmations')),
      confirmationStatus,
      err: readError(status.err),
    };
  });
}

/** The accounts of an owner under a token program. What the node could not parse is left out: anybody may make one. */
export function readTokenAccounts(result: unknown, owner: string, tokenProgram: string): readonly SolanaTokenBalance[] {
  return asList(contextValue(result), 'the list of token accounts').flatMap((entry) => {
    const account = asMembers(asMembers(entry, 'a token account').account, 'a token account');
    if (account.owner !== tokenProgram) throw illShaped('the program of a token account');
    if (Array.isArray(account.data)) return [];
    const info = asMembers(asMembers(membersAt(account, 'data').parsed, 'a token account').info, 'a token account');
    if (info.owner !== owner) throw illShaped('the owner of a token account');
    const { amount, decimals } = membersAt(info, 'tokenAmount');
    if (typeof amount !== 'string' || !/^\d{1,20}$/.test(amount)) throw illShaped('the amount of a token account');
    if (typeof decimals !== 'number' || !Number.isInteger(decimals) || decimals < 0 || decimals > 255) {
      throw illShaped('the decimals of a token account');
    }
    return [{ mint: asKey(info.mint, 'the mint of a token account'), amount: BigInt(amount), decimals, tokenProgram }];
  });
}

const membersAt = (members: Members, name: string): Members => asMembers(members[name], `the ${name}`);

export function readTransactionDetails(result: unknown, signature: string): SolanaTransactionDetails | undefined {
  if (result === null) return undefined;
  const transaction = asMembers(result, 'the transaction');
  const [first] = asList(membersAt(transaction, 'transaction').signatures, 'the signatures of the transaction');
  if (first !== signature) throw illShaped('the signature of the transaction');
  const meta = membersAt(transaction, 'meta');
  const { computeUnitsConsumed } = meta;
  const isMetered = computeUnitsConsumed !== undefined && computeUnitsConsumed !== null;
  return {
    slot: asUnsigned(transaction.slot, 'the slot of the transaction'),
    fee: asUnsigned(meta.fee, 'the fee of the transaction'),
    unitsConsumed: isMetered ? asUnsigned(computeUnitsConsumed, 'the units of the transaction') : undefined,
    logs: readLogLines(meta.logMessages),
    innerInstructions: readInner(meta.innerInstructions),
    err: readError(meta.err),
  };
}

const INNER_LENGTH_MAX = 64 * 1024;

/** Programs may call as much as they like; what is too long to keep is left out, since a part of it would mislead. */
function readInner(value: unknown): string | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  const text = JSON.stringify(value);
  return text.length > INNER_LENGTH_MAX ? undefined : text;
}

const ERROR_LENGTH_MAX = 8 * 1024;

/** A TransactionError as the node wrote it; undefined for none. It is text or an object, and short. */
function readError(value: unknown): unknown {
  if (value === undefined || value === null) return undefined;
  if (JSON.stringify(value).length > ERROR_LENGTH_MAX) throw illShaped('the error of the transaction');
  return value;
}

const readLogLines = (value: unknown): readonly string[] =>
  (Array.isArray(value) ? value : [])
    .slice(0, LOGS_MAX)
    .flatMap((line) => (typeof line === 'string' ? [plainText(line)] : []));

const ALREADY_PROCESSED = /already been processed|already processed/i;
/** -32002 and so on are the node's words on the transaction; these are its words on itself. */
const NOT_NOW_CODES: ReadonlySet<number> = new Set([-32603, -32601, -32005, -32004, -32014, -32016, 429]);
const NOT_NOW =
  /too many requests|rate.?limit|quota|capacity|throttl|timed? ?out|timeout|behind by|unhealthy|unauthorized/i;

type Told = Exclude<SolanaBroadcast, { kind: 'uncertain' }>;

/** What a node made of a transaction whose first signature is given. A NodeError means that this is not known. */
export function readSolanaBroadcast(answer: RpcAnswer, signature: string): Told {
  if (!answer.ok) return readSolanaRefusal(answer);
  // A node that names another signature has not understood what it was given.
  if (answer.result !== signature) throw illShaped('the signature of the transaction');
  return { kind: 'accepted' };
}

function readSolanaRefusal({ code, message, data }: RpcRefusal): Told {
  const { err: given, logs }: Members = typeof data === 'object' && data !== null ? (data as Members) : {};
  const err = readError(given);
  if (err === 'AlreadyProcessed' || ALREADY_PROCESSED.test(message)) return { kind: 'known' };
  if (NOT_NOW_CODES.has(code) || (err === undefined && NOT_NOW.test(message))) {
    throw new NodeError('unavailable', message);
  }
  return {
    kind: 'refused',
    rpcCode: code,
    message,
    ...(Array.isArray(logs) ? { logs: readLogLines(logs) } : {}),
    ...(err === undefined ? {} : { err }),
  };
}
